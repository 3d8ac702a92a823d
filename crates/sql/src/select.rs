//! One SELECT: what it reads, what it gives, what it asks of its rows.

use sqlparser::ast::{
    self, Distinct, GroupByExpr, JoinConstraint, JoinOperator, SelectFlavor, SelectItem,
    SelectItemQualifiedWildcardKind, TableAlias, TableFactor, TableWithJoins,
};

use super::condition::{Condition, ConditionTest, conditions};
use super::operand::{ColumnRef, Name, Operand, columns, has_expression, names};
use super::text::Sql;

/// One SELECT of a query, as far as it is understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Select {
    /// `SELECT DISTINCT`, `SELECT DISTINCT ON (…)`.
    pub distinct: bool,
    /// What `DISTINCT ON (…)` says in its parentheses.
    pub distinct_on: Option<String>,
    /// What it reads, in the order of the text.
    pub relations: Vec<FromRelation>,
    /// The columns of its result.
    pub outputs: Vec<SelectOutput>,
    /// What each row of the result meets: WHERE, and ON of joins that leave out what does not meet it.
    pub conditions: Vec<Condition>,
    /// Whether it has GROUP BY.
    pub groups: bool,
    /// What it groups by, where that is nothing but columns.
    pub grouped_by: Option<Vec<ColumnRef>>,
    /// The columns in GROUP BY, HAVING and DISTINCT ON.
    pub merged_by: Vec<ColumnRef>,
    /// Whether what it gives, or groups by, has a collation that the query asks for.
    pub is_collated: bool,
    /// Whether it has HAVING.
    pub having: bool,
    /// What was read and is told nowhere else, in words of SQL.
    pub strange: Vec<&'static str>,
}

/// Something that a SELECT reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromRelation {
    /// What the query calls it.
    pub called: Option<Name>,
    /// What it is.
    pub source: RelationSource,
    /// Whether a row of the result may be without a row of it: an outer join.
    pub may_be_missing: bool,
    /// What an outer join holds its rows against. That of other joins is in [`Select::conditions`].
    pub on: Vec<Condition>,
}

/// What a relation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelationSource {
    /// A table or view of the database.
    Table {
        /// Its schema, where it is said.
        schema: Option<Name>,
        /// The table's name, as the query writes it.
        name: Name,
    },
    /// A query of the WITH.
    With(Name),
    /// A query in parentheses.
    Query,
    /// A function, or anything else.
    Other,
}

/// A column of a result, or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectOutput {
    /// `*`.
    All,
    /// `alias.*`.
    AllOf(Vec<Name>),
    /// One column.
    One {
        /// Its name, where it is plain: an alias, or a column's.
        name: Option<Name>,
        /// What it is.
        value: Operand,
    },
}

impl Select {
    pub(super) fn of(select: &ast::Select, with: &[Name], sql: &Sql) -> Self {
        let read = Self {
            distinct: matches!(select.distinct, Some(Distinct::Distinct | Distinct::On(_))),
            distinct_on: match &select.distinct {
                Some(Distinct::On(by)) => {
                    let by: Vec<String> = by.iter().map(ToString::to_string).collect();
                    Some(by.join(", "))
                }
                _ => None,
            },
            groups: match &select.group_by {
                GroupByExpr::Expressions(by, modifiers) => !by.is_empty() || !modifiers.is_empty(),
                GroupByExpr::All(_) => true,
            },
            grouped_by: match &select.group_by {
                GroupByExpr::Expressions(by, modifiers) if modifiers.is_empty() => {
                    let columns = by.iter().map(|one| Operand::of(one, sql).column().cloned());
                    columns.collect()
                }
                _ => None,
            },
            merged_by: [
                columns(&select.group_by, sql),
                columns(&select.having, sql),
                columns(&select.distinct, sql),
            ]
            .concat(),
            is_collated: has_collation(&select.projection)
                || has_collation(&select.group_by)
                || has_collation(&select.distinct),
            having: select.having.is_some(),
            ..Self::default()
        };
        let mut reader = SelectReader { sql, with, read };
        for from in &select.from {
            reader.tables(from);
        }
        if let Some(condition) = &select.selection {
            let conditions = conditions(condition, sql);
            reader.read.conditions.extend(conditions);
        }
        for item in &select.projection {
            let outputs = reader.outputs(item);
            reader.read.outputs.extend(outputs);
        }
        reader.rest(select);
        reader.read
    }
}

