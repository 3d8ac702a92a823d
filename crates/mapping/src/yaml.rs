//! YAML as a tree in which every key and every value knows its place in the file.

use std::collections::HashMap;
use std::ops::Range;
use std::str::FromStr;

use dynafold_format::{counted, joined};
use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle};

use crate::diagnostic::{Code, Diagnostic};

/// Nodes beyond which a file is refused: aliases can multiply without end.
const MAX_NODES: usize = 200_000;
/// Levels beyond which a file is refused: whoever reads the tree goes down into it, and aliases can
/// hang one deep value below another. DynamoDB takes 32 levels.
const MAX_LEVELS: usize = 128;

/// A value with its place.
#[derive(Debug, Clone)]
pub struct YamlNode {
    /// Bytes of the file.
    pub span: Range<usize>,
    /// What stands there.
    pub content: YamlContent,
}

/// What a node is.
#[derive(Debug, Clone)]
pub enum YamlContent {
    /// Text of any style; `plain` when it has no quotes.
    Scalar {
        /// The text after YAML's escapes.
        text: String,
        /// Whether it was written without quotes and not as a block.
        plain: bool,
    },
    /// A sequence.
    List(Vec<YamlNode>),
    /// A mapping; duplicate keys are still in it.
    Map {
        /// The entries in order.
        entries: Vec<YamlEntry>,
        /// Whether it was written with braces.
        flow: bool,
    },
}

/// A key and its value.
#[derive(Debug, Clone)]
pub struct YamlEntry {
    /// The key's text.
    pub key: String,
    /// The key's place.
    pub key_span: Range<usize>,
    /// What stands behind the key's colon.
    pub value: YamlNode,
}

impl YamlNode {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            YamlContent::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether this is an empty plain scalar: a key without a value.
    pub fn is_empty(&self) -> bool {
        matches!(&self.content, YamlContent::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// The entries of a map; none for anything else.
    pub fn entries(&self) -> &[YamlEntry] {
        match &self.content {
            YamlContent::Map { entries, .. } => entries,
            _ => &[],
        }
    }

    /// The elements of a list; none for anything else.
    pub fn elements(&self) -> &[YamlNode] {
        match &self.content {
            YamlContent::List(elements) => elements,
            _ => &[],
        }
    }

    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.entries()
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.value)
    }

    /// The value of a key of a map, read as a number or a truth value.
    pub fn read<T: FromStr>(&self, key: &str) -> Option<T> {
        self.get(key)?.text()?.parse().ok()
    }

    /// Whether this looks like a template written without quotes: `{column}` is a YAML map.
    pub fn is_unquoted_template(&self) -> bool {
        match &self.content {
            YamlContent::Map {
                entries,
                flow: true,
            } => !entries.is_empty() && entries.iter().all(|entry| entry.value.is_empty()),
            _ => false,
        }
    }

    /// The word for this node's shape in messages.
    pub fn shape(&self) -> &'static str {
        match &self.content {
            YamlContent::Scalar { .. } if self.is_empty() => "nothing",
            YamlContent::Scalar { .. } => "a scalar",
            YamlContent::List(_) => "a list",
            YamlContent::Map { .. } => "a map",
        }
    }
}

/// Reads one YAML document.
///
/// # Errors
///
/// One diagnostic with code `yaml`: YAML gives no second fault after the first.
pub fn parse(text: &str) -> Result<YamlNode, Box<Diagnostic>> {
    YamlBuilder {
        text,
        parser: Parser::new_from_str(text),
        anchors: HashMap::new(),
        nodes: 0,
        level: 0,
    }
    .document()
    .map_err(Box::new)
}

/// Lines above the one where text is found to be no YAML in which the cause is looked for.
const LOOK_BACK: usize = 4;

struct YamlBuilder<'t> {
    text: &'t str,
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    anchors: HashMap<usize, YamlNode>,
    nodes: usize,
    /// How many lists and maps stand around what is read.
    level: usize,
}

