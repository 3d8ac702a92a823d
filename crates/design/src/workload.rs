//! The workload: SQL statements, each under a comment `-- NAME (RATE/s[, strong]) what it is for`, or `-- NAME`.

use std::collections::BTreeMap;

use dynafold_format::float;
use dynafold_mapping::diagnostic::Diagnostic;
use dynafold_mapping::yaml::{YamlNode, parse};
use dynafold_relational::catalog::{Catalog, Dbms, TableName};
use dynafold_sql::{table, write_statement};
use serde::Serialize;

use crate::edit::BYTE_ORDER_MARK;

/// One statement of a workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Statement {
    /// The name that its comment gives, else `statement` with its number.
    pub name: String,
    /// Requests a second; `None` where its comment has no rate.
    pub rate: Option<f64>,
    /// Whether it needs strongly consistent reads.
    pub strong: bool,
    /// What it is for, as its comment says.
    pub about: String,
    /// Its SQL, without the semicolon.
    pub sql: String,
    /// The line of its comment, or of its first word, from 1.
    pub line: usize,
    /// For a guessed read, the table and the columns by which it finds rows.
    #[serde(skip)]
    pub guessed: Option<(TableName, Vec<String>)>,
}

/// A pin: the items of one table are stored in the item collections of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The table whose items are stored there.
    pub child: String,
    /// The table whose key is the partition key.
    pub parent: String,
    /// The line, from 1.
    pub line: usize,
}

/// Which rows of a table expire, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    /// The table.
    pub table: String,
    /// The column with the time.
    pub column: String,
    /// How long after that time, as a mapping writes periods.
    pub after: Option<String>,
    /// The line, from 1.
    pub line: usize,
}

/// What is wrong with a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// When the parentheses behind a name hold no rate.
    #[error("line {line}: `({found})` is not a rate: write `(20/s)` or `(20/s, strong)`")]
    Rate {
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// When two statements have one name.
    #[error("lines {first} and {second}: two statements are called `{name}`")]
    Twice {
        /// The name.
        name: String,
        /// The line of the one.
        first: usize,
        /// The line of the other.
        second: usize,
    },
    /// When the words before a rate are no name.
    #[error(
        "line {line}: `{found}` is not a name: write one word before the rate, `-- getOrder (20/s) …`"
    )]
    Name {
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// When a statement begins before the one before it ends.
    #[error("line {line}: the statement that begins on line {before} has no `;` at its end")]
    Unended {
        /// The line where the next begins.
        line: usize,
        /// The line where the one before began.
        before: usize,
    },
    /// When a pin is not understood.
    #[error("line {line}: write `-- keep: CHILD beside PARENT`, with the names of two tables")]
    Keep {
        /// The line, from 1.
        line: usize,
    },
    /// When an `expires` line is not understood.
    #[error(
        "line {line}: write `-- expires: TABLE by COLUMN` or `-- expires: TABLE by COLUMN + 30d`"
    )]
    Expires {
        /// The line, from 1.
        line: usize,
    },
    /// When a quoted text or a comment of a statement does not end.
    #[error("line {line}: the statement has a quoted text or a comment that does not end")]
    Open {
        /// The line where the statement begins, from 1.
        line: usize,
    },
    /// When a rate in a mapping is no number above zero.
    #[error("`{name}`: `{key}` must be a number above zero")]
    MappingRate {
        /// The access pattern or the item type.
        name: String,
        /// The key that has it.
        key: &'static str,
    },
    /// When a mapping that is used as a workload cannot be read.
    #[error("line {line}: it is not valid YAML")]
    Mapping {
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        #[source]
        cause: Box<Diagnostic>,
    },
    /// When there is no statement.
    #[error(
        "it has no statement: write SQL, each statement under `-- NAME (RATE/s) what it is for`"
    )]
    Empty,
}

