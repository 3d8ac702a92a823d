//! Items as a table: what a person asks for, as wide as the terminal. The keys of the table say where an item
//! lies, and are shown on demand; those of indexes stand last.

use unicode_width::UnicodeWidthStr as _;

use crate::cli::cells::{fit, pad, shown};
use crate::cli::format::one_line;
use crate::dynamodb::{Index, Item, Table};

/// The width to which values are cut before columns are left out.
const NARROWEST: usize = 16;
/// Between two columns.
const GAP: &str = "  ";

/// The items as a table. `keys`: whether the table's keys are shown; `room`: the width that there is.
pub(super) fn table(items: &[Item], table: &Table, keys: bool, room: Option<usize>) -> String {
    let (names, hidden) = names(items, table, keys);
    let columns = names.iter().map(|name| -> Vec<String> {
        let cells = items.iter().map(|item| shown(item.get(name)));
        std::iter::once(one_line(name)).chain(cells).collect()
    });
    let columns: Vec<Vec<String>> = columns.collect();
    let widest = |cells: &Vec<String>| cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
    let wide: Vec<usize> = columns.iter().map(widest).collect();
    // As many columns as fit, with values cut as little as it takes.
    let cap = cap(&wide, room);
    let mut used = 0;
    let fitting = wide.iter().take_while(|wide| {
        used += cap.min(**wide) + GAP.len();
        room.is_none_or(|room| used <= room + GAP.len())
    });
    let kept = fitting.count().max(1);
    let mut out = String::new();
    for row in 0..=items.len() {
        let mut line = String::new();
        for (wide, cells) in wide.iter().zip(&columns).take(kept) {
            if !line.is_empty() {
                line.push_str(GAP);
            }
            let end = line.width() + cap.min(*wide);
            line.push_str(&fit(cells.get(row).map_or("", String::as_str), cap));
            pad(&mut line, end);
        }
        out.push_str(line.trim_end());
        out.push('\n');
        if row == 0 {
            let rule = wide.iter().take(kept);
            let rule: Vec<String> = rule.map(|wide| "─".repeat(cap.min(*wide))).collect();
            out.push_str(&rule.join(GAP));
            out.push('\n');
        }
    }
    if let Some(left @ [_, ..]) = names.get(kept..) {
        out.push_str(&format!("also {}: --wide shows all\n", left.join(", ")));
    }
    if !hidden.is_empty() {
        out.push_str(&format!("{}: --keys shows them\n", hidden.join(", ")));
    }
    out
}

/// The greatest width of a value with which all columns fit; [`NARROWEST`] where none lets them.
fn cap(wide: &[usize], room: Option<usize>) -> usize {
    let most = wide.iter().copied().max().unwrap_or(0);
    let Some(room) = room else { return most };
    let fits = |cap: usize| {
        let used: usize = wide.iter().map(|wide| cap.min(*wide) + GAP.len()).sum();
        used <= room + GAP.len()
    };
    let mut caps = (NARROWEST..=most.max(NARROWEST)).rev();
    let found = caps.find(|cap| fits(*cap)).unwrap_or(NARROWEST);
    // One column may be wider than all there is room for.
    found.min(room.max(1))
}

/// The names of the columns, and those of keys that are not shown.
fn names(items: &[Item], table: &Table, keys: bool) -> (Vec<String>, Vec<String>) {
    let own: Vec<&str> = table.key().map(|key| &*key.name).collect();
    let of_index = table.all_indexes().flat_map(Index::key);
    let of_index: Vec<&str> = of_index
        .map(|key| &*key.name)
        .filter(|name| !own.contains(name))
        .collect();
    let mut business: Vec<String> = Vec::new();
    let (mut last, mut hidden) = (Vec::new(), Vec::new());
    for name in items
        .iter()
        .flat_map(|item| &item.attributes)
        .map(|(name, _)| &**name)
    {
        let into = match name {
            name if own.contains(&name) => &mut hidden,
            name if of_index.contains(&name) => &mut last,
            _ => &mut business,
        };
        if !into.iter().any(|known| known == name) {
            into.push(name.to_owned());
        }
    }
    business.append(&mut last);
    if keys || business.is_empty() {
        hidden.append(&mut business);
        std::mem::swap(&mut hidden, &mut business);
    }
    (business, hidden)
}

#[cfg(test)]
mod tests {
    use super::cap;

    #[test]
    fn values_are_cut_as_little_as_the_width_takes() {
        assert_eq!(cap(&[5, 60], None), 60);
        assert_eq!(cap(&[5, 60], Some(100)), 60);
        assert_eq!(cap(&[5, 60, 60], Some(100)), 45);
        assert_eq!(cap(&[60; 20], Some(100)), super::NARROWEST);
    }
}
