//! SQL of a mapping, taken apart as far as it must be understood: where its parameters stand and what
//! each is compared with, which tables it reads, how it is ordered and limited.
//!
//! It is no parser. What stands in quotes, comments and dollar quotes is told from the rest, and
//! parentheses are counted; the rest is words and signs. What it does not understand it says nothing
//! of, and the caller asks the mapping instead.

mod compared;
mod ends;
mod outer;
mod results;
mod sorted;
mod tables;
mod tokens;

pub(crate) use compared::{ColumnName, Comparison, Side, compared};
pub(crate) use ends::takes_in;
pub(crate) use results::Sorted;
pub(crate) use sorted::{OrderKey, order};
pub(crate) use tables::{Read, tables};
pub(crate) use tokens::{Token, tokens};

use outer::outer;
use tokens::Kind;

use crate::catalog::Dbms;

/// The parameters of a query, `:name`, in the order in which they stand there.
pub(crate) fn parameters(sql: &str, dbms: Option<Dbms>) -> Vec<String> {
    let tokens = tokens(sql, dbms);
    let parameters = tokens.iter().filter_map(Token::parameter);
    parameters.map(str::to_owned).collect()
}

/// A query with its parameters replaced; those for which there is nothing stay.
pub(crate) fn fill(sql: &str, dbms: Dbms, with: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(sql.len());
    let mut from = 0;
    for token in tokens(sql, Some(dbms)) {
        if let Some(value) = token.parameter().and_then(with) {
            filled.push_str(sql.get(from..token.span.start).unwrap_or_default());
            // Behind a minus that of the number would begin a comment.
            if value.starts_with('-') {
                filled.push_str(&format!("({value})"));
            } else {
                filled.push_str(&value);
            }
            from = token.span.end;
        }
    }
    filled.push_str(sql.get(from..).unwrap_or_default());
    filled
}

/// How queries lock the rows that they read.
const LOCKS: [&[&str]; 5] = [
    &["for", "update"],
    &["for", "no", "key", "update"],
    &["for", "share"],
    &["for", "key", "share"],
    &["lock", "in", "share", "mode"],
];

/// Whether a query of one line ends in a comment: what YAML folds into that line is not read.
pub(crate) fn ends_in_comment(sql: &str, dbms: Dbms) -> bool {
    let sql = sql.trim();
    let tokens = tokens(sql, Some(dbms));
    let rest = tokens.last().and_then(|last| sql.get(last.span.end..));
    let rest = rest.unwrap_or_default().trim_start();
    !sql.contains('\n') && (rest.starts_with("--") || rest.starts_with('#'))
}

/// Why a text is not one query that only reads.
pub(crate) fn refusal(sql: &str, dbms: Dbms) -> Option<String> {
    let tokens = tokens(sql, Some(dbms));
    let mut first = tokens.iter().filter(|token| !token.is_sign("("));
    let is_query = |token: &&Token<'_>| {
        let words = ["select", "with", "values", "table"];
        words.iter().any(|word| token.is_word(word))
    };
    if first.next().is_none_or(|token| !is_query(&token)) {
        return Some("its `sql` is no query: it does not begin with SELECT or WITH".to_owned());
    }
    // `WITH … AS (DELETE …)`.
    let writes = ["insert", "update", "delete", "merge"];
    let mut pairs = tokens.iter().zip(tokens.iter().skip(1));
    let writing = pairs.find(|(before, word)| {
        before.is_sign("(") && writes.iter().any(|write| word.is_word(write))
    });
    if let Some((_, word)) = writing {
        let word = word.text.to_uppercase();
        return Some(format!("its `sql` would write: it says {word}"));
    }
    let locks = |lock: &&&[&str]| {
        let mut places = tokens.windows(lock.len());
        places.any(|place| place.iter().zip(**lock).all(|(t, word)| t.is_word(word)))
    };
    if let Some(lock) = LOCKS.iter().find(locks) {
        let lock = lock.join(" ").to_uppercase();
        return Some(format!("its `sql` would lock rows: it says {lock}"));
    }
    let end = tokens.iter().position(|token| token.is_sign(";"));
    if end.is_some_and(|end| end + 1 < tokens.len()) {
        return Some("its `sql` is more than one statement".to_owned());
    }
    let written = foreign_parameter(&tokens, dbms)?;
    Some(format!(
        "its `sql` has a parameter that is written `{written}`: write it `:name`"
    ))
}

