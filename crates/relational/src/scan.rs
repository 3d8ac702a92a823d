//! What is asked of a source: one relation, with its parents and children, or a part of it between two keys or two
//! places in the file.

use serde::{Deserialize, Serialize};

use crate::catalog::{DataType, TableName};

/// What a scan reads from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Relation {
    /// A table or view.
    Table(TableName),
    /// A query, as the mapping says it.
    Query(String),
}

impl Relation {
    /// The table or view; `None` for a query.
    pub fn table(&self) -> Option<&TableName> {
        match self {
            Self::Table(name) => Some(name),
            Self::Query(_) => None,
        }
    }

    /// The query; `None` for a table or view.
    pub fn sql(&self) -> Option<&str> {
        match self {
            Self::Query(sql) => Some(sql),
            Self::Table(_) => None,
        }
    }
}

/// A place in the rows of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanColumn {
    /// A column of the base relation (`join` is `None`) or of a joined parent.
    Column {
        /// Index into [`Scan::joins`]; `None` for the base relation.
        join: Option<usize>,
        /// The column's name.
        name: String,
        /// Its type, which decides how it is asked for and decoded.
        data_type: DataType,
    },
    /// A SQL condition, as a boolean that is false for NULL. It leaves out no row.
    Flag(String),
    /// Children: a [`Value::List`] of rows, each a [`Value::List`] of the embed's columns.
    Embed(Box<Embed>),
    /// A place that the source leaves NULL, for whoever reads the row.
    Slot,
}

/// An N:1 lookup: a LEFT JOIN along a key that is unique on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// The alias, unique in the scan and different from the base relation's name.
    pub alias: String,
    /// The parent table.
    pub table: TableName,
    /// What must be equal. Our side is the base relation or an earlier join.
    pub on: Vec<Match>,
    /// Whether the database keeps a row to one parent at most. Else the join may give a row several times.
    pub is_single: bool,
}

/// Two columns that must be equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Whose column ours is: an index into [`Scan::joins`]; `None` for the base relation.
    pub join: Option<usize>,
    /// Our column.
    pub ours: String,
    /// The other relation's column.
    pub theirs: String,
}

/// 1:N children, read in the order of their parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embed {
    /// The children. Their conditions leave out rows; a limit is not allowed here.
    pub rows: Scan,
    /// How a child finds its parent; `theirs` is the child's column.
    pub on: Vec<Match>,
    /// Their order: indices into the rows' columns, and whether it descends. NULL comes before
    /// every value; numbers are in the order of numbers, texts in that of their bytes. Ties are in
    /// the order of [`Scan::key`].
    pub order: Vec<(usize, bool)>,
    /// Most children of one parent; the rest is counted.
    pub most: Option<u64>,
}

/// One pass over one relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// What is read.
    pub from: Relation,
    /// The places of the rows, in order.
    pub columns: Vec<ScanColumn>,
    /// Which of the columns tell rows apart. Rows with embeds need them.
    pub key: Vec<usize>,
    /// Parents to be joined.
    pub joins: Vec<Join>,
    /// SQL conditions; each becomes one boolean of the row. Empty: every row is wanted.
    pub conditions: Vec<String>,
    /// Those of the conditions and flags that an index answers as an expression does. MySQL and MariaDB are asked the others
    /// in a form that no index serves.
    pub plain: Vec<String>,
    /// Whether rows that meet none of the conditions are wanted too.
    pub keep_unmatched: bool,
    /// Most rows to read.
    pub limit: Option<u64>,
    /// The part of the base relation that is read; `None`: all of it. Children of rows outside of it
    /// are not read and not told.
    pub range: Option<Range>,
}

/// Rows whose key comes after `after` (exclusive) up to `to` (inclusive). Ranges that share their
/// bounds cover every row exactly once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Range {
    /// What the rows are told apart and ordered by.
    pub by: RangeKey,
    /// The bound that is not in it, one value for each column; `None`: from the first row.
    ///
    /// PostgreSQL's values are as it prints them. Of the others a number is as printed, text is in
    /// single quotes with those within it doubled, and bytes are hexadecimal: `x'00ff'`.
    pub after: Option<Vec<String>>,
    /// The bound that is in it; `None`: to the last row.
    pub to: Option<Vec<String>>,
}

/// What a range is cut by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RangeKey {
    /// The columns of a key, in its order. They are never NULL.
    Key(Vec<String>),
    /// Where a row lies: PostgreSQL's `ctid`, SQLite's `rowid`. It holds for one snapshot only.
    Place,
}

