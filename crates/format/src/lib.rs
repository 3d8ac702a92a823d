//! Texts for people: numbers, sizes, times and money; errors with their causes; text that is safe to print on a terminal;
//! names that are similar or free. Pure: nothing here prints.

pub mod address;

use std::borrow::{Borrow, Cow};
use std::error::Error;
use std::time::Duration;

/// The messages of an error and its sources, the nearest first. Leaves out those that `message` or an earlier one contains,
/// because drivers repeat the text of their sources.
pub fn causes(message: &str, error: Option<&dyn Error>) -> Vec<String> {
    let mut said = vec![message.to_owned()];
    let mut shown = Vec::new();
    let mut next = error;
    while let Some(error) = next {
        let text = error.to_string();
        let own = without_preamble(&text);
        if !said.iter().any(|before| before.contains(own)) {
            shown.push(own.to_owned());
        }
        said.push(text);
        next = error.source();
    }
    shown
}

/// The message of the operating system or the database, without sqlx's words around it.
fn without_preamble(text: &str) -> &str {
    if let Some(said) = text.strip_prefix("error communicating with database: ") {
        return said;
    }
    let Some(said) = text.strip_prefix("error returned from database: ") else {
        return text;
    };
    // The line that PostgreSQL names is in its own source code. MySQL's is in the statement; its message begins with a number.
    let own_line = said
        .rsplit_once(" at line ")
        .filter(|(_, line)| line.bytes().all(|b| b.is_ascii_digit()))
        .filter(|_| !said.starts_with(|c: char| c.is_ascii_digit()));
    own_line.map_or(said, |(message, _)| message)
}

/// An error and its sources in one line.
pub fn with_causes(error: &dyn Error) -> String {
    let message = error.to_string();
    in_one_line(&message, &causes(&message, error.source()))
}

/// A message and the messages of its causes in one line.
pub fn in_one_line(message: &str, causes: &[String]) -> String {
    let message = std::iter::once(message);
    let all: Vec<&str> = message.chain(causes.iter().map(String::as_str)).collect();
    all.join(": ")
}

/// Whether a character controls a terminal or a page instead of being shown: control characters (C0, DEL, C1), line and
/// paragraph separators, and characters that change the direction of text.
fn controls_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with each character that controls a terminal escaped as in JSON, `\u001b`, except tabs and newlines. JSON keeps
/// its meaning.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| controls_terminal(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            // Each of them is one UTF-16 code unit.
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Bytes as pairs of hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    // `format!` for each byte would cost a thousand instructions for each item of a load.
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = halves.filter_map(|half| char::from_digit(u32::from(half), 16));
    digits.collect()
}

/// A word, quoted for a POSIX shell if it needs quotes.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Groups values by key; keys and values keep the order in which they come.
pub fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// All values, or `None` where one is missing. Each is asked for all the same, so that whoever makes them tells every fault.
pub fn every<T>(values: impl IntoIterator<Item = Option<T>>) -> Option<Vec<T>> {
    let values: Vec<Option<T>> = values.into_iter().collect();
    values.into_iter().collect()
}

/// All values in their order, without repeats.
pub fn each_once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// This name, or the first of `name_2`, `name_3`, … that is not taken.
pub fn free_name(name: &str, is_taken: &dyn Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// Joins texts, for iterators.
pub fn joined<T: Borrow<str>>(texts: impl IntoIterator<Item = T>, between: &str) -> String {
    let texts: Vec<T> = texts.into_iter().collect();
    texts.join(between)
}

/// The text if the condition holds, else an empty one.
pub fn text_if(condition: bool, text: impl Into<String>) -> String {
    if condition {
        text.into()
    } else {
        String::new()
    }
}

/// A text in one line: newlines and tabs are escaped too.
pub fn one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// A count with separators: `1,234,567`.
pub fn count(number: impl TryInto<u64>) -> String {
    indicatif::HumanCount(whole(number)).to_string()
}

/// A count with its noun: `1 row`, `2 rows`.
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    counted_as(number, noun, &format!("{noun}s"))
}

/// A count with its noun, where the plural is another word: `1 child`, `2 children`.
pub fn counted_as(number: impl TryInto<u64>, one: &str, many: &str) -> String {
    let number = whole(number);
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", count(number))
}

