//! What an access pattern's SQL says of its result: which table's column each of its columns is, which columns it holds
//! equal, and which of its relations may be missing or repeat rows.

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table};
use dynafold_sql::{
    ColumnOrigin, ColumnRef, Comparator, Condition, ConditionTest, Name, Operand, OperandValue,
    Select, SelectOutput, SelectedColumn, SqlQuery, Wrapping, is_aggregate,
};

/// A column of a relation, by the relation's number in FROM.
type RelationColumn<'a> = (usize, &'a str);

/// Where a query holds two columns equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Equated {
    /// In every row.
    Everywhere,
    /// In rows of its result with a row of this relation, by the ON of its outer join.
    ByJoin(usize),
    /// Wherever a row has both, by USING.
    ByUsing,
}

/// A query whose columns are known.
pub(super) struct QueryShape<'a> {
    pub(super) query: SqlQuery,
    pub(super) catalog: &'a Catalog,
    /// The columns of its result, as the database tells them.
    pub(super) columns: Vec<Column>,
    /// The column of a table that each of them is; `None` where the query makes it, or it is not known.
    pub(super) outputs: Vec<Option<SelectedColumn<'a>>>,
    /// Columns that are equal, to the byte, wherever a row has both.
    equated: Vec<(Equated, [RelationColumn<'a>; 2])>,
}

impl<'a> QueryShape<'a> {
    pub(super) fn new(query: SqlQuery, catalog: &'a Catalog, columns: Vec<Column>) -> Self {
        let mut shape = Self {
            outputs: vec![None; columns.len()],
            query,
            catalog,
            columns,
            equated: Vec::new(),
        };
        let Some(select) = shape.query.select() else {
            return shape;
        };
        let fits = |(output, given): (&Option<SelectedColumn<'_>>, &Column)| {
            output.is_none_or(|output| {
                output.is_renamed || output.column.name.eq_ignore_ascii_case(&given.name)
            })
        };
        let outputs = select.origins(catalog).filter(|found| {
            found.len() == shape.columns.len() && found.iter().zip(&shape.columns).all(fits)
        });
        let of_rows = select.conditions.iter();
        let of_rows =
            of_rows.filter_map(|one| Some((Equated::Everywhere, shape.pair(select, one)?)));
        let on = select.relations.iter().enumerate().flat_map(|(at, own)| {
            let pairs = own.on.iter().filter_map(|one| shape.pair(select, one));
            // Of two other relations an outer join says nothing where there is no row of its own.
            let own = pairs.filter(move |sides| sides.iter().any(|(of, ..)| *of == at));
            own.map(move |sides| (Equated::ByJoin(at), sides))
        });
        let pairs = of_rows
            .chain(on)
            .filter(|(_, [one, other])| are_exact(*one, *other, catalog.dbms))
            .map(|(held, sides)| {
                let sides = sides.map(|(of, _, column)| (of, column.name.as_str()));
                (held, sides)
            });
        let using = using(select, catalog).into_iter();
        let using = using.map(|sides| (Equated::ByUsing, sides));
        let equated = pairs.chain(using).collect();
        shape.outputs = outputs.unwrap_or(shape.outputs);
        shape.equated = equated;
        shape
    }

    /// The columns of tables that a condition holds equal.
    pub(super) fn pair(
        &self,
        select: &Select,
        condition: &Condition,
    ) -> Option<[ColumnOrigin<'a>; 2]> {
        let [left, right] = condition.equal()?;
        let left = select.origin(left.column()?, self.catalog)?;
        Some([left, select.origin(right.column()?, self.catalog)?])
    }

    /// The columns that are held equal to a column, directly, each with where.
    fn equal_to<'s>(
        &'s self,
        own: RelationColumn<'s>,
    ) -> impl Iterator<Item = (Equated, RelationColumn<'a>)> + 's {
        let pairs = self.equated.iter();
        pairs.filter_map(move |(held, [a, b])| match (*a == own, *b == own) {
            (true, _) => Some((*held, *b)),
            (_, true) => Some((*held, *a)),
            _ => None,
        })
    }

    /// Whether the query holds one column equal to another wherever a row has both.
    pub(super) fn equates(&self, one: RelationColumn<'_>, other: RelationColumn<'_>) -> bool {
        one == other || self.equal_to(one).any(|(_, found)| found == other)
    }

    /// Whether the query reads a table, itself or in a subquery.
    pub(super) fn reads(&self, wanted: &Table) -> bool {
        let mut tables = self.query.tables.iter();
        tables.any(|read| {
            let schema = read.schema.as_ref();
            read.name.is(&wanted.name.name)
                && schema.is_none_or(|schema| schema.is(&wanted.name.schema))
        })
    }

    /// The column of the result that a column of a relation is, or is equal to wherever there is a row of that relation. One of
    /// a relation that an outer join may leave without a row is not: it is NULL then, and this one is there.
    pub(super) fn column(&self, wanted: usize, name: &str) -> Option<usize> {
        let find = |(wanted, name): RelationColumn<'_>| {
            let is = |one: SelectedColumn<'_>| one.relation == wanted && one.column.name == name;
            let mut outputs = self.outputs.iter();
            outputs.position(|output| output.is_some_and(is))
        };
        // Whether there is a row is then told by a column of its primary key.
        let has_key_column = || {
            let mut own = self.outputs.iter().flatten();
            own.any(|one| {
                one.relation == wanted && one.table.primary_key.contains(&one.column.name)
            })
        };
        let own = (wanted, name);
        if let Some(found) = find(own) {
            return Some(found);
        }
        let mut same: Vec<RelationColumn<'_>> = Vec::new();
        if !self.may_be_missing(wanted) || has_key_column() {
            same.push(own);
        }
        // The relations that have a row wherever this one has.
        let mut there = vec![wanted];
        let mut at = 0;
        while let Some(one) = same.get(at).copied() {
            at += 1;
            for (held, other) in self.equal_to(one) {
                // What a LEFT JOIN holds equal is there where its own row is.
                let follows = match held {
                    Equated::Everywhere => true,
                    Equated::ByJoin(of) => there.contains(&of) && !self.may_be_missing(0),
                    Equated::ByUsing => false,
                };
                let is_there = there.contains(&other.0) || !self.may_be_missing(other.0);
                if (follows || is_there) && !same.contains(&other) {
                    same.push(other);
                    there.push(other.0);
                }
            }
        }
        same.into_iter().find_map(find)
    }

    /// The relations of the FROM that are a table, but for one; of several those alone whose columns are in the result.
    pub(super) fn relations(&self, wanted: &Table, but: Option<usize>) -> Vec<usize> {
        let Some(select) = self.query.select() else {
            return Vec::new();
        };
        let is_it = |at: &usize| {
            let table = select.table(*at, self.catalog);
            Some(*at) != but && table.is_some_and(|table| table.name == wanted.name)
        };
        let mut all: Vec<usize> = (0..select.relations.len()).filter(is_it).collect();
        if all.len() > 1 {
            all.retain(|at| self.shows(*at, |_| true));
        }
        all
    }

    /// Whether the result has such a column of a relation.
    pub(super) fn shows(&self, relation: usize, is: fn(&SelectedColumn<'_>) -> bool) -> bool {
        let mut outputs = self.outputs.iter().flatten();
        outputs.any(|one| one.relation == relation && is(one))
    }

    /// Whether a row of the result may be computed from several rows.
    pub(super) fn merges_rows(&self) -> bool {
        let select = self.query.select();
        select.is_some_and(|select| select.groups || select.outputs.iter().any(is_of_rows))
    }

    /// Whether a row of the result may be without a row of this relation.
    pub(super) fn may_be_missing(&self, relation: usize) -> bool {
        let select = self.query.select();
        let found = select.and_then(|select| select.relations.get(relation));
        found.is_none_or(|relation| relation.may_be_missing)
    }

    /// The column of a table that every row of the result has equal to a parameter, both as they are; and in which
    /// relation. Then no value that the column does not hold gives a row.
    pub(super) fn equal(&self, parameter: &str) -> Option<ColumnOrigin<'a>> {
        let select = self.query.select()?;
        select.conditions.iter().find_map(|condition| {
            let [left, right] = condition.equal()?;
            let is_it = right.parameter() == Some(parameter);
            select.origin(left.column().filter(|_| is_it)?, self.catalog)
        })
    }

    /// Whether each row of the one item type stands in the result, once: what else is read is joined to it by outer
    /// joins along whole unique keys. Any other join may take rows away, or repeat them. `bases`: the relations that
    /// stand for the item types.
    pub(super) fn keeps_rows(&self, select: &Select, bases: &[usize]) -> bool {
        // A row of one of several item types may have none of the other's beside it, on either side.
        let is_kept = |at: usize| match bases {
            [root] if at == *root => !self.may_be_missing(at),
            [_] => self.may_be_missing(at) && self.is_found_once(select, at),
            _ => false,
        };
        select.relations.len() < 2 || (0..select.relations.len()).all(is_kept)
    }

    /// Whether an outer join holds a whole unique key of a relation equal to columns of those before it.
    fn is_found_once(&self, select: &Select, at: usize) -> bool {
        let relation = select.relations.get(at);
        let Some((table, relation)) = select.table(at, self.catalog).zip(relation) else {
            return false;
        };
        let sides = relation.on.iter().filter_map(|one| self.pair(select, one));
        let sides: Vec<[ColumnOrigin<'_>; 2]> = sides
            .filter(|[one, other]| same_equality(*one, *other, self.catalog.dbms))
            .collect();
        let held = |column: &String| {
            let is_own = |side: &ColumnOrigin<'_>| side.0 == at && side.2.name == *column;
            let is_used = |one: &Condition| matches!(&one.test, ConditionTest::Using(name) if name.is(column));
            let mut pairs = sides.iter();
            pairs.any(|[a, b]| is_own(a) && b.0 < at || is_own(b) && a.0 < at)
                || relation.on.iter().any(is_used)
                    && self.equal_to((at, column)).any(|(_, (of, _))| of < at)
        };
        let mut keys = table.keys(self.catalog.dbms);
        keys.any(|key| key.doubt.is_none() && key.columns.iter().all(held))
    }

    /// Whether each row of the result has a column of a relation that is there: NULL is not let into it, or the SQL leaves
    /// it out.
    pub(super) fn is_there(&self, relation: usize, name: &str) -> bool {
        let Some(select) = self.query.select() else {
            return false;
        };
        let table = select.table(relation, self.catalog);
        let column = table.and_then(|table| table.column(name));
        if table.is_some_and(Table::is_stored) && column.is_some_and(|column| !column.nullable) {
            return true;
        }
        let is_it = |operand: &Operand| {
            let column = operand.column();
            let origin = column.and_then(|column| select.origin(column, self.catalog));
            origin.is_some_and(|(at, _, column)| at == relation && column.name == name)
        };
        said_of(select, relation).any(|condition| match &condition.test {
            ConditionTest::Compare { left, right, op } => {
                *op != Comparator::NotDistinct && (is_it(left) || is_it(right))
            }
            ConditionTest::Between { operand, .. } | ConditionTest::Like { operand, .. } => {
                is_it(operand)
            }
            ConditionTest::In {
                operand, negated, ..
            } => !negated && is_it(operand),
            ConditionTest::Null { operand, negated } => *negated && is_it(operand),
            ConditionTest::Using(used) => used.is(name),
            ConditionTest::Other(_) => false,
        })
    }

    /// What a condition of an item type says and a SELECT of the query does not. `own`: the relation that stands for the
    /// item type. `is_same`: whether a condition of a SELECT is a part of the item type's.
    pub(super) fn missing_conditions(
        &self,
        sql: &str,
        own: Option<usize>,
        is_same: &dyn Fn(&Condition, &Select, &Condition) -> bool,
    ) -> Vec<String> {
        let is_said = |part: &Condition| {
            let mut selects = self.query.selects.iter();
            selects.all(|select| match own {
                Some(own) => said_of(select, own).any(|said| is_same(part, select, said)),
                None => {
                    let mut conditions = select.conditions.iter();
                    conditions.any(|said| is_same(part, select, said))
                }
            })
        };
        // That a column is there needs no words where it always is.
        let is_met = |part: &Condition| {
            let column = not_null(part).filter(|column| column.owner.is_none());
            own.zip(column)
                .is_some_and(|(own, column)| self.is_there(own, &column.name.text))
        };
        let mut parts = parts(sql, self.catalog.dbms);
        if parts.is_empty() {
            return vec![sql.to_owned()];
        }
        parts.retain(|part| !is_said(part) && !is_met(part));
        parts.into_iter().map(|part| part.text).collect()
    }
}

/// The conditions that every row of a relation in the result meets: the ON of an outer join leaves out rows of its own side
/// alone.
fn said_of(select: &Select, relation: usize) -> impl Iterator<Item = &Condition> {
    let outer = select.relations.get(relation);
    let outer = outer.filter(|relation| relation.may_be_missing);
    let on = outer.into_iter().flat_map(|relation| &relation.on);
    select.conditions.iter().chain(on)
}

/// The column of which a condition says only that it is there.
pub(super) fn not_null(condition: &Condition) -> Option<&ColumnRef> {
    match &condition.test {
        ConditionTest::Null {
            operand,
            negated: true,
        } => operand.column(),
        _ => None,
    }
}

/// The conditions that a condition holds at once; none where it cannot be read.
pub(super) fn parts(condition: &str, dbms: Dbms) -> Vec<Condition> {
    // As the only one of a query it is taken apart like others.
    let query = SqlQuery::read(&format!("SELECT 1 FROM t WHERE {condition}\n"), Some(dbms));
    let selects = query.into_iter().flat_map(|query| query.selects);
    selects.flat_map(|select| select.conditions).collect()
}

/// The columns that `USING` holds equal, where no other relation has one of that name.
fn using<'a>(select: &Select, catalog: &'a Catalog) -> Vec<[RelationColumn<'a>; 2]> {
    let mut relations = 0..select.relations.len();
    if relations.any(|at| select.table(at, catalog).is_none()) {
        return Vec::new();
    }
    let on = select.relations.iter().flat_map(|relation| &relation.on);
    let all = select.conditions.iter().chain(on);
    let names = all.filter_map(|condition| match &condition.test {
        ConditionTest::Using(name) => Some(name),
        _ => None,
    });
    let names: Vec<&Name> = names.collect();
    let mut found = Vec::new();
    for name in &names {
        let having = select.columns_called(name, catalog);
        let joins = names.iter().filter(|other| other.text == name.text).count();
        if having.len() == joins + 1 {
            // Where two of them have a row, both are what all before them have.
            let pairs = having.iter().enumerate();
            let pairs = pairs
                .flat_map(|(at, one)| having.iter().skip(at + 1).map(move |other| (one, other)));
            let exact = pairs.filter(|(one, other)| are_exact(**one, **other, catalog.dbms));
            let of = |(at, _, column): &ColumnOrigin<'a>| (*at, column.name.as_str());
            found.extend(exact.map(|(one, other)| [of(one), of(other)]));
        }
    }
    found
}

