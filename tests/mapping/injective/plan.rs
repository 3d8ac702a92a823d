//! Mappings and rows that were made to collide: what the property of proved keys is tried on.

use dynafold::catalog::{
    Catalog, Column, DataType, Dbms, Family, Key, Table, TableKind, TableName,
};
use dynafold::mapping::template::{self, Filter, Segment};
use dynafold::value::Value;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::values::columns;

pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];
const ZONES: [&str; 3] = ["UTC", "Europe/Berlin", "Pacific/Apia"];
const LITERALS: [&str; 12] = ["", "", "#", "#", "#", "-", "a", "0", ".", "##", "x", "A#"];
/// Those that break keys the most come several times.
const FILTERS: &str = ";;;;;;pad(3);pad(3, 2);ordered;desc(3);iso;date;epoch;epoch_ms;format('%Y-%m-%d');\
format('%H%M');plus(7d);plus(1mo);upper;lower;trim;truncate(2);replace('#', '-');replace('-', '');\
replace('x', 'xy');default(a);default('x#');default(1);present(1, 0);map(a: x, b: y, *: z);\
map(1: x, 2: y, true: t, false: f);map(1: x, 2: x);shard(3);hex;base64;uuid;uuid;uuid;string;\
number;binary;pseudonym;pseudonym;redact";

/// A case, as numbers that choose.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    dbms: Dbms,
    escape: bool,
    zone: &'static str,
    types: [Index; 3],
    nullable: [bool; 3],
    unique: Vec<usize>,
    also: Option<usize>,
    keys: [Vec<Piece>; 2],
    rows: Vec<[Index; 3]>,
}

#[derive(Debug, Clone)]
struct Piece {
    literal: &'static str,
    column: usize,
    filters: Vec<&'static str>,
    member: bool,
    optional: bool,
    absent: bool,
}

fn piece() -> impl Strategy<Value = Piece> {
    let all: Vec<&'static str> = FILTERS.split(';').collect();
    let filters = prop::collection::vec(select(all), 0..3);
    let rare = || prop::bool::weighted(0.08);
    (
        select(&LITERALS[..]),
        0..3_usize,
        filters,
        rare(),
        prop::bool::weighted(0.2),
        rare(),
    )
        .prop_map(
            |(literal, column, filters, member, optional, absent)| Piece {
                literal,
                column,
                filters,
                member,
                optional,
                absent,
            },
        )
}

pub(super) fn plan() -> impl Strategy<Value = Plan> {
    let key = || prop::collection::vec(piece(), 1..4);
    (
        (
            select(&[Dbms::Postgres, Dbms::Mysql, Dbms::Sqlite][..]),
            prop::bool::weighted(0.25),
        ),
        select(&ZONES[..]),
        any::<[Index; 3]>(),
        any::<[bool; 3]>(),
        prop::sample::subsequence(vec![0, 1, 2], 1..=3),
        prop::option::of(0..3_usize),
        [key(), key()],
        prop::collection::vec(any::<[Index; 3]>(), 40),
    )
        .prop_map(
            |((dbms, escape), zone, types, nullable, unique, also, keys, rows)| Plan {
                dbms,
                escape,
                zone,
                types,
                nullable,
                unique,
                also,
                keys,
                rows,
            },
        )
}