fn has_collation(part: &impl ast::Visit) -> bool {
    has_expression(part, |one| matches!(one, ast::Expr::Collate { .. }))
}

struct SelectReader<'s> {
    sql: &'s Sql,
    /// The names of the queries of WITH.
    with: &'s [Name],
    read: Select,
}

impl SelectReader<'_> {
    /// A table with those that are joined to it; an entry of FROM.
    fn tables(&mut self, from: &TableWithJoins) {
        let begin = self.read.relations.len();
        let of = self.read.conditions.len();
        self.table(&from.relation, false);
        for joined in &from.joins {
            let ([before_missing, own_missing], constraint) = kind(&joined.join_operator);
            let is_outer = before_missing || own_missing;
            let this = self.read.relations.len();
            self.table(&joined.relation, is_outer);
            let mut on = Vec::new();
            match constraint {
                Some(JoinConstraint::On(condition)) => on = conditions(condition, self.sql),
                Some(JoinConstraint::Using(columns)) => {
                    for column in columns {
                        let name = names(column, self.sql.dbms()).and_then(|mut names| names.pop());
                        let Some(name) = name else { continue };
                        on.push(Condition {
                            text: format!("USING({})", name.text),
                            alternatives: Vec::new(),
                            accepts_null: false,
                            test: ConditionTest::Using(name),
                        });
                    }
                }
                Some(JoinConstraint::Natural) => self.read.strange.push("NATURAL JOIN"),
                Some(JoinConstraint::None) => {}
                None => self.read.strange.push("a join of another kind"),
            }
            // What was joined before may be missing beside a row of this one, and its ON leaves nothing out.
            if before_missing {
                let held = self.read.conditions.split_off(of);
                let before = self.read.relations.get_mut(begin..this).unwrap_or_default();
                // They are there or missing as one, which nothing else tells.
                if before.len() > 1 {
                    self.read
                        .strange
                        .push("a RIGHT or FULL JOIN of several tables");
                }
                for relation in before.iter_mut() {
                    relation.may_be_missing = true;
                }
                if let Some(last) = before.last_mut() {
                    last.on.extend(held);
                }
            }
            if !is_outer {
                self.read.conditions.extend(on);
                continue;
            }
            let joined = self.read.relations.get_mut(this..).unwrap_or_default();
            for relation in joined.iter_mut() {
                relation.may_be_missing |= own_missing;
            }
            if let Some(relation) = joined.first_mut() {
                relation.on.extend(on);
            }
        }
    }

    /// `is_outer`: whether it is joined to what stands before it by an outer join.
    fn table(&mut self, factor: &TableFactor, is_outer: bool) {
        let (source, alias) = match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints: _,
            } => {
                let is_plain = with_hints.is_empty()
                    && version.is_none()
                    && !with_ordinality
                    && partitions.is_empty()
                    && json_path.is_none()
                    && sample.is_none();
                if !is_plain {
                    let what = "a table of which a part is read, or another version";
                    self.read.strange.push(what);
                }
                let source = match names(name, self.sql.dbms()).as_deref() {
                    _ if args.is_some() => RelationSource::Other,
                    Some([name]) if self.with.iter().any(|with| with.is(&name.text)) => {
                        RelationSource::With(name.clone())
                    }
                    Some([name]) => RelationSource::Table {
                        schema: None,
                        name: name.clone(),
                    },
                    Some([schema, name]) => RelationSource::Table {
                        schema: Some(schema.clone()),
                        name: name.clone(),
                    },
                    _ => RelationSource::Other,
                };
                (source, alias)
            }
            TableFactor::Derived {
                lateral,
                subquery: _,
                alias,
                sample,
            } => {
                if *lateral || sample.is_some() {
                    self.read.strange.push("LATERAL");
                }
                (RelationSource::Query, alias)
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => {
                let of = self.read.conditions.len();
                self.tables(table_with_joins);
                // Its ON leaves rows out only where this join does.
                if is_outer {
                    if !table_with_joins.joins.is_empty() {
                        self.read.strange.push("an outer join of joined tables");
                    }
                    let held = self.read.conditions.split_off(of);
                    if let Some(last) = self.read.relations.last_mut() {
                        last.on.extend(held);
                    }
                }
                return;
            }
            TableFactor::NestedJoin { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::JsonTable { alias, .. } => (RelationSource::Other, alias),
            _ => (RelationSource::Other, &None),
        };
        let own = match &source {
            RelationSource::Table { name, .. } | RelationSource::With(name) => Some(name.clone()),
            RelationSource::Query | RelationSource::Other => None,
        };
        let alias = alias.as_ref();
        if alias.is_some_and(|alias| !alias.columns.is_empty() || alias.at.is_some()) {
            self.read.strange.push("names of columns after an alias");
        }
        let called = |alias: &TableAlias| Name::of(&alias.name, self.sql.dbms());
        self.read.relations.push(FromRelation {
            called: alias.map(called).or(own),
            source,
            may_be_missing: false,
            on: Vec::new(),
        });
    }

    fn outputs(&mut self, item: &SelectItem) -> Vec<SelectOutput> {
        let sql = self.sql;
        let options = |options: &ast::WildcardAdditionalOptions| {
            *options != ast::WildcardAdditionalOptions::default()
        };
        match item {
            SelectItem::UnnamedExpr(expression) => {
                let value = Operand::of(expression, sql);
                let name = value.column().map(|column| column.name.clone());
                vec![SelectOutput::One { name, value }]
            }
            SelectItem::ExprWithAlias { expr, alias } => vec![SelectOutput::One {
                name: Some(Name::of(alias, sql.dbms())),
                value: Operand::of(expr, sql),
            }],
            SelectItem::ExprWithAliases { .. } => {
                self.read.strange.push("several names for one value");
                Vec::new()
            }
            SelectItem::Wildcard(more) => {
                if options(more) {
                    self.read.strange.push("a `*` with exceptions");
                }
                vec![SelectOutput::All]
            }
            SelectItem::QualifiedWildcard(owner, more) => {
                let owner = match owner {
                    SelectItemQualifiedWildcardKind::ObjectName(name) => names(name, sql.dbms()),
                    SelectItemQualifiedWildcardKind::Expr(_) => None,
                };
                if options(more) || owner.is_none() {
                    self.read.strange.push("a `*` with exceptions");
                }
                vec![SelectOutput::AllOf(owner.unwrap_or_default())]
            }
        }
    }

    /// The clauses of which nothing is told.
    fn rest(&mut self, select: &ast::Select) {
        let clauses = [
            ("TOP", select.top.is_some()),
            ("EXCLUDE", select.exclude.is_some()),
            ("LATERAL VIEW", !select.lateral_views.is_empty()),
            ("PREWHERE", select.prewhere.is_some()),
            ("CONNECT BY", !select.connect_by.is_empty()),
            ("CLUSTER BY", !select.cluster_by.is_empty()),
            ("DISTRIBUTE BY", !select.distribute_by.is_empty()),
            ("SORT BY", !select.sort_by.is_empty()),
            ("QUALIFY", select.qualify.is_some()),
            ("SELECT AS", select.value_table_mode.is_some()),
            (
                "FROM before SELECT",
                select.flavor != SelectFlavor::Standard,
            ),
        ];
        let there = clauses.into_iter().filter(|(_, is_there)| *is_there);
        self.read.strange.extend(there.map(|(what, _)| what));
    }
}

/// Whether the rows before a join may be missing in the result, and whether its own may; and what it joins by, `None` for a kind
/// that is not understood.
fn kind(operator: &JoinOperator) -> ([bool; 2], Option<&JoinConstraint>) {
    match operator {
        JoinOperator::Join(on)
        | JoinOperator::Inner(on)
        | JoinOperator::CrossJoin(on)
        | JoinOperator::StraightJoin(on) => ([false, false], Some(on)),
        JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => ([false, true], Some(on)),
        JoinOperator::Right(on) | JoinOperator::RightOuter(on) => ([true, false], Some(on)),
        JoinOperator::FullOuter(on) => ([true, true], Some(on)),
        _ => ([true, true], None),
    }
}