/// Reads a workload in the SQL of a database.
///
/// # Errors
///
/// [`WorkloadError`], with the line.
pub fn read(text: &str, dbms: Dbms) -> Result<Vec<Statement>, WorkloadError> {
    let mut found: Vec<Statement> = Vec::new();
    let mut heading: Option<Statement> = None;
    let mut sql = String::new();
    let mut begin = 0;
    let mut open = Open::None;
    for (number, line) in lines(text) {
        if sql.trim().is_empty() {
            let trimmed = line.trim();
            if trimmed.is_empty() {
                continue;
            }
            if let Some(comment) = trimmed.strip_prefix("--") {
                // `-- :id = 42` is an example of a value, for which the data has others.
                let comment = comment.trim();
                if !comment.starts_with(':') {
                    let rated = read_heading(comment, number)?;
                    heading = rated.or(heading).or_else(|| only_name(comment, number));
                }
                continue;
            }
            begin = number;
        } else if open == Open::None
            && let Some(comment) = line.trim().strip_prefix("--")
            && matches!(read_heading(comment.trim(), number), Ok(Some(_)))
        {
            return Err(WorkloadError::Unended {
                line: number,
                before: begin,
            });
        }
        let mut rest = line;
        while let Some(at) = end_of_statement(rest, &mut open, dbms) {
            let (before, after) = rest.split_at(at);
            sql.push_str(before);
            push(&mut found, &mut heading, &mut sql, begin);
            rest = after.get(1..).unwrap_or_default();
            begin = number;
        }
        sql.push_str(rest);
        sql.push('\n');
        if sql.trim().is_empty() || sql.trim().starts_with("--") && !sql.trim().contains('\n') {
            sql.clear();
        }
    }
    if open != Open::None {
        return Err(WorkloadError::Open { line: begin });
    }
    push(&mut found, &mut heading, &mut sql, begin);
    if found.is_empty() {
        return Err(WorkloadError::Empty);
    }
    give_names(&mut found)?;
    Ok(found)
}

/// The lines, with their numbers from 1, without a byte order mark.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    (1..).zip(text.lines())
}

/// Reads the pins of a workload: `-- keep: orders beside customers`.
///
/// # Errors
///
/// [`WorkloadError::Keep`], with the line.
pub fn pins(text: &str) -> Result<Vec<Pin>, WorkloadError> {
    let pins = directives(text, KEEP, "beside").map(|(line, pair)| {
        let pair = pair.filter(|(.., rest)| rest.is_empty());
        let (child, parent, _) = pair.ok_or(WorkloadError::Keep { line })?;
        Ok(Pin {
            child,
            parent,
            line,
        })
    });
    pins.collect()
}

/// Reads what a workload says of items that expire: `-- expires: sessions by expires_at`, `-- expires: pings by at + 30d`.
///
/// # Errors
///
/// [`WorkloadError::Expires`], with the line.
pub fn expiries(text: &str) -> Result<Vec<Expiry>, WorkloadError> {
    let expiries = directives(text, EXPIRES, "by").map(|(line, pair)| {
        let refused = WorkloadError::Expires { line };
        let Some((table, column, rest)) = pair else {
            return Err(refused);
        };
        let after = match rest.as_slice() {
            [] => None,
            [plus, after] if plus == "+" && is_period(after) => Some(after.clone()),
            _ => return Err(refused),
        };
        Ok(Expiry {
            table,
            column,
            after,
            line,
        })
    });
    expiries.collect()
}

const KEEP: &str = "keep:";
const EXPIRES: &str = "expires:";

/// Units of periods. None is shorter than a day: DynamoDB deletes items within days after they have expired.
const PERIODS: [&str; 4] = ["d", "w", "mo", "y"];

/// Whether a text is a period as the filter `plus` takes it: `30d`, `2y`.
fn is_period(text: &str) -> bool {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    number.parse::<u32>().is_ok() && PERIODS.contains(&text.get(number.len()..).unwrap_or_default())
}

