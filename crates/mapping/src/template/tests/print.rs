//! Prints a written template back, in the one canonical way: what tests and the fuzzer hold the reader against.

use super::{FilterArgument, FilterCall, Segment, WrittenTemplate};

pub(crate) fn print(written: &WrittenTemplate) -> String {
    written.segments.iter().map(segment).collect()
}

fn segment(written: &Segment) -> String {
    match written {
        Segment::Text(text) => {
            let doubled = |c: char| 1 + usize::from(matches!(c, '{' | '}' | '[' | ']'));
            let letters = text.chars();
            letters
                .flat_map(|c| std::iter::repeat_n(c, doubled(c)))
                .collect()
        }
        Segment::Placeholder(placeholder) => {
            let filters = placeholder.filters.iter();
            let filters: Vec<String> = filters.map(|each| format!(" | {}", call(each))).collect();
            format!("{{{}{}}}", placeholder.written_path(), filters.concat())
        }
        Segment::Optional(inner) => format!("[{}]", inner.iter().map(segment).collect::<String>()),
    }
}

fn call(written: &FilterCall) -> String {
    let arguments = written.arguments.iter().map(|argument| match argument {
        FilterArgument::Plain(literal) => literal.to_string(),
        FilterArgument::Pair(key, value) => format!("{key}: {value}"),
    });
    match arguments.collect::<Vec<_>>().join(", ") {
        none if written.arguments.is_empty() => written.name.clone() + &none,
        arguments => format!("{}({arguments})", written.name),
    }
}
