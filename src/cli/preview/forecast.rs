//! The report of `preview --all`: what all rows come to.

use super::cost::{self, Cost};
use super::heat::{
    hottest_keys, item_collections, kind_and_name, large_items, read_rates, write_rates,
};
use crate::cli::format::{bytes, count, counted, counted_as, seconds, whole};
use crate::cli::output::OutputStreams;
use crate::cli::report::{ReportColumn, attribute, books, figures, whose};
use crate::preview::{Collisions, Forecast, ItemTypeForecast, PlaceForecast};

/// Characters of the longest bar of the histogram.
const LONGEST_BAR: u64 = 30;

pub(super) fn text(forecast: &Forecast, cost: &Cost, output: &OutputStreams) -> String {
    let mut parts = vec![item_types(forecast)];
    let mut add = |title: &str, text: &str| parts.push(format!("{}\n{text}", output.bold(title)));
    if forecast.total.made > 0 {
        add("Sizes", &sizes(forecast));
        add("Largest items", &largest(forecast));
        add("Write units", &writes(&forecast.places));
        add(
            "Hottest partition keys, by write units",
            &hottest_keys(&forecast.places),
        );
    }
    if let Some(rates) = write_rates(&forecast.places) {
        add(
            "Expected write units a second, at the write rates of the mapping",
            &rates,
        );
    }
    if let Some(rates) = read_rates(&forecast.places) {
        add(
            "Expected read units a second, at the rates of the access patterns",
            &rates,
        );
    }
    if !forecast.wide.is_empty() {
        add(
            "Large items of which an access pattern needs little",
            &large_items(&forecast.wide),
        );
    }
    if let Some(found) = &forecast.collections {
        add(
            "Item collections, which local indexes limit to 10 GB",
            &item_collections(found),
        );
    }
    add("Keys", &collisions(forecast));
    if !forecast.rejects.is_empty() || !forecast.total.rejects_by_code.is_empty() {
        add("Rejected rows", &rejects(forecast));
    }
    if forecast.total.made > 0 {
        add("Cost and duration", &cost::text(forecast, cost));
    }
    parts.join("\n\n")
}

fn item_types(forecast: &Forecast) -> String {
    let columns: &[ReportColumn<'_, ItemTypeForecast>] = &[
        ("rows", &|b| count(b.rows_read), true),
        ("filtered", &|b| count(b.filtered), true),
        ("rejected", &|b| count(b.rejected), true),
        ("items", &|b| count(b.made), true),
        ("size", &|b| bytes(b.bytes), true),
        ("write units", &|b| count(b.write_units), true),
        ("mean", &|b| bytes(b.mean_bytes()), true),
        ("largest", &|b| bytes(b.largest), true),
    ];
    let total = &forecast.total;
    let item_types = forecast.item_types.iter();
    let read = item_types.filter(|books| !books.from.is_empty());
    let mut text = books(columns, read, |b| &b.item_type, total);
    let others = [
        (total.empty, "row", "rows", "without elements"),
        (
            total.expanded,
            "element",
            "elements",
            "beyond the first of a row",
        ),
        (
            total.orphans,
            "child",
            "children",
            "whose parent is missing or not read",
        ),
        (total.cut, "child", "children", "cut by `$limit`"),
        (total.expired, "expired row", "expired rows", "skipped"),
        (total.archived, "expired row", "expired rows", "archived"),
        (total.compressed, "item", "items", "compressed"),
    ];
    let counted_others: Vec<String> = others
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many, what)| format!("{} {what}", counted_as(number, one, many)))
        .collect();
    if !counted_others.is_empty() {
        text.push_str(&format!("\n\n{}", counted_others.join(", ")));
    }
    text.push_str(&format!(
        "\n\nthe table `{}`: {} read in {}; nothing was written",
        forecast.table,
        counted(total.rows_read, "row"),
        seconds(forecast.elapsed_seconds),
    ));
    text
}

fn sizes(forecast: &Forecast) -> String {
    let most = forecast.sizes.iter().map(|class| class.items).max();
    let most = most.unwrap_or(0).max(1);
    let rows = forecast.sizes.iter().map(|class| {
        let length = class.items.saturating_mul(LONGEST_BAR).div_ceil(most);
        let bar = "█".repeat(usize::try_from(length).unwrap_or_default());
        format!(
            " up to {:>10}  {:>15}  {bar}",
            bytes(class.up_to),
            counted(class.items, "item"),
        )
        .trim_end()
        .to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn largest(forecast: &Forecast) -> String {
    let rows = forecast.largest.iter().map(|item| {
        format!(
            " {:>10}  {} {}",
            bytes(item.bytes),
            item.item_type,
            item.row
        )
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn writes(places: &[PlaceForecast]) -> String {
    let rows = places.iter().map(|place| {
        vec![
            kind_and_name(place),
            count(place.items),
            bytes(place.bytes),
            count(place.write_units),
        ]
    });
    figures(["", "items", "size", "write units"], rows)
}

fn collisions(forecast: &Forecast) -> String {
    let Collisions {
        keys,
        items,
        ref named,
        ..
    } = forecast.collisions;
    if keys == 0 {
        let claims = forecast
            .claims
            .iter()
            .map(|claim| format!(" {}", claim.because));
        return claims.collect::<Vec<_>>().join("\n");
    }
    let mut out = vec![format!(
        " {} by several items; a load would reject {}, which the sizes and units above include",
        counted_as(keys, "key is shared", "keys are shared"),
        counted(items, "item"),
    )];
    for collision in named.iter().take(super::NAMED_KEYS) {
        let items = counted(collision.items, "item");
        if collision.rows.is_empty() {
            out.push(format!("   {items}: their rows could not be read again"));
            continue;
        }
        out.push(format!("   {}: {items}", collision.key));
        let rows = collision.rows.iter();
        out.extend(rows.map(|row| format!("     {} {}", row.item_type, row.row)));
        let shown = whole(collision.rows.len());
        if collision.items > shown {
            out.push(format!("     and {} more", count(collision.items - shown)));
        }
    }
    let shown = whole(named.len().min(super::NAMED_KEYS));
    if keys > shown {
        out.push(format!("   and {} more keys", count(keys - shown)));
    }
    out.join("\n")
}

fn rejects(forecast: &Forecast) -> String {
    let mut out = Vec::new();
    for (code, rows) in &forecast.total.rejects_by_code {
        out.push(format!(" {code}: {}", counted(*rows, "row")));
        let notes = || forecast.rejects.iter().filter(|note| note.code == *code);
        let mut last_help = None;
        for note in notes() {
            let attribute = attribute(note.attribute.as_deref());
            out.push(format!("   {}:{attribute} {}", whose(note), note.message));
        }
        for help in notes().filter_map(|note| note.help.as_ref()) {
            if last_help.replace(help) != Some(help) {
                out.push(format!("   help: {help}"));
            }
        }
    }
    if let Some(file) = &forecast.rejects_file {
        let (rows, file) = (forecast.rejects_in_file, file.display());
        out.push(if rows < forecast.total.rejected {
            let rows = counted(rows, "row");
            format!(" in {file}: {rows} of them")
        } else {
            format!(" they are in {file}")
        });
    }
    out.join("\n")
}
