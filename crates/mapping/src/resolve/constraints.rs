//! What the schema tells of an item type's rows: keys, what they determine, what may be NULL.
//!
//! A fact is what the database enforces at all times. That a foreign key has a parent is none: SQLite
//! enforces it on request, PostgreSQL has constraints that are not valid, triggers that are disabled and
//! row security, MySQL has `foreign_key_checks`. So every column of a joined parent may be NULL.

use std::sync::Arc;

use dynafold_relational::catalog::{Column, DataType, Dbms, Table};
use dynafold_relational::scan::ScanColumn;
use dynafold_sql::{Condition, ConditionTest, SqlQuery};

use super::bind::{ItemBinder, unknown};
use super::scope::{ColumnPair, JoinUniqueness, JoinedParent, Scope};
use crate::proof::{
    ColumnFact, Domain, RelationKind, RowFacts, TypeBounds, UniqueColumns, column_bytes,
};

impl ItemBinder<'_> {
    /// What tells source rows apart: names and indices into the row. Of a row that is exploded,
    /// the positions of the elements too.
    pub(super) fn row_key(&mut self) -> Vec<(Arc<str>, usize)> {
        let columns = self.indices(&self.scope.key).into_iter();
        let names = self.scope.key.iter().map(|name| name.as_str().into());
        let elements = self.scope.elements.iter();
        let positions = elements.map(|e| (format!("{}.$index", e.alias).into(), e.index));
        names.zip(columns).chain(positions).collect()
    }

    /// What a proof goes by.
    pub(super) fn facts(&mut self, filtered: bool) -> RowFacts {
        let unique = self.unique_keys();
        let (determined, unenforced) = self.determined();
        RowFacts {
            relation: self.scope.written.clone(),
            unique,
            determined,
            unenforced,
            origin: self.origin(),
            filtered,
            columns: self.column_facts(),
        }
    }

    /// The sets of columns that are unique, as indices into the row. There are none where a joined
    /// view may give a row several times.
    fn unique_keys(&mut self) -> Vec<UniqueColumns> {
        let scope = self.scope;
        if self.origin() == RelationKind::Multiplied {
            return Vec::new();
        }
        let positions: Vec<usize> = scope.elements.iter().map(|element| element.index).collect();
        let of_joins = scope
            .joins
            .iter()
            .find_map(|parent| match parent.uniqueness {
                JoinUniqueness::Supposed(doubt) => Some(doubt),
                JoinUniqueness::Enforced | JoinUniqueness::Unknown => None,
            });
        let mut unique =
            |called: String, columns: &[String], doubt: Option<&'static str>| UniqueColumns {
                called,
                doubt: doubt.or(of_joins),
                columns: [self.indices(columns), positions.clone()].concat(),
            };
        if let Some(table) = scope.table {
            let keys = table.keys(scope.catalog.dbms).map(|key| {
                let called = match key.name {
                    Some(name) => format!("the unique key {name}"),
                    None => "the primary key".to_owned(),
                };
                unique(called, key.columns, key.doubt)
            });
            return keys.collect();
        }
        let called = "the `key` that the mapping names".to_owned();
        let doubt = Some("nothing enforces the `key` that the mapping names");
        let named = (!scope.key.is_empty()).then(|| unique(called, &scope.key, doubt));
        Vec::from_iter(named)
    }

    /// What is known of each column of the row so far.
    fn column_facts(&self) -> Vec<ColumnFact> {
        let scope = self.scope;
        let places = self.pass.places().enumerate();
        let facts = places.map(|(index, place)| match place {
            (ScanColumn::Column { name, .. }, None) => {
                self.fact(scope.base(name), name, name.clone(), None)
            }
            (ScanColumn::Column { name, .. }, Some(alias)) => {
                let parent = scope.parent(alias);
                let column = parent.and_then(|parent| parent.table.column(name));
                self.fact(column, name, format!("{alias}.{name}"), parent)
            }
            _ => self.place_fact(index),
        });
        facts.collect()
    }

    fn fact(
        &self,
        column: Option<&Column>,
        name: &str,
        written: String,
        parent: Option<&JoinedParent<'_>>,
    ) -> ColumnFact {
        let unknown = unknown(name);
        let data_type = column.map(|column| column.data_type.clone());
        let column = column.unwrap_or(&unknown);
        let dbms = self.scope.catalog.dbms;
        let is_stored = parent.map_or(self.scope.is_table(), |parent| parent.table.is_stored());
        // Nothing enforces NOT NULL over what a view, a query or a join gives.
        let nullable = column.nullable || parent.is_some() || !is_stored;
        let domain = match &column.ambiguous_charset {
            _ if dbms == Dbms::Sqlite && !is_stored => Domain::of_any_type(),
            None => Domain::of(&column.data_type, &column.declared, dbms, nullable),
            Some(charset) => Domain::unknown(format!(
                "`{charset}` may have several codes for one character"
            )),
        };
        // SQLite keeps text in any other column of numbers.
        let domain = if column.rowid && is_stored {
            domain.in_figures()
        } else {
            domain
        };
        let bytes = match dbms {
            Dbms::Sqlite => domain.bytes(),
            _ => column_bytes(&column.data_type, domain.bytes()),
        };
        ColumnFact {
            written,
            data_type,
            domain,
            bytes,
            own_order: has_own_order(column, dbms).then(|| column.declared.clone()),
            unclear: is_unclear(column, dbms, is_stored),
            // Of ASCII only bytes that are no characters have one text, and they do not fit.
            is_ambiguous: column
                .ambiguous_charset
                .as_ref()
                .is_some_and(|charset| charset != "ascii"),
            bounds: (is_stored && dbms != Dbms::Sqlite).then(|| TypeBounds {
                dbms,
                fixed: ["binary(", "character("]
                    .iter()
                    .any(|fixed| column.declared.starts_with(fixed)),
            }),
        }
    }

    /// An element of an array, its position, or what no template names.
    fn place_fact(&self, index: usize) -> ColumnFact {
        let position = DataType::Integer {
            bits: 32,
            unsigned: true,
        };
        let mut elements = self.scope.elements.iter();
        let found = elements.find(|element| index == element.index || index == element.value);
        let mut fact = ColumnFact {
            written: found.map_or_else(String::new, |element| element.alias.clone()),
            data_type: None,
            domain: Domain::unknown("elements of an array may be equal"),
            bytes: None,
            own_order: None,
            unclear: false,
            is_ambiguous: false,
            bounds: None,
        };
        if found.is_some_and(|element| index == element.index) {
            fact.written.push_str(".$index");
            fact.domain = Domain::of(&position, "", Dbms::Postgres, false);
            fact.data_type = Some(position);
            fact.bytes = Some(7);
        }
        fact
    }

    /// Which columns determine which: a parent's unique key determines the columns that are joined to it, because the join
    /// finds one parent. Text counts only where equal texts are the same: in a collation without case, two may be equal to the
    /// join, and different in the key. The second part are the columns that only a key determines which the database may not
    /// have enforced.
    fn determined(&mut self) -> (DeterminedColumns, Vec<usize>) {
        let scope = self.scope;
        let (mut determined, mut unenforced) = (Vec::new(), Vec::new());
        // A parent of a parent comes first: it determines the parent's columns, and these determine ours.
        for parent in scope.joins.iter().rev() {
            for key in parent.table.keys(scope.catalog.dbms) {
                let alias = Some(parent.alias.as_str());
                let theirs = key.columns.iter().map(|name| self.pass.find(alias, name));
                let Some(theirs) = theirs.collect::<Option<Vec<usize>>>() else {
                    continue;
                };
                if !parent.on.iter().all(|on| self.is_exact(parent, on)) {
                    continue;
                }
                let ours: Vec<usize> = parent
                    .on
                    .iter()
                    .map(|on| self.index(on.owner.as_deref(), &on.ours))
                    .collect();
                match key.doubt {
                    None => determined.push((theirs, ours)),
                    Some(_) => unenforced.extend(ours),
                }
            }
        }
        (determined, unenforced)
    }

    /// Whether values of a join's column that are equal to the join are one value.
    fn is_exact(&self, parent: &JoinedParent<'_>, on: &ColumnPair) -> bool {
        let exact = |data_type: &DataType| match data_type {
            DataType::Integer { .. } => true,
            DataType::Decimal { .. } | DataType::Uuid | DataType::Date | DataType::Boolean => {
                self.scope.catalog.dbms != Dbms::Sqlite
            }
            _ => false,
        };
        let dbms = self.scope.catalog.dbms;
        let owner = on.owner.as_deref();
        let ours = self.scope.column(owner, &on.ours);
        let both = ours.zip(parent.table.column(&on.theirs));
        // A view's column may have a collation that the catalog does not say.
        let table = match owner {
            Some(alias) => self.scope.parent(alias).map(|owner| owner.table),
            None => self.scope.table,
        };
        let are_stored = table.is_some_and(Table::is_stored) && parent.table.is_stored();
        let exact = |column: &Column| {
            let is_text = are_stored && column.is_plain_text(dbms);
            let is_text = is_text && column.ambiguous_charset.is_none();
            (exact(&column.data_type) || is_text) && !column.insensitive
        };
        both.is_some_and(|(ours, theirs)| {
            let is_own = self.scope.catalog.own_operators;
            !is_own && exact(ours) && exact(theirs) && compares_as_key(theirs, ours, dbms)
        })
    }

    fn origin(&self) -> RelationKind {
        let scope = self.scope;
        match scope.table {
            _ if scope
                .joins
                .iter()
                .any(|parent| parent.uniqueness == JoinUniqueness::Unknown) =>
            {
                RelationKind::Multiplied
            }
            None if scope.known => RelationKind::Query,
            None => RelationKind::Unknown,
            Some(table) if !table.heirs.is_empty() => RelationKind::Inherited,
            Some(table) if table.is_stored() => RelationKind::Table,
            Some(_) => RelationKind::View,
        }
    }

    /// A column's place in the row, whoever's it is.
    fn index(&mut self, alias: Option<&str>, name: &str) -> usize {
        let column = self.scope.column(alias, name).cloned();
        let column = column.unwrap_or_else(|| unknown(name));
        self.pass.column(alias, &column.name, &column.data_type)
    }

    /// The places of base columns in the row.
    pub(super) fn indices(&mut self, names: &[String]) -> Vec<usize> {
        names.iter().map(|name| self.index(None, name)).collect()
    }

    /// The columns of the row so far in which NULL is to be expected, for warnings and counts: a declared key is
    /// taken to have no NULL, and a foreign key that has none to have a parent.
    pub(super) fn nullable(&mut self) -> Vec<usize> {
        let scope = self.scope;
        let may_be_null = |table: Option<&Table>, column: &Column| {
            let key: &[String] = table.map_or(&[], |table| &table.primary_key);
            column.nullable && !key.contains(&column.name)
        };
        let base = scope.columns.iter();
        let base = base.filter(|column| may_be_null(scope.table, column));
        let mut nullable: Vec<usize> = base
            .filter_map(|column| self.pass.find(None, &column.name))
            .collect();
        for parent in &scope.joins {
            let is_it =
                |column: &&Column| parent.optional || may_be_null(Some(parent.table), column);
            let columns = parent.table.columns.iter().filter(is_it);
            let place = |column: &Column| self.pass.find(Some(&parent.alias), &column.name);
            nullable.extend(columns.filter_map(place));
        }
        nullable.extend(scope.elements.iter().map(|element| element.value));
        nullable
    }

    /// The columns of the row so far that a `where` says are not NULL, in one of the conditions that all have to hold.
    pub(super) fn not_null(&self, condition: &str) -> Vec<usize> {
        let query = format!("SELECT 1 FROM t WHERE {condition}");
        let query = SqlQuery::read(&query, Some(self.scope.catalog.dbms)).ok();
        let select = query.as_ref().and_then(SqlQuery::select);
        let conditions = select.map_or(&[][..], |select| &select.conditions);
        let table = self.scope.from.table();
        let column = |condition: &Condition| match &condition.test {
            ConditionTest::Null {
                operand,
                negated: true,
            } => {
                let column = operand.column()?;
                let joins = &self.scope.joins;
                // A column of the base relation may stand behind the table's name.
                let owner = column.owner.as_ref().filter(|owner| {
                    let is_own = table.is_some_and(|table| owner.is(&table.name));
                    !is_own || joins.iter().any(|parent| owner.is(&parent.alias))
                });
                let owner = owner.map(|owner| owner.text.as_str());
                self.pass.find(owner, &column.name.text)
            }
            _ => None,
        };
        conditions.iter().filter_map(column).collect()
    }
}