/// A parameter as drivers write it: `$1`, `?`, `@name`.
fn foreign_parameter(tokens: &[Token<'_>], dbms: Dbms) -> Option<String> {
    let is_postgres = dbms == Dbms::Postgres;
    let mut before = None;
    for (sign, next) in tokens
        .iter()
        .zip(tokens.iter().skip(1).map(Some).chain([None]))
    {
        let next = next.filter(|next| next.span.start == sign.span.end);
        let is_number = next.is_some_and(|next| next.kind == Kind::Number);
        let is_word = next.is_some_and(|next| next.kind == Kind::Word);
        // `@@name` is a setting of MySQL's; `?` and `@` are operators of PostgreSQL's.
        let found = match sign.text {
            _ if sign.kind != Kind::Sign => false,
            "$" => is_number || (is_word && !is_postgres),
            "?" => !is_postgres,
            "@" => is_word && !is_postgres && before != Some("@"),
            _ => false,
        };
        if found {
            let name = next.filter(|_| is_number || is_word);
            return Some(format!(
                "{}{}",
                sign.text,
                name.map_or("", |name| name.text)
            ));
        }
        before = Some(sign.text);
    }
    None
}

/// How many rows a query gives at most, outermost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// As many as there are.
    None,
    /// So many.
    Rows(u64),
    /// A number that is not written there.
    Unknown,
}

