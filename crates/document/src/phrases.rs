//! Sentences and figures of the document.

use dynafold_format::{count, counted, rounded};
use dynafold_mapping::forecast::PlaceKind;

use super::definition::{Basis, Definition, Examples, Figures, Part, Place, TypeFigures, Units};

/// The facts of the overview: what there is, and how many.
pub(super) fn overview(definition: &Definition) -> Vec<(&'static str, String)> {
    let indexes = definition.places.len().saturating_sub(1);
    let read = definition.sources.iter();
    let read = read
        .filter(|table| matches!(table.part, Part::Read | Part::Queried))
        .count();
    let mut facts = vec![
        ("Table", definition.table.clone()),
        ("Mapping", definition.mapping.clone()),
        (
            "Source",
            format!(
                "{}, {} of {} read",
                definition.catalog.dbms,
                count(read),
                counted(definition.sources.len(), "table")
            ),
        ),
        ("Indexes", indexes.to_string()),
        ("Item types", definition.item_types.len().to_string()),
        ("Access patterns", definition.patterns.len().to_string()),
        (
            "Warnings",
            match definition.accepted.len() {
                0 => definition.warnings.len().to_string(),
                accepted => format!("{}, {accepted} accepted", definition.warnings.len()),
            },
        ),
    ];
    if let Some(items) = items(&definition.figures) {
        facts.push(("Items", items));
    }
    facts
}

/// How many items a type has, where that is known.
pub(super) fn items_of(figures: &TypeFigures) -> Option<String> {
    let items = count(figures.items?);
    Some(match (figures.at_most, figures.about) {
        (true, true) => format!("at most about {items}"),
        (true, false) => format!("at most {items}"),
        (false, true) => format!("about {items}"),
        (false, false) => items,
    })
}

/// The rows that became no item, where all were read and there are any.
pub(super) fn rejected(figures: &Figures) -> Option<String> {
    let rejected = figures.item_types.iter().filter(|each| each.rejected > 0);
    let rejected: Vec<String> = rejected
        .map(|each| format!("{} of {}", counted(each.rejected, "row"), each.name))
        .collect();
    (!rejected.is_empty()).then(|| {
        format!(
            "Rejected, so that they become no item: {}. `dynafold preview --all` says why.",
            rejected.join(", ")
        )
    })
}

/// How many items there are.
fn items(figures: &Figures) -> Option<String> {
    let all: Option<u64> = figures.item_types.iter().map(|each| each.items).sum();
    let about = match figures.basis {
        Basis::AllRows => "",
        _ if figures.item_types.iter().any(|each| each.at_most) => "at most about ",
        _ => "about ",
    };
    Some(format!("{about}{}", count(all?)))
}

/// Where examples are from.
pub(super) fn examples(examples: Option<&Examples>) -> String {
    let Some(examples) = examples else {
        return "No example is shown: the document was made without rows.".to_owned();
    };
    let rows = if examples.whole {
        "Examples are from all rows".to_owned()
    } else {
        let rows = counted(examples.rows, "row");
        format!("Examples are from the first {rows} of each item type")
    };
    match &examples.asked {
        Some(place) => format!("{rows}; answers were asked of {place}."),
        None => format!("{rows}; answers are those of a table with these items."),
    }
}

/// What figures are made from.
pub(super) fn basis(figures: &Figures) -> &'static str {
    match figures.basis {
        Basis::AllRows => "Every row was read: items, sizes and write units are exact.",
        Basis::Estimate => {
            "Estimates: the database's own counts of rows times the mean size of the first rows. \
             `dynafold docs --all` reads every row."
        }
        Basis::Nothing => {
            "No row was read: counts are the catalog's, and sizes are not known. Make the document \
             with --source for them."
        }
    }
}

/// Figures of read units: `0.5`, `12`.
pub(super) fn units(units: f64) -> String {
    if units >= 1_000.0 {
        return count(rounded(units));
    }
    let text = format!("{units:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "0" && units > 0.0 {
        return "< 0.01".to_owned();
    }
    text.to_owned()
}

