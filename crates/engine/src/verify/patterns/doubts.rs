//! Why a call that was not asked, or a row that comes tomorrow, may have another answer: what the SQL says and the pattern
//! does not, and what the pattern and its item types say and the SQL does not.

use std::collections::{BTreeSet, HashSet};

use dynafold_format::has_word;
use dynafold_mapping::claim::Claim;
use dynafold_mapping::model::{
    AccessPattern, AttributeNode, ItemType, Model, ParameterKind, Placeholder, Template,
    TemplatePart, ValuePath,
};
use dynafold_mapping::template::Filter;
use dynafold_mapping::{aligned, fickle_part, writing};
use dynafold_relational::catalog::{Column, DataType, Dbms, TableName};
use dynafold_relational::scan::{Relation, ScanColumn};
use dynafold_sql::{
    ColumnRef, Comparator, Condition, ConditionTest, OperandValue, RelationSource, RowLimit,
    Select, SelectOutput, SetOperation, Wrapping, is_aggregate, qualified,
};

use super::call::DrawnCalls;
use super::places::is_same;
use super::projection::{ItemProjection, keys};
use super::shape::{QueryShape, is_exact, not_null, parts};

/// What both sides of a pattern say, held against each other.
pub(super) struct Doubts<'w, 'a> {
    pub(super) model: &'w Model,
    pub(super) pattern: &'w AccessPattern,
    /// What is known of the item types that its key finds.
    pub(super) finds: Option<&'w Claim>,
    pub(super) shape: &'w QueryShape<'a>,
    /// The item types that come back.
    pub(super) types: &'w [ItemProjection<'a>],
}

impl Doubts<'_, '_> {
    /// Adds why a call that was not asked may have another answer; nothing where every possible call was.
    pub(super) fn add(&self, drawn: &DrawnCalls, doubts: &mut Vec<String>) {
        doubts.extend(drawn.doubts());
        self.of_parameters(drawn, doubts);
        let (query, catalog) = (&self.shape.query, self.shape.catalog);
        let mut steady = query.clone();
        if query.limit != RowLimit::None || query.offset != RowLimit::None {
            let why = match query.order {
                None => "its SQL has a LIMIT and no ORDER BY: it may return any of the rows",
                Some(_) if query.order_decides(catalog) => {
                    "its SQL has a LIMIT, and rows behind it are not compared"
                }
                Some(_) => "its SQL has a LIMIT, and rows may be equal under its ORDER BY",
            };
            doubts.push(why.to_owned());
            // One is its own; others are those of queries within it.
            let own = steady.unsteady.iter().position(|word| word == "LIMIT");
            if let Some(own) = own {
                steady.unsteady.remove(own);
            }
        }
        if let Some(what) = fickle_part(&steady, catalog) {
            doubts.push(format!(
                "its SQL may have another answer at another time, because of {what}"
            ));
        }
        let mut types = self.types.iter();
        if types.any(|one| one.item.may_expire(&self.model.table)) {
            doubts.push("its items expire".to_owned());
        }
        if self.types.iter().any(|one| !one.item.explodes.is_empty()) {
            doubts.push("each element of an array is an item of its own".to_owned());
        }
        doubts.extend(self.types.iter().flat_map(|one| one.doubts.clone()));
        if self.types.iter().any(ItemProjection::may_lack) {
            doubts.push(
                "an item may lack an attribute that comes from a document and is called like a column"
                    .to_owned(),
            );
        }
        doubts.dedup();
        let [beyond, unmatched] = self.further();
        // Where there is a doubt already, the SQL may say in other words what the key says.
        let left_out = if doubts.is_empty() && beyond.is_empty() && unmatched.is_empty() {
            self.left_out()
        } else {
            Vec::new()
        };
        for (begin, what) in [
            ("its SQL has conditions that the key does not have", beyond),
            (
                "these parts of its SQL could not be matched with the key",
                unmatched,
            ),
            ("rows of its SQL may have no item because of", left_out),
            (
                "its SQL does not repeat these conditions of the item type's `where` or `$when` word for word",
                self.missing_conditions(),
            ),
        ] {
            if !what.is_empty() {
                doubts.push(format!("{begin}: {}", what.join(", ")));
            }
        }
        doubts.extend(self.other_types());
    }

