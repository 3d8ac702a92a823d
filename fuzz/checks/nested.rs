//! What is nested twenty thousand levels deep: every reader ends with a value or a fault, on a stack of two megabytes.

use dynafold::mapping::template::parse;
use dynafold::value::parse_document;

use super::mapping_file;

const LEVELS: usize = 20_000;
/// Bytes of what one level opens with or closes with.
const MOST: usize = 16;

/// Reads three lines: what a level opens with, what stands in the middle, and what a level closes with.
pub(crate) fn check(data: &[u8]) {
    let Ok(input) = std::str::from_utf8(data) else {
        return;
    };
    let mut lines = input.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (open, middle, close) = (next(), next(), next());
    if open.len() > MOST || close.len() > MOST {
        return;
    }
    let text = format!("{}{middle}{}", open.repeat(LEVELS), close.repeat(LEVELS));
    // Read or not, it ends. No fault is shown: each would be with its line, of a hundred thousand letters.
    let _ = parse_document(&text);
    let _ = parse(&text);
    let _ = mapping_file::read(&text);
    let quoted = serde_json::to_string(&text).expect("text is JSON");
    let one = |entries: &str| {
        let mapping = format!(
            "dynafold: 1\ntable: {{ name: app, key: {{ partition: PK, sort: SK }} }}\nitems:\n  T:\n    from: cheap\n    key: {{ PK: \"T#{{sku}}\", SK: T }}\n{entries}"
        );
        let _ = mapping_file::read(&mapping);
    };
    one(&format!("    where: {quoted}\n"));
    one(&format!("    attributes: {{ a: {quoted} }}\n"));
    one(&format!("    attributes: {{ a: {text} }}\n"));
    for further in ["filter", "sql"] {
        one(&format!(
            "access_patterns:\n  p: {{ key: {{ PK: \"T#{{sku}}\", SK: T }}, {further}: {quoted} }}\n"
        ));
    }
}
