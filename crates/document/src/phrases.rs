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
        None => format!("{rows}; answers are those of a table with these items."),
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

/// A cost in a sentence, with words such as `about` before it unless it is too small to be shown.
pub(super) fn about(words: &str, amount: Option<f64>) -> String {
    let figure = cost(amount);
    if figure == NO_PRICE {
        "a price that is not known".to_owned()
    } else if figure.starts_with('<') {
        figure
    } else {
        format!("{words}{figure}")
    }
}

/// The same where it may be more.
pub(super) fn about_or_more(words: &str, amount: Option<f64>) -> String {
    let figure = about(words, amount);
    match (amount, figure.starts_with('<')) {
        (None, _) => figure,
        (_, true) => "more than $0.00".to_owned(),
        (_, false) => format!("{figure} or more"),
    }
}

/// A figure that may be a lower bound: `≥ 0.5`.
pub(super) fn marked(at_least: bool, figure: &str) -> String {
    bound(at_least, "≥", figure)
}

/// The same in a sentence: `at least 0.5`.
pub(super) fn bounded(at_least: bool, figure: &str) -> String {
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
        assert_eq!(about("", None), "a price that is not known");
        assert_eq!(about_or_more("about ", Some(1.62)), "about $1.62 or more");
        assert_eq!(about_or_more("about ", Some(0.00001)), "more than $0.00");
        assert_eq!(about_or_more("about ", None), "a price that is not known");
    }

    #[test]
    fn units_have_no_empty_digits() {
        let shown = [0.5, 10.0, 2_410.0, 0.001].map(units);
        assert_eq!(shown, ["0.5", "10", "2,410", "< 0.01"]);
    }
}