    /// Whether each parameter of the SQL stands for one column alone, which has been asked for its values.
    fn of_parameters(&self, drawn: &DrawnCalls, doubts: &mut Vec<String>) {
        let pattern = self.pattern;
        let uses = self.shape.query.sql.parameters().iter();
        let names: BTreeSet<&str> = uses.map(|one| one.name.as_str()).collect();
        let mut bound: Vec<(usize, &TableName, &str)> = Vec::new();
        if self.shape.query.select().is_none() && !names.is_empty() {
            doubts.push("its SQL is not one SELECT".to_owned());
            return;
        }
        for name in &names {
            let Some((at, table, column)) = self.shape.equal(name) else {
                doubts.push(format!(
                    "its SQL does not compare a column with `:{name}` by equality"
                ));
                continue;
            };
            let own = pattern.parameters.iter().find(|one| *one.name == **name);
            let is_kind = matches!(
                (own.map(|one| one.kind), &column.data_type),
                (Some(ParameterKind::Number), DataType::Integer { .. })
                    | (Some(ParameterKind::Text), DataType::Text { .. })
            );
            if own.is_none() {
                doubts.push(format!("only its SQL has the parameter `{name}`"));
            } else if !is_kind || !is_exact(table, column, self.shape.catalog.dbms) {
                // Of a UUID only the parameter has several spellings; SQLite keeps them as they are.
                let is_spelled =
                    column.data_type == DataType::Uuid && self.shape.catalog.dbms != Dbms::Sqlite;
                let of = &column.name;
                doubts.push(if is_spelled {
                    format!("the database treats other spellings of a UUID as equal to `{of}`")
                } else {
                    format!("different values of `{of}` may be equal in the database")
                });
            }
            let (table, column) = (&table.name, column.name.as_str());
            if bound
                .iter()
                .any(|(other, of, _)| *of == table && *other != at)
            {
                doubts.push(format!("its SQL reads `{}` twice", table.name));
            }
            if bound
                .iter()
                .any(|(other, _, of)| (*other, *of) == (at, column))
            {
                doubts.push(format!("several parameters are compared with `{column}`"));
            }
            bound.push((at, table, column));
            let mut origins = drawn.origins.iter();
            if !origins.any(|(of, from, drawn)| **of == **name && from == table && drawn == column)
            {
                doubts.push(format!("values of `{name}` were not drawn from `{column}`"));
            }
        }
        let own = pattern.parameters.iter();
        let unused = own.filter(|one| !names.contains(&*one.name));
        doubts.extend(unused.map(|one| format!("`{}` is not a parameter of its SQL", one.name)));
    }

    /// Why its key may find items of other types than those that come back.
    fn other_types(&self) -> Option<String> {
        let claim = self.finds?;
        let is_other = |name: &&String| self.types.iter().all(|one| *one.item.name != ***name);
        let others = claim.of.item_types.iter().filter(is_other);
        let others: Vec<&str> = others.map(String::as_str).collect();
        if others.is_empty() {
            return (!claim.is_proved()).then(|| claim.because.clone());
        }
        Some(format!("its key also finds {}", others.join(", ")))
    }