/// Where an answer comes from, and how many items it has.
pub(super) fn found(found: usize, shown: usize, more: bool) -> String {
    let all = counted(found, "item");
    let more = if more { ", and further pages" } else { "" };
    if shown < found {
        format!("{all}{more}; the first {shown} of them:")
    } else {
        format!("{all}{more}:")
    }
}

/// What is said where an answer is missing.
pub(super) fn unanswered(definition: &Definition) -> &'static str {
    match definition.examples {
        Some(_) => "No example: nothing among the first rows tells values for its parameters.",
        None => "No example: the document was made without rows.",
    }
}

/// A cost in dollars, or that the prices do not say it.
pub(super) fn cost(amount: Option<f64>) -> String {
    amount.map_or_else(|| NO_PRICE.to_owned(), dollars)
}

/// What stands in the place of a cost where the prices do not say it.
pub(super) const NO_PRICE: &str = "no price";

/// A price in dollars: cents, and the digits behind them where the amount is small.
pub(super) fn dollars(amount: f64) -> String {
    if amount >= 10.0 {
        let cents = rounded(amount * 100.0);
        return format!("${}.{:02}", count(cents / 100), cents % 100);
    }
    if amount > 0.0 && amount < 0.0001 {
        return "< $0.0001".to_owned();
    }
    let digits = format!("{amount:.4}");
    let mut text = digits.as_str();
    // `1.6200` is 1.62, and `8.1000` is 8.10.
    for _ in 0..2 {
        text = text.strip_suffix('0').unwrap_or(text);
    }
    format!("${text}")
}

/// How a rate becomes a bill, with the prices that are used.
pub(super) fn arithmetic(figures: &Figures) -> impl Iterator<Item = String> {
    let prices = &figures.prices.usd;
    let line = |unit: &str,
                million: Option<f64>,
                hour: Option<f64>,
                cost: &dynafold_dynamodb::price::Monthly| {
        Some(format!(
            "1 {unit} unit a second, all month: on demand 1 × 3,600 × 24 × 30 = 2,592,000 units × \
             ${} a million = {}; provisioned 1 × 24 × 30 = 720 hours × ${} = {}. On \
             demand is cheaper while the mean load is below {:.0} % of the peak.",
            million?,
            dollars(cost.on_demand_usd?),
            hour?,
            dollars(cost.provisioned_usd?),
            cost.on_demand_below()? * 100.0,
        ))
    };
    [
        line(
            "read",
            prices.usd_per_million_read_units,
            prices.usd_per_read_unit_hour,
            &figures.one_read,
        ),
        line(
            "write",
            prices.usd_per_million_write_units,
            prices.usd_per_write_unit_hour,
            &figures.one_write,
        ),
    ]
    .into_iter()
    .flatten()
}

/// The date and region of the prices.
pub(super) fn prices(figures: &Figures) -> String {
    let prices = &figures.prices;
    let Some(date) = &prices.date else {
        return format!("There are {}.", prices.told());
    };
    let source = prices.usd.source.as_ref();
    let source = source.map_or_else(String::new, |source| format!(" ({source})"));
    format!(
        "Prices of {date} in {}{source}, without taxes and free tiers; check yours.",
        prices.region
    )
}

/// What a place is.
pub(super) fn kind(place: &Place) -> &'static str {
    match place.kind {
        PlaceKind::Table => "table",
        PlaceKind::GlobalIndex => "global secondary index",
        PlaceKind::LocalIndex => "local secondary index",
    }
}

