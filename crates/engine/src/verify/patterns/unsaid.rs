//! Conditions that leave items out of a pattern's answer and that its SQL does not have: a row that is added later may be
//! in the SQL's answer alone.

use std::collections::{BTreeSet, HashSet};

use dynafold_mapping::aligned;
use dynafold_mapping::model::{ItemType, Node, Part, SortCondition, Template};
use dynafold_relational::catalog::Table;
use dynafold_relational::scan::ScanColumn;
use dynafold_sql::{Comparator, Condition, Operand, Test};

use super::made::{constant, keys};
use super::projection::Projection;
use super::result::bases;
use super::shape::Shape;
use super::work::Work;

impl Work<'_, '_> {
    /// The conditions of the item types that the SQL does not say.
    pub(super) fn unsaid(&self, shape: &Shape<'_>, projections: &[Projection]) -> Vec<String> {
        let ground = &self.proving.ground;
        let of_one = |one: &Projection| {
            let item = ground.model.item_types.get(one.item_type);
            let own = bases(shape, item.into_iter(), ground);
            let all = self.conditions(one.item_type).into_iter();
            let unsaid = all.flat_map(|sql| shape.unsaid(sql, &own, ground.catalog.dbms));
            unsaid.collect::<Vec<String>>()
        };
        let unsaid = projections.iter().flat_map(of_one);
        let unsaid: BTreeSet<String> = unsaid.map(|sql| format!("`{sql}`")).collect();
        unsaid.into_iter().collect()
    }

    /// What else leaves items out of the answer that are not left out of the rows of the SQL, as far as its words tell.
    pub(super) fn left_out(&self, shape: &Shape<'_>, projections: &[Projection]) -> Vec<String> {
        let pattern = self.pattern;
        let types = self.types(projections);
        let mut found = Vec::new();
        // A filter by what all items of a type have alike takes all of them or none.
        let is_alike = |name: &str| {
            let mut nodes = types.iter().map(|item| item.node(name));
            nodes.all(|node| node.is_some_and(|node| constant(node).is_some()))
        };
        let filter = pattern.filter.as_ref();
        if filter.is_some_and(|filter| !filter.names.iter().all(|name| is_alike(name))) {
            found.push("its `filter`".to_owned());
        }
        if pattern.limit.is_some() && !pattern.is_whole_key() {
            found.push("its `limit`".to_owned());
        }
        let partition = pattern.partition.iter();
        let partition = partition.map(|(key, template)| (key, Some(template), false));
        let sort = pattern.sort.iter().map(|(key, condition)| match condition {
            SortCondition::Is(template) => (key, Some(template), false),
            SortCondition::BeginsWith(template) => (key, Some(template), true),
            _ => (key, None, false),
        });
        for (key, asked, is_open) in partition.chain(sort) {
            let mut made = types.iter().filter_map(|item| item.template(&key.name));
            let finds =
                |made: &Template| asked.is_some_and(|asked| finds_all(asked, made, is_open));
            if !made.all(finds) {
                found.push(format!("what it asks of `{}`", key.name));
            }
        }
        let of_queries = types.iter().filter(|item| self.keyed(item).table.is_none());
        found.extend(of_queries.map(|item| format!("the query of {}", item.name)));
        let lacking = types.iter().flat_map(|item| self.lacking(item, shape));
        let lacking: BTreeSet<String> = lacking.collect();
        found.extend(lacking.iter().map(|name| format!("NULL in `{name}`")));
        found
    }

    fn types(&self, projections: &[Projection]) -> Vec<&ItemType> {
        let model = self.proving.ground.model;
        let types = projections.iter();
        types
            .filter_map(|one| model.item_types.get(one.item_type))
            .collect()
    }

