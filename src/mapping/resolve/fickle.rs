//! Whether what a pass reads depends on more than the rows of tables: on the clock, on chance, on
//! who asks.
//!
//! Chunks of such a pass are not skipped when a load goes on, although no row has changed since. SQL
//! is not understood here, so it is taken to be fickle unless all of its functions and relations are
//! known not to be. What only looks fickle is read again for nothing.

mod words;

use std::collections::HashSet;

use crate::catalog::{Catalog, TableKind, TableName};
use crate::source::{Relation, Scan, ScanColumn};
use words::{FICKLE, FICKLE_BEGINNINGS, STEADY, TYPES, WORDS};

/// Whether a scan depends on more than the rows of tables, as far as that is known.
pub(super) fn is_fickle(scan: &Scan, catalog: &Catalog) -> bool {
    let flags = scan.columns.iter().filter_map(|column| match column {
        ScanColumn::Flag(sql) => Some(sql),
        _ => None,
    });
    let query = match &scan.from {
        Relation::Query(sql) => Some(sql),
        Relation::Table(_) => None,
    };
    let mut texts = scan.conditions.iter().chain(flags).chain(query);
    // What a view says is not known, nor what a foreign table stands for.
    scan.tables()
        .into_iter()
        .any(|name| !is_stored(name, catalog))
        || texts.any(|text| is_fickle_sql(text, catalog))
        || scan
            .embeds()
            .any(|(_, embed)| is_fickle(&embed.rows, catalog))
}

fn is_stored(name: &TableName, catalog: &Catalog) -> bool {
    let found = catalog.tables.iter().find(|table| table.name == *name);
    found.is_some_and(|table| stores(table.kind))
}

fn stores(kind: TableKind) -> bool {
    match kind {
        TableKind::Table | TableKind::Partitioned | TableKind::MaterializedView => true,
        TableKind::View | TableKind::Foreign => false,
    }
}

/// A word of SQL, be it in a text or in a comment.
struct Word<'s> {
    text: &'s str,
    /// The sign before it, without spaces.
    before: Option<char>,
    /// The sign after it, without spaces.
    after: Option<char>,
}

impl Word<'_> {
    fn is_fickle(&self) -> bool {
        FICKLE.contains(&self.text)
            || FICKLE_BEGINNINGS
                .iter()
                .any(|beginning| self.text.starts_with(beginning))
    }

    /// Whether it is a function of which nothing is known.
    fn is_unknown_call(&self) -> bool {
        let known = [WORDS, TYPES, STEADY]
            .iter()
            .any(|words| words.contains(&self.text));
        self.after == Some('(') && (self.before == Some('.') || !known)
    }
}

fn words_of(text: &str) -> Vec<Word<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(begin) = text.get(from..).and_then(|rest| rest.find(is_word)) {
        let begin = from + begin;
        let (before, rest) = text.split_at(begin);
        let end = begin + rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end - begin);
        found.push(Word {
            text: word,
            before: before.trim_end().chars().next_back(),
            after: after.trim_start().chars().next(),
        });
        from = end;
    }
    found
}

pub(crate) fn is_fickle_sql(text: &str, catalog: &Catalog) -> bool {
    let text = text.to_lowercase();
    let words = words_of(&text);
    words
        .iter()
        .any(|word| word.is_fickle() || word.is_unknown_call())
        || calls_in_quotes(&text)
        || reads_unknown(&words, catalog)
}

/// Whether a function may be called whose name is in quotes, or has a comment behind it.
fn calls_in_quotes(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        before.ends_with(['"', '`', ']']) || before.ends_with("*/")
    })
}

/// Whether a query reads a view, or a relation of which nothing is known.
fn reads_unknown(words: &[Word<'_>], catalog: &Catalog) -> bool {
    if !words.iter().any(|word| word.text == "select") {
        return false;
    }
    let (mut stored, mut others) = (HashSet::new(), HashSet::new());
    for table in &catalog.tables {
        let names = if stores(table.kind) {
            &mut stored
        } else {
            &mut others
        };
        names.insert(table.name.name.to_lowercase());
    }
    if words.iter().any(|word| others.contains(word.text)) {
        return true;
    }
    // `name AS (SELECT …)` makes a relation of the query's own.
    let own: HashSet<&str> = words
        .windows(2)
        .filter_map(|pair| match pair {
            [name, r#as] if r#as.text == "as" && r#as.after == Some('(') => Some(name.text),
            _ => None,
        })
        .collect();
    let read = words
        .iter()
        .enumerate()
        .filter(|(_, word)| matches!(word.text, "from" | "join") && word.after != Some('('));
    read.into_iter().any(|(at, _)| {
        let mut path = words
            .iter()
            .skip(at + 1)
            .skip_while(|word| word.after == Some('.') || matches!(word.text, "only" | "lateral"));
        path.next().is_some_and(|name| {
            let known = stored.contains(name.text) || own.contains(name.text);
            !known && name.after != Some('(')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::sample::shop;

    #[test]
    fn sql_over_rows_alone_is_steady() {
        for sql in [
            "status = 'open' AND total > 10",
            "lower(email) LIKE '%@example.com' OR (id IN (1, 2))",
            "created_at > TIMESTAMP '2026-01-01 00:00:00'",
            "coalesce(note, '')::varchar(20) <> '' AND date > '2026-01-01'",
            "EXISTS (SELECT 1 FROM public.orders o WHERE o.user_id = users.id)",
            "WITH big AS (SELECT * FROM orders) SELECT count(*) FROM big JOIN users USING (id)",
        ] {
            assert!(!is_fickle_sql(sql, &shop()), "{sql}");
        }
    }

    #[test]
    fn what_depends_on_the_clock_on_chance_or_on_who_asks_is_fickle() {
        for sql in [
            "created_at > now() - interval '1 hour'",
            "created_at > localtimestamp - interval '1 hour'",
            "created_at > LOCALTIME",
            "created_at > transaction_timestamp()",
            "created_at > statement_timestamp ( )",
            "timeofday() <> ''",
            "age(created_at) < interval '1 day'",
            "day = 'today'::date",
            "day > date 'yesterday'",
            "day = CURRENT_DATE",
            "at > sysdate(6)",
            "at > utc_timestamp",
            "unix_timestamp() > at",
            "at > datetime('now', '-1 day')",
            "strftime('%Y') = year",
            "date() > day",
            "random() < 0.5",
            "id > abs(random())",
            "key = gen_random_uuid()",
            "owner = current_user",
            "owner = user",
            "tenant = current_setting('app.tenant')",
            "is_recent(created_at)",
            "public.lower(name) = 'x'",
            "\"Is recent\"(created_at)",
            "is_recent/* */(created_at)",
            "id IN (SELECT id FROM recent)",
            "SELECT * FROM orders, recent",
            "SELECT * FROM elsewhere.newest",
            "SELECT * FROM orders TABLESAMPLE system (10)",
            "SELECT * FROM orders LIMIT 10",
        ] {
            assert!(is_fickle_sql(sql, &shop()), "{sql}");
        }
    }

    #[test]
    fn a_view_is_fickle_and_so_is_what_joins_it() {
        let of = |schema: &str, name: &str| {
            let name = TableName {
                schema: schema.to_owned(),
                name: name.to_owned(),
            };
            is_fickle(&Scan::of(Relation::Table(name), Vec::new()), &shop())
        };
        assert!(!of("public", "orders"));
        assert!(of("public", "recent"));
        assert!(of("public", "nothing"));
    }
}
