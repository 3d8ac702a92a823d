//! From PostgreSQL's types to [`DataType`], by way of what `pg_type` says a type is made of.

use std::collections::{BTreeSet, HashMap};

use dynafold_relational::catalog::{Column, DataType};
use futures_util::TryStreamExt as _;
use serde::Deserialize;
use sqlx::{AssertSqlSafe, Column as _, Row};

use super::super::Result;
use super::error::ReadSubject;
use super::{Postgres, error};
use crate::dialect::alone;

/// Types within types beyond which one is taken as printed.
const MAX_DEPTH: usize = 32;

/// Fractional digits of a second where none are declared.
const DEFAULT_DIGITS: u8 = 6;

/// What `sql/types.sql` says about a type.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TypeEntry {
    oid: i64,
    name: String,
    declared: String,
    /// `b` base, `c` composite, `d` domain, `e` enum, `m` multirange, `p` pseudo, `r` range.
    kind: String,
    category: String,
    delimiter: String,
    base: Option<i64>,
    base_modifier: i32,
    element: Option<i64>,
    bound: Option<i64>,
    labels: Option<Vec<String>>,
    fields: Option<Vec<(String, i64, i32)>>,
}

/// The types that a schema or a query uses, by their object identifiers.
#[derive(Debug)]
pub(super) struct UsedTypes(HashMap<i64, TypeEntry>);

impl UsedTypes {
    /// Asks for these types and all that they are made of, in one query.
    pub(super) async fn load(
        source: &mut Postgres,
        oids: impl Iterator<Item = i64>,
    ) -> Result<Self> {
        let oids: BTreeSet<i64> = oids.collect();
        let oids: Vec<String> = oids.iter().map(i64::to_string).collect();
        let sql = include_str!("sql/types.sql").replace("{oids}", &oids.join(", "));
        Ok(Self::from_entries(source.entries(&sql).await?))
    }

    fn from_entries(entries: Vec<TypeEntry>) -> Self {
        Self(
            entries
                .into_iter()
                .map(|entry| (entry.oid, entry))
                .collect(),
        )
    }

    /// A type's name as PostgreSQL says it.
    pub(super) fn declared(&self, oid: i64) -> &str {
        self.0.get(&oid).map_or("unknown", |entry| &entry.declared)
    }

    /// Whether what is printed of a value, or of a part of it, is looked up: the names of tables and roles, the locale's currency.
    pub(super) fn prints_names(&self, oid: i64) -> bool {
        // What a composite type holds cannot hold that type again, but for arrays of its own.
        let mut seen = BTreeSet::new();
        let mut left = vec![oid];
        while let Some(oid) = left.pop() {
            let Some(entry) = self.0.get(&oid) else {
                continue;
            };
            if entry.name.starts_with("reg") || ["aclitem", "money"].contains(&&*entry.name) {
                return true;
            }
            if seen.insert(entry.oid) {
                left.extend(
                    [entry.base, entry.element, entry.bound]
                        .into_iter()
                        .flatten(),
                );
                left.extend(entry.fields.iter().flatten().map(|(_, oid, _)| *oid));
            }
        }
        false
    }

    /// What a type means, with the modifier that its column declares (-1 for none).
    pub(super) fn data_type(&self, oid: i64, modifier: i32) -> DataType {
        self.resolve(oid, modifier, 0)
    }

    fn resolve(&self, oid: i64, modifier: i32, depth: usize) -> DataType {
        let Some(entry) = self.0.get(&oid).filter(|_| depth < MAX_DEPTH) else {
            return DataType::Printed;
        };
        let part = |oid, modifier| self.resolve(oid, modifier, depth + 1);
        match entry.kind.as_str() {
            "d" => entry
                .base
                .map_or(DataType::Printed, |oid| part(oid, entry.base_modifier)),
            "e" => DataType::Enum {
                values: entry.labels.clone().unwrap_or_default(),
            },
            "c" => DataType::Composite {
                fields: (entry.fields.iter().flatten())
                    .map(|(name, oid, modifier)| (name.clone(), part(*oid, *modifier)))
                    .collect(),
            },
            "r" | "m" => entry
                .bound
                .map_or(DataType::Printed, |oid| DataType::Range {
                    bound: Box::new(part(oid, -1)),
                    multi: entry.kind == "m",
                }),
            _ => match entry.element {
                // A comma could not be told from one within an element otherwise.
                Some(oid) if entry.delimiter == "," => DataType::Array {
                    element: Box::new(part(oid, modifier)),
                },
                Some(_) => DataType::Printed,
                None => base(&entry.name, &entry.category, modifier),
            },
        }
    }
}