/// Where all of the first columns are known, so are the second.
type DeterminedColumns = Vec<(Vec<usize>, Vec<usize>)>;

/// Whether a row has one parent at most: what the join matches holds a key of the parent, and no two
/// values of that key are equal to the join.
pub(super) fn has_one_parent(
    scope: &Scope<'_>,
    table: &Table,
    on: &[ColumnPair],
) -> JoinUniqueness {
    let dbms = scope.catalog.dbms;
    let matched = |name: &String| {
        on.iter().any(|on| {
            let ours = scope.column(on.owner.as_deref(), &on.ours);
            let both = ours.zip(table.column(&on.theirs));
            on.theirs == *name && both.is_some_and(|(a, b)| compares_as_key(a, b, dbms))
        })
    };
    let matched = table
        .keys(dbms)
        .filter(|key| key.columns.iter().all(matched));
    let own = scope
        .catalog
        .own_operators
        .then_some("a user-defined operator may compare the columns of the join");
    // One that is enforced is enough: it has no doubt, and is the least.
    match matched.map(|key| key.doubt.or(own)).min() {
        Some(None) => JoinUniqueness::Enforced,
        Some(Some(doubt)) => JoinUniqueness::Supposed(doubt),
        None => JoinUniqueness::Unknown,
    }
}

