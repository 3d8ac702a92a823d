//! What a pattern says otherwise than its SQL: the order of what comes back, how much of it, and what the index does not
//! hold of it. Only what is plain to see is told; the rest is left to `verify`.

use dynafold_dynamodb::{Index, Projection};
use dynafold_format::{joined, whole};
use dynafold_relational::catalog::{
    Catalog, DataType, Dbms, TableName, in_byte_order, sorts_by_bytes,
};
use dynafold_sql::{
    Condition, Name, ParameterBound, RowLimit, Select, SelectOutput, SortKey, SqlQuery,
};

use super::super::anchor::TemplateAnchor;
use super::align::KnownAttributes;
use super::bind::PatternBinder;
use super::keys::AskedKey;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::Placeholder;
use crate::template::Filter;

/// How the sort key of an item type stands to the column that the SQL sorts by.
enum SortAgreement {
    /// It begins with the column, behind what the SQL fixes; and whether the key turns the order around.
    By { turned: bool },
    /// It does not have the column.
    Otherwise,
    /// It is not plain to see.
    Unknown,
}

impl PatternBinder<'_> {
    /// Tells of an order and a limit that contradict the SQL's.
    pub(super) fn contradictions(&mut self, keys: &AskedKey<'_>) {
        let (Some(sql), Some(query)) = (&self.raw.sql, &self.query) else {
            return;
        };
        let mut found = Vec::new();
        if let Some((message, key)) = self.other_order(query, keys) {
            found.push((TemplateAnchor::of(sql).range(&key.span), message));
        }
        if let (Some(limit), RowLimit::Rows(rows)) = (&self.raw.limit, &query.limit)
            && !self.has_limit_of(limit.value, *rows)
        {
            let message = format!(
                "the limit is {}, and that of its SQL is {rows}",
                limit.value
            );
            found.push((limit.span.clone(), message));
        }
        let warnings = found.into_iter().map(|(span, message)| {
            Diagnostic::new(Code::OtherOrder, span, message)
                .with_other(self.raw.name.span.clone(), "this pattern's answer differs from its SQL's")
                .with_help("make both the same; if the application handles the difference: accept: [other-order]")
        });
        self.warnings.extend(warnings);
    }

    /// Whether a limit of items may be one of rows: a row may have an item of each type that the pattern names.
    fn has_limit_of(&self, items: u64, rows: u64) -> bool {
        let mut items_of_row = 1..=whole(self.raw.items.len().max(1));
        items_of_row.any(|of_row| rows.checked_mul(of_row) == Some(items))
    }

    /// What is said of the order of a query that the sort key does not have.
    fn other_order<'q>(
        &self,
        query: &'q SqlQuery,
        keys: &AskedKey<'_>,
    ) -> Option<(String, &'q SortKey)> {
        let select = query.select()?;
        // What a join holds equal is left to `verify`.
        if select.relations.len() != 1 {
            return None;
        }
        let conditions = select.conditions.iter();
        let fixed: Vec<_> = conditions.filter_map(Condition::fixed).collect();
        let is_fixed = |name: &str| fixed.iter().any(|one| one.name.is(name));
        let mut terms = query.order.iter().flatten();
        let key = terms.find(|key| {
            let column = key.column.as_ref();
            !column.is_some_and(|column| is_fixed(&column.name.text))
        })?;
        let column = key.column.as_ref()?;
        select.origin(column, self.context.catalog?)?;
        let written = column.name.text.as_str();
        if keys.sort.is_empty() && keys.index.is_some() {
            let message = format!(
                "its SQL sorts by `{written}`, and {} has no sort key",
                keys.called()
            );
            return Some((message, key));
        }
        let mut sorts = self
            .promised()
            .map(|make| sorts(make, keys, &column.name, &is_fixed));
        let first = sorts.next()?;
        let rest: Vec<SortAgreement> = sorts.collect();
        let are = |is: &dyn Fn(&SortAgreement) -> bool| is(&first) && rest.iter().all(is);
        if are(&|sorts| matches!(sorts, SortAgreement::Otherwise)) {
            let called = joined(keys.sort.iter().map(|key| &*key.name), "`, `");
            let message = format!("its SQL sorts by `{written}`, which `{called}` does not have");
            return Some((message, key));
        }
        let upside_down = key.descending != self.raw.descending;
        if are(&|sorts| matches!(sorts, SortAgreement::By { turned } if *turned != upside_down)) {
            let (own, other) = if key.descending {
                ("in descending order", "in ascending order")
            } else {
                ("in ascending order", "in descending order")
            };
            let message = format!("its SQL sorts by `{written}` {own}, and the pattern {other}");
            return Some((message, key));
        }
        None
    }

    /// Tells of columns that the SQL selects, and that the index does not hold though the items have them.
    pub(super) fn projected(&mut self, keys: &AskedKey<'_>) {
        let (Some(sql), Some(query), Some(catalog)) =
            (&self.raw.sql, &self.query, self.context.catalog)
        else {
            return;
        };
        let is_whole = |index: &Index| index.projection == Projection::All;
        if keys.index.is_none_or(is_whole) {
            return;
        }
        // What `answer` calls otherwise is held against the index there.
        let outputs = query.selects.iter().flat_map(|select| &select.outputs);
        let answered: Vec<String> = outputs
            .filter_map(|output| match output {
                SelectOutput::One {
                    name: Some(name),
                    value,
                } => {
                    let mut answers = self.raw.answer.iter().map(|(_, column)| &column.value);
                    let column = value.column().filter(|_| answers.any(|own| name.is(own)))?;
                    Some(column.name.text.clone())
                }
                _ => None,
            })
            .collect();
        let mut missing: Vec<String> = Vec::new();
        for (table, column) in query
            .selects
            .iter()
            .flat_map(|select| selected(select, catalog))
        {
            // Of parents of one table any may be the one that the SQL joins.
            let of = |make: &KnownAttributes| {
                let carried = make.carried.iter();
                let holding = carried.filter(|(own, name, _)| own == table && *name == column);
                let mut names = holding.flat_map(|(_, _, names)| names).peekable();
                names.peek()?;
                Some(names.any(|name| keys.holds(name, self.context.table)))
            };
            let held: Vec<bool> = self.promised().filter_map(of).collect();
            let is_answered = answered.contains(&column);
            let known = missing.contains(&column);
            if !held.is_empty() && !held.contains(&true) && !is_answered && !known {
                missing.push(column);
            }
        }
        if missing.is_empty() {
            return;
        }
        let (what, names) = (keys.called(), missing.join("`, `"));
        let message = format!("its SQL selects `{names}`, which {what} does not project");
        self.context.diagnostics.push(
            Diagnostic::new(Code::NotProjected, sql.span.clone(), message)
                .with_other(self.raw.name.span.clone(), "this pattern's answer does not have it")
                .with_help(format!("project it: add `{names}` to `project` of {what}; or read the items whole by `fetch: true`, ask the table, or select less")),
        );
    }
}

