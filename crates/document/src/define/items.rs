//! Item types: where they are from, what they are made of, where they are found.

use dynafold_dynamodb::readable;
use dynafold_mapping::model::{Expired, Node};
use dynafold_mapping::{PatternProof, SizeProof, model};
use dynafold_relational::catalog::Family;
use dynafold_relational::scan::{Match, Relation, ScanColumn};

use super::super::definition::{Attribute, ItemType};
use super::choice::Choice;
use super::coverage::Tracer;
use super::places::cells;
use super::{Ground, places};

/// All item types, in the order of the mapping.
pub(super) fn item_types(ground: &Ground<'_>, choice: &Choice<'_>) -> Vec<ItemType> {
    let all = ground.model.item_types.iter().enumerate();
    all.filter_map(|(index, item)| item_type(ground, choice, index, item))
        .collect()
}

fn item_type(
    ground: &Ground<'_>,
    choice: &Choice<'_>,
    index: usize,
    item: &model::ItemType,
) -> Option<ItemType> {
    let tracer = tracer(ground, item)?;
    let indexes = places::indexes_of(ground, &item.name);
    let attributes = item.attributes.iter().map(|(name, node)| Attribute {
        name: name.to_string(),
        roles: places::roles(&ground.model.table, &indexes, name),
        data_type: node.type_name(&of_family).to_owned(),
        made: written(node, &tracer),
        origins: tracer.of_node(node),
    });
    let spreads = item.spreads.iter().map(|spread| Attribute {
        name: format!("members of {}", spread.written),
        roles: Vec::new(),
        data_type: "any".to_owned(),
        made: format!("each member of {}", spread.written),
        origins: tracer.column(spread.column).into_iter().collect(),
    });
    let attributes = attributes.chain(spreads).collect();
    let explodes = item.explodes.iter();
    let examples = choice.of_type(index);
    Some(ItemType {
        name: item.name.to_string(),
        from: tracer.name.to_owned(),
        query: match &tracer.scan.from {
            Relation::Query(sql) => Some(sql.clone()),
            Relation::Table(_) => None,
        },
        condition: ground.model.condition(item).map(str::to_owned),
        joins: joins(item, &tracer, ground),
        explodes: explodes
            .map(|each| each.array.written.to_string())
            .collect(),
        notes: notes(item),
        attributes,
        indexes,
        patterns: finding(&ground.proofs.patterns, &item.name),
        most_bytes: most_bytes(&ground.proofs.sizes, &item.name),
        examples: examples.map(|chosen| cells(&chosen.item)).collect(),
    })
}

/// What traces an item type's places.
pub(super) fn tracer<'g>(ground: &Ground<'g>, item: &'g model::ItemType) -> Option<Tracer<'g>> {
    let pass = ground.model.passes.get(item.pass)?;
    Some(Tracer {
        catalog: ground.catalog,
        scan: &pass.scan,
        explodes: &item.explodes,
        name: &pass.name,
    })
}

fn finding(proofs: &[PatternProof], item_type: &str) -> Vec<String> {
    let finding = proofs
        .iter()
        .filter(|proof| proof.finds.iter().any(|found| found == item_type));
    finding.map(|proof| proof.pattern.clone()).collect()
}

fn most_bytes(proofs: &[SizeProof], item_type: &str) -> Option<usize> {
    let mut proofs = proofs.iter();
    proofs
        .find(|proof| proof.item_type == item_type)?
        .most_bytes
}

fn notes(item: &model::ItemType) -> Vec<String> {
    let mut notes = Vec::new();
    if item.keep_nulls {
        notes.push("NULL columns are written as NULL".to_owned());
    }
    match item.expired {
        Expired::Load => {}
        Expired::Skip => notes.push("rows that have expired are left out".to_owned()),
        Expired::Archive => notes.push("rows that have expired go to the archive".to_owned()),
    }
    if !item.compress.is_empty() {
        let names = item.compress.join(", ");
        notes.push(format!("items that are too large are compressed: {names}"));
    }
    if let Some(rate) = item.write_rate {
        notes.push(format!("{rate} writes a second at peak"));
    }
    notes
}

/// The parents that an item type takes values from, and those between it and them.
fn joins(
    item: &model::ItemType,
    tracer: &Tracer<'_>,
    ground: &Ground<'_>,
) -> Vec<(String, String, String)> {
    let scan = tracer.scan;
    let mut used = vec![false; scan.joins.len()];
    let mut mark = |column: usize| {
        let mut next = match scan.columns.get(column) {
            Some(ScanColumn::Column { join, .. }) => *join,
            _ => None,
        };
        while let Some(join) = next {
            let seen = used
                .get_mut(join)
                .is_none_or(|used| std::mem::replace(used, true));
            next = match scan.joins.get(join) {
                Some(join) if !seen => join.on.first().and_then(|on| on.join),
                _ => None,
            };
        }
    };
    for (_, node) in &item.attributes {
        node.visit(&mut |node| {
            if let Node::Template(template) = node {
                template
                    .placeholders()
                    .for_each(|each| mark(each.place.column));
            }
        });
    }
    item.spreads.iter().for_each(|place| mark(place.column));
    item.explodes
        .iter()
        .for_each(|each| mark(each.array.column));
    let all = scan.joins.iter().zip(&used);
    let all = all.filter(|(_, used)| **used).map(|(join, _)| {
        let pair = |on: &Match| {
            let ours = match on.join.and_then(|join| scan.joins.get(join)) {
                Some(other) => format!("{}.{}", other.alias, on.ours),
                None => on.ours.clone(),
            };
            format!("{} = {ours}", on.theirs)
        };
        let on: Vec<String> = join.on.iter().map(pair).collect();
        let table = ground.catalog.display_name(&join.table);
        (join.alias.clone(), table, on.join(" and "))
    });
    all.collect()
}

fn of_family(family: Family) -> &'static str {
    match family {
        Family::Number => "N",
        Family::Text | Family::Time => "S",
        Family::Boolean => "BOOL",
        Family::Binary => "B",
        Family::List => "L",
        Family::Map => "M",
        Family::Set => "set",
        Family::Document | Family::Any => "any",
    }
}

/// A node as the mapping says it, on one line.
fn written(node: &Node, tracer: &Tracer<'_>) -> String {
    match node {
        Node::Template(template) => template.to_string(),
        Node::Constant(constant) => readable(constant),
        Node::Map { members, spreads } => {
            let members = members
                .iter()
                .map(|(name, node)| format!("{name}: {}", written(node, tracer)));
            let spreads = spreads
                .iter()
                .map(|place| format!("each member of {}", place.written));
            format!(
                "{{ {} }}",
                members.chain(spreads).collect::<Vec<_>>().join(", ")
            )
        }
        Node::List(nodes) => {
            let nodes: Vec<String> = nodes.iter().map(|node| written(node, tracer)).collect();
            format!("[{}]", nodes.join(", "))
        }
        Node::When { flag, value } => {
            format!("{} where {}", written(value, tracer), tracer.flag(*flag))
        }
        Node::Typed { value, .. } => written(value, tracer),
        Node::Embed(embed) => {
            let each = tracer.children(embed.column);
            let each = each.map_or(String::new(), |children| written(&embed.each, &children));
            format!("for each of {}: {each}", embed.written)
        }
    }
}

// Which of the sampled items are shown: those whose item collections hold several item types
// first, so that the aggregate view shows what belongs together.
