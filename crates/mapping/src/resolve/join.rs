//! Finds the parent that a `join` names: by a foreign key, or by columns that the mapping matches.

use dynafold_format::{every, joined};
use dynafold_relational::catalog::{Column, ForeignKey, Table, TableKind};

use super::constraints::has_one_parent;
use super::equality::mismatch;
use super::scope::{ColumnPair, JoinUniqueness, JoinedParent, Scope, find_table, lacks};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::raw::{RawJoin, RawJoinTo, RawMatch, Spanned};

impl Scope<'_> {
    pub(super) fn join(&mut self, joins: &[RawJoin]) {
        for join in joins {
            match find_parent(join, self) {
                Some(parent) => self.joins.push(parent),
                None => self.broken.push(join.alias.value.clone()),
            }
        }
    }
}

fn find_parent<'a>(raw: &RawJoin, scope: &Scope<'a>) -> Option<JoinedParent<'a>> {
    let diagnostics = scope.diagnostics;
    if scope.is_taken(&raw.alias, Code::Join) {
        return None;
    }
    let faults_before = diagnostics.count();
    let (table, on, optional) = match &raw.to {
        RawJoinTo::Key(columns) => parent_by_key(raw, columns, scope)?,
        RawJoinTo::Match { table, on } => {
            let table = find_table(table, scope.catalog, diagnostics)?;
            let on = column_pairs(Code::Join, on, table, scope)?;
            (table, on, true)
        }
    };
    let theirs: Vec<String> = on.iter().map(|on| on.theirs.clone()).collect();
    if !table.is_declared_unique(&theirs, scope.catalog.dbms) && table.is_stored() {
        diagnostics.push(not_unique(raw, table, &theirs));
        return None;
    }
    let parent = JoinedParent {
        alias: raw.alias.value.clone(),
        table,
        uniqueness: has_one_parent(scope, table, &on),
        on,
        optional,
    };
    let is_unproven = parent.uniqueness == JoinUniqueness::Unknown && scope.known;
    // What else was reported of the join says why.
    if is_unproven && diagnostics.count() == faults_before {
        diagnostics.push(unproven_join(raw, &parent));
    }
    Some(parent)
}

fn unproven_join(raw: &RawJoin, parent: &JoinedParent<'_>) -> Diagnostic {
    let name = &parent.table.name.name;
    let why = match parent.table.kind {
        _ if !parent.table.heirs.is_empty() => {
            "its keys do not cover the tables that inherit from it"
        }
        TableKind::Table | TableKind::Partitioned => {
            "the join may compare the columns differently from its key"
        }
        _ => "it is a view or a foreign table",
    };
    let message = format!("it is not known whether each row has only one row in `{name}`: {why}");
    Diagnostic::new(Code::UnprovenJoin, raw.alias.span.clone(), message).with_help(
        "make sure that each row has only one: a row with several is read several times; the load finds equal keys, and rejects all but one of them",
    )
}

/// A column of ours as the mapping writes it: the base relation's, or an earlier alias's.
pub(super) struct JoinColumn<'a> {
    pub(super) owner: Option<String>,
    pub(super) column: String,
    /// What is known of it.
    pub(super) known: Option<&'a Column>,
}

/// Finds a column of ours; what is wrong with it is reported.
pub(super) fn our_column<'a>(
    written: &Spanned<String>,
    scope: &Scope<'a>,
) -> Option<JoinColumn<'a>> {
    let diagnostics = scope.diagnostics;
    let found = |owner: Option<&str>, column: &str, known| {
        let (owner, column) = (owner.map(str::to_owned), column.to_owned());
        Some(JoinColumn {
            owner,
            column,
            known,
        })
    };
    if let Some(column) = scope.base(&written.value) {
        return found(None, &written.value, Some(column));
    }
    let split = written.value.split_once('.');
    if let Some((alias, name)) = split
        && let Some(parent) = scope.parent(alias)
    {
        if let Some(column) = parent.table.column(name) {
            return found(Some(alias), name, Some(column));
        }
        diagnostics.push(parent.lacks(name, written.span.clone()));
        return None;
    }
    match split {
        Some((alias, _)) if scope.broken.iter().any(|broken| broken == alias) => {}
        _ if !scope.known => return found(None, &written.value, None),
        Some((alias, _)) => {
            let aliases = scope.joins.iter().map(|parent| parent.alias.as_str());
            let earlier = || "an alias must be declared before those that start from it".to_owned();
            let help = did_you_mean(alias, aliases).unwrap_or_else(earlier);
            let message = format!("`{alias}` is not a joined alias of `{}`", scope.written);
            diagnostics.add(Code::UnknownAlias, written.span.clone(), message, help);
        }
        None => diagnostics.push(scope.lacks(&written.value, written.span.clone())),
    }
    None
}