/// The comments that begin with `begin`, each with its line, the words before and after `between`, and the words after these; `None`
/// for the words if the second one is not `between`.
fn directives(
    text: &str,
    begin: &str,
    between: &str,
) -> impl Iterator<Item = (usize, Option<(String, String, Vec<String>)>)> {
    lines(text).filter_map(move |(number, line)| {
        let comment = line.trim().strip_prefix("--")?.trim_start();
        let directive = comment.strip_prefix(begin)?.trim();
        let words = directive.trim_end_matches([';', '.']).split_whitespace();
        let pair = match words.collect::<Vec<_>>().as_slice() {
            [one, word, other, rest @ ..] if *word == between => {
                let rest = rest.iter().map(|word| (*word).to_owned());
                Some(((*one).to_owned(), (*other).to_owned(), rest.collect()))
            }
            _ => None,
        };
        Some((number, pair))
    })
}

/// Reads the workload of a mapping: the SQL of its access patterns with their rates, and the write rates of its item types.
///
/// # Errors
///
/// [`WorkloadError`] where it is not valid YAML, or has no access pattern with SQL.
pub fn of_mapping(text: &str, catalog: &Catalog) -> Result<Vec<Statement>, WorkloadError> {
    let mapping = parse(text).map_err(|cause| {
        let before = text.get(..cause.span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        WorkloadError::Mapping { line, cause }
    })?;
    let rate = |name: &str, node: &YamlNode, key: &'static str| {
        let Some(text) = node.get(key).and_then(YamlNode::text) else {
            return Ok(None);
        };
        let number = text.parse::<f64>().ok();
        let rate = number.filter(|rate| rate.is_finite() && *rate > 0.0);
        let name = name.to_owned();
        rate.map(Some)
            .ok_or(WorkloadError::MappingRate { name, key })
    };
    let entries = |key: &str| mapping.get(key).map_or(&[][..], YamlNode::entries);
    let reads = entries("access_patterns").iter().filter_map(|entry| {
        let node = &entry.value;
        let text = |key: &str| node.get(key).and_then(YamlNode::text);
        let sql = text("sql")?.trim().trim_end_matches(';').to_owned();
        let rate = rate(&entry.key, node, "rate");
        Some(rate.map(|rate| Statement {
            name: entry.key.clone(),
            rate,
            strong: text("consistent") == Some("true"),
            about: text("description").unwrap_or_default().to_owned(),
            sql,
            ..Statement::default()
        }))
    });
    let mut found: Vec<Statement> = reads.collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err(WorkloadError::Empty);
    }
    // A row that makes items of several types is written once, at the greatest of their rates.
    let mut written: BTreeMap<TableName, (&str, f64, String)> = BTreeMap::new();
    for entry in entries("items") {
        let from = entry.value.get("from").and_then(YamlNode::text);
        let rate = rate(&entry.key, &entry.value, "write_rate")?;
        let Some((from, rate)) = from.zip(rate) else {
            continue;
        };
        let sql = format!("INSERT INTO {from} DEFAULT VALUES");
        let write = write_statement(&sql, catalog.dbms);
        let table = write.and_then(|write| table(catalog, write.schema.as_ref(), &write.table));
        let unknown = || TableName {
            schema: String::new(),
            name: from.to_owned(),
        };
        let name = table.map_or_else(unknown, |table| table.name.clone());
        let known = written.entry(name).or_insert((&entry.key, rate, sql));
        if rate > known.1 {
            (known.0, known.1) = (&entry.key, rate);
        }
    }
    let writes = written.into_values().map(|(name, rate, sql)| Statement {
        name: format!("write_{name}"),
        rate: Some(rate),
        sql,
        ..Statement::default()
    });
    found.extend(writes);
    Ok(found)
}

/// A workload with that of a mapping added: the mapping's reads whose names are new, and of its write rate for each table what exceeds
/// the writes of this workload.
pub fn with_mapping(
    statements: &[Statement],
    of_mapping: Vec<Statement>,
    catalog: &Catalog,
) -> Vec<Statement> {
    let written = |statement: &Statement| {
        let write = write_statement(&statement.sql, catalog.dbms)?;
        let table = table(catalog, write.schema.as_ref(), &write.table)?;
        let rate = statement.rate.unwrap_or(1.0) * float(write.rows.unwrap_or(1));
        Some((&table.name, rate))
    };
    let mut rates: BTreeMap<&TableName, f64> = BTreeMap::new();
    for (table, rate) in statements.iter().filter_map(written) {
        *rates.entry(table).or_default() += rate;
    }
    let mut all = statements.to_vec();
    for mut other in of_mapping {
        match written(&other) {
            Some((table, rate)) => {
                let more = rate - rates.get(table).copied().unwrap_or_default();
                other.rate = Some(more);
                // A mapping's rates are rounded.
                if more > rate * 1e-5 {
                    all.push(other);
                }
            }
            None if statements.iter().any(|own| own.name == other.name) => {}
            None => all.push(other),
        }
    }
    all
}