    /// What rows have to meet to be of an item type, and to have the keys that the pattern asks for: its `where`, and
    /// the `$when` of these keys.
    pub(super) fn conditions(&self, item_type: usize) -> Vec<&str> {
        let model = self.proving.ground.model;
        let Some(item) = model.item_types.get(item_type) else {
            return Vec::new();
        };
        let columns = model.passes.get(item.pass).map(|pass| &pass.scan.columns);
        let mut found = Vec::from_iter(model.condition(item));
        for key in keys(&model.table, self.pattern) {
            let Some(node) = item.node(&key.name) else {
                continue;
            };
            node.visit(&mut |node| {
                if let Node::When { flag, .. } = node
                    && let Some(ScanColumn::Flag(sql)) =
                        columns.and_then(|columns| columns.get(*flag))
                {
                    found.push(sql);
                }
            });
        }
        found
    }

    /// Columns that may be NULL in a row of the SQL, which then has none of the keys.
    fn lacking(&self, item: &ItemType, shape: &Shape<'_>) -> Vec<String> {
        let ground = &self.proving.ground;
        let own = bases(shape, std::iter::once(item), ground);
        let mut names = self.needed(std::iter::once(item));
        names.retain(|name| {
            let mut of = own.iter();
            of.any(|at| !shape.is_there(*at, name))
        });
        let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let pass = ground.model.passes.get(item.pass);
        let keys = keys(&ground.model.table, self.pattern);
        let values = keys
            .filter_map(|key| item.template(&key.name))
            .flat_map(Template::mandatory);
        // No parent is sure to be there.
        let of_parents = values.filter(|value| {
            let column = pass.and_then(|pass| pass.scan.columns.get(value.place.column));
            let is_of_parent = matches!(column, Some(ScanColumn::Column { join: Some(_), .. }));
            is_of_parent && !value.replaces_null()
        });
        names.extend(of_parents.map(|value| value.place.written.to_string()));
        names
    }
}

/// Whether a key condition finds every item whose values in the places of its parameters are theirs.
fn finds_all(asked: &Template, made: &Template, is_open: bool) -> bool {
    let is_firm = |part: &&Part| !matches!(part, Part::Optional(_));
    let firm: Vec<Part> = made.parts.iter().take_while(is_firm).cloned().collect();
    let is_all = firm.len() == made.parts.len();
    aligned(asked, &Template { parts: firm }).is_whole(is_open) && (is_open || is_all)
}

impl Shape<'_> {
    /// Whether each row of the result has a column of a relation that is there: NULL is not let into it, or the SQL leaves
    /// it out.
    fn is_there(&self, relation: usize, name: &str) -> bool {
        let Some(select) = self.query.select() else {
            return false;
        };
        let table = select.table(relation, self.catalog);
        let column = table.and_then(|table| table.column(name));
        if table.is_some_and(Table::is_stored) && column.is_some_and(|column| !column.nullable) {
            return true;
        }
        let outer = select.relations.get(relation);
        let outer = outer.filter(|relation| relation.may_be_missing);
        let on = outer.into_iter().flat_map(|relation| &relation.on);
        let is_it = |operand: &Operand| {
            let column = operand.column();
            let origin = column.and_then(|column| select.origin(column, self.catalog));
            origin.is_some_and(|(at, _, column)| at == relation && column.name == name)
        };
        let mut all = select.conditions.iter().chain(on);
        all.any(|condition| match &condition.test {
            Test::Compare { left, right, op } => {
                *op != Comparator::Same && (is_it(left) || is_it(right))
            }
            Test::Between { operand, .. } | Test::Like { operand, .. } => is_it(operand),
            Test::In {
                operand, negated, ..
            } => !negated && is_it(operand),
            Test::Null { operand, negated } => *negated && is_it(operand),
            Test::Using(used) => used.is(name),
            Test::Other(_) => false,
        })
    }

    /// Whether a condition of an item type says only that a column is there, which it is. `own`: the relation that stands
    /// for the item type.
    pub(super) fn is_met(&self, condition: &Condition, own: &HashSet<usize>) -> bool {
        let Test::Null {
            operand,
            negated: true,
        } = &condition.test
        else {
            return false;
        };
        let column = operand.column().filter(|column| column.owner.is_none());
        column.is_some_and(|column| {
            let mut own = own.iter();
            own.any(|at| self.is_there(*at, &column.name.text))
        })
    }
}