/// Those of the filters that a value of this kind can go through, and what makes text of the rest.
fn fitting(mut family: Family, filters: &[&'static str]) -> String {
    let mut written = String::new();
    for name in filters.iter().chain(&["hex", "string"]) {
        if name.is_empty() || (["hex", "string"].contains(name) && !needs_text(family)) {
            continue;
        }
        let parsed = template::parse(&format!("{{x | {name}}}")).unwrap();
        let Segment::Placeholder(placeholder) = &parsed.segments[0] else {
            continue;
        };
        let filter = Filter::compile(&placeholder.filters[0]).unwrap();
        if let Ok(after) = filter.family(family) {
            family = after;
            written.push_str(&format!(" | {name}"));
        }
    }
    written
}

fn needs_text(family: Family) -> bool {
    use Family::{Binary, List, Map, Set};
    matches!(family, Binary | List | Map | Set)
}

impl Plan {
    fn template(&self, pieces: &[Piece]) -> String {
        let pieces = pieces.iter().map(|piece| {
            let mut inner = String::new();
            if !piece.absent {
                let member = if piece.member { ".a" } else { "" };
                let types = columns(self.dbms);
                let column = &self.types[piece.column].get(&types).0;
                let is_json = matches!(column, DataType::Json);
                let member = if is_json { member } else { "" };
                let family = if member.is_empty() {
                    column.family()
                } else {
                    Family::Any
                };
                let filters = fitting(family, &piece.filters);
                inner = format!("{{{}{member}{filters}}}", NAMES[piece.column]);
            }
            if piece.optional && !piece.absent {
                format!("[{}{inner}]", piece.literal)
            } else {
                format!("{}{inner}", piece.literal)
            }
        });
        pieces.collect()
    }

    pub(super) fn mapping(&self) -> String {
        format!(
            "dynafold: 1\ntable:\n  name: app\n  key: {{ partition: PK, sort: SK }}\n  time_zone: {}{}\nitems:\n  T:\n    from: t\n    key:\n      PK: \"{}\"\n      SK: \"{}\"\n    columns: []\n",
            self.zone,
            if self.escape {
                "\n  key_escape: percent"
            } else {
                ""
            },
            self.template(&self.keys[0]),
            self.template(&self.keys[1]),
        )
    }

    pub(super) fn catalog(&self) -> Catalog {
        let types = columns(self.dbms);
        let columns = (0..3).map(|at| {
            let (data_type, declared, _) = self.types[at].get(&types);
            Column {
                name: NAMES[at].to_owned(),
                declared: (*declared).to_owned(),
                data_type: data_type.clone(),
                nullable: self.nullable[at] && !self.unique.contains(&at),
                default: None,
                generated: None,
                comment: None,
            }
        });
        let names = |columns: &[usize]| columns.iter().map(|at| NAMES[*at].to_owned()).collect();
        let also = self.also.iter().map(|at| Key {
            name: "also".to_owned(),
            columns: vec![NAMES[*at].to_owned()],
        });
        Catalog {
            dbms: self.dbms,
            version: String::new(),
            database: String::new(),
            search_path: vec!["main".to_owned()],
            tables: vec![Table {
                name: TableName {
                    schema: "main".to_owned(),
                    name: "t".to_owned(),
                },
                kind: TableKind::Table,
                readable: true,
                inherited: false,
                columns: columns.collect(),
                primary_key: names(&self.unique),
                unique_keys: also.collect(),
                foreign_keys: Vec::new(),
                indexes: Vec::new(),
                comment: None,
                estimated_rows: None,
                estimated_bytes: None,
            }],
            notices: Vec::new(),
        }
    }

    /// The rows that the unique keys allow: of those that break one the first stays.
    pub(super) fn rows(&self) -> Vec<[Value; 3]> {
        let types = columns(self.dbms);
        let mut rows: Vec<[Value; 3]> = Vec::new();
        for chosen in &self.rows {
            let row = [0, 1, 2].map(|at| {
                let mut values = self.types[at].get(&types).2.clone();
                if self.nullable[at] && !self.unique.contains(&at) {
                    values.push(Value::Null);
                }
                chosen[at].get(&values).clone()
            });
            let same = |other: &[Value; 3], columns: &[usize]| {
                columns
                    .iter()
                    .all(|at| other[*at] == row[*at] && row[*at] != Value::Null)
            };
            let breaks = |other: &[Value; 3]| {
                same(other, &self.unique) || self.also.is_some_and(|at| same(other, &[at]))
            };
            if !rows.iter().any(breaks) {
                rows.push(row);
            }
        }
        rows
    }
}