/// Adds the statement that was collected under its heading, and begins the next. An empty one is none.
fn push(
    found: &mut Vec<Statement>,
    heading: &mut Option<Statement>,
    sql: &mut String,
    line: usize,
) {
    let text = std::mem::take(sql).trim().to_owned();
    if text.is_empty() {
        return;
    }
    let mut statement = heading.take().unwrap_or(Statement {
        line,
        ..Statement::default()
    });
    statement.sql = text;
    found.push(statement);
}

/// Gives each statement a name of its own. A word without a rate is a name only if it stands above one statement alone.
fn give_names(found: &mut [Statement]) -> Result<(), WorkloadError> {
    let is_heading = |one: &Statement| one.rate.is_some() || one.strong;
    let mut headings: BTreeMap<String, usize> = BTreeMap::new();
    for one in found.iter().filter(|one| is_heading(one)) {
        if let Some(first) = headings.insert(one.name.clone(), one.line) {
            return Err(WorkloadError::Twice {
                name: one.name.clone(),
                first,
                second: one.line,
            });
        }
    }
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for one in &*found {
        *times.entry(one.name.clone()).or_default() += 1;
    }
    for (position, one) in (1..).zip(found) {
        let is_own = !one.name.is_empty() && times.get(&one.name) == Some(&1);
        if is_heading(one) || is_own {
            continue;
        }
        let mut names = (position..).map(|number: usize| format!("statement{number}"));
        if let Some(name) = names.find(|name| !times.contains_key(name)) {
            times.insert(name.clone(), 1);
            one.name = name;
        }
    }
    Ok(())
}

/// A comment of one word: a name without a rate.
fn only_name(comment: &str, line: usize) -> Option<Statement> {
    let is_part = |sign: char| sign.is_alphanumeric() || "_-.".contains(sign);
    let is_name = comment.starts_with(char::is_alphabetic) && comment.chars().all(is_part);
    is_name.then(|| Statement {
        name: comment.to_owned(),
        line,
        ..Statement::default()
    })
}

/// Reads a comment `NAME (RATE/s[, strong]) about`; `None` for any other comment: one without parentheses behind its first word.
fn read_heading(comment: &str, line: usize) -> Result<Option<Statement>, WorkloadError> {
    if comment.starts_with(KEEP) || comment.starts_with(EXPIRES) {
        return Ok(None);
    }
    let Some((name, rest)) = comment.split_once('(') else {
        return Ok(None);
    };
    let name = name.trim();
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    let Some((inside, about)) = rest.split_once(')') else {
        return Ok(None);
    };
    if !is_name {
        let is_rate = inside.split(',').all(|part| {
            let number = part.trim().strip_suffix("/s");
            number.is_some_and(|number| number.trim().parse::<f64>().is_ok())
                || part.trim() == "strong"
        });
        return if is_rate && !name.is_empty() {
            let found = name.to_owned();
            Err(WorkloadError::Name { line, found })
        } else {
            Ok(None)
        };
    }
    let wrong = || WorkloadError::Rate {
        line,
        found: inside.to_owned(),
    };
    let (mut rate, mut strong) = (None, false);
    for part in inside.split(',').map(str::trim) {
        if part.eq_ignore_ascii_case("strong") {
            strong = true;
        } else {
            let number = part.strip_suffix("/s").ok_or_else(wrong)?;
            let requests: f64 = number.trim().parse().map_err(|_| wrong())?;
            if !requests.is_finite() || requests < 0.0 {
                return Err(wrong());
            }
            rate = Some(requests);
        }
    }
    Ok(Some(Statement {
        name: name.to_owned(),
        rate,
        strong,
        about: about.trim().to_owned(),
        line,
        ..Statement::default()
    }))
}

