//! `columns` and `omit`: which columns an item type carries under their own names.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use dynafold_dynamodb::MAX_ITEM_BYTES;
use dynafold_format::joined;
use dynafold_relational::catalog::{Column, DataType, Dbms, Table, TypeFamily, hidden_in_words};
use dynafold_sql::{
    ColumnRef, Comparator, Condition, ConditionTest, Constant, Operand, OperandValue, SqlQuery,
    Wrapping,
};

use super::bind::{ItemBinder, unknown};
use super::patterns::BoundPattern;
use super::scope::{Scope, of_hidden, unknown_column};
use crate::diagnostic::{Code, nearest};
use crate::model::{AccessPattern, Placeholder};
use crate::proof::{PatternProof, SizeProof};
use crate::raw::{RawItem, Spanned};
use crate::scalar::scalar;

/// A column that `columns` asks for.
struct ChosenColumn {
    /// The joined parent that it belongs to.
    alias: Option<String>,
    column: Column,
    /// How the mapping writes it.
    written: String,
    /// Where it was asked for.
    span: Range<usize>,
    /// Whether that was by its own name.
    by_name: bool,
}

impl ChosenColumn {
    /// Whether its name asks for it; `*` does not ask for what is invisible, as in SQL.
    fn is_asked_for(&self) -> bool {
        !self.column.invisible || self.by_name
    }
}

