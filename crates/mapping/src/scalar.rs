//! Scalars of YAML, as a mapping is written.

/// A YAML scalar: plain where that is safe, else in double quotes.
pub fn scalar(text: &str) -> String {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = begins && text.chars().all(is_inner);
    let word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if plain && !word.contains(&text.to_lowercase().as_str()) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A YAML scalar in double quotes.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    // JSON's string literals are YAML's double-quoted ones.
    dynafold_relational::value::quote(&mut out, text);
    out
}