    /// What the SQL says beyond the pattern and the item types' own conditions, in its own words: first conditions that these
    /// do not have, then all that they may say in other words.
    fn further(&self) -> [Vec<String>; 2] {
        let query = &self.shape.query;
        let dbms = self.shape.catalog.dbms;
        let own: Vec<(&ItemProjection<'_>, Vec<Condition>)> = self
            .types
            .iter()
            .map(|one| {
                let conditions = self.conditions(one).into_iter();
                (one, conditions.flat_map(|sql| parts(sql, dbms)).collect())
            })
            .collect();
        // What one item type says and another does not, may leave out rows of the other.
        let is_known = |select: &Select, condition: &Condition| {
            let mut own = own.iter();
            own.all(|(one, parts)| {
                let mut parts = parts.iter();
                parts.any(|part| self.is_same_condition(one, part, select, condition))
            })
        };
        let needed = common(self.types.iter().map(|one| self.needed(one)));
        let keyed: Vec<_> = self.types.iter().map(|one| self.keyed(one)).collect();
        let bases: Vec<usize> = self.types.iter().filter_map(|one| one.base).collect();
        let (mut beyond, mut named) = (Vec::new(), Vec::new());
        if query.set != SetOperation::One {
            named.push("several SELECTs".to_owned());
        }
        let strange = query.selects.iter().flat_map(|select| &select.strange);
        named.extend(
            query
                .strange
                .iter()
                .chain(strange)
                .map(|what| (*what).to_owned()),
        );
        for select in &query.selects {
            let keeps_rows = self.shape.keeps_rows(select, &bases);
            let of_bases = bases.iter().filter_map(|at| select.relations.get(*at));
            // What an outer join asks takes no rows of the other side away.
            let on = of_bases.filter(|_| !keeps_rows).flat_map(|one| &one.on);
            if keeps_rows {
                let outer = (0..select.relations.len()).filter(|at| !bases.contains(at));
                named.extend(outer.flat_map(|at| self.beyond_joins(select, at)));
            }
            let is_of_bases = |column: &ColumnRef| {
                let origin = select.origin(column, self.shape.catalog);
                origin.is_some_and(|(at, ..)| bases.contains(&at))
            };
            // A parameter is of the key once; what else it is compared with is more.
            let mut bound: HashSet<&str> = HashSet::new();
            for condition in select.conditions.iter().chain(on) {
                // On the other side of an outer join a condition makes it an inner one.
                let is_of_bases = select.relations.len() == 1
                    || condition
                        .columns()
                        .is_some_and(|columns| columns.into_iter().all(is_of_bases));
                let mut is_key = || {
                    let (column, names) = key(condition)?;
                    let mut of_key = names.iter();
                    let are = of_key.all(|name| self.is_keyed(select, (column, name), &keyed));
                    Some(are && names.into_iter().all(|name| bound.insert(name)))
                };
                let is_needed = || {
                    let (at, _, column) =
                        select.origin(not_null(condition)?, self.shape.catalog)?;
                    Some(bases.contains(&at) && needed.contains(&column.name.as_str()))
                };
                let is_said =
                    is_of_bases && (is_known(select, condition) || is_key() == Some(true));
                if !is_said && is_needed() != Some(true) {
                    let is_beyond = self.is_beyond(select, condition);
                    let list = if is_beyond { &mut beyond } else { &mut named };
                    list.push(format!("`{}`", condition.text));
                }
            }
            let catalog = self.shape.catalog;
            if select.distinct {
                let outputs = select.origins(catalog).unwrap_or_default();
                let columns = outputs.into_iter().flatten().map(|output| output.column);
                named.push(grouping("DISTINCT", columns));
            }
            if select.groups {
                let by = select.grouped_by.iter().flatten();
                let columns = by.filter_map(|one| Some(select.origin(one, catalog)?.2));
                named.push(grouping("GROUP BY", columns));
            }
            for (is, what) in [(select.having, "HAVING"), (!keeps_rows, "its joins")] {
                named.extend(is.then(|| what.to_owned()));
            }
            let is_query =
                |source: &RelationSource| !matches!(source, RelationSource::Table { .. });
            let queries = select.relations.iter().filter(|one| is_query(&one.source));
            named.extend(queries.map(|_| "a subquery".to_owned()));
            named.extend(select.outputs.iter().flat_map(inputs_beside_the_row));
        }
        named.dedup();
        [beyond, named]
    }

    /// Whether neither the keys nor the item types can have this condition in other words: all its columns are of the item
    /// types' own relation, no key is made of them, and no item type has conditions.
    fn is_beyond(&self, select: &Select, condition: &Condition) -> bool {
        let columns = condition.columns().unwrap_or_default();
        let is_free = |column: &ColumnRef| {
            let origin = select.origin(column, self.shape.catalog);
            let mut types = self.types.iter();
            origin
                .is_some_and(|(at, _, column)| types.all(|one| self.lacks(one, (at, &column.name))))
        };
        let is_one = self.shape.query.set == SetOperation::One;
        is_one && !columns.is_empty() && columns.into_iter().all(is_free)
    }

    /// Whether neither a key nor a condition of an item type depends on a column of its own relation.
    fn lacks(&self, one: &ItemProjection<'_>, (at, name): (usize, &str)) -> bool {
        let is_other = |value: &Placeholder| {
            let own = one.pass.scan.own_column(value.place.column);
            own.is_some_and(|own| !self.shape.equates((at, own), (at, name)))
        };
        let mut keys = keys(&self.model.table, self.pattern);
        one.base == Some(at)
            && self.conditions(one).is_empty()
            && keys.all(|key| {
                let template = one.item.template(&key.name);
                template.is_some_and(|template| template.placeholders().all(is_other))
            })
    }

    /// What an outer join asks of a relation that the items' own joins do not: it decides which of its values are NULL.
    /// Nothing where the result shows no value of it.
    fn beyond_joins(&self, select: &Select, at: usize) -> Vec<String> {
        let mut outputs = self.shape.outputs.iter();
        if !outputs.any(|output| output.is_none_or(|output| output.relation == at)) {
            return Vec::new();
        }
        let on = select.relations.get(at).map_or(&[][..], |one| &one.on);
        let is_further = |condition: &&Condition| {
            let mut types = self.types.iter();
            !types.all(|one| self.joins(one, select, (at, condition)))
        };
        let further = on.iter().filter(is_further);
        further.map(|one| format!("`{}`", one.text)).collect()
    }

    /// Whether a join of an item type holds the same columns equal as a condition that joins a relation.
    fn joins(
        &self,
        one: &ItemProjection<'_>,
        select: &Select,
        (at, condition): (usize, &Condition),
    ) -> bool {
        let joins = &one.pass.scan.joins;
        // A table may stand in the FROM several times.
        let relation_of = |join: Option<usize>| match join {
            None => one.base,
            Some(join) => one.parents.get(join).copied().flatten(),
        };
        let table = select.table(at, self.shape.catalog);
        let mut own = joins
            .iter()
            .filter(|join| table.is_some_and(|table| table.name == join.table))
            .flat_map(|join| &join.on);
        if let ConditionTest::Using(name) = &condition.test {
            return own.any(|on| name.is(&on.theirs) && name.is(&on.ours));
        }
        let Some([left, right]) = self.shape.pair(select, condition) else {
            return false;
        };
        let (theirs, ours) = if left.0 == at {
            (left, right)
        } else {
            (right, left)
        };
        own.any(|on| {
            theirs.0 == at
                && theirs.2.name == on.theirs
                && ours.2.name == on.ours
                && relation_of(on.join) == Some(ours.0)
        })
    }

    /// Whether the key of each item type of a SELECT has a column, or one that is equal to it, in a parameter's place.
    fn is_keyed(
        &self,
        select: &Select,
        (column, parameter): (&ColumnRef, &str),
        keyed: &[Vec<(&str, &str)>],
    ) -> bool {
        let Some((at, _, column)) = select.origin(column, self.shape.catalog) else {
            return false;
        };
        // Of several SELECTs each is of its own item types.
        let is_one = self.shape.query.set == SetOperation::One;
        let base = |one: &ItemProjection<'_>| match &one.pass.scan.from {
            _ if is_one => one.base,
            Relation::Table(name) => {
                let table = select.table(0, self.shape.catalog);
                table.and_then(|table| (table.name == *name).then_some(0))
            }
            Relation::Query(_) => None,
        };
        let types = self.types.iter().map(base).zip(keyed);
        let mut own = types
            .filter(|(base, _)| is_one || base.is_some())
            .peekable();
        let has_own = own.peek().is_some();
        has_own
            && own.all(|(base, pairs)| {
                let mut pairs = pairs.iter().filter(|(name, _)| *name == parameter);
                base.is_some_and(|of| {
                    pairs.any(|(_, key)| self.shape.equates((of, key), (at, &column.name)))
                })
            })
    }