impl ItemBinder<'_> {
    /// The columns that are carried under their own names: attribute name, place, and where it was
    /// asked for. What is omitted is not read from the source either, unless something else asks
    /// for it.
    pub(super) fn carried(&mut self, raw: &RawItem) -> Vec<(Arc<str>, Placeholder, Range<usize>)> {
        let mut chosen = Vec::new();
        let mut hidden = BTreeSet::new();
        let all = [raw.name.with("*".to_owned())];
        for name in raw.columns.as_deref().unwrap_or(&all) {
            self.choose(name, &mut chosen);
            hidden.extend(self.hide_all_of(name, &raw.omit));
        }
        for name in raw.omit.iter().filter(|_| self.scope.known) {
            let names = || chosen.iter().map(|chosen| chosen.written.as_str());
            if names().all(|written| written != name.value) && !hidden.contains(&name.value) {
                let span = name.span.clone();
                if self.scope.base(&name.value).is_some() {
                    let message = format!("`{}` is not in `columns` anyway", name.value);
                    self.report(Code::UnknownColumn, span, message, "remove it from `omit`");
                } else {
                    let alias = name.value.split_once('.').map(|(alias, _)| alias);
                    let parent = alias.and_then(|alias| self.scope.parent(alias));
                    let table = parent.map_or(self.scope.table, |parent| Some(parent.table));
                    let catalog = self.scope.catalog;
                    let may_be_hidden = table.is_some_and(|table| catalog.may_hide_names(table));
                    let relation = format!("`{}`", self.scope.written);
                    let fault = unknown_column(&name.value, span, &relation, names());
                    let mut fault = of_hidden(fault, table);
                    // A hidden column is in no item anyway, unless the name is another one's with a slip.
                    if may_be_hidden {
                        fault.code = Code::HiddenColumns;
                    }
                    if !may_be_hidden || nearest(&name.value, names()).is_some() {
                        self.scope.diagnostics.push(fault);
                    }
                }
            }
        }
        let omitted =
            |chosen: &ChosenColumn| raw.omit.iter().any(|name| name.value == chosen.written);
        chosen.retain(|chosen| !omitted(chosen));
        let (left_out, chosen): (Vec<_>, Vec<_>) = chosen
            .into_iter()
            .partition(|chosen| !chosen.is_asked_for());
        for left in left_out {
            let written = &left.written;
            if chosen.iter().any(|chosen| chosen.written == *written) {
                continue;
            }
            let message = format!("`{written}` is an invisible column, which `*` leaves out");
            let help =
                format!("name it, columns: [\"*\", {written}], or omit it, omit: [{written}]");
            self.report(Code::InvisibleColumn, left.span, message, help);
        }
        chosen
            .into_iter()
            .map(|chosen| self.carry(chosen))
            .collect()
    }

    /// The hidden columns of the table that `*` or `alias.*` names, as `omit` writes them.
    fn hide_all_of(&mut self, name: &Spanned<String>, omit: &[Spanned<String>]) -> Vec<String> {
        let scope = self.scope;
        let (alias, table) = match name.value.strip_suffix(".*") {
            None if name.value == "*" => (None, scope.table),
            None => return Vec::new(),
            Some(alias) => (Some(alias), scope.parent(alias).map(|parent| parent.table)),
        };
        self.hide(alias, table, omit, name.span.clone())
    }

    /// Tells of the columns that `*` leaves out because the user may not read them. Gives all that are hidden, as `omit`
    /// writes them.
    pub(super) fn hide(
        &mut self,
        alias: Option<&str>,
        table: Option<&Table>,
        omit: &[Spanned<String>],
        span: Range<usize>,
    ) -> Vec<String> {
        let Some((table, hidden)) = table.and_then(|it| Some((it, it.hidden_columns.as_ref()?)))
        else {
            return Vec::new();
        };
        let written = |name: &String| match alias {
            Some(alias) => format!("{alias}.{name}"),
            None => name.clone(),
        };
        let is_omitted = |name: &String| omit.iter().any(|omit| omit.value == written(name));
        let left: Vec<String> = hidden
            .iter()
            .filter(|it| !is_omitted(it))
            .cloned()
            .collect();
        let catalog = self.scope.catalog;
        // Nobody can have omitted those without a name.
        if !left.is_empty() || catalog.may_hide_names(table) {
            let of_table = catalog.display_name(&table.name);
            let has = format!("{of_table} has {}", hidden_in_words(&left));
            let message = format!("the {} {has}; no item has them", table.kind.word());
            let help = format!(
                "ask for GRANT SELECT ON {}, or name the columns that items are to have instead of `*`",
                table.name
            );
            self.report(Code::HiddenColumns, span, message, help);
            self.hidden_columns.push(has);
        }
        hidden.iter().map(written).collect()
    }

    fn choose(&mut self, name: &Spanned<String>, chosen: &mut Vec<ChosenColumn>) {
        let scope = self.scope;
        if name.value == "*" {
            choose(None, scope.columns, name, chosen);
            return;
        }
        if let Some(column) = scope.base(&name.value) {
            choose(None, std::slice::from_ref(column), name, chosen);
            return;
        }
        if let Some((alias, rest)) = name.value.split_once('.')
            && let Some(parent) = scope.parent(alias)
        {
            let columns = parent.table.columns.as_slice();
            match parent.table.column(rest) {
                Some(column) => choose(Some(alias), std::slice::from_ref(column), name, chosen),
                None if rest == "*" => choose(Some(alias), columns, name, chosen),
                None => self
                    .scope
                    .diagnostics
                    .push(parent.lacks(rest, name.span.clone())),
            }
            return;
        }
        if scope.known {
            let path: Vec<String> = name.value.split('.').map(str::to_owned).collect();
            self.base_column(&path, name.span.clone());
        } else {
            let column = unknown(&name.value);
            choose(None, std::slice::from_ref(&column), name, chosen);
        }
    }

    fn carry(&mut self, chosen: ChosenColumn) -> (Arc<str>, Placeholder, Range<usize>) {
        let ChosenColumn {
            alias,
            column,
            written,
            span,
            by_name: _,
        } = chosen;
        if column.name.is_empty() {
            let scope = self.scope;
            let of = alias.as_deref().unwrap_or(&scope.written);
            let help = format!("leave it out: omit: [{}]", scalar(&written));
            self.report_nameless(of, span.clone(), help);
        }
        if column.data_type == DataType::Printed {
            let message = format!(
                "`{written}` ({}) is carried as text, as the database prints it",
                column.declared
            );
            let help = format!("leave it out if no access pattern needs it: omit: [{written}]");
            self.report(Code::PrintedType, span.clone(), message, help);
        }
        let (alias, data_type) = (alias.as_deref(), &column.data_type);
        let place = self.pass.column(alias, &column.name, data_type);
        let placeholder = Placeholder::of_column(place, written, data_type.family());
        (column.name.as_str().into(), placeholder, span)
    }
}

fn choose(
    alias: Option<&str>,
    columns: &[Column],
    name: &Spanned<String>,
    chosen: &mut Vec<ChosenColumn>,
) {
    chosen.extend(columns.iter().map(|column| ChosenColumn {
        alias: alias.map(str::to_owned),
        written: match alias {
            Some(alias) => format!("{alias}.{}", column.name),
            None => column.name.clone(),
        },
        column: column.clone(),
        span: name.span.clone(),
        by_name: name.value != "*" && !name.value.ends_with(".*"),
    }));
}

// Conditions of `where` and `$when` that no row can meet, by the types of their columns.

