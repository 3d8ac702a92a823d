//! Numbers, sizes, times and money for people; any text without what steers a terminal; the name that a mistyped one
//! is most like, and one that nothing else has. Pure: nothing here prints.

pub mod address;

use std::borrow::{Borrow, Cow};
use std::error::Error;
use std::time::Duration;

/// The messages of an error and its sources, the nearest first. Those that `message` or an earlier one already contains are
/// left out: drivers repeat the text of their sources.
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

/// What the operating system or the database says, without sqlx's words around it.
fn without_preamble(text: &str) -> &str {
    if let Some(said) = text.strip_prefix("error communicating with database: ") {
        return said;
    }
    let Some(said) = text.strip_prefix("error returned from database: ") else {
        return text;
    };
    // MySQL's text begins with its code, and its line is one of the statement. PostgreSQL's line is one of its own source.
    let own_line = said
        .rsplit_once(" at line ")
        .filter(|(_, line)| line.bytes().all(|b| b.is_ascii_digit()))
        .filter(|_| !said.starts_with(|c: char| c.is_ascii_digit()));
    own_line.map_or(said, |(message, _)| message)
}

/// An error and its sources in one line, where there is room for no more.
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

/// Whether a character steers a terminal or a page instead of standing in it: control characters (C0, DEL, C1), what
/// begins another line, and what turns the direction of the text around it.
pub fn steers(sign: char) -> bool {
    sign.is_control()
        || matches!(sign, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text whose characters that steer a terminal are written as JSON writes them, `\u001b`; tabs and newlines stay.
/// JSON stays the same JSON.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_steering = |sign: char| steers(sign) && !matches!(sign, '\n' | '\t');
    if !text.contains(is_steering) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for sign in text.chars() {
        if is_steering(sign) {
            // All of them have one such code.
            out.push_str(&format!("\\u{:04x}", u32::from(sign)));
        } else {
            out.push(sign);
        }
    }
    Cow::Owned(out)
}

/// Bytes as pairs of hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    // Formatting each byte would cost a thousand instructions for each item of a load.
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = halves.filter_map(|half| char::from_digit(u32::from(half), 16));
    digits.collect()
}

/// A word as a POSIX shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The values of each key, in the order in which they come.
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

/// All of them in their order, what is equal once.
pub fn each_once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// This name, or with the first number behind it that makes it free.
pub fn free_name(name: &str, is_taken: &dyn Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// Texts in a row, with something between them.
pub fn joined<T: Borrow<str>>(texts: impl IntoIterator<Item = T>, between: &str) -> String {
    let texts: Vec<T> = texts.into_iter().collect();
    texts.join(between)
}

/// A text where something is so, and nothing where it is not.
pub fn text_if(is_so: bool, text: impl Into<String>) -> String {
    if is_so { text.into() } else { String::new() }
}

/// A text that stands in one line.
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

/// A number of things, of whatever type it is counted in.
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

/// Money: cents, and more of them where there is less than one.
pub fn usd(amount: f64) -> String {
    if amount == 0.0 || amount >= 0.01 {
        format!("{amount:.2}")
    } else if amount >= 0.0001 {
        format!("{amount:.4}")
    } else {
        "< 0.0001".to_owned()
    }
}

/// A figure that is estimated: whole numbers as such, others with one digit.
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

/// Whether a name stands in a text, in whatever case, and not only as a part of a longer one.
pub fn has_word(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let goes_on = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let mut found = text.match_indices(&name);
    found.any(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let after = rest.get(name.len()..).unwrap_or_default();
        !goes_on(before.chars().next_back()) && !goes_on(after.chars().next())
    })
}

/// The name among `known` that is most like `wrong`, if one is like it at all.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let is_like = |name: &&str| {
        let letters = name.chars().count();
        distance(name) < letters && distance(name) <= letters.max(3) / 3
    };
    let like = known.into_iter().filter(is_like);
    like.min_by_key(|name| distance(name))
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
    fn times_are_short() {
        assert_eq!(seconds(0.421), "0.42 s");
        assert_eq!(seconds(185.0), "3 min 5 s");
        assert_eq!(seconds(7_260.0), "2 h 1 min");
    }
}