/// What read units, and the cost of them, are made from; why some are lower bounds.
pub(super) fn reads(definition: &Definition) -> Option<String> {
    let patterns = || definition.patterns.iter();
    let examples = definition.examples.as_ref();
    let is_answered = patterns().any(|pattern| pattern.units.example.is_some());
    let mut bounds = patterns().filter(|pattern| pattern.units.at_least);
    let goes_on = bounds.clone().any(|pattern| pattern.answer.is_some());
    let is_blank = bounds.any(|pattern| pattern.answer.is_none());
    let mut told = Vec::new();
    if is_answered {
        let usual = "Read units are those of the examples' answers; other parameters may find more or less.";
        told.push(usual.to_owned());
    }
    let target = "With `--target` the loaded table is asked, and its answers tell all units.";
    match examples {
        Some(examples) if goes_on && examples.asked.is_none() && !examples.whole => {
            let rows = counted(examples.rows, "row");
            told.push(format!(
                "≥ is a lower bound: the example was asked of the first {rows} of each item type, \
                 and further rows may add to what it finds. {target}"
            ));
        }
        Some(_) if goes_on => {
            let pages = "≥ is a lower bound: the answer has more pages than were read.";
            told.push(pages.to_owned());
        }
        _ => {}
    }
    if is_blank {
        let least =
            "Where there is no example, ≥ stands before what a call takes that finds nothing.";
        told.push(least.to_owned());
        if examples.is_none() {
            told.push(target.to_owned());
        }
    }
    (!told.is_empty()).then(|| told.join(" "))
}

/// The same for the sum at the declared rates; `None` where no access pattern has one.
pub(super) fn rated(definition: &Definition) -> Option<String> {
    let mut patterns = definition.patterns.iter();
    let is_rated = patterns.any(|pattern| pattern.rate.is_some());
    reads(definition).filter(|_| is_rated)
}

/// A figure that may be a lower bound: `≥ 0.5`.
pub(super) fn marked(at_least: bool, figure: &str) -> String {
    bound(at_least, "≥", figure)
}

/// The same in a sentence: `at least 0.5`.
pub(super) fn told(at_least: bool, figure: &str) -> String {
    bound(at_least, "at least", figure)
}

fn bound(at_least: bool, words: &str, figure: &str) -> String {
    match figure.strip_prefix("< ") {
        _ if !at_least || figure == NO_PRICE => figure.to_owned(),
        // A figure too small to be shown.
        Some(_) => "> 0".to_owned(),
        None => format!("{words} {figure}"),
    }
}

/// Read units of a call: those of the example, and what they may be.
pub(super) fn call(of: &Units) -> String {
    match of.example {
        Some(example) => format!(
            "{} in the example; {}",
            told(of.at_least, &units(example)),
            bounds(of)
        ),
        None => bounds(of),
    }
}

/// What a call may use at least and at most.
fn bounds(of: &Units) -> String {
    match of.most {
        Some(most) if most <= of.least => format!("always {}", units(most)),
        Some(most) => format!("{} to {}", units(of.least), units(most)),
        None => format!("{} and more: each 4 KB found adds to it", units(of.least)),
    }
}

/// What is said of a request with values that are not whole.
pub(super) const CUT: &str =
    "Long values are cut, in the request and in the command: … stands for the rest.";

/// What is said where there are no rates.
pub(super) const NO_RATES: &str = "The mapping declares no rates. With `rate` on an access pattern \
    (calls a second) and `write_rate` on an item type (writes a second) this shows what a month \
    costs.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_have_the_digits_that_tell_something() {
        let all = [0.0, 0.00001, 0.0625, 0.125, 1.62, 8.1, 648.0, 32_400.0];
        let told = all.map(dollars);
        let wanted = [
            "$0.00",
            "< $0.0001",
            "$0.0625",
            "$0.125",
            "$1.62",
            "$8.10",
            "$648.00",
            "$32,400.00",
        ];
        assert_eq!(told.each_ref().map(String::as_str), wanted);
    }

    #[test]
    fn units_have_no_empty_digits() {
        let told = [0.5, 10.0, 2_410.0, 0.001].map(units);
        assert_eq!(told, ["0.5", "10", "2,410", "< 0.01"]);
    }
}
