//! What `check` says: faults and risks, each with a stable code and a place in the mapping file.

mod code;
mod render;
mod weight;

pub use code::Code;
pub use render::{render, to_json};
pub use weight::Risk;

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use serde::Serialize;

/// Whether a diagnostic makes the mapping unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The mapping cannot be used.
    Error,
    /// The mapping can be used; this is a risk.
    Warning,
}

/// A second place that has to do with a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Bytes of the mapping file.
    pub span: Range<usize>,
    /// What is there.
    pub text: String,
}

/// One fault or risk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code, which decides the severity and the documentation's anchor.
    pub code: Code,
    /// One line: what is wrong.
    pub message: String,
    /// Bytes of the mapping file that the caret underlines.
    pub span: Range<usize>,
    /// What stands at the caret, in a few words; may be empty.
    pub label: String,
    /// Other places that have to do with it.
    pub others: Vec<Label>,
    /// How to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic at a place, to be completed with the `with_` methods.
    pub fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span,
            label: String::new(),
            others: Vec::new(),
            help: None,
        }
    }

    /// Says how to mend it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what stands at the caret.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at a second place.
    pub fn with_other(mut self, span: Range<usize>, text: impl Into<String>) -> Self {
        self.others.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Whether it is a fault or a risk.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// The message alone: [`render`] shows all of it.
impl Display for Diagnostic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Diagnostic {}

/// What was found so far. All that check a mapping add to it, whatever else they hold.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics(RefCell<Vec<Diagnostic>>);

impl Diagnostics {
    /// What was found before.
    pub(crate) fn of(before: Vec<Diagnostic>) -> Self {
        Self(RefCell::new(before))
    }

    pub(crate) fn push(&self, diagnostic: Diagnostic) {
        self.0.borrow_mut().push(diagnostic);
    }

    pub(crate) fn extend(&self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|one| self.push(one));
    }

    /// Adds a diagnostic that says how to mend it, and nothing else.
    pub(crate) fn add(
        &self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::new(code, span, message).with_help(help));
    }

    /// Tells of names that are written again. `twice`: what is wrong with that, and how to mend it.
    pub(crate) fn distinct<'n>(
        &self,
        names: impl IntoIterator<Item = (&'n String, &'n Range<usize>)>,
        (twice, help): (&str, &str),
    ) {
        let mut earlier: HashMap<&str, &Range<usize>> = HashMap::new();
        for (name, span) in names {
            if let Some(first) = earlier.get(name.as_str()) {
                let message = format!("`{name}` {twice}");
                self.push(
                    Diagnostic::new(Code::DuplicateKey, span.clone(), message)
                        .with_other((*first).clone(), "first here")
                        .with_help(help),
                );
            } else {
                earlier.insert(name, span);
            }
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// Whether one of them is such.
    pub(crate) fn any(&self, is_it: impl Fn(&Diagnostic) -> bool) -> bool {
        self.0.borrow().iter().any(is_it)
    }

    /// Takes all of them out, in the order in which they were found.
    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        self.0.take()
    }
}

/// Names of the language, each with what SQL, AWS and other tools call the same, in lower case without
/// `_` and `-`.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("dynafold", "version"),
    ("access_patterns", "patterns queries accesspattern"),
    ("partition", "pk hash hashkey partitionkey"),
    ("sort", "sk range rangekey sortkey"),
    ("indexes", "gsi gsis globalsecondaryindexes globalindexes"),
    ("local_indexes", "lsi lsis localsecondaryindexes"),
    ("project", "projection projected include"),
    ("billing", "capacity billingmode throughput"),
    ("on-demand", "payperrequest ondemand"),
    ("ttl", "timetolive"),
    ("from", "table source"),
    ("filter", "where condition having"),
    ("where", "filter condition having"),
    ("columns", "fields select"),
    ("omit", "exclude except skip drop without"),
    ("keep", "null include"),
    ("key", "keys primarykey"),
    ("begins_with", "prefix startswith"),
    ("gt", "after greater"),
    ("lt", "before less"),
    ("ge", "gte from since"),
    ("le", "lte until"),
    ("asc", "ascending ascend forward"),
    ("desc", "descending descend backward reverse"),
    ("consistent", "consistentread stronglyconsistent"),
    ("$when", "$if $unless $case $condition"),
    ("$value", "$val $then"),
    ("$embed", "$from $table $children $nest"),
    ("$where", "$filter"),
    ("$order", "$sort $orderby"),
    ("$each", "$item $select $project"),
    ("$type", "$cast"),
    ("source", "database db url uri connection"),
    ("output", "out outfile"),
    ("deny-warnings", "strict"),
    ("S", "string text str"),
    ("N", "number int integer numeric decimal"),
    ("B", "binary bytes blob"),
    ("BOOL", "boolean"),
    ("L", "list array"),
    ("M", "map object json"),
    ("lower", "lowercase tolower downcase lcase"),
    ("upper", "uppercase toupper upcase ucase"),
    (
        "pad",
        "lpad padleft leftpad padstart zfill zeropad zeropadded",
    ),
    ("truncate", "substr substring left slice cut trunc"),
    ("trim", "strip btrim"),
    ("default", "coalesce ifnull nvl"),
    ("iso", "isoformat toisostring iso8601"),
    ("format", "dateformat strftime tochar"),
    ("epoch", "unixtimestamp unixtime timestamp"),
    ("string", "str tostring text"),
    ("number", "int integer tonumber numeric"),
    ("bool", "boolean"),
    ("pseudonym", "hash sha256 md5 mask"),
    ("redact", "hide"),
];

/// The name among `known` that is meant by `wrong`: another word for it, or the one that is most like
/// it, if one is like it at all.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    let known: Vec<&str> = known.into_iter().collect();
    let spoken = lower.replace(['-', '_', ' '], "");
    let mut other = OTHER_WORDS
        .iter()
        .filter(|(_, words)| words.split(' ').any(|word| word == spoken))
        .filter_map(|(ours, _)| known.iter().find(|name| *name == ours));
    if let Some(meant) = other.next() {
        return Some(meant);
    }
    dynafold_format::nearest(wrong, known)
}

/// Asks for the nearest known name, if there is one.
pub fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    Some(format!("did you mean `{}`?", nearest(wrong, known)?))
}
