//! Text in a template that is a placeholder in other languages: `{{email}}`, `:email`, `<%= email %>`. Here it is
//! literal text, which every item would hold unchanged.

use super::{Segment, WrittenTemplate};

/// Text that looks like a placeholder.
#[derive(Debug, PartialEq, Eq)]
pub struct Lookalike {
    /// The text, as the item would hold it.
    pub text: String,
    /// What to write in its place.
    pub mend: String,
}

/// Marks before and after a name in other languages. Spaces between a mark and the name do not count.
const ENCLOSING_MARKS: [(&str, &str); 4] = [("{", "}"), ("<%=", "%>"), ("<%", "%>"), ("<", ">")];

/// Signs that other languages put right before `{name}`.
const SIGNS_BEFORE_BRACES: [char; 2] = ['$', '%'];

impl WrittenTemplate {
    /// The first text that looks like the placeholder of a column or parameter. `is_known` tells whether one has that name;
    /// with any other name, the text is taken as meant.
    pub fn lookalike(&self, is_known: &dyn Fn(&str) -> bool) -> Option<Lookalike> {
        let segments = self.segments.iter();
        let flat = segments.flat_map(|segment| match segment {
            Segment::Optional(inner) => inner.as_slice(),
            segment => std::slice::from_ref(segment),
        });
        let flat: Vec<&Segment> = flat.collect();
        let mut numbered = flat.iter().enumerate();
        numbered.find_map(|(at, segment)| {
            let Segment::Text(text) = segment else {
                return None;
            };
            find_in_text(text, at == 0, is_known).or_else(|| match flat.get(at + 1) {
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

/// The sign that ends a text, unless it belongs to a word or number before it: `US$`, `100%`.
fn sign_before_braces(text: &str) -> Option<char> {
    let sign = text
        .chars()
        .next_back()
        .filter(|c| SIGNS_BEFORE_BRACES.contains(c))?;
    let before = text.strip_suffix(sign)?.chars().next_back();
    (!before.is_some_and(char::is_alphanumeric)).then_some(sign)
}

/// `is_first`: the text begins the template.
fn find_in_text(text: &str, is_first: bool, is_known: &dyn Fn(&str) -> bool) -> Option<Lookalike> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut end = 0;
    while let Some(start) = text.get(end..)?.find(is_word).map(|at| end + at) {
        let (before, rest) = text.split_at(start);
        let word = rest.split(|c| !is_word(c)).next()?;
        end = start + word.len();
        let name = word.trim_end_matches('.');
        let after = text.get(start + name.len()..)?;
        if let Some(text) = with_marks(before, name, after, is_first)
            && is_known(name)
        {
            let mend = format!("{{{name}}}");
            return Some(Lookalike { text, mend });
        }
    }
    None
}

/// A name with the marks around it that make it a placeholder in other languages; `None` without such marks.
fn with_marks(before: &str, name: &str, after: &str, is_first: bool) -> Option<String> {
    for (open, close) in ENCLOSING_MARKS {
        let (head, tail) = (before.trim_end(), after.trim_start());
        if let (Some(head), Some(tail)) = (head.strip_suffix(open), tail.strip_prefix(close)) {
            let opening = before.get(head.len()..)?;
            let closing = after.get(..after.len() - tail.len())?;
            return Some(format!("{opening}{name}{closing}"));
        }
    }
    // In `urn:user:`, `12:id` and `{id}:email` the sign is a separator.
    let sign = before
        .chars()
        .next_back()
        .filter(|c| matches!(c, ':' | '$'))?;
    let head = before.strip_suffix(sign)?.chars().next_back();
    let begins_word = head.map_or(is_first, |c| !c.is_alphanumeric() && c != sign);
    (begins_word && !after.starts_with(sign)).then(|| format!("{sign}{name}"))
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