/// The columns of tables that a query selects as they are. Of a table that it reads twice it is not known which of the
/// two an item is of.
fn selected<'c>(select: &Select, catalog: &'c Catalog) -> Vec<(&'c TableName, String)> {
    let tables: Vec<_> = (0..select.relations.len())
        .filter_map(|at| select.table(at, catalog))
        .collect();
    let origins = select
        .origins(catalog)
        .unwrap_or_default()
        .into_iter()
        .flatten();
    let once = |name: &TableName| tables.iter().filter(|table| table.name == *name).count() == 1;
    let found = origins.filter(|one| once(&one.table.name));
    found
        .map(|one| (&one.table.name, one.column.name.clone()))
        .collect()
}

/// How the sort key of an item type stands to a column. `is_fixed`: whether the SQL holds a column to one value.
fn sorts(
    make: &KnownAttributes,
    keys: &AskedKey<'_>,
    column: &Name,
    is_fixed: &dyn Fn(&str) -> bool,
) -> SortAgreement {
    let sort = keys.sort.iter();
    let templates = sort.map(|key| make.template(&key.name));
    let Some(templates) = templates.collect::<Option<Vec<_>>>() else {
        return SortAgreement::Unknown;
    };
    let placeholders: Vec<&Placeholder> = templates
        .iter()
        .flat_map(|template| template.placeholders())
        .collect();
    // What a query makes goes by any name.
    let is_carried = |placeholder: &&Placeholder| {
        let own = own_name(placeholder);
        make.carried.iter().any(|(_, name, _)| name == own)
    };
    if !placeholders.iter().all(is_carried) {
        return SortAgreement::Unknown;
    }
    let is_it = |one: &Placeholder| column.is(own_name(one));
    let mut varying = placeholders.iter().filter(|one| !is_fixed(own_name(one)));
    match varying.next() {
        None => SortAgreement::Unknown,
        Some(first) if is_it(first) => {
            let is_desc = |filter: &&Filter| matches!(filter, Filter::Desc { .. });
            let turns = first.filters.iter().filter(is_desc).count();
            let keeps = |filter: &Filter| {
                !matches!(
                    filter,
                    Filter::Map { .. }
                        | Filter::Replace { .. }
                        | Filter::Format(_)
                        | Filter::Shard(_)
                )
            };
            if first.filters.iter().all(keeps) {
                SortAgreement::By {
                    turned: turns % 2 == 1,
                }
            } else {
                SortAgreement::Unknown
            }
        }
        Some(_) if placeholders.iter().any(|one| is_it(one)) => SortAgreement::Unknown,
        Some(_) => SortAgreement::Otherwise,
    }
}