/// A count as u64; too large ones, and negative ones, become `u64::MAX`.
pub fn whole(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

/// A size in bytes: `340 B`, `12.30 KiB`, `1.20 GiB`.
pub fn bytes(size: impl TryInto<u64>) -> String {
    indicatif::HumanBytes(whole(size)).to_string()
}

/// A duration in seconds: `0.42 s`, `3 min 5 s`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.2} s");
    }
    let whole = Duration::from_secs_f64(seconds).as_secs();
    match whole / 3600 {
        0 => format!("{} min {} s", whole / 60, whole % 60),
        hours => format!("{hours} h {} min", whole % 3600 / 60),
    }
}

/// A rate: `12,345 rows/s`.
pub fn rate(per_second: f64, noun: &str) -> String {
    format!("{}/s", counted(rounded(per_second), noun))
}

/// Money with two decimal places; amounts below a cent with four.
pub fn usd(amount: f64) -> String {
    if amount == 0.0 || amount >= 0.01 {
        format!("{amount:.2}")
    } else if amount >= 0.0001 {
        format!("{amount:.4}")
    } else {
        "< 0.0001".to_owned()
    }
}

/// An estimated figure: whole numbers without decimal places, others with one.
pub fn figure(number: f64) -> String {
    if (number - number.round()).abs() < 0.05 {
        count(rounded(number))
    } else {
        format!("{number:.1}")
    }
}

/// A count as a number for shares, rates and money: exact below 2^53.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "figures for people"
)]
pub fn float(count: u64) -> f64 {
    count as f64
}

/// The nearest whole number.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a figure for people; saturates"
)]
pub fn rounded(number: f64) -> u64 {
    number.round() as u64
}

/// Whether a text contains a name as a whole word, ignoring case.
pub fn has_word(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let is_in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut found = text.match_indices(&name);
    found.any(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let after = rest.get(name.len()..).unwrap_or_default();
        !is_in_word(before.chars().next_back()) && !is_in_word(after.chars().next())
    })
}

/// The name in `known` that is most similar to `wrong`, if one is similar enough to be meant.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let is_similar = |name: &&str| {
        let letters = name.chars().count();
        distance(name) < letters && distance(name) <= letters.max(3) / 3
    };
    let similar = known.into_iter().filter(is_similar);
    similar.min_by_key(|name| distance(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_as_json_writes_it() {
        let steering = "a\u{1b}[31m\r\u{7}\u{7f}\u{9b}\u{202e}b\u{2066}\u{2028}";
        let escaped = "a\\u001b[31m\\u000d\\u0007\\u007f\\u009b\\u202eb\\u2066\\u2028";
        assert_eq!(printable(steering), escaped);
        assert_eq!(
            one_line(&format!("{steering}\n\t")),
            format!("{escaped}\\n\\t")
        );
        assert_eq!(printable("a\tb\nç 한 שלום"), "a\tb\nç 한 שלום");
        let read: String = serde_json::from_str(&format!("\"{escaped}\"")).expect("JSON");
        assert_eq!(read, steering);
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(rate(1234.6, "row"), "1,235 rows/s");
    }

    #[test]
    fn words_are_found_whole_and_in_any_case() {
        assert!(has_word("SELECT Id FROM t", "id"));
        assert!(has_word("grid, id", "id"));
        assert!(!has_word("grid user_id ids", "id"));
    }

    #[test]
    fn the_nearest_name_is_similar_or_none() {
        assert_eq!(nearest("ordres", ["users", "orders"]), Some("orders"));
        assert_eq!(nearest("invoices", ["users", "orders"]), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn a_taken_name_gets_the_first_free_number() {
        let is_taken = |name: &str| ["a", "a_2"].contains(&name);
        assert_eq!(free_name("a", &is_taken), "a_3");
        assert_eq!(free_name("b", &is_taken), "b");
    }

    #[test]
    fn words_are_quoted_for_the_shell_where_they_have_to_be() {
        assert_eq!(shell_word("shop.yaml"), "shop.yaml");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(0.421), "0.42 s");
        assert_eq!(seconds(185.0), "3 min 5 s");
        assert_eq!(seconds(7_260.0), "2 h 1 min");
    }
}
