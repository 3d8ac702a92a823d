//! Sentences and figures of the document.

use dynafold_dynamodb::price::Prices;
use dynafold_format::{count, counted, rounded, seconds};

use super::definition::Examples;

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
        Some(place) => format!("{rows}; answers are from {place}."),
        None => format!("{rows}; answers come from a table with only these items."),
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

/// A cost in dollars, or [`NO_PRICE`].
pub(super) fn cost(amount: Option<f64>) -> String {
    amount.map_or_else(|| NO_PRICE.to_owned(), dollars)
}

/// Written for a cost that the prices do not give.
pub(super) const NO_PRICE: &str = "no price";

/// A price in dollars, with up to four decimals for small amounts.
pub(super) fn dollars(amount: f64) -> String {
    if amount >= 10.0 {
        let cents = rounded(amount * 100.0);
        return format!("${}.{:02}", count(cents / 100), cents % 100);
    }
    if is_tiny(amount) {
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

/// How long something takes: `under a second`, `3 min 5 s`.
pub(super) fn duration(time: f64) -> String {
    if time < 1.0 {
        "under a second".to_owned()
    } else {
        seconds(time)
    }
}

/// The date and region of the prices.
pub(super) fn prices(prices: &Prices) -> String {
    let Some(date) = &prices.date else {
        return format!("There are {}.", prices.dated_source());
    };
    let source = prices.usd.source.as_ref();
    let source = source.map_or_else(String::new, |source| format!(" ({source})"));
    format!(
        "Prices of {date} in {}{source}, without taxes and free tiers; check yours.",
        prices.region
    )
}

/// A cost in a sentence, with words such as `about ` before it unless it is too small to be shown.
pub(super) fn about(words: &str, amount: Option<f64>) -> String {
    match amount {
        None => "an unknown price".to_owned(),
        Some(amount) if is_tiny(amount) => dollars(amount),
        Some(amount) => format!("{words}{}", dollars(amount)),
    }
}

/// The same where it may be more.
pub(super) fn about_or_more(words: &str, amount: Option<f64>) -> String {
    let figure = about(words, amount);
    match amount {
        None => figure,
        Some(amount) if is_tiny(amount) => "more than $0.00".to_owned(),
        Some(_) => format!("{figure} or more"),
    }
}

/// Whether an amount is too small to be shown.
fn is_tiny(amount: f64) -> bool {
    amount > 0.0 && amount < 0.0001
}

/// A figure that may be a lower bound: `≥ 0.5`.
pub(super) fn with_lower_bound_sign(at_least: bool, figure: &str) -> String {
    with_lower_bound(at_least, "≥", figure)
}

/// The same in a sentence: `at least 0.5`.
pub(super) fn with_lower_bound_words(at_least: bool, figure: &str) -> String {
    with_lower_bound(at_least, "at least", figure)
}

fn with_lower_bound(at_least: bool, words: &str, figure: &str) -> String {
    match figure.strip_prefix("< ") {
        _ if !at_least || figure == NO_PRICE => figure.to_owned(),
        // A figure too small to be shown.
        Some(_) => "> 0".to_owned(),
        None => format!("{words} {figure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_have_the_digits_that_tell_something() {
        let all = [0.0, 0.00001, 0.0625, 0.125, 1.62, 8.1, 648.0, 32_400.0];
        let shown = all.map(dollars);
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
        assert_eq!(shown.each_ref().map(String::as_str), wanted);
    }

    #[test]
    fn costs_in_sentences_say_how_far_they_are_known() {
        assert_eq!(about("about ", Some(1.62)), "about $1.62");
        assert_eq!(about("about ", Some(0.00001)), "< $0.0001");
        assert_eq!(about("", None), "an unknown price");
        assert_eq!(about_or_more("about ", Some(1.62)), "about $1.62 or more");
        assert_eq!(about_or_more("about ", Some(0.00001)), "more than $0.00");
        assert_eq!(about_or_more("about ", None), "an unknown price");
    }

    #[test]
    fn units_have_no_empty_digits() {
        let shown = [0.5, 10.0, 2_410.0, 0.001].map(units);
        assert_eq!(shown, ["0.5", "10", "2,410", "< 0.01"]);
    }
}