/// Whether a join compares a column of a parent's key as that key does, or tells more values apart: else
/// one value of ours may be equal to several of theirs. So it is between exact numbers, and between two
/// columns of one type and one collation; of others nothing is claimed.
fn compares_as_key(ours: &Column, theirs: &Column, dbms: Dbms) -> bool {
    use DataType::{Boolean, Decimal, Float};
    let is_float = |column: &Column| matches!(column.data_type, Float { .. });
    let is_text = |column: &Column| matches!(column.data_type, DataType::Text { .. });
    let is_number = |column: &Column| {
        column.is_plain_integer(dbms) || matches!(column.data_type, Decimal { .. } | Boolean)
    };
    let collation = |column: &Column| {
        let (charset, collation) = (&column.ambiguous_charset, &column.collation);
        (charset.clone(), collation.clone(), column.insensitive)
    };
    let is_one_type = type_name(ours) == type_name(theirs) && collation(ours) == collation(theirs);
    let are_numbers = is_number(ours) && is_number(theirs);
    match dbms {
        // What is no number's column has the other's value made one (datatype3.html, 4.2).
        Dbms::Sqlite => {
            is_number(theirs)
                || is_float(theirs)
                || (is_text(ours) && is_text(theirs))
                || ours.declared == theirs.declared
        }
        Dbms::Postgres => are_numbers || is_one_type,
        // Names from a list are compared as text, whatever key has their numbers.
        Dbms::Mysql | Dbms::Mariadb => {
            let is_listed = matches!(ours.data_type, DataType::Enum { .. } | DataType::Set { .. });
            are_numbers || (is_one_type && !is_listed)
        }
    }
}