/// The parent that a foreign key leads to, what it matches, and whether it may be missing.
fn parent_by_key<'a>(
    raw: &RawJoin,
    columns: &[Spanned<String>],
    scope: &Scope<'a>,
) -> Option<(&'a Table, Vec<ColumnPair>, bool)> {
    let diagnostics = scope.diagnostics;
    let first = columns.first()?;
    let fault = |message: String| Diagnostic::new(Code::Join, first.span.clone(), message);
    if scope.table.is_none() && !first.value.contains('.') {
        let help = format!(
            "name the columns that match: {}: {{ table: …, match: {{ their_column: {} }} }}",
            raw.alias.value, first.value
        );
        let message = "a query has no foreign keys to join along".to_owned();
        diagnostics.push(fault(message).with_help(help));
        return None;
    }
    let found = every(columns.iter().map(|column| our_column(column, scope)))?;
    let owner = found.first()?.owner.clone();
    if found.iter().any(|column| column.owner != owner) {
        let message = "the columns of a foreign key must belong to one table".to_owned();
        diagnostics.push(fault(message).with_help("write the same alias before each column"));
        return None;
    }
    let (base, may_be_missing) = match &owner {
        Some(alias) => (scope.parent(alias)?.table, scope.parent(alias)?.optional),
        None => (scope.table?, false),
    };
    let names: Vec<&str> = found.iter().map(|column| column.column.as_str()).collect();
    let key = match foreign_key(&names, base) {
        Ok(key) => key,
        Err((message, help)) => {
            diagnostics.push(fault(message).with_help(help));
            return None;
        }
    };
    let Some(table) = scope.catalog.table(&key.references) else {
        let message = format!(
            "the foreign key leads to `{}`, which the user cannot see",
            key.references
        );
        let help = "grant the user SELECT on it";
        diagnostics.add(Code::UnreadableTable, first.span.clone(), message, help);
        return None;
    };
    let mut referenced = key.referenced_columns.iter();
    if table.hidden_columns.is_some()
        && let Some(hidden) = referenced.find(|name| table.column(name).is_none())
    {
        diagnostics.push(lacks(table, &table.name.name, hidden, first.span.clone()));
        return None;
    }
    let pairs = key.columns.iter().zip(&key.referenced_columns);
    let on = pairs.map(|(ours, theirs)| ColumnPair {
        owner: owner.clone(),
        ours: ours.clone(),
        theirs: theirs.clone(),
    });
    let nullable = |ours: &JoinColumn<'_>| ours.known.is_none_or(|column| column.nullable);
    let optional = may_be_missing || found.iter().any(nullable);
    Some((table, on.collect(), optional))
}

/// Pairs of columns, their own in `table` and ours in `scope`; `code` is that of a pair that cannot
/// be equal.
pub(super) fn column_pairs(
    code: Code,
    pairs: &RawMatch,
    table: &Table,
    scope: &Scope<'_>,
) -> Option<Vec<ColumnPair>> {
    let (catalog, diagnostics) = (scope.catalog, scope.diagnostics);
    let on = pairs.iter().map(|(theirs, our)| {
        let their_column = table.column(&theirs.value);
        if their_column.is_none() {
            let (name, span) = (&theirs.value, theirs.span.clone());
            diagnostics.push(lacks(table, &table.name.name, name, span));
        }
        let found = our_column(our, scope);
        let (theirs, ours) = (their_column?, found?);
        let known = ours.known;
        diagnostics.extend(known.and_then(|known| mismatch(code, (our, known), theirs, catalog)));
        Some(ColumnPair {
            owner: ours.owner,
            ours: ours.column,
            theirs: theirs.name.clone(),
        })
    });
    every(on)
}

fn not_unique(raw: &RawJoin, table: &Table, columns: &[String]) -> Diagnostic {
    let (columns, table) = (columns.join(", "), &table.name.name);
    let message =
        format!("`{columns}` is not unique in `{table}`, so a row could have several parents");
    let help = format!(
        "if they are its children, use `$embed: {table}`; otherwise, join in `from: {{ sql: … }}`"
    );
    Diagnostic::new(Code::Join, raw.alias.span.clone(), message).with_help(help)
}

/// The one foreign key on just these columns, or what is wrong and how to mend it.
fn foreign_key<'t>(wanted: &[&str], base: &'t Table) -> Result<&'t ForeignKey, (String, String)> {
    let fits = |key: &&ForeignKey| {
        let mut columns = key.columns.iter();
        columns.len() == wanted.len() && columns.all(|column| wanted.contains(&column.as_str()))
    };
    let written = wanted.join(", ");
    let mut fitting = base.foreign_keys.iter().filter(fits);
    let Some(key) = fitting.next() else {
        let declared = base.foreign_keys.iter().map(|key| key.columns.join(", "));
        let table = &base.name.name;
        let there = match joined(declared, "; ").as_str() {
            "" => format!("`{table}` declares no foreign keys; write"),
            declared => format!("its foreign keys are on {declared}; for other columns, write"),
        };
        return Err((
            format!("`{written}` is not a foreign key of `{table}`"),
            format!("{there} {{ table: …, match: {{ their_column: {written} }} }}"),
        ));
    };
    match fitting.find(|other| other.references != key.references) {
        Some(other) => Err((
            format!(
                "`{written}` belongs to two foreign keys, to `{}` and to `{}`",
                key.references, other.references
            ),
            format!(
                "name one of them: {{ table: {}, match: {{ their_column: {written} }} }}",
                key.references
            ),
        )),
        None => Ok(key),
    }
}
