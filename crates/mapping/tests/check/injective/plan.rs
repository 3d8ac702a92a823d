//! Mappings that were made to collide: what the property of proved keys is tried on.

use dynafold_mapping::template::{self, Filter, Segment};
use dynafold_relational::catalog::{DataType, Dbms, TypeFamily};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::values::{Kind, columns};

pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];
const ZONES: [&str; 3] = ["UTC", "Europe/Berlin", "Pacific/Apia"];
const LITERALS: [&str; 14] = [
    "", "", "#", "#", "#", "-", "a", "0", ".", "##", "x", "A#", "V12", "V12-T:",
];
/// Those that break keys the most come several times.
const FILTERS: &str = ";;;;;;pad(3);pad(3, 2);ordered;desc(3);iso;date;epoch;epoch_ms;format('%Y-%m-%d');\
format('%H%M');plus(7d);plus(1mo);upper;lower;trim;truncate(2);replace('#', '-');replace('-', '');\
replace('x', 'xy');default(a);default('x#');default(1);present(1, 0);map(a: x, b: y, *: z);\
map(1: x, 2: y, true: t, false: f);map(1: x, 2: x);shard(3);hex;base64;uuid;uuid;uuid;string;\
number;binary;pseudonym;pseudonym;redact";

/// Where the third column's values stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Third {
    /// In the row itself.
    Own,
    /// In a parent, which the row refers to by `r`. Then `r` takes its part in unique keys.
    Joined,
    /// In an array of the row. Then it is in no unique key.
    Exploded,
}

/// A case, as numbers that choose.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) third: Third,
    pub(super) dbms: Dbms,
    escape: bool,
    zone: &'static str,
    pub(super) types: [Index; 3],
    pub(super) nullable: [bool; 3],
    pub(super) unique: Vec<usize>,
    /// A unique key; that of the parent where it is the third column and joined.
    pub(super) also: Option<usize>,
    keys: [Vec<Piece>; 2],
    pub(super) rows: Vec<[Index; 3]>,
}

#[derive(Debug, Clone)]
struct Piece {
    literal: &'static str,
    column: usize,
    filters: Vec<&'static str>,
    optional: bool,
    takes: Takes,
}

/// What a piece takes from its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    /// A member of it, where it is a document.
    Member,
    /// What leads to the third column, where that is no value of the row: the reference to the
    /// parent, the position in the array.
    Way,
}

fn piece() -> impl Strategy<Value = Piece> {
    let all: Vec<&'static str> = FILTERS.split(';').collect();
    let filters = prop::collection::vec(select(all), 0..3);
    let takes = prop_oneof![
        1 => Just(Takes::Nothing),
        6 => Just(Takes::Value),
        1 => Just(Takes::Member),
        4 => Just(Takes::Way),
    ];
    (
        select(&LITERALS[..]),
        0..3_usize,
        filters,
        prop::bool::weighted(0.2),
        takes,
    )
        .prop_map(|(literal, column, filters, optional, takes)| Piece {
            literal,
            column,
            filters,
            optional,
            takes,
        })
}

pub(super) fn plan() -> impl Strategy<Value = Plan> {
    let key = || prop::collection::vec(piece(), 1..4);
    (
        (
            select(&[Third::Own, Third::Joined, Third::Exploded][..]),
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
            |((third, dbms, escape), zone, types, nullable, unique, also, keys, rows)| Plan {
                third,
                dbms,
                escape,
                zone,
                types,
                nullable,
                unique: unique_of(third, unique),
                also: also.filter(|at| third != Third::Exploded || *at != 2),
                keys,
                rows,
            },
        )
}

/// A primary key without arrays.
fn unique_of(third: Third, mut columns: Vec<usize>) -> Vec<usize> {
    if third == Third::Exploded {
        columns.retain(|at| *at != 2);
        if columns.is_empty() {
            columns.push(0);
        }
    }
    columns
}

/// Those of the filters that a value of this kind can go through, and what makes text of the rest.
fn fitting(mut family: TypeFamily, filters: &[&'static str]) -> String {
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

fn needs_text(family: TypeFamily) -> bool {
    use TypeFamily::{Binary, List, Map, Set};
    matches!(family, Binary | List | Map | Set)
}

impl Plan {
    fn template(&self, pieces: &[Piece]) -> String {
        let pieces = pieces.iter().map(|piece| {
            let mut inner = String::new();
            if piece.takes != Takes::Nothing {
                let (name, family) = self.placeholder(piece);
                let filters = fitting(family, &piece.filters);
                inner = format!("{{{name}{filters}}}");
            }
            if piece.optional && piece.takes != Takes::Nothing {
                format!("[{}{inner}]", piece.literal)
            } else {
                format!("{}{inner}", piece.literal)
            }
        });
        pieces.collect()
    }

    /// What a piece takes from the row, and of which kind it is.
    fn placeholder(&self, piece: &Piece) -> (String, TypeFamily) {
        let kind = self.kind(piece.column).0;
        let third = (piece.column == 2).then_some(self.third);
        let is_way = piece.takes == Takes::Way;
        let (name, kind) = match third {
            Some(Third::Joined) if is_way => ("r".to_owned(), None),
            Some(Third::Exploded) if is_way => ("e.$index".to_owned(), None),
            Some(Third::Joined) => ("p.c".to_owned(), Some(kind)),
            Some(Third::Exploded) if self.is_array() => ("e".to_owned(), Some(kind)),
            Some(Third::Exploded) => ("e".to_owned(), Some(DataType::Json)),
            _ => (NAMES[piece.column].to_owned(), Some(kind)),
        };
        match kind {
            None => (name, TypeFamily::Number),
            Some(DataType::Json) if piece.takes == Takes::Member => {
                (format!("{name}.a"), TypeFamily::Any)
            }
            Some(DataType::Json) if third == Some(Third::Exploded) => (name, TypeFamily::Any),
            Some(kind) => (name, kind.family()),
        }
    }

    /// The type of a column, and what it may hold.
    pub(super) fn kind(&self, column: usize) -> Kind {
        self.types[column].get(&columns(self.dbms)).clone()
    }

    /// Whether what is exploded is an array of the type, and not a document.
    pub(super) fn is_array(&self) -> bool {
        self.dbms == Dbms::Postgres && self.nullable[2]
    }

    pub(super) fn mapping(&self) -> String {
        let further = match self.third {
            Third::Own => "",
            Third::Joined => "    join: { p: r }\n",
            Third::Exploded => "    explode: { e: c }\n",
        };
        format!(
            "dynafold: 1\ntable:\n  name: app\n  key: {{ partition: PK, sort: SK }}\n  time_zone: {}{}\nitems:\n  T:\n    from: t\n{further}    key:\n      PK: \"{}\"\n      SK: \"{}\"\n    columns: []\n",
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
}