    /// Whether a condition of a SELECT is a part of an item type's: the same words, about the same columns, whatever tables stand before
    /// the names of these.
    fn is_same_condition(
        &self,
        one: &ItemProjection<'_>,
        part: &Condition,
        select: &Select,
        condition: &Condition,
    ) -> bool {
        let (ours, theirs) = (part.columns(), condition.columns());
        let (ours, theirs) = (ours.unwrap_or_default(), theirs.unwrap_or_default());
        let mut columns = ours.iter().zip(&theirs);
        let dbms = self.shape.catalog.dbms;
        let unowned = |text: &str| qualified(text, dbms, &|_, _| Some("row".to_owned()));
        // The texts must be equal if the table of a column is not known.
        // In a subquery, a name may mean an inner table.
        let is_known = || {
            let mut ours = ours.iter();
            !has_word(&part.text, "select") && ours.all(|column| self.owner(one, column).is_some())
        };
        let is_same_but_for_owners = || {
            let own = unowned(&part.text).filter(|_| is_known());
            own.is_some() && own == unowned(&condition.text)
        };
        ours.len() == theirs.len()
            && columns.all(|(ours, theirs)| self.is_same_column(one, ours, select, theirs))
            && (part.text == condition.text || is_same_but_for_owners())
    }

    /// Whether a column of an item type's condition is that of a SELECT. Of a column that neither has, such as one of a query
    /// within the condition, the words tell.
    fn is_same_column(
        &self,
        one: &ItemProjection<'_>,
        ours: &ColumnRef,
        select: &Select,
        theirs: &ColumnRef,
    ) -> bool {
        let found = select.origin(theirs, self.shape.catalog);
        let (Some((join, table)), Some((at, of, _))) = (self.owner(one, ours), found) else {
            return self.owner(one, ours).is_none() && found.is_none();
        };
        let relation = match join {
            None => one.base,
            Some(join) => one.parents.get(join).copied().flatten(),
        };
        // Of several SELECTs each has relations of its own.
        let is_open = join.is_none() || self.shape.query.set != SetOperation::One;
        relation.map_or(is_open && of.name == *table, |relation| relation == at)
    }