impl ItemBinder<'_> {
    /// Takes a condition for the source to look at, and tells of one that never holds with what comes of it.
    pub(super) fn take_condition(&mut self, written: &Spanned<String>, outcome: &str) {
        self.conditions
            .push(written.with(self.pass.alone(&written.value)));
        let dbms = self.scope.catalog.dbms;
        let query = format!("SELECT 1 FROM t WHERE {}", written.value);
        // What cannot be read, the database judges.
        let Ok(query) = SqlQuery::read(&query, Some(dbms)) else {
            return;
        };
        let conditions = query.select().map(|select| select.conditions.as_slice());
        let conditions = conditions.unwrap_or_default();
        let is_known = |condition| is_plain(condition, self.scope);
        // Quotes, backslashes and comments have more than one reading.
        let is_clear = !written.value.contains(['"', '\\']) && !written.value.contains("/*");
        if is_clear && !conditions.is_empty() && conditions.iter().all(is_known) {
            self.pass.plain(&written.value);
        }
        let why = conditions
            .iter()
            .find_map(|condition| never(condition, self.scope, dbms));
        if let Some((why, help)) = why {
            let message = format!("the condition never holds, so {outcome}: {why}");
            self.report(Code::NeverMatches, written.span.clone(), message, help);
        }
    }
}

/// Whether an index surely answers a condition as an expression does: a text column is equal to a plain word, a whole number is
/// compared with one, or a column is tested for NULL that holds no zero dates, which MySQL takes for NULL.
fn is_plain(condition: &Condition, scope: &Scope<'_>) -> bool {
    let own = |operand: &Operand| column(operand, scope).filter(|_| is_own(operand));
    match &condition.test {
        ConditionTest::Compare { left, op, right } => {
            let is_equal = *op == Comparator::Equal;
            own(left).is_some_and(|column| is_same_kind(column, right, is_equal))
        }
        ConditionTest::In {
            operand,
            negated: false,
            list,
        } => own(operand)
            .is_some_and(|column| list.iter().all(|value| is_same_kind(column, value, true))),
        ConditionTest::Null { operand, .. } => own(operand)
            .is_some_and(|column| column.nullable || column.data_type.family() != TypeFamily::Time),
        _ => false,
    }
}

/// Whether a value is of a column's own kind, so that neither is converted for the comparison.
fn is_same_kind(column: &Column, value: &Operand, is_equal: bool) -> bool {
    let OperandValue::Constant(constant) = &value.value else {
        return false;
    };
    let is_word_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    value.around.is_empty()
        && match (&column.data_type, constant) {
            (DataType::Text { .. }, Constant::Text(text)) => {
                is_equal && !text.is_empty() && text.chars().all(is_word_char)
            }
            (DataType::Integer { .. } | DataType::Boolean, Constant::Number(number)) => {
                // A year of two digits is one of four.
                !column.declared.starts_with("year") && number.parse::<i64>().is_ok()
            }
            _ => false,
        }
}

/// Why a condition never holds, and what to do about it, if that is plain to see.
fn never(condition: &Condition, scope: &Scope<'_>, dbms: Dbms) -> Option<(String, String)> {
    match &condition.test {
        ConditionTest::Compare { left, op, right } if *op != Comparator::NotDistinct => {
            if [left, right].iter().any(|side| is_null(side)) {
                return Some((
                    "a comparison with NULL never holds".to_owned(),
                    "use IS NULL or IS NOT NULL".to_owned(),
                ));
            }
            let is_equal = *op == Comparator::Equal;
            if is_equal
                && let (Some(one), Some(other)) = (text(left), text(right))
                && !may_equal(one, other, dbms)
            {
                return Some((
                    format!("'{one}' and '{other}' are different texts"),
                    "write a column without quotes".to_owned(),
                ));
            }
            let column = column(left, scope)?;
            (is_equal && !may_be(column, right, dbms)).then(|| no_member(column))
        }
        ConditionTest::In {
            operand,
            negated: false,
            list,
        } => {
            let column = column(operand, scope)?;
            let is_none = list.iter().all(|value| !may_be(column, value, dbms));
            (is_none && !list.is_empty()).then(|| no_member(column))
        }
        ConditionTest::Null {
            operand,
            negated: false,
        } => {
            if let Some(text) = text(operand) {
                return Some((
                    format!("'{text}' is text, which is never NULL"),
                    format!("write a column without quotes: {text} IS NULL"),
                ));
            }
            let column = column(operand, scope)?;
            // No key and no NOT NULL says that a joined parent is there. MySQL takes 0000-00-00 for NULL here.
            let is_zero = dbms != Dbms::Postgres && column.data_type.family() == TypeFamily::Time;
            (is_own(operand) && !column.nullable && !is_zero).then(|| {
                (
                    format!("`{}` is never NULL", column.name),
                    "remove the condition, or test another column".to_owned(),
                )
            })
        }
        _ => None,
    }
}

/// The text that an operand is, as it is.
fn text(operand: &Operand) -> Option<&str> {
    match &operand.value {
        OperandValue::Constant(Constant::Text(text)) if operand.around.is_empty() => Some(text),
        _ => None,
    }
}

fn no_member(column: &Column) -> (String, String) {
    let values = match &column.data_type {
        DataType::Enum { values } => values.join(", "),
        _ => String::new(),
    };
    (
        format!("`{}` has no such value", column.name),
        format!("its values are {values}"),
    )
}

