//! Text in a template that another language would take for a placeholder: `{{email}}`, `:email`,
//! `<%= email %>`. Here it is text, which every item would hold as it stands.

use super::{Segment, WrittenTemplate};

/// Text that looks like a placeholder.
#[derive(Debug, PartialEq, Eq)]
pub struct Lookalike {
    /// The text, as the item would hold it.
    pub text: String,
    /// What to write in its place.
    pub mend: String,
}

/// What stands around a name in other languages. Blanks within are left aside.
const AROUND: [(&str, &str); 4] = [("{", "}"), ("<%=", "%>"), ("<%", "%>"), ("<", ">")];

/// Signs that other languages put right before `{name}`.
const BEFORE_BRACES: [char; 2] = ['$', '%'];

impl WrittenTemplate {
    /// The first text that looks like a placeholder. `is_known` tells whether a name is one of a
    /// column or a parameter: other names stand for nothing, so that their text is meant.
    pub fn lookalike(&self, is_known: &dyn Fn(&str) -> bool) -> Option<Lookalike> {
        let segments = self.segments.iter();
        let inner = segments.flat_map(|segment| match segment {
            Segment::Optional(inner) => inner.as_slice(),
            segment => std::slice::from_ref(segment),
        });
        let segments: Vec<&Segment> = inner.collect();
        let mut texts = segments.iter().enumerate();
        texts.find_map(|(at, segment)| {
            let Segment::Text(text) = segment else {
                return None;
            };
            in_text(text, at == 0, is_known).or_else(|| match segments.get(at + 1) {
                Some(Segment::Placeholder(next)) => {
                    let sign = sign_before_braces(text)?;
                    Some(Lookalike {
                        text: format!("{sign}{{{}}}", next.written_path()),
                        mend: format!("{{{}}}", next.written_path()),
                    })
                }
                _ => None,
            })
        })
    }
}

/// The sign that ends a text, unless something stands before it that it belongs to: `US$`, `100%`.
fn sign_before_braces(text: &str) -> Option<char> {
    let sign = text
        .chars()
        .next_back()
        .filter(|c| BEFORE_BRACES.contains(c))?;
    let before = text.strip_suffix(sign)?.chars().next_back();
    (!before.is_some_and(char::is_alphanumeric)).then_some(sign)
}

fn in_text(text: &str, is_first: bool, is_known: &dyn Fn(&str) -> bool) -> Option<Lookalike> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut end = 0;
    while let Some(start) = text.get(end..)?.find(is_word).map(|at| end + at) {
        let (before, rest) = text.split_at(start);
        let word = rest.split(|c| !is_word(c)).next()?;
        end = start + word.len();
        let name = word.trim_end_matches('.');
        let after = text.get(start + name.len()..)?;
        if let Some(text) = marked(before, name, after, is_first)
            && is_known(name)
        {
            let mend = format!("{{{name}}}");
            return Some(Lookalike { text, mend });
        }
    }
    None
}

/// A name with the marks that make it a placeholder elsewhere. `is_first`: the text begins the template.
fn marked(before: &str, name: &str, after: &str, is_first: bool) -> Option<String> {
    for (open, close) in AROUND {
        let (head, tail) = (before.trim_end(), after.trim_start());
        if let (Some(head), Some(tail)) = (head.strip_suffix(open), tail.strip_prefix(close)) {
            let within = before.get(head.len()..)?;
            let behind = after.get(..after.len() - tail.len())?;
            return Some(format!("{within}{name}{behind}"));
        }
    }
    // In `urn:user:`, `12:id` and `{id}:email` the sign separates.
    let sign = before
        .chars()
        .next_back()
        .filter(|c| matches!(c, ':' | '$'))?;
    let head = before.strip_suffix(sign)?.chars().next_back();
    let is_apart = head.map_or(is_first, |c| !c.is_alphanumeric() && c != sign);
    (is_apart && !after.starts_with(sign)).then(|| format!("{sign}{name}"))
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    fn shown(template: &str) -> Option<String> {
        let is_known = |name: &str| ["email", "id", "p.id"].contains(&name);
        let found = parse(template).unwrap().lookalike(&is_known)?;
        Some(format!("{} -> {}", found.text, found.mend))
    }

    #[test]
    fn placeholders_of_other_languages_are_seen() {
        for (template, expected) in [
            ("{{email}}", "{email} -> {email}"),
            ("U#{{ id }}#", "{ id } -> {id}"),
            ("${{email}}", "{email} -> {email}"),
            (":email", ":email -> {email}"),
            ("U#:p.id.", ":p.id -> {p.id}"),
            ("U#$id", "$id -> {id}"),
            ("U#<id>", "<id> -> {id}"),
            ("<%= email %>!", "<%= email %> -> {email}"),
            ("${email}", "${email} -> {email}"),
            ("a %{email}", "%{email} -> {email}"),
        ] {
            assert_eq!(shown(template).as_deref(), Some(expected), "{template}");
        }
    }

    #[test]
    fn texts_that_are_meant_are_left_alone() {
        for template in [
            "EMAIL#{email}",
            "id:{id}:email",
            "urn:email:{id}",
            "email",
            "ID#id",
            "{{name}}",
            ":name",
            "US${id}",
            "100%{id}",
            "{id}$",
            "a::id",
            "id <{email}>",
        ] {
            assert_eq!(shown(template), None, "{template}");
        }
    }
}