/// The base types, in the order of docs/types.md.
fn base(name: &str, category: &str, modifier: i32) -> DataType {
    let declared = (modifier >= 0).then_some(modifier);
    let digits = declared
        .and_then(|digits| u8::try_from(digits).ok())
        .unwrap_or(DEFAULT_DIGITS);
    let bits = declared.and_then(|bits| u64::try_from(bits).ok());
    match name {
        "int2" => integer(16, false),
        "int4" => integer(32, false),
        "int8" => integer(64, false),
        "oid" => integer(32, true),
        "numeric" => decimal(modifier),
        "float4" => DataType::Float { bits: 32 },
        "float8" => DataType::Float { bits: 64 },
        "bool" => DataType::Boolean,
        // An expression's bits have no modifier, and are as many as they are.
        "bit" if modifier == 1 => DataType::Boolean,
        "varchar" | "bpchar" => DataType::Text {
            max_chars: u64::try_from(modifier.saturating_sub(HEADER)).ok(),
        },
        "text" | "name" | "char" | "xml" | "inet" | "cidr" | "macaddr" | "macaddr8" | "ltree"
        | "citext" | "pg_lsn" | "jsonpath" => DataType::Text { max_chars: None },
        "uuid" => DataType::Uuid,
        "date" => DataType::Date,
        "time" | "timetz" => DataType::Time {
            digits,
            zone: name == "timetz",
        },
        "timestamp" | "timestamptz" => DataType::Timestamp {
            digits,
            zone: name == "timestamptz",
        },
        "interval" => DataType::Interval,
        "bytea" => DataType::Binary { max_bytes: None },
        "bit" | "varbit" => DataType::Binary {
            max_bytes: bits.map(|bits| bits.div_ceil(8)),
        },
        "json" | "jsonb" => DataType::Json,
        "hstore" => DataType::Hstore,
        // Strings that extensions bring.
        _ if category == "S" => DataType::Text { max_chars: None },
        _ => DataType::Printed,
    }
}

fn integer(bits: u8, unsigned: bool) -> DataType {
    DataType::Integer { bits, unsigned }
}

/// What PostgreSQL adds to the modifiers of lengths and precisions.
const HEADER: i32 = 4;

/// Precision in the upper half of the modifier; scale in its lowest eleven bits, signed.
fn decimal(modifier: i32) -> DataType {
    let Some(packed) = modifier.checked_sub(HEADER).filter(|packed| *packed >= 0) else {
        return DataType::Decimal {
            precision: None,
            scale: None,
        };
    };
    DataType::Decimal {
        precision: u32::try_from(packed >> 16 & 0xffff).ok(),
        scale: Some(((packed & 0x7ff) ^ 0x400) - 0x400),
    }
}

// The columns of a query that a mapping brings, found without running it.

/// A column that the query passes on from a table.
#[derive(Deserialize)]
struct PassedColumn {
    relation: i64,
    number: i64,
    #[serde(rename = "type")]
    oid: i64,
    modifier: i32,
    declared: String,
}

/// What the server says about a column of the result.
struct ResultColumn {
    name: String,
    oid: i64,
    origin: Option<(i64, i64)>,
}