/// What a piece of SQL has begun and not ended.
#[derive(Debug, PartialEq, Eq)]
enum Open {
    None,
    Quote(char),
    /// With what ends it: `$$`, `$tag$`.
    Dollar(String),
    Comment,
}

/// The byte of the semicolon that ends a statement in a line.
///
/// This is no work for the tokenizer of `sqlparser`: that stops at the first fault of the whole file, and takes `--keep: …` of MySQL
/// for two minus signs.
fn end_of_statement(line: &str, open: &mut Open, dbms: Dbms) -> Option<usize> {
    // In quotes a backslash escapes the next character.
    let escapes = matches!(dbms, Dbms::Mysql | Dbms::Mariadb);
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        match (&*open, letter) {
            (Open::Quote('\'' | '"'), '\\') if escapes => {
                letters.next();
            }
            (Open::Quote(quote), letter) if letter == *quote => *open = Open::None,
            (Open::Dollar(tag), '$')
                if line.get(at..).is_some_and(|rest| rest.starts_with(&**tag)) =>
            {
                let end = at + tag.len();
                while letters.next_if(|(at, _)| *at < end).is_some() {}
                *open = Open::None;
            }
            (Open::None, '$') if dbms == Dbms::Postgres => {
                if let Some(tag) = dollar_tag(line, at) {
                    let end = at + tag.len();
                    while letters.next_if(|(at, _)| *at < end).is_some() {}
                    *open = Open::Dollar(tag.to_owned());
                }
            }
            (Open::Comment, '*') if next == Some('/') => {
                letters.next();
                *open = Open::None;
            }
            (Open::None, '\'' | '"' | '`') => *open = Open::Quote(letter),
            (Open::None, '-') if next == Some('-') => return None,
            (Open::None, '/') if next == Some('*') => {
                letters.next();
                *open = Open::Comment;
            }
            (Open::None, ';') => return Some(at),
            _ => {}
        }
    }
    None
}