    /// Whose column of an item type's rows a condition names: that of a join, or, without one, of its own table.
    fn owner<'o>(
        &self,
        one: &ItemProjection<'o>,
        column: &ColumnRef,
    ) -> Option<(Option<usize>, &'o TableName)> {
        let scan = &one.pass.scan;
        let own = scan.from.table().map(|table| (None, None, table));
        let joins = scan.joins.iter().enumerate();
        let joins = joins.map(|(at, join)| (Some(at), Some(&join.alias), &join.table));
        let mut all = own.into_iter().chain(joins);
        let found = all.find(|(_, alias, table)| match (&column.owner, alias) {
            (Some(owner), Some(alias)) => owner.is(alias),
            (Some(owner), None) => {
                let mut joins = scan.joins.iter();
                owner.is(&table.name) && !joins.any(|join| owner.is(&join.alias))
            }
            (None, _) => {
                let table = self.shape.catalog.table(table);
                table.is_some_and(|table| {
                    let mut columns = table.columns.iter();
                    columns.any(|own| column.name.is(&own.name))
                })
            }
        });
        found.map(|(join, _, table)| (join, table))
    }

    /// The conditions of the item types that the SQL does not say.
    fn missing_conditions(&self) -> Vec<String> {
        let of_one = |one: &ItemProjection<'_>| {
            let conditions = self.conditions(one).into_iter();
            let is_same = |part: &Condition, select: &Select, said: &Condition| {
                self.is_same_condition(one, part, select, said)
            };
            let missing =
                conditions.flat_map(|sql| self.shape.missing_conditions(sql, one.base, &is_same));
            missing.collect::<Vec<_>>()
        };
        let unsaid: BTreeSet<String> = self.types.iter().flat_map(of_one).collect();
        unsaid.into_iter().map(|sql| format!("`{sql}`")).collect()
    }

    /// What else leaves items out of the answer that are not left out of the rows of the SQL, as far as its words tell.
    fn left_out(&self) -> Vec<String> {
        let pattern = self.pattern;
        let mut found = Vec::new();
        // A filter by what all items of a type have alike takes all of them or none.
        let is_alike = |name: &str| {
            let mut nodes = self.types.iter().map(|one| one.item.node(name));
            nodes.all(|node| node.and_then(AttributeNode::constant_text).is_some())
        };
        let filter = pattern.filter.as_ref();
        if filter.is_some_and(|filter| !filter.names.iter().all(|name| is_alike(name))) {
            found.push("its `filter`".to_owned());
        }
        if pattern.limit.is_some() && !pattern.is_whole_key() {
            found.push("its `limit`".to_owned());
        }
        for (key, operator, asked) in pattern.conditions() {
            let is_open = operator == "begins_with";
            let finds = |made: &Template| match asked.as_slice() {
                [asked] => (is_open || operator == "=") && finds_all(asked, made, is_open),
                _ => false,
            };
            let mut made = self.types.iter();
            if !made.all(|one| one.item.template(&key.name).is_none_or(finds)) {
                found.push(format!("its condition on `{}`", key.name));
            }
        }
        found.extend(self.types.iter().filter_map(|one| self.taken_twice(one)));
        let is_query = |one: &&ItemProjection<'_>| matches!(one.pass.scan.from, Relation::Query(_));
        let queries = self.types.iter().filter(is_query);
        found.extend(queries.map(|one| format!("the query of {}", one.item.name)));
        let lacking: BTreeSet<&str> = self
            .types
            .iter()
            .flat_map(|one| self.lacking(one))
            .collect();
        found.extend(lacking.iter().map(|name| format!("NULL in `{name}`")));
        found
    }

    /// A parameter that the key compares with two values of a row, which need not be equal.
    fn taken_twice(&self, one: &ItemProjection<'_>) -> Option<String> {
        let pattern = self.pattern;
        let sides = pattern
            .templates()
            .filter_map(|(key, asked)| Some(aligned(asked, one.item.template(&key.name)?).pairs));
        let mut taken: Vec<(usize, &ValuePath)> = Vec::new();
        for (_, asked, made) in sides.flatten() {
            let at = asked.place.column;
            let mut known = taken.iter();
            if known.any(|(other, place)| *other == at && !is_same(place, &made.place)) {
                let parameter = pattern.parameters.get(at)?;
                return Some(format!("`{}` in two places of its key", parameter.name));
            }
            taken.push((at, &made.place));
        }
        None
    }

    /// What rows have to meet to be of an item type, and to have the keys that the pattern asks for: its `where`, and
    /// the `$when` of these keys.
    fn conditions<'m>(&'m self, one: &'m ItemProjection<'_>) -> Vec<&'m str> {
        let model = self.model;
        let mut found = Vec::from_iter(model.condition(one.item));
        for node in keys(&model.table, self.pattern).filter_map(|key| one.item.node(&key.name)) {
            node.visit(&mut |node| {
                if let AttributeNode::When { flag, .. } = node
                    && let Some(ScanColumn::Flag(sql)) = one.pass.scan.columns.get(*flag)
                {
                    found.push(sql);
                }
            });
        }
        found
    }

    /// The values without which an item has none of the keys that the pattern asks for.
    fn values<'m>(&'m self, item: &'m ItemType) -> impl Iterator<Item = &'m Placeholder> {
        let keys = keys(&self.model.table, self.pattern);
        let made = keys.filter_map(|key| item.template(&key.name));
        made.flat_map(Template::mandatory)
    }

    /// Columns of an item type's own table without which it has none of the keys.
    fn needed<'m>(&'m self, one: &'m ItemProjection<'_>) -> Vec<&'m str> {
        let values = self.values(one.item);
        let values = values.filter(|value| !value.replaces_null());
        let names = values.filter_map(|value| one.pass.scan.own_column(value.place.column));
        names.collect()
    }

    /// Columns that may be NULL in a row of the SQL, which then has none of the keys.
    fn lacking<'m>(&'m self, one: &'m ItemProjection<'_>) -> Vec<&'m str> {
        let is_there = |name| one.base.is_none_or(|at| self.shape.is_there(at, name));
        let may_be_null = |value: &Placeholder| match one.pass.scan.columns.get(value.place.column)
        {
            Some(ScanColumn::Column {
                join: None, name, ..
            }) => !is_there(name),
            // No parent is sure to be there.
            column => matches!(column, Some(ScanColumn::Column { .. })),
        };
        let values = self.values(one.item).filter(|value| {
            one.item.domains.may_lack(value) || !value.replaces_null() && may_be_null(value)
        });
        // What comes with the members of a document may be missing in it.
        let spread = keys(&self.model.table, self.pattern);
        let spread = spread.filter(|key| one.item.node(&key.name).is_none());
        let names = values.map(|value| &*value.place.written);
        names.chain(spread.map(|key| &*key.name)).collect()
    }

    /// The pattern's parameters, each with the column of the item type's own table that its key has in the parameter's
    /// place, written alike.
    fn keyed<'m>(&'m self, one: &'m ItemProjection<'_>) -> Vec<(&'m str, &'m str)> {
        let pattern = self.pattern;
        let sides = pattern.templates().filter_map(|(key, asked)| {
            let made = one.item.template(&key.name)?;
            Some(aligned(asked, made).pairs)
        });
        let pairs = sides.flatten().filter_map(|(_, asked, made)| {
            let (as_asked, as_made) = (writing(&asked.filters), writing(&made.filters));
            // Of a number it makes no difference who writes zeros before it.
            let is_alike = as_asked == as_made
                || matches!((&*as_asked, &*as_made), ([], [Filter::Pad { .. }]));
            // What stands for NULL may be asked for too.
            let is_it = is_alike && made.place.path.is_empty() && !made.replaces_null();
            let parameter = pattern.parameters.get(asked.place.column)?;
            let own = one.pass.scan.own_column(made.place.column);
            let column = own.filter(|_| is_it)?;
            Some((&*parameter.name, column))
        });
        pairs.collect()
    }
}