impl<'t> YamlBuilder<'t> {
    fn document(mut self) -> Result<YamlNode, Diagnostic> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_some() => {
                    return Err(self.fault(&span, "the file holds a second YAML document").with_help(
                        "one mapping is one document: remove the second `---` and everything after it",
                    ));
                }
                Event::DocumentStart(..) => {}
                Event::StreamEnd => break,
                event => root = Some(self.node(event, &span)?),
            }
        }
        root.ok_or_else(|| {
            Diagnostic::new(Code::Yaml, 0..0, "the file is empty")
                .with_help("`dynafold init --source URL` writes a first mapping")
        })
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Diagnostic> {
        match self.parser.next_event() {
            Some(Ok(pair)) => Ok(pair),
            Some(Err(error)) => {
                let at = error.marker().byte_offset().unwrap_or(self.text.len());
                let info = error.info();
                if let Some(fault) = self.misread(at) {
                    return Err(fault);
                }
                let is_tab = |word| matches!(word, "tab" | "tabs");
                let is_star = self
                    .text
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with('*'));
                Err(if is_star && info.contains("alias") {
                    Diagnostic::new(Code::Yaml, at..at + 1, "`*` must stand in quotes")
                        .with_help("write \"*\"")
                } else if info.split(' ').any(is_tab) {
                    Diagnostic::new(Code::Yaml, at..at, "a tab where YAML allows only spaces")
                        .with_label("this is, or follows, a tab")
                        .with_help("indent with spaces: YAML allows no tabs there")
                } else {
                    let message = if info.is_empty() { "not YAML" } else { &info };
                    Diagnostic::new(Code::Yaml, at..at, message)
                        .with_label("YAML cannot be read from here on")
                        .with_help(
                            "look here and in the lines above for a key without its colon, a quote that is not closed or is neither \" nor ', texts joined by `+`, and wrong indentation (spaces, no tabs); quote texts that hold `: `, `#`, `{` or `[`",
                        )
                })
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The likely cause of text that is no YAML, in the lines that end with the one where it was
    /// noticed: a template that a comment cuts, or a line that is indented as no other.
    fn misread(&self, at: usize) -> Option<Diagnostic> {
        let end = self
            .text
            .get(at..)?
            .find('\n')
            .map_or(self.text.len(), |end| at + end);
        let (mut indents, mut opens) = (vec![0], true);
        let mut from = 0;
        for line in self.text.get(..end)?.split_inclusive('\n') {
            let is_near = self.text.get(from..end)?.lines().count() <= LOOK_BACK;
            if let Some(fault) = Self::cut(from, line).filter(|_| is_near) {
                return Some(fault);
            }
            let words = line.trim_start_matches(' ');
            let indent = line.len() - words.len();
            let is_block = !words.trim().is_empty() && !words.starts_with(['#', '\t', '}', ']']);
            if is_block {
                while indents.last().is_some_and(|last| *last > indent) {
                    indents.pop();
                    opens = false;
                }
                let fits = indents.last() == Some(&indent);
                if !fits && !opens && is_near && words.contains(':') {
                    let others = joined(indents.iter().map(ToString::to_string), ", ");
                    let message = format!(
                        "this line is indented by {}, which fits no open block above it",
                        counted(indent, "space")
                    );
                    let help = format!(
                        "indent it like the lines that it belongs to: the open blocks are indented by {others}"
                    );
                    let span = from + indent..from + line.trim_end().len();
                    return Some(Diagnostic::new(Code::Yaml, span, message).with_help(help));
                }
                if !fits {
                    indents.push(indent);
                }
                let code = words.trim_end();
                opens =
                    code.ends_with([':', '|', '>', '-', ',', '{', '[']) || words.starts_with("- ");
            }
            from += line.len();
        }
        None
    }

    /// A template without quotes that ends where ` #` begins a comment: `ORG #{id}`.
    fn cut(from: usize, line: &str) -> Option<Diagnostic> {
        let (mut quote, mut before) = (None, ' ');
        for (at, sign) in line.char_indices() {
            match (sign, quote) {
                ('"' | '\'', None) if matches!(before, ' ' | '[' | '{' | ',') => quote = Some(sign),
                (sign, Some(open)) if sign == open => quote = None,
                ('#', None) if before.is_whitespace() => {
                    let comment = line.get(at + 1..)?.trim_end();
                    let is_template = comment.split([' ', '}']).next()?.contains('{');
                    let is_after = !line.get(..at)?.trim().is_empty();
                    let text = line.get(..at)?.rsplit([':', '{', ',']).next()?.trim();
                    let template = comment.split_inclusive('}').next()?;
                    return (is_template && is_after).then(|| {
                        let span = from + at..from + at + 1 + comment.len();
                        let message = "` #` begins a comment, so that the template ends before it";
                        let help =
                            format!("put the template in double quotes: \"{text} #{template}\"");
                        Diagnostic::new(Code::UnquotedTemplate, span, message)
                            .with_label("YAML leaves this out")
                            .with_help(help)
                    });
                }
                _ => {}
            }
            before = sign;
        }
        None
    }

    fn node(&mut self, event: Event<'t>, span: &Span) -> Result<YamlNode, Diagnostic> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!(
                "the file has more than {MAX_NODES} keys and values, counted with its aliases"
            );
            return Err(self.fault(span, &message));
        }
        let start = self.range(span).start;
        let (content, end, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                let end = self.range(span).end;
                if plain {
                    let rest = self.text.get(end..).unwrap_or_default();
                    let rest = rest.lines().next().unwrap_or_default();
                    let before = self.text.get(..start).unwrap_or_default();
                    let begin = before.rfind('\n').map_or(0, |at| at + 1);
                    let line = self.text.get(begin..end + rest.len()).unwrap_or_default();
                    if rest.trim_start().starts_with('#')
                        && let Some(fault) = Self::cut(begin, line)
                    {
                        return Err(fault);
                    }
                }
                let text = text.into_owned();
                (YamlContent::Scalar { text, plain }, end, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                let mut elements = Vec::new();
                self.descend(span)?;
                let end = loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::SequenceEnd) {
                        break self.range(&span).end;
                    }
                    elements.push(self.node(event, &span)?);
                };
                self.level -= 1;
                let end = elements
                    .last()
                    .map_or(end, |last| last.span.end.max(end.min(last.span.end + 1)));
                (YamlContent::List(elements), end, anchor)
            }
            Event::MappingStart(style, anchor, _) => {
                let flow = style == StructureStyle::Flow;
                self.descend(span)?;
                let (entries, end) = self.entries()?;
                self.level -= 1;
                let end = match entries.last() {
                    Some(last) if !flow => last.value.span.end,
                    _ => end,
                };
                (YamlContent::Map { entries, flow }, end, anchor)
            }
            Event::Alias(id) => {
                let node = self.anchors.get(&id).cloned().ok_or_else(|| {
                    self.fault(span, "this alias is inside the value that it stands for")
                        .with_help("write the value out here")
                })?;
                let (nodes, levels) = measured(&node);
                self.nodes += nodes;
                if self.level + levels > MAX_LEVELS {
                    return Err(self.too_deep(span));
                }
                return Ok(node);
            }
            _ => return Err(self.fault(span, "not a value")),
        };
        let node = YamlNode {
            span: start..end.max(start),
            content,
        };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn entries(&mut self) -> Result<(Vec<YamlEntry>, usize), Diagnostic> {
        let mut entries = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok((entries, self.range(&span).end));
            }
            let key = self.node(event, &span)?;
            let YamlContent::Scalar { text, .. } = key.content else {
                return Err(self
                    .fault(&span, "a key must be a text, not a list or a map")
                    .with_help("put a template that starts with `{` in quotes"));
            };
            let (event, span) = self.next()?;
            let mut value = self.node(event, &span)?;
            if value.is_empty() {
                // A missing value has no place of its own: point at the key.
                value.span = key.span.clone();
            }
            entries.push(YamlEntry {
                key: text,
                key_span: key.span,
                value,
            });
        }
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let start = span.start.byte_offset().unwrap_or(self.text.len());
        let end = span.end.byte_offset().unwrap_or(start).max(start);
        start..end
    }

    /// Goes into a list or a map.
    fn descend(&mut self, span: &Span) -> Result<(), Diagnostic> {
        self.level += 1;
        if self.level > MAX_LEVELS {
            return Err(self.too_deep(span));
        }
        Ok(())
    }

    fn too_deep(&self, span: &Span) -> Diagnostic {
        self.fault(
            span,
            &format!("the file nests deeper than {MAX_LEVELS} levels"),
        )
    }

    fn fault(&self, span: &Span, message: &str) -> Diagnostic {
        Diagnostic::new(Code::Yaml, self.range(span), message)
    }
}

/// How many nodes a node has, itself included, and how many levels of lists and maps.
fn measured(node: &YamlNode) -> (usize, usize) {
    let of_entries = node.entries().iter().map(|entry| &entry.value);
    let within = node.elements().iter().chain(of_entries).map(measured);
    let (nodes, levels) = within.fold((0, 0), |(nodes, levels), (more, below)| {
        (nodes + more, levels.max(below))
    });
    let is_scalar = matches!(node.content, YamlContent::Scalar { .. });
    (nodes + 1, levels + usize::from(!is_scalar))
}

#[cfg(test)]
mod tests;