/// What begins a text in dollar quotes at this byte of a line. Behind a name `$` belongs to it, and `$1` is a parameter.
fn dollar_tag(line: &str, at: usize) -> Option<&str> {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    let is_in_name = line
        .get(..at)?
        .ends_with(|sign: char| is_part(sign) || sign == '$');
    let rest = line.get(at..)?;
    let (name, _) = rest.strip_prefix('$')?.split_once('$')?;
    let is_name = name.chars().all(is_part) && !name.starts_with(|sign: char| sign.is_numeric());
    rest.get(..name.len() + 2)
        .filter(|_| is_name && !is_in_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_read_with_their_comments() {
        let text = "-- A workload (of some kind)\n\n-- P1 (2000/s, strong) a page; of one\nSELECT ';' -- not; here\n  FROM t;\n\
                    -- P2 (0.5/s)\nSELECT 2; SELECT 3 /* ; */;\n-- :id = 42\nINSERT INTO t VALUES ('it''s; so')";
        let found = read(text, Dbms::Sqlite).unwrap();
        let heading = |one: &Statement| {
            let Statement {
                name, rate, strong, ..
            } = one;
            format!("{name} {rate:?} {strong} {:?} {}", one.about, one.line)
        };
        let headings: Vec<String> = found.iter().map(heading).collect();
        assert_eq!(
            headings,
            [
                "P1 Some(2000.0) true \"a page; of one\" 3",
                "P2 Some(0.5) false \"\" 6",
                "statement3 None false \"\" 7",
                "statement4 None false \"\" 9",
            ]
        );
        assert_eq!(found[0].sql, "SELECT ';' -- not; here\n  FROM t");
        assert_eq!(found[2].sql, "SELECT 3 /* ; */");
        assert_eq!(found[3].sql, "INSERT INTO t VALUES ('it''s; so')");
        let of_windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(read(&of_windows, Dbms::Sqlite).unwrap(), found);
        let marked = "\u{feff}-- keep: orders beside customers\r\n-- A (1/s)\r\nSELECT 1;";
        assert_eq!(read(marked, Dbms::Sqlite).unwrap()[0].name, "A");
        assert_eq!(pins(marked).unwrap()[0].parent, "customers");
    }

    #[test]
    fn what_a_mapping_writes_is_counted_once() {
        let catalog = dynafold_relational::catalog::sample::shop();
        let known = of_mapping(
            "items:
  HEAD: { from: orders, write_rate: 40 }
  BODY: { from: public.orders, write_rate: 50 }
  USER: { from: users, write_rate: 5 }
access_patterns:
  get: { sql: SELECT * FROM orders WHERE id = :id, rate: 7 }
  old: { sql: SELECT * FROM users WHERE id = :id, rate: 8 }
",
            &catalog,
        );
        let known = known.unwrap();
        let all = |text: &str| {
            let own = read(text, Dbms::Postgres).unwrap();
            let all = with_mapping(&own, known.clone(), &catalog).into_iter();
            let all = all.map(|one| format!("{} {}", one.name, one.rate.unwrap()));
            all.collect::<Vec<_>>()
        };
        let get = "-- get (9/s)\nSELECT * FROM orders WHERE id = :id;\n";
        let others = ["get 9", "old 8", "write_BODY 50", "write_USER 5"];
        assert_eq!(all(get), others);
        let some = format!("{get}-- put (20/s)\nINSERT INTO orders (id) VALUES (1), (2);");
        let others = ["get 9", "put 20", "old 8", "write_BODY 10", "write_USER 5"];
        assert_eq!(all(&some), others);
        let whole = format!("{get}-- put (50/s)\nUPDATE orders SET user_id = 1 WHERE id = :id;");
        assert_eq!(all(&whole), ["get 9", "put 50", "old 8", "write_USER 5"]);
    }

    #[test]
    fn a_rate_of_a_mapping_is_a_number_above_zero() {
        let catalog = dynafold_relational::catalog::sample::shop();
        for rate in ["-7", "0", "nan", "many"] {
            let text = format!("access_patterns:\n  get: {{ sql: SELECT 1, rate: {rate} }}\n");
            let error = of_mapping(&text, &catalog).unwrap_err().to_string();
            assert_eq!(error, "`get`: `rate` must be a number above zero", "{rate}");
        }
    }

    #[test]
    fn a_mapping_that_is_no_yaml_is_refused_with_its_line() {
        let catalog = dynafold_relational::catalog::sample::shop();
        let text = "access_patterns:\n    a: { sql: SELECT 1 }\n  b: { sql: SELECT 2 }\n";
        let error = of_mapping(text, &catalog).unwrap_err();
        assert_eq!(error.to_string(), "line 3: it is not valid YAML");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("indented by 2 spaces"), "{cause}");
    }

    #[test]
    fn a_comment_of_one_word_is_a_name() {
        let names = |text: &str| {
            let read = read(text, Dbms::Sqlite).unwrap().into_iter();
            read.map(|one| format!("{} {:?}", one.name, one.rate))
                .collect::<Vec<_>>()
        };
        assert_eq!(names("-- orders\nSELECT 1;"), ["orders None"]);
        // One with a rate is the name, wherever it stands; several words, a rule and an example are none.
        assert_eq!(names("-- orders\n-- A (1/s)\nSELECT 1;"), ["A Some(1.0)"]);
        assert_eq!(names("-- A (1/s)\n-- todo\nSELECT 1;"), ["A Some(1.0)"]);
        for other in ["of orders", "--------", ":id"] {
            let text = format!("-- {other}\nSELECT 1;");
            assert_eq!(names(&text), ["statement1 None"], "{other}");
        }
        // Within a statement any comment may stand.
        assert_eq!(names("-- A\nSELECT 1\n-- one\nFROM t;"), ["A None"]);
        // What stands above several statements names none of them.
        let todo = "-- TODO\nSELECT 1;\n-- TODO\nSELECT 2;\n-- A\nSELECT 3;\n-- A (1/s)\nSELECT 4;";
        let given = ["statement1 None", "statement2 None", "statement3 None"];
        assert_eq!(names(todo), [&given[..], &["A Some(1.0)"]].concat());
        // A name that is given is no other statement's.
        let given = ["statement2 None", "statement3 None", "statement4 None"];
        let said = "-- statement2\nSELECT 1; SELECT 2; SELECT 3;";
        assert_eq!(names(said), given);
        let said = "SELECT 1;\n-- statement1 (1/s)\nSELECT 2;";
        assert_eq!(names(said), ["statement2 None", "statement1 Some(1.0)"]);
    }

    #[test]
    fn a_backslash_escapes_a_quote_where_the_database_says_so() {
        let text = r"SELECT 'it\';' FROM t; SELECT `a\`";
        let sql = |dbms| {
            let read = read(text, dbms).ok()?.into_iter();
            Some(read.map(|one| one.sql).collect::<Vec<_>>())
        };
        let said = [r"SELECT 'it\';' FROM t", r"SELECT `a\`"].map(str::to_owned);
        for dbms in [Dbms::Mysql, Dbms::Mariadb] {
            assert_eq!(sql(dbms), Some(said.to_vec()));
        }
        for dbms in [Dbms::Postgres, Dbms::Sqlite] {
            assert_eq!(sql(dbms), None);
        }
    }

    #[test]
    fn a_semicolon_in_dollar_quotes_ends_no_statement_of_postgres() {
        let sql = |text: &str, dbms| {
            let read = read(text, dbms).unwrap().into_iter();
            read.map(|one| one.sql).collect::<Vec<_>>()
        };
        for whole in [
            "INSERT INTO t (a, b) VALUES (:a, $$x; 'y$$)",
            "INSERT INTO t (a) VALUES ($a_1$x; $$;\n$b$; y$a_1$)",
        ] {
            let text = format!("{whole}; SELECT 2");
            assert_eq!(sql(&text, Dbms::Postgres), [whole, "SELECT 2"]);
        }
        // Two parameters, a name, and another database.
        let text = "SELECT $1; SELECT $2; SELECT a$$ FROM t; SELECT 4";
        assert_eq!(sql(text, Dbms::Postgres).len(), 4);
        assert_eq!(sql("SELECT a, $$; SELECT $$", Dbms::Sqlite).len(), 2);
        let open = read("SELECT $$a;", Dbms::Postgres).unwrap_err();
        assert_eq!(open, WorkloadError::Open { line: 1 });
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        assert_eq!(
            read("-- nothing\n", Dbms::Sqlite).unwrap_err(),
            WorkloadError::Empty
        );
        let twice = read("-- A (1/s)\nSELECT 1;\n-- A (1/s)\nSELECT 2;", Dbms::Sqlite).unwrap_err();
        assert!(matches!(
            twice,
            WorkloadError::Twice {
                first: 1,
                second: 3,
                ..
            }
        ));
        assert!(matches!(
            read("SELECT 'a;", Dbms::Sqlite).unwrap_err(),
            WorkloadError::Open { line: 1 }
        ));
        let pinned = "-- keep: orders beside customers\n-- A (1/s)\nSELECT 1;";
        assert_eq!(read(pinned, Dbms::Sqlite).unwrap().len(), 1);
        let [pin] = &pins(pinned).unwrap()[..] else {
            panic!()
        };
        assert_eq!(
            (&*pin.child, &*pin.parent, pin.line),
            ("orders", "customers", 1)
        );
        assert_eq!(
            pins("\n-- keep: orders").unwrap_err(),
            WorkloadError::Keep { line: 2 }
        );
        let [expiry] = &expiries("-- A (1/s)\n--expires: s by at;").unwrap()[..] else {
            panic!()
        };
        assert_eq!(
            (&*expiry.table, &*expiry.column, expiry.line),
            ("s", "at", 2)
        );
        assert_eq!(
            expiries("-- expires: sessions (1/s) at").unwrap_err(),
            WorkloadError::Expires { line: 1 }
        );
        assert!(matches!(
            read("\n-- A (often)\nSELECT 1", Dbms::Sqlite).unwrap_err(),
            WorkloadError::Rate { line: 2, .. }
        ));
    }
}