/// What groups rows, with the columns whose collation takes different texts for one.
fn grouping<'c>(what: &str, columns: impl Iterator<Item = &'c Column>) -> String {
    let loose = columns.filter(|column| column.insensitive);
    let loose: BTreeSet<String> = loose.map(|column| format!("`{}`", column.name)).collect();
    if loose.is_empty() {
        return what.to_owned();
    }
    let loose: Vec<String> = loose.into_iter().collect();
    format!(
        "{what} by {}, where the database treats different spellings of a text as equal",
        loose.join(", ")
    )
}

/// What is in every list.
fn common<T: PartialEq>(mut lists: impl Iterator<Item = Vec<T>>) -> Vec<T> {
    let mut found = lists.next().unwrap_or_default();
    lists.for_each(|other| found.retain(|one| other.contains(one)));
    found
}

/// Whether a key condition finds every item whose values in the places of its parameters are theirs.
fn finds_all(queried: &Template, made: &Template, is_open: bool) -> bool {
    let is_firm = |part: &&TemplatePart| !matches!(part, TemplatePart::Optional(_));
    let firm: Vec<TemplatePart> = made.parts.iter().take_while(is_firm).cloned().collect();
    let is_all = firm.len() == made.parts.len();
    aligned(queried, &Template { parts: firm }).is_whole(is_open) && (is_open || is_all)
}

