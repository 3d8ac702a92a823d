//! The tables of a plan, and the rows that their unique keys allow.

use dynafold_mapping::model::Model;
use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, ForeignKey, Table, TableKind, TableName, UniqueKey,
};
use dynafold_relational::scan::ScanColumn;
use dynafold_relational::value::{Number, Value};

use super::plan::{NAMES, Plan, Third};
use super::values::documents;

/// A row: its own columns, of which the third is the reference or the array where it does not hold
/// the value, and what stands in the parent.
#[derive(Debug, Clone)]
pub(super) struct Row {
    own: [Value; 3],
    joined: Value,
    /// The parent's key; NULL where there is no parent.
    parent: Value,
}

impl Row {
    /// The row as the model's pass asks for it.
    pub(super) fn asked(&self, model: &Model) -> Vec<Value> {
        let columns = model.passes[0].scan.columns.iter();
        let values = columns.map(|column| match column {
            ScanColumn::Column {
                join: Some(_),
                name,
                ..
            } if name == "c" => self.joined.clone(),
            ScanColumn::Column { join: Some(_), .. } => self.parent.clone(),
            ScanColumn::Column { name, .. } if name == "r" => self.own[2].clone(),
            ScanColumn::Column { name, .. } => {
                self.own[NAMES.iter().position(|n| n == name).unwrap()].clone()
            }
            _ => Value::Null,
        });
        values.collect()
    }
}

const REFERENCE: DataType = DataType::Integer {
    bits: 64,
    unsigned: false,
};

fn column(name: &str, declared: &str, data_type: DataType, nullable: bool) -> Column {
    Column {
        nullable,
        ..Column::new(name.to_owned(), declared.to_owned(), data_type)
    }
}

fn table_name(name: &str) -> TableName {
    TableName {
        schema: "main".to_owned(),
        name: name.to_owned(),
    }
}

fn table(name: &str, columns: Vec<Column>, primary_key: Vec<String>, also: Option<&str>) -> Table {
    let also = also.into_iter().map(|column| UniqueKey {
        name: "also".to_owned(),
        columns: vec![column.to_owned()],
        ..UniqueKey::default()
    });
    Table {
        columns,
        primary_key,
        unique_keys: also.collect(),
        ..Table::new(table_name(name), TableKind::Table)
    }
}

impl Plan {
    /// SQLite lets NULL into keys.
    fn may_be_null(&self, at: usize) -> bool {
        self.nullable[at] && (self.dbms == Dbms::Sqlite || !self.unique.contains(&at))
    }