// Whether the relational query that a pattern replaces sorts text as DynamoDB does, by the bytes of
// UTF-8. A `limit` cuts what is sorted otherwise at another place.

impl PatternBinder<'_> {
    /// Tells of text that the source sorts otherwise. What the query does not plainly say is left
    /// to `verify`.
    pub(super) fn order(&mut self, keys: &AskedKey<'_>) {
        let (Some(sql), Some(catalog)) = (&self.raw.sql, self.context.catalog) else {
            return;
        };
        // Without a sort key there is no order, and where the whole key is said one item comes back.
        if keys.sort.is_empty() {
            return;
        }
        let Some(query) = &self.query else { return };
        let Some(select) = query.select() else { return };
        let sorted_otherwise = |key: &SortKey| {
            let column = key.column.as_ref()?;
            let collation = match &key.collation {
                Some(asked) => {
                    (!sorts_by_bytes(&asked.text, catalog.dbms)).then(|| asked.text.clone())
                }
                None => {
                    let (_, _, column) = select.origin(column, catalog)?;
                    let is_text =
                        matches!(column.data_type, DataType::Text { .. } | DataType::Dynamic);
                    column.collation.clone().filter(|_| is_text)
                }
            };
            let path = [&column.schema, &column.owner].into_iter().flatten();
            let path: Vec<&str> = path.chain([&column.name]).map(|name| &*name.text).collect();
            Some((key.span.clone(), path.join("."), collation?))
        };
        let mut terms = query.order.iter().flatten();
        let Some((span, written, collation)) = terms.find_map(sorted_otherwise) else {
            return;
        };
        let outcome = match &self.raw.limit {
            Some(limit) => format!(
                "with a limit of {}, other items may be returned",
                limit.value
            ),
            None => "the same items may be returned in another order".to_owned(),
        };
        let message = format!(
            "`{written}` is sorted by `{collation}`, and DynamoDB sorts by bytes: {outcome}"
        );
        self.warnings.push(
            Diagnostic::new(
                Code::TextOrder,
                TemplateAnchor::of(sql).range(&span),
                message,
            )
            .with_other(
                self.raw.name.span.clone(),
                "this pattern returns items in the order of bytes",
            )
            .with_help(mend(&written, &collation, catalog.dbms)),
        );
    }

    /// Tells of a parameter that the source compares without regard to case, accents or blanks, where the key holds the
    /// column as it is spelled.
    pub(super) fn insensitive(&mut self) {
        let (Some(query), Some(catalog)) = (&self.query, self.context.catalog) else {
            return;
        };
        let Some(select) = query.select() else { return };
        let mut equal = query
            .comparisons
            .iter()
            .filter(|one| one.is_plain && one.bound == ParameterBound::Equal);
        let found = equal.find_map(|one| {
            let at = self.parameters.find(&one.parameter)?;
            let (_, _, column) = select.origin(&one.column, catalog)?;
            let mut pairs = self.pairs.iter();
            let pair = pairs
                .find(|pair| pair.asked.place.column == at && !pair.made.has_one_spelling())?;
            let name = &one.column.name.text;
            column.has_insensitive_text().then_some((name, pair))
        });
        let Some((column, pair)) = found else { return };
        let message = format!(
            "its SQL compares `{column}` without regard to case, accents or trailing blanks, and the key has `{}` as it is spelled",
            pair.made
        );
        let warning = Diagnostic::new(Code::InsensitiveKey, pair.span.clone(), message)
            .with_other(self.raw.name.span.clone(), "other spellings find nothing here")
            .with_help("write `| lower` in the key and here, or ask by an attribute that has only one spelling; if callers spell it as the rows do: accept: [insensitive-key]");
        self.warnings.push(warning);
    }
}

/// How the query would sort as DynamoDB does.
fn mend(written: &str, collation: &str, dbms: Dbms) -> String {
    if dbms == Dbms::Sqlite && collation.starts_with("BINARY of") {
        return "no collation of SQLite sorts such a database by the bytes of UTF-8; if that makes no difference: accept: [text-order]".to_owned();
    }
    let term = in_byte_order(written, collation, dbms);
    format!("use ORDER BY {term}; if another order is acceptable: accept: [text-order]")
}

/// The column that a placeholder names, without whose it is.
fn own_name(placeholder: &Placeholder) -> &str {
    let parts = placeholder.place.written.rsplit('.').next();
    parts.unwrap_or_default()
}