/// Describes the columns of a query. Any of them may be NULL, as far as can be known here.
///
/// The result's description carries no declared lengths and digits; a column that comes from a
/// table unchanged has them there.
pub(super) async fn columns(source: &mut Postgres, sql: &str) -> Result<Vec<Column>> {
    let outputs = outputs(source, sql).await?;
    let pairs: Vec<String> = (outputs.iter().filter_map(|output| output.origin))
        .map(|(relation, number)| format!("({relation}, {number})"))
        .collect();
    let attributes: Vec<PassedColumn> = if pairs.is_empty() {
        Vec::new()
    } else {
        let sql = include_str!("sql/attributes.sql").replace("{pairs}", &pairs.join(", "));
        source.entries(&sql).await?
    };
    let oids = (outputs.iter().map(|output| output.oid))
        .chain(attributes.iter().map(|attribute| attribute.oid));
    let types = UsedTypes::load(source, oids).await?;
    let column = |output: ResultColumn| {
        let attribute = (attributes.iter())
            .find(|attribute| output.origin == Some((attribute.relation, attribute.number)));
        let (declared, data_type) = match attribute {
            Some(found) => (
                found.declared.clone(),
                types.data_type(found.oid, found.modifier),
            ),
            None => (
                types.declared(output.oid).to_owned(),
                types.data_type(output.oid, -1),
            ),
        };
        Column::new(output.name, declared, data_type)
    };
    Ok(outputs.into_iter().map(column).collect())
}

/// Asks for one row of NULLs in the query's shape: a join on `false` has the server analyse the
/// query and leave it at that, and the row brings the description that no row would not.
async fn outputs(source: &mut Postgres, sql: &str) -> Result<Vec<ResultColumn>> {
    let subject = ReadSubject::Query(sql);
    let sql = format!(
        "SELECT q.* FROM (SELECT 1) AS one LEFT JOIN ({}\n) AS q ON false",
        alone(sql)
    );
    source.explain(&sql, &subject).await?;
    let mut rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(&mut source.connection);
    let described = rows.try_next().await;
    let row = match described {
        Ok(row) => row,
        Err(cause) => return Err(error::query(cause, &subject, &source.user)),
    };
    let outputs = row.iter().flat_map(Row::columns);
    Ok(outputs
        .map(|column| ResultColumn {
            name: column.name().to_owned(),
            oid: column.type_info().oid().map_or(0, |oid| i64::from(oid.0)),
            origin: (column.relation_id().zip(column.relation_attribute_no()))
                .map(|(relation, number)| (i64::from(relation.0), i64::from(number))),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_of_numeric_hold_precision_and_signed_scale() {
        let pack = |precision: i32, scale: i32| ((precision << 16) | (scale & 0x7ff)) + 4;
        for (modifier, precision, scale) in [
            (-1, None, None),
            (pack(10, 2), Some(10), Some(2)),
            (pack(1000, 1000), Some(1000), Some(1000)),
            (pack(5, -3), Some(5), Some(-3)),
        ] {
            assert_eq!(decimal(modifier), DataType::Decimal { precision, scale });
        }
    }

    #[test]
    fn names_are_printed_from_behind_domains_and_within_composite_types_too() {
        let entry = |oid, name: &str, base, part: Option<i64>| TypeEntry {
            oid,
            name: name.into(),
            base,
            fields: part.map(|oid| vec![("f".to_owned(), oid, -1)]),
            ..TypeEntry::default()
        };
        let types = UsedTypes::from_entries(vec![
            entry(1, "regclass", None, None),
            entry(2, "named", Some(1), None),
            entry(3, "pair", None, Some(2)),
            entry(4, "point", None, None),
            entry(5, "place", None, Some(4)),
        ]);
        let printed: Vec<i64> = (1..=5).filter(|oid| types.prints_names(*oid)).collect();
        assert_eq!(printed, [1, 2, 3]);
    }

    #[test]
    fn a_domain_takes_its_modifier_from_where_it_is_defined() {
        let entry = |oid, name: &str, kind: &str, base| TypeEntry {
            oid,
            name: name.into(),
            kind: kind.into(),
            base,
            base_modifier: 14,
            ..TypeEntry::default()
        };
        let types = UsedTypes::from_entries(vec![
            entry(1, "code", "d", Some(2)),
            entry(2, "varchar", "b", None),
        ]);
        let ten = DataType::Text {
            max_chars: Some(10),
        };
        assert_eq!(types.data_type(1, -1), ten);
        assert_eq!(types.data_type(3, -1), DataType::Printed);
    }
}