fn is_null(operand: &Operand) -> bool {
    let is_function = |around: &Wrapping| matches!(around, Wrapping::Function(_));
    operand.value == OperandValue::Constant(Constant::Null)
        && !operand.around.iter().any(is_function)
}

/// Whether a column of an enum may be equal to a value, under whatever collation; any other may.
fn may_be(column: &Column, value: &Operand, dbms: Dbms) -> bool {
    match (&column.data_type, &value.value) {
        (DataType::Enum { values }, OperandValue::Constant(Constant::Text(text)))
            if value.around.is_empty() =>
        {
            let mut values = values.iter();
            text.trim().is_empty() || values.any(|value| may_equal(value, text, dbms))
        }
        _ => true,
    }
}

/// Whether two texts may be equal under a collation that is not known.
fn may_equal(one: &str, other: &str, dbms: Dbms) -> bool {
    if matches!(dbms, Dbms::Mysql | Dbms::Mariadb) {
        let letters = loosest(one).zip(loosest(other));
        return letters.is_none_or(|(one, other)| one == other);
    }
    one.trim_end().to_lowercase() == other.trim_end().to_lowercase()
}

/// The letters and digits of a text, of which no collation of MySQL overlooks one: Hungarian's takes `ccs` for `cscs`,
/// Lithuanian's i for y, the Roman one i for j and u for v. `None` for a text with other than ASCII's.
fn loosest(text: &str) -> Option<BTreeSet<char>> {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    let loose = letters.map(|letter| match letter.to_ascii_lowercase() {
        'j' | 'y' => 'i',
        'v' | 'w' => 'u',
        letter => letter,
    });
    text.is_ascii().then(|| loose.collect())
}

/// Whether a column is the base table's.
fn is_own(operand: &Operand) -> bool {
    matches!(
        &operand.value,
        OperandValue::Column(ColumnRef { owner: None, .. })
    )
}

/// The column of the table or of a joined parent.
fn column<'a>(operand: &Operand, scope: &Scope<'a>) -> Option<&'a Column> {
    let OperandValue::Column(ColumnRef { owner, name, .. }) = &operand.value else {
        return None;
    };
    if !operand.around.is_empty() || !scope.is_table() {
        return None;
    }
    let table = match owner {
        None => scope.table?,
        Some(owner) => {
            let mut parents = scope.joins.iter();
            parents.find(|parent| owner.is(&parent.alias))?.table
        }
    };
    table.columns.iter().find(|column| name.is(&column.name))
}

/// Bytes that one read unit reads.
const UNIT: usize = 4096;

/// How a pattern is served. `finds`: the item types that it finds.
pub(super) fn served(
    bound: &BoundPattern,
    finds: Vec<String>,
    sizes: &[SizeProof],
) -> PatternProof {
    let pattern = &bound.pattern;
    let partitions = pattern.shards.unwrap_or(1);
    let unit = pattern.read_unit();
    // As `access::plan` decides it: one shard is asked by a Query, too.
    let is_whole = pattern.is_whole_key() && pattern.filter.is_none() && pattern.shards.is_none();
    let limit = if is_whole { Some(1) } else { pattern.limit };
    let most = sizes
        .iter()
        .filter(|size| finds.contains(&size.item_type))
        .map(|size| {
            size.most_bytes
                .unwrap_or(MAX_ITEM_BYTES)
                .min(MAX_ITEM_BYTES)
        })
        .max();
    let most_units = limit
        .zip(most)
        .filter(|_| pattern.filter.is_none())
        .map(|(limit, bytes)| {
            let items = usize::try_from(limit).unwrap_or(usize::MAX);
            let units = |units: usize| f64::from(u32::try_from(units).unwrap_or(u32::MAX)) * unit;
            let found = units(items.saturating_mul(bytes).div_ceil(UNIT)) * f64::from(partitions);
            // Each item that is then read is rounded up by itself.
            let fetched = items.saturating_mul(bytes.div_ceil(UNIT));
            found + if pattern.fetch { units(fetched) } else { 0.0 }
        });
    PatternProof {
        pattern: pattern.name.to_string(),
        operation: if is_whole { "GetItem" } else { "Query" },
        fetches: pattern.fetch,
        index: pattern.index.as_ref().map(ToString::to_string),
        condition: condition(pattern),
        finds,
        partitions,
        least_units: f64::from(partitions) * unit,
        most_units,
    }
}

/// The key condition as people write it.
fn condition(pattern: &AccessPattern) -> String {
    let each = pattern.conditions().map(|(key, operator, values)| {
        let values = joined(values.into_iter().map(ToString::to_string), " and ");
        format!("{} {} {values}", key.name, operator.replace('_', " "))
    });
    joined(each, ", ")
}
