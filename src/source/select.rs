//! Writes a [`Scan`] as a SELECT, the same shape for the three databases.

use std::fmt::Write as _;

use super::{Relation, Scan};
use crate::catalog::{DataType, TableName};

/// What differs between the databases' SQL.
pub trait Dialect {
    /// Quotes an identifier.
    fn quote(&self, identifier: &str) -> String;

    /// The expression that asks for a column of this type in the form that the decoder reads.
    /// `column` is quoted and qualified already.
    fn expression(&self, column: &str, data_type: &DataType) -> String {
        let _ = data_type;
        column.to_owned()
    }

    /// A condition as an expression that is 1, or 0 for false and NULL alike.
    fn flag(&self, condition: &str) -> String {
        format!("CASE WHEN ({condition}\n) THEN 1 ELSE 0 END")
    }

    /// A table's name in full.
    fn table(&self, name: &TableName) -> String {
        format!("{}.{}", self.quote(&name.schema), self.quote(&name.name))
    }
}

/// Writes a scan as one SELECT statement.
///
/// The base table goes by its own name, a query by `q`, parents by their aliases: so conditions
/// may name columns as the mapping does. Where there are parents and no condition names one, the
/// conditions are put to the base relation alone, so that a column's name that a parent has too is
/// not ambiguous. A newline ends each condition, so that one that ends in a comment cannot swallow
/// what follows.
#[must_use]
pub fn select(dialect: &dyn Dialect, scan: &Scan) -> String {
    let (from, base) = match &scan.from {
        Relation::Table(name) => (dialect.table(name), dialect.quote(&name.name)),
        Relation::Query(sql) => (
            format!("({}\n)", sql.trim().trim_end_matches(';')),
            dialect.quote("q"),
        ),
    };
    let owner = |join: Option<usize>| {
        join.and_then(|index| scan.joins.get(index))
            .map_or_else(|| base.clone(), |join| dialect.quote(&join.alias))
    };
    let mut outputs: Vec<String> = scan
        .columns
        .iter()
        .map(|column| {
            let qualified = format!("{}.{}", owner(column.join), dialect.quote(&column.name));
            dialect.expression(&qualified, &column.data_type)
        })
        .collect();
    let any: Vec<String> = scan.conditions.iter().map(|c| format!("({c}\n)")).collect();
    let restriction = if scan.keep_unmatched || any.is_empty() {
        String::new()
    } else {
        format!("\nWHERE {}", any.join(" OR "))
    };
    let mut sql = String::new();
    let names_a_parent = scan.conditions.iter().any(|condition| {
        scan.joins
            .iter()
            .any(|join| mentions(condition, &join.alias))
    });
    if scan.joins.is_empty() || any.is_empty() || names_a_parent {
        outputs.extend(scan.conditions.iter().map(|c| dialect.flag(c)));
        let _ = write!(sql, "\nFROM {from} AS {base}");
        write_joins(&mut sql, dialect, scan, &base);
        sql.push_str(&restriction);
    } else {
        let flag = |index: usize| dialect.quote(&format!("dynafold_condition_{index}"));
        let flags = scan.conditions.iter().enumerate();
        let flags: Vec<String> = flags
            .map(|(index, c)| format!(", {} AS {}", dialect.flag(c), flag(index)))
            .collect();
        outputs.extend((0..flags.len()).map(|index| format!("{base}.{}", flag(index))));
        let _ = write!(
            sql,
            "\nFROM (SELECT {base}.*{}\nFROM {from} AS {base}{restriction}) AS {base}",
            flags.concat()
        );
        write_joins(&mut sql, dialect, scan, &base);
    }
    if let Some(limit) = scan.limit {
        let _ = write!(sql, "\nLIMIT {limit}");
    }
    if outputs.is_empty() {
        outputs.push("1".to_owned());
    }
    let outputs = outputs.iter().enumerate();
    let outputs: Vec<String> = outputs
        .map(|(index, output)| format!("{output} AS c{index}"))
        .collect();
    format!("SELECT {}{sql}", outputs.join(", "))
}

fn write_joins(sql: &mut String, dialect: &dyn Dialect, scan: &Scan, base: &str) {
    for join in &scan.joins {
        let alias = dialect.quote(&join.alias);
        let on: Vec<String> = join
            .on
            .iter()
            .map(|(ours, theirs)| {
                format!(
                    "{alias}.{} = {base}.{}",
                    dialect.quote(theirs),
                    dialect.quote(ours)
                )
            })
            .collect();
        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            "\nLEFT JOIN {} AS {alias} ON {}",
            dialect.table(&join.table),
            on.join(" AND ")
        );
    }
}

/// Whether a condition seems to name a column of an alias: `s.` with no letter before it. One that
/// only looks so, in a string say, still means the same.
fn mentions(condition: &str, alias: &str) -> bool {
    let (condition, alias) = (condition.to_lowercase(), alias.to_lowercase());
    condition.match_indices(&alias).any(|(at, _)| {
        let before = condition
            .get(..at)
            .and_then(|text| text.chars().next_back());
        let after = condition.get(at + alias.len()..).unwrap_or_default();
        let after = after.trim_start_matches(['"', '`']).trim_start();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && after.starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Join, ScanColumn};

    struct Plain;

    impl Dialect for Plain {
        fn quote(&self, identifier: &str) -> String {
            format!("\"{identifier}\"")
        }
    }

    fn scan(conditions: &[&str]) -> Scan {
        let name = |name: &str| TableName {
            schema: "main".into(),
            name: name.into(),
        };
        Scan {
            from: Relation::Table(name("line")),
            columns: vec![ScanColumn {
                join: Some(0),
                name: "title".into(),
                data_type: DataType::Text { max_chars: None },
            }],
            joins: vec![Join {
                alias: "p".into(),
                table: name("product"),
                on: vec![("product_id".into(), "id".into())],
            }],
            conditions: conditions.iter().map(|&c| c.to_owned()).collect(),
            keep_unmatched: false,
            limit: Some(5),
        }
    }

    #[test]
    fn conditions_on_the_base_table_cannot_be_ambiguous() {
        assert_eq!(
            select(&Plain, &scan(&["id > 3 -- mine"])),
            "SELECT \"p\".\"title\" AS c0, \"line\".\"dynafold_condition_0\" AS c1\n\
             FROM (SELECT \"line\".*, CASE WHEN (id > 3 -- mine\n) THEN 1 ELSE 0 END AS \
             \"dynafold_condition_0\"\nFROM \"main\".\"line\" AS \"line\"\nWHERE (id > 3 -- mine\n)) AS \"line\"\n\
             LEFT JOIN \"main\".\"product\" AS \"p\" ON \"p\".\"id\" = \"line\".\"product_id\"\nLIMIT 5"
        );
    }

    #[test]
    fn conditions_may_name_parents() {
        let sql = select(&Plain, &scan(&["P.title = 'x'", "id > 3"]));
        assert!(
            sql.ends_with("WHERE (P.title = 'x'\n) OR (id > 3\n)\nLIMIT 5"),
            "{sql}"
        );
        assert!(!sql.contains("FROM (SELECT"), "{sql}");
    }

    #[test]
    fn an_alias_is_told_from_the_end_of_a_word() {
        assert!(mentions("p.x = 1", "p"));
        assert!(mentions("(\"p\".x) = 1", "p"));
        assert!(!mentions("shop.x = 1", "p"));
        assert!(!mentions("price > 1", "p"));
    }
}