/// Whether values of a column are equal to the database exactly where their texts are, to the byte. Of a view's column
/// that is not told.
pub(super) fn is_exact(table: &Table, column: &Column, dbms: Dbms) -> bool {
    match &column.data_type {
        DataType::Integer { .. } => column.is_plain_integer(dbms),
        DataType::Text { .. } => {
            table.is_stored()
                && column.is_plain_text(dbms)
                && !column.insensitive
                && column.ambiguous_charset.is_none()
        }
        _ => false,
    }
}

/// Whether two columns are equal to the database exactly where their texts are. A number and a text are not: 70 is equal to
/// `'070'`.
fn are_exact(one: ColumnOrigin<'_>, other: ColumnOrigin<'_>, dbms: Dbms) -> bool {
    let kind = |column: &Column| std::mem::discriminant(&column.data_type);
    is_exact(one.1, one.2, dbms) && is_exact(other.1, other.2, dbms) && kind(one.2) == kind(other.2)
}

/// Whether two columns are equal to the database where their values are the same, and only there.
fn same_equality(one: ColumnOrigin<'_>, other: ColumnOrigin<'_>, dbms: Dbms) -> bool {
    let are_exact = are_exact(one, other, dbms);
    // MySQL's keys compare the numbers of labels, and its joins their texts, of which two may be equal.
    let is_label = |column: &Column| {
        dbms != Dbms::Postgres
            && matches!(
                column.data_type,
                DataType::Enum { .. } | DataType::Set { .. }
            )
    };
    let is_text = |column: &Column| matches!(column.data_type, DataType::Text { .. });
    let plain = |column: &Column| !column.insensitive && !is_text(column) && !is_label(column);
    are_exact || one.2.data_type == other.2.data_type && plain(one.2) && plain(other.2)
}

/// Whether a column of the result is made of several rows by a function. With several values, SQLite's `max` and `min` are of one row.
fn is_of_rows(output: &SelectOutput) -> bool {
    let SelectOutput::One { value, .. } = output else {
        return false;
    };
    let within = match &value.value {
        OperandValue::Expression(inner) if !inner.has_query && !inner.has_window => {
            let mut functions = inner.functions.iter();
            functions.any(|name| is_aggregate(name) && !["max", "min"].contains(&name.as_str()))
        }
        _ => false,
    };
    let is_around = |one: &Wrapping| matches!(one, Wrapping::Function(name) if is_aggregate(name));
    within || value.around.iter().any(is_around)
}
