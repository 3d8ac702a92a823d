//! Items as a table: the keys first, then the other attributes in the order in which they are met.

use unicode_width::UnicodeWidthStr as _;

use crate::cli::cells::{fit, pad, shown};
use crate::cli::format::one_line;
use crate::item::Item;
use crate::mapping::model::{AccessPattern, Table};

/// Columns that a value takes at most.
const WIDEST: usize = 40;
/// Between two columns.
const GAP: &str = "  ";

/// The items, as many columns of them as there is room for.
pub(super) fn table(
    items: &[Item],
    table: &Table,
    pattern: &AccessPattern,
    width: usize,
) -> String {
    let names = names(items, table, pattern);
    let column = |name: &String| -> (usize, Vec<String>) {
        let head = fit(&one_line(name), WIDEST);
        let cells = items.iter().map(|item| fit(&shown(item.get(name)), WIDEST));
        let cells: Vec<String> = std::iter::once(head).chain(cells).collect();
        (
            cells.iter().map(|cell| cell.width()).max().unwrap_or(0),
            cells,
        )
    };
    let columns: Vec<(usize, Vec<String>)> = names.iter().map(column).collect();
    let mut used = 0;
    let fitting = columns.iter().take_while(|(wide, _)| {
        used += wide + GAP.len();
        used <= width + GAP.len()
    });
    let kept = fitting.count().max(1);
    let mut out = String::new();
    for row in 0..=items.len() {
        let mut line = String::new();
        for (wide, cells) in columns.iter().take(kept) {
            if !line.is_empty() {
                line.push_str(GAP);
            }
            let end = line.width() + wide;
            line.push_str(cells.get(row).map_or("", String::as_str));
            pad(&mut line, end);
        }
        out.push_str(line.trim_end());
        out.push('\n');
        if row == 0 {
            let rule: Vec<String> = columns
                .iter()
                .take(kept)
                .map(|(wide, _)| "─".repeat(*wide))
                .collect();
            out.push_str(&rule.join(GAP));
            out.push('\n');
        }
    }
    if let Some(left @ [_, ..]) = names.get(kept..) {
        out.push_str(&format!(
            "also {}: --format json shows all\n",
            left.join(", ")
        ));
    }
    out
}

fn names(items: &[Item], table: &Table, pattern: &AccessPattern) -> Vec<String> {
    let own = std::iter::once(&table.partition).chain(&table.sort);
    let asked = pattern
        .partition
        .iter()
        .map(|(key, _)| key)
        .chain(&pattern.order);
    let keys = own.chain(asked).map(|key| key.name.to_string());
    let others = items.iter().flat_map(|item| &item.attributes);
    let mut names: Vec<String> = Vec::new();
    for name in keys.chain(others.map(|(name, _)| name.to_string())) {
        let is_there = items.iter().any(|item| item.get(&name).is_some());
        if is_there && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