    /// The name of a column of `t`.
    fn own_name(&self, at: usize) -> &'static str {
        match self.third {
            Third::Joined if at == 2 => "r",
            _ => NAMES[at],
        }
    }

    pub(super) fn catalog(&self) -> Catalog {
        let columns = (0..3).map(|at| {
            let (data_type, declared, _) = self.kind(at);
            let (name, nullable) = (self.own_name(at), self.may_be_null(at));
            match (at, self.third) {
                (2, Third::Joined) => column(name, "bigint", REFERENCE, nullable),
                (2, Third::Exploded) if self.is_array() => {
                    let element = Box::new(data_type);
                    column(name, "array", DataType::Array { element }, nullable)
                }
                (2, Third::Exploded) => column(name, "json", DataType::Json, nullable),
                _ => column(name, declared, data_type, nullable),
            }
        });
        let primary_key = self.unique.iter().map(|at| self.own_name(*at).to_owned());
        let is_parents = |at: &usize| self.third == Third::Joined && *at == 2;
        let also = self.also.filter(|at| !is_parents(at)).map(|at| NAMES[at]);
        let mut tables = vec![table("t", columns.collect(), primary_key.collect(), also)];
        if self.third == Third::Joined {
            tables[0].foreign_keys.push(ForeignKey {
                name: "t_r".to_owned(),
                columns: vec!["r".to_owned()],
                references: table_name("p"),
                referenced_columns: vec!["k".to_owned()],
                ..ForeignKey::default()
            });
            let (data_type, declared, _) = self.kind(2);
            let columns = vec![
                column("k", "bigint", REFERENCE, false),
                column("c", declared, data_type, self.nullable[2]),
            ];
            let also = self.also.filter(is_parents).map(|_| "c");
            tables.push(table("p", columns, vec!["k".to_owned()], also));
        }
        Catalog {
            dbms: self.dbms,
            version: String::new(),
            database: String::new(),
            search_path: vec!["main".to_owned()],
            own_functions: Vec::new(),
            own_operators: false,
            tables,
            notices: Vec::new(),
        }
    }

    /// The parents: the reference to each, its key and its value. Without a unique key there are two of
    /// each value. Some references have no parent: nobody enforces that at all times.
    fn parents(&self) -> Vec<(Value, Value, Value)> {
        let mut values = self.kind(2).2;
        let mut distinct: Vec<Value> = Vec::new();
        values.retain(|value| {
            let is_new = !distinct.contains(value);
            distinct.push(value.clone());
            is_new
        });
        if self.also != Some(2) {
            values.extend(values.clone());
        }
        if self.nullable[2] {
            values.extend([Value::Null, Value::Null]);
        }
        let numbered = values.into_iter().zip(1_u64..);
        let reference = |number| Value::Number(Number::from(number));
        let mut parents: Vec<(Value, Value, Value)> = numbered
            .map(|(value, number)| (reference(number), reference(number), value))
            .collect();
        let orphans = [90_u64, 91].map(|number| (reference(number), Value::Null, Value::Null));
        parents.extend(orphans);
        if self.may_be_null(2) {
            parents.push((Value::Null, Value::Null, Value::Null));
        }
        parents
    }

    /// Arrays of a few values, some of them twice.
    fn arrays(&self) -> Vec<Value> {
        let mut values = if self.is_array() {
            self.kind(2).2
        } else {
            documents().2
        };
        values.extend([Value::Null, values[0].clone()]);
        let mut arrays: Vec<Value> = values
            .windows(3)
            .map(|three| Value::List(three.to_vec()))
            .collect();
        arrays.extend(
            values
                .into_iter()
                .map(|one| Value::List(vec![one.clone(), one])),
        );
        arrays.extend([Value::List(Vec::new()), Value::Null]);
        arrays
    }

    /// The rows that the unique keys allow: of those that break one the first stays.
    pub(super) fn rows(&self) -> Vec<Row> {
        let own = [0, 1, 2].map(|at| {
            let mut values = self.kind(at).2;
            if self.may_be_null(at) {
                values.push(Value::Null);
            }
            values
        });
        let (parents, arrays) = (self.parents(), self.arrays());
        let mut rows: Vec<Row> = Vec::new();
        for chosen in &self.rows {
            let (mut joined, mut parent) = (Value::Null, Value::Null);
            let values = [0, 1, 2].map(|at| match (at, self.third) {
                (2, Third::Joined) => {
                    let (reference, key, value) = chosen[at].get(&parents).clone();
                    (joined, parent) = (value, key);
                    reference
                }
                (2, Third::Exploded) => chosen[at].get(&arrays).clone(),
                _ => chosen[at].get(&own[at]).clone(),
            });
            let same = |other: &Row, columns: &[usize]| {
                let is_same = |at: &usize| other.own[*at] == values[*at];
                let mut columns = columns.iter();
                columns.all(|at| is_same(at) && values[*at] != Value::Null)
            };
            let also = self.also.filter(|at| *at != 2 || self.third == Third::Own);
            let breaks = |other: &Row| {
                same(other, &self.unique) || also.is_some_and(|at| same(other, &[at]))
            };
            if !rows.iter().any(breaks) {
                rows.push(Row {
                    own: values,
                    joined,
                    parent,
                });
            }
        }
        rows
    }
}