/// Whether the database may sort the values of a column by their parts or as numbers, and not by their text. Of a domain of PostgreSQL
/// the name alone is declared, and of a type outside the search path its schema too.
fn has_own_order(column: &Column, dbms: Dbms) -> bool {
    let declared = column.declared.split('(').next().unwrap_or_default();
    match dbms {
        Dbms::Mariadb => column.data_type == DataType::Uuid || declared.starts_with("inet"),
        Dbms::Postgres => {
            let name = declared.rsplit('.').next().unwrap_or_default();
            let is_text = matches!(column.data_type, DataType::Text { .. });
            is_text && !SORTED_BY_TEXT.contains(&name)
        }
        Dbms::Mysql | Dbms::Sqlite => false,
    }
}

/// The types of PostgreSQL that are carried as texts, and sort like them.
const SORTED_BY_TEXT: [&str; 11] = [
    "text",
    "character varying",
    "varchar",
    "character",
    "bpchar",
    "name",
    "citext",
    "xml",
    "jsonpath",
    "macaddr",
    "macaddr8",
];

/// A column's type without its length; PostgreSQL's `varchar` is its `text`.
fn type_name(column: &Column) -> String {
    let declared = &column.declared;
    let length = declared.find('(').zip(declared.find(')'));
    let name = match length.and_then(|(from, to)| declared.get(..from).zip(declared.get(to + 1..)))
    {
        Some((before, behind)) => format!("{before}{behind}"),
        None => declared.clone(),
    };
    match name.as_str() {
        "character varying" => "text".to_owned(),
        _ => name,
    }
}