/// The query's own LIMIT or FETCH FIRST.
pub(crate) fn limit(sql: &str, dbms: Dbms) -> Limit {
    let tokens = outer(sql, dbms).tokens;
    let own = tokens.iter().enumerate();
    let mut own = own.filter(|(_, token)| token.depth == 0).rev();
    let found = own.find(|(_, token)| token.is_word("limit") || token.is_word("fetch"));
    let Some((at, word)) = found else {
        return Limit::None;
    };
    let number = tokens.get(at + if word.is_word("fetch") { 2 } else { 1 });
    let number = number.filter(|token| token.kind == Kind::Number);
    // `LIMIT 5, 10` skips five.
    let skips = tokens.get(at + 2).is_some_and(|token| token.is_sign(","));
    match number.and_then(|token| token.text.parse().ok()) {
        Some(rows) if !skips => Limit::Rows(rows),
        _ => Limit::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_query_are_found_outside_of_quotes_and_comments() {
        let sql =
            "SELECT ':a', \":b\", x::text, y[1:2] -- :c\n FROM t /* :d */ WHERE z = :e AND w=:f_1";
        assert_eq!(parameters(sql, None), ["e", "f_1"]);
        let dollars = "SELECT $x$ :a $x$, E'\\':b' FROM t WHERE c = :c";
        assert_eq!(parameters(dollars, Some(Dbms::Postgres)), ["c"]);
        let mysql = "SELECT 'it\\'s :a' # :b\n FROM t WHERE c = :c";
        assert_eq!(parameters(mysql, Some(Dbms::Mariadb)), ["c"]);
        let mysql = "SELECT \"it\\\"s :a\", 5--:b FROM t WHERE c = :c -- :d";
        assert_eq!(parameters(mysql, Some(Dbms::Mysql)), ["b", "c"]);
        let sqlite = "SELECT [a:b] FROM t WHERE c = :c";
        assert_eq!(parameters(sqlite, Some(Dbms::Sqlite)), ["c"]);
    }

    #[test]
    fn parameters_are_replaced_where_they_stand_and_nowhere_else() {
        let with = |name: &str| (name == "id").then(|| "7".to_owned());
        let sql = "SELECT ':id', id::text FROM t WHERE id = :id OR x = :idx -- :id";
        assert_eq!(
            fill(sql, Dbms::Postgres, &with),
            "SELECT ':id', id::text FROM t WHERE id = 7 OR x = :idx -- :id"
        );
    }

    #[test]
    fn what_is_no_single_query_is_refused() {
        for sql in [
            "SELECT 1",
            "(SELECT 1) UNION SELECT 2;",
            "-- a word\nWITH a AS (SELECT 1) SELECT * FROM a",
            "VALUES (1)",
        ] {
            assert_eq!(refusal(sql, Dbms::Postgres), None, "{sql}");
        }
        for sql in [
            "DELETE FROM t",
            "SELECT 1; DROP TABLE t",
            "WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a",
            "SELECT * FROM t FOR UPDATE",
            "SELECT a FROM t WHERE id = $1",
            "",
        ] {
            assert!(refusal(sql, Dbms::Postgres).is_some(), "{sql}");
        }
    }

    #[test]
    fn parameters_as_drivers_write_them_are_refused_and_operators_are_not() {
        let written = |sql, dbms| foreign_parameter(&tokens(sql, Some(dbms)), dbms);
        for (sql, dbms, expected) in [
            ("SELECT a FROM t WHERE id = $1", Dbms::Postgres, Some("$1")),
            ("SELECT $x$1$x$, a ? 'b', @ a FROM t", Dbms::Postgres, None),
            ("SELECT a FROM t WHERE id = ?", Dbms::Mariadb, Some("?")),
            ("SELECT @@version FROM t", Dbms::Mysql, None),
            ("SELECT a FROM t WHERE id = @id", Dbms::Mysql, Some("@id")),
            ("SELECT a FROM t WHERE id = ?1", Dbms::Sqlite, Some("?1")),
            (
                "SELECT '?', \"@a\" FROM t WHERE id = :id",
                Dbms::Sqlite,
                None,
            ),
        ] {
            assert_eq!(written(sql, dbms).as_deref(), expected, "{sql}");
        }
    }

    #[test]
    fn a_negative_number_begins_no_comment() {
        let with = |_: &str| Some("-3".to_owned());
        assert_eq!(fill("SELECT 5-:b", Dbms::Sqlite, &with), "SELECT 5-(-3)");
    }

    #[test]
    fn a_query_that_locks_rows_is_refused() {
        for lock in [
            "FOR UPDATE",
            "FOR NO KEY UPDATE OF t",
            "FOR SHARE",
            "FOR KEY SHARE NOWAIT",
            "LOCK IN SHARE MODE",
        ] {
            let sql = format!("SELECT a FROM t {lock}");
            let refused = refusal(&sql, Dbms::Postgres).unwrap_or_default();
            assert!(refused.contains("would lock rows"), "{sql}: {refused}");
        }
        let sql = "SELECT substring(share FROM 1 FOR 3) FROM t";
        assert_eq!(refusal(sql, Dbms::Postgres), None);
    }

    #[test]
    fn a_comment_that_ends_a_query_of_one_line_is_seen() {
        for (sql, ends) in [
            ("SELECT a FROM t -- by key WHERE a = 1 ", true),
            ("SELECT a FROM t\nWHERE a = 1 -- by key", false),
            ("SELECT '-- a' FROM t", false),
        ] {
            assert_eq!(ends_in_comment(sql, Dbms::Postgres), ends, "{sql}");
        }
    }

    #[test]
    fn the_limit_of_a_query_is_its_outermost() {
        let of = |sql| limit(sql, Dbms::Postgres);
        assert_eq!(of("SELECT a FROM (SELECT a FROM t LIMIT 3) q"), Limit::None);
        assert_eq!(of("SELECT a FROM t LIMIT 20"), Limit::Rows(20));
        assert_eq!(
            of("SELECT a FROM t FETCH FIRST 5 ROWS ONLY"),
            Limit::Rows(5)
        );
        assert_eq!(of("SELECT a FROM t LIMIT 5, 10"), Limit::Unknown);
        assert_eq!(of("SELECT a FROM t LIMIT :n"), Limit::Unknown);
        assert_eq!(of("(SELECT a FROM t LIMIT 2)"), Limit::Rows(2));
    }
}
