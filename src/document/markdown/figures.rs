//! Sizes, capacity and cost.

use super::text::{code, money, prose, table, text};
use crate::document::definition::Definition;
use crate::document::figures::SteadyPlace;
use crate::document::phrases::{self, cost, marked, units};
use crate::format::{bytes, count};

pub(super) fn figures(out: &mut String, definition: &Definition) {
    let figures = &definition.figures;
    out.push_str(&format!("{}\n\n", phrases::basis(figures)));
    if let Some(rejected) = phrases::rejected(figures) {
        out.push_str(&format!("{}\n\n", prose(&rejected)));
    }
    let unknown = || "?".to_owned();
    let rows = figures.item_types.iter().map(|each| {
        vec![
            text(&each.name),
            phrases::items_of(each).unwrap_or_else(unknown),
            each.mean_bytes.map_or_else(unknown, bytes),
            each.bytes.map_or_else(unknown, bytes),
            each.write_units.map_or_else(unknown, count),
        ]
    });
    table(
        out,
        &[
            "Item type",
            "Items",
            "Mean size",
            "Size",
            "Write units to load",
        ],
        rows,
    );
    if !figures.places.is_empty() {
        let rows = figures.places.iter().map(|place| {
            vec![
                code(&place.name),
                count(place.items),
                bytes(place.bytes),
                count(place.write_units),
            ]
        });
        table(
            out,
            &["Holds", "Items", "Size", "Write units to load"],
            rows,
        );
    }
    if let Some(total) = &figures.total {
        out.push_str(&format!(
            "- Loading: {} write units, {} on demand, once\n- Storage: {} with indexes, {} a month\n\n",
            count(total.write_units),
            money(total.load_usd),
            bytes(total.stored_bytes),
            money(total.storage_usd_per_month),
        ));
    }
    match &figures.steady_total {
        None => out.push_str(&format!("{}\n\n", phrases::NO_RATES)),
        Some(total) => {
            out.push_str("At the declared rates, all the time:\n\n");
            let row = |name: String, place: &SteadyPlace| {
                let marked = |figure: &str| text(&marked(place.at_least, figure));
                vec![
                    name,
                    marked(&units(place.rates.reads)),
                    units(place.rates.writes),
                    marked(&cost(place.cost.on_demand_usd)),
                    marked(&cost(place.cost.provisioned_usd)),
                ]
            };
            let places = figures.steady.iter();
            let mut rows: Vec<Vec<String>> =
                places.map(|place| row(code(&place.name), place)).collect();
            rows.push(row(total.name.clone(), total));
            table(
                out,
                &[
                    "",
                    "Read units/s",
                    "Write units/s",
                    "On demand, a month",
                    "Provisioned, a month",
                ],
                rows,
            );
            if let Some(reads) = phrases::rated(definition) {
                out.push_str(&format!("{}\n\n", prose(&reads)));
            }
        }
    }
    for line in phrases::arithmetic(figures) {
        out.push_str(&format!("- {}\n", text(&line)));
    }
    out.push_str(&format!("- {}\n\n", phrases::prices(figures)));
    if !figures.hot.is_empty() {
        out.push_str("Partition keys that take much of what is written:\n\n");
        for place in &figures.hot {
            for line in &place.lines {
                out.push_str(&format!("- {}: {}\n", code(&place.name), text(line)));
            }
        }
        out.push('\n');
    }
}