/// Whether only the database knows which texts a column has: those of another type than text, numbers, dates, moments,
/// labels and bytes, or of a number's bounds that are not looked at.
fn is_unclear(column: &Column, dbms: Dbms, is_stored: bool) -> bool {
    let declared = column.declared.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    match &column.data_type {
        // SQLite keeps any text in any column. What the text of a table's integer would be is known all the same.
        other if dbms == Dbms::Sqlite => match other {
            DataType::Text { .. } => false,
            DataType::Integer { .. } => !is_stored,
            _ => true,
        },
        DataType::Text { .. } => {
            let is_known = column.is_plain_text(dbms)
                || declared.starts_with("character(")
                || declared.ends_with("citext");
            !is_known || column.ambiguous_charset.is_some() || says(&["tiny"])
        }
        // YEAR, `oid` and domains are others.
        DataType::Integer { .. } => !says(&["int"]),
        DataType::Decimal { precision, scale } => {
            let beyond = |scale: i32| {
                u32::try_from(scale).map_or(true, |scale| precision.is_some_and(|all| scale > all))
            };
            scale.is_some_and(beyond) || says(&["unsigned"])
        }
        DataType::Float { .. } => says(&["unsigned", "("]),
        DataType::Binary { .. } => says(&["bit", "tiny"]),
        // MySQL writes `?` for letters beyond the first 65,536.
        DataType::Enum { values } => {
            dbms != Dbms::Postgres && values.iter().any(|label| label.contains('?'))
        }
        DataType::Boolean | DataType::Uuid | DataType::Date | DataType::Timestamp { .. } => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_texts_a_type_has_is_known_of_some() {
        let text = |max_chars| DataType::Text { max_chars };
        let int = DataType::Integer {
            bits: 32,
            unsigned: true,
        };
        let decimal = |precision, scale| DataType::Decimal {
            precision: Some(precision),
            scale: Some(scale),
        };
        let float = DataType::Float { bits: 32 };
        let bytes = DataType::Binary { max_bytes: Some(1) };
        let label = |label: &str| DataType::Enum {
            values: vec![label.to_owned()],
        };
        let (pg, my) = (Dbms::Postgres, Dbms::Mysql);
        for (dbms, declared, data_type, is_clear) in [
            (pg, "text", text(None), true),
            (pg, "citext", text(None), true),
            (pg, "character varying(3)", text(Some(3)), true),
            (pg, "character(3)", text(Some(3)), true),
            (pg, "inet", text(None), false),
            (pg, "xml", text(None), false),
            (pg, "name", text(None), false),
            (pg, "\"char\"", text(None), false),
            (my, "varchar(3)", text(Some(3)), true),
            (my, "tinytext", text(None), false),
            (my, "inet6", text(None), false),
            (pg, "integer", int.clone(), true),
            (pg, "oid", int.clone(), false),
            (my, "int unsigned", int.clone(), true),
            (my, "year", int.clone(), false),
            (pg, "numeric(6,2)", decimal(6, 2), true),
            (pg, "numeric(3,-2)", decimal(3, -2), false),
            (pg, "numeric(2,5)", decimal(2, 5), false),
            (my, "decimal(5,2) unsigned", decimal(5, 2), false),
            (my, "float", float.clone(), true),
            (my, "float(5,2)", float.clone(), false),
            (my, "float unsigned", float, false),
            (my, "binary(1)", bytes.clone(), true),
            (my, "bit(4)", bytes, false),
            (my, "enum('a')", label("a"), true),
            (my, "enum('?')", label("?"), false),
            (pg, "state", label("?"), true),
            (pg, "date", DataType::Date, true),
            (pg, "interval", DataType::Interval, false),
            (pg, "jsonb", DataType::Json, false),
            (pg, "money", DataType::Printed, false),
            (Dbms::Sqlite, "DATE", DataType::Date, false),
            (Dbms::Sqlite, "INT", int, true),
        ] {
            let mut column = Column::new("c".to_owned(), declared.to_owned(), data_type);
            assert_eq!(is_unclear(&column, dbms, true), !is_clear, "{declared}");
            // One character of such a text may be several of UTF-8.
            column.ambiguous_charset = Some("EUC_JIS_2004".to_owned());
            let is_text = matches!(column.data_type, DataType::Text { .. });
            assert_eq!(
                is_unclear(&column, dbms, true),
                !is_clear || is_text,
                "{declared}"
            );
        }
    }
}