impl Range {
    /// Ranges between these bounds, in their order, with those before the first and after the last.
    pub fn between(by: &RangeKey, bounds: Vec<Vec<String>>) -> Vec<Self> {
        let mut after = None;
        let mut ranges = Vec::with_capacity(bounds.len() + 1);
        for to in bounds.into_iter().map(Some).chain([None]) {
            ranges.push(Self {
                by: by.clone(),
                after: std::mem::replace(&mut after, to.clone()),
                to,
            });
        }
        ranges
    }
}

impl ScanColumn {
    /// A column of the base relation.
    pub fn base(name: &str, data_type: DataType) -> Self {
        Self::Column {
            join: None,
            name: name.to_owned(),
            data_type,
        }
    }
}

impl Scan {
    /// All rows of a relation, with these columns and nothing else.
    pub fn of(from: Relation, columns: Vec<ScanColumn>) -> Self {
        Self {
            from,
            columns,
            key: Vec::new(),
            joins: Vec::new(),
            conditions: Vec::new(),
            plain: Vec::new(),
            keep_unmatched: false,
            limit: None,
            range: None,
        }
    }

    /// The rows of the scan's relation within its range, with nothing in them and none left out.
    pub fn bare(&self) -> Self {
        Self {
            range: self.range.clone(),
            ..Self::of(self.from.clone(), Vec::new())
        }
    }

    /// The table and the name of a column of the rows; `None` for what is none of a table's.
    pub fn origin(&self, column: usize) -> Option<(&TableName, &str)> {
        let ScanColumn::Column { join, name, .. } = self.columns.get(column)? else {
            return None;
        };
        let table = match (join, &self.from) {
            (Some(join), _) => &self.joins.get(*join)?.table,
            (None, Relation::Table(table)) => table,
            (None, Relation::Query(_)) => return None,
        };
        Some((table, name))
    }

    /// The name of a column of the base relation; `None` for what is none of its columns.
    pub fn own_column(&self, column: usize) -> Option<&str> {
        match self.columns.get(column)? {
            ScanColumn::Column {
                join: None, name, ..
            } => Some(name),
            _ => None,
        }
    }

    /// The embeds, with the indices of their columns.
    pub fn embeds(&self) -> impl Iterator<Item = (usize, &Embed)> {
        let columns = self.columns.iter().enumerate();
        columns.filter_map(|(index, column)| match column {
            ScanColumn::Embed(embed) => Some((index, &**embed)),
            _ => None,
        })
    }

    /// The rows of an embed, by the columns of the embeds that it is in, its own the last; all of the scan without any.
    pub fn within(&self, embeds: &[usize]) -> Option<&Self> {
        let mut embeds = embeds.iter();
        embeds.try_fold(self, |scan, column| match scan.columns.get(*column)? {
            ScanColumn::Embed(embed) => Some(&embed.rows),
            _ => None,
        })
    }

    /// Adds the tables of all embeds; false where one is a query, of which no index is known.
    pub fn embedded_tables<'s>(&'s self, tables: &mut Vec<&'s str>) -> bool {
        self.embeds().all(|(_, embed)| {
            let table = embed.rows.from.table();
            tables.extend(table.map(|name| name.name.as_str()));
            table.is_some() && embed.rows.embedded_tables(tables)
        })
    }

    /// Every table that is read, those of joins and embeds too.
    pub fn tables(&self) -> Vec<&TableName> {
        let joined = self.joins.iter().map(|join| &join.table);
        let mut tables: Vec<&TableName> = self.from.table().into_iter().chain(joined).collect();
        tables.extend(self.embeds().flat_map(|(_, embed)| embed.rows.tables()));
        tables
    }

    /// Whether SQL from the mapping is in it.
    pub fn has_foreign_sql(&self) -> bool {
        !self.foreign_sql().is_empty()
    }

    /// The SQL from the mapping that is in it: queries and conditions, those of embeds too.
    pub fn foreign_sql(&self) -> Vec<&str> {
        let conditions = self.conditions.iter().map(String::as_str);
        let mut all: Vec<&str> = self.from.sql().into_iter().chain(conditions).collect();
        for column in &self.columns {
            match column {
                ScanColumn::Flag(sql) => all.push(sql),
                ScanColumn::Embed(embed) => all.extend(embed.rows.foreign_sql()),
                ScanColumn::Column { .. } | ScanColumn::Slot => {}
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_between_bounds_share_them() {
        let by = RangeKey::Key(vec!["id".into()]);
        let ranges = Range::between(&by, vec![vec!["1".into()], vec!["2".into()]]);
        let bounds: Vec<_> = ranges.into_iter().map(|r| (r.after, r.to)).collect();
        let at = |value: &str| Some(vec![value.to_owned()]);
        assert_eq!(
            bounds,
            [(None, at("1")), (at("1"), at("2")), (at("2"), None)]
        );
    }
}