/// The column that a condition holds against parameters, as a key condition may too.
fn key(condition: &Condition) -> Option<(&ColumnRef, Vec<&str>)> {
    match &condition.test {
        ConditionTest::Compare { left, right, op } if *op != Comparator::NotEqual => {
            Some((left.column()?, vec![right.parameter()?]))
        }
        ConditionTest::Between {
            operand,
            negated: false,
            low,
            high,
        } => Some((operand.column()?, vec![low.parameter()?, high.parameter()?])),
        _ => None,
    }
}

/// What a column of the result takes beside the row's own values.
fn inputs_beside_the_row(output: &SelectOutput) -> Vec<String> {
    let SelectOutput::One { value, .. } = output else {
        return Vec::new();
    };
    let around = value.around.iter().filter_map(|around| match around {
        Wrapping::Function(name) => Some(name),
        _ => None,
    });
    let mut functions: Vec<&String> = around.collect();
    let mut named = Vec::new();
    if let OperandValue::Expression(expression) = &value.value {
        functions.extend(&expression.functions);
        named.extend(expression.has_query.then(|| "a subquery".to_owned()));
        named.extend(
            expression
                .has_window
                .then(|| "a window function".to_owned()),
        );
    }
    functions.retain(|name| is_aggregate(name));
    named.extend(
        functions
            .iter()
            .map(|name| format!("`{name}()` in its SELECT")),
    );
    named
}
