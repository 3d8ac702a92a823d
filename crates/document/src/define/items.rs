//! Item types: where they are from, what they are made of, where they are found.

use std::collections::BTreeSet;

use dynafold_dynamodb::{Index, Item, KeyAttribute, readable};
use dynafold_format::{bytes, counted, each_once};
use dynafold_mapping::model::{self, AttributeNode, Expired};
use dynafold_relational::catalog::TypeFamily;
use dynafold_relational::scan::{Match, Relation, ScanColumn};

use super::places::cells;
use super::trace::{OriginColumn, Tracer, origins};
use super::{DefinitionInputs, DocumentFacts, pattern_links};
use crate::tree::{
    About, Article, ArticleLink, DocBlock, DocRow, DocTable, TextLine, TextPiece, code, link,
    plain, prose,
};

/// An item type with its attributes traced.
pub(super) struct DocumentedItemType<'g> {
    pub(super) model: &'g model::ItemType,
    tracer: Tracer<'g>,
    pub(super) attributes: Vec<DocAttribute>,
}

/// An attribute of an item type.
pub(super) struct DocAttribute {
    /// Its name; of the attributes that the members of a document become, a phrase that says so.
    pub(super) name: String,
    data_type: &'static str,
    /// What it is made from, as the mapping says it.
    made: String,
    /// The columns that it is made from.
    pub(super) origins: Vec<OriginColumn>,
}

/// All item types, in the order of the mapping.
pub(super) fn item_types<'g>(inputs: &'g DefinitionInputs<'g>) -> Vec<DocumentedItemType<'g>> {
    let all = inputs.model.item_types.iter();
    all.filter_map(|model| {
        let tracer = tracer(inputs, model)?;
        let attributes = model.attributes.iter().map(|(name, node)| DocAttribute {
            name: name.to_string(),
            data_type: node.type_name(&type_of_family),
            made: written(node, &tracer),
            origins: tracer.of_node(node),
        });
        let spreads = model.spreads.iter().map(|spread| DocAttribute {
            name: format!("members of {}", spread.written),
            data_type: "any",
            made: format!("each member of {}", spread.written),
            origins: tracer.column(spread.column).into_iter().collect(),
        });
        Some(DocumentedItemType {
            attributes: attributes.chain(spreads).collect(),
            model,
            tracer,
        })
    })
    .collect()
}

/// The tracer of an item type's places; `None` for an item type without a pass.
pub(super) fn tracer<'g>(
    inputs: &DefinitionInputs<'g>,
    item: &'g model::ItemType,
) -> Option<Tracer<'g>> {
    let pass = inputs.model.passes.get(item.pass)?;
    Some(Tracer {
        catalog: inputs.catalog,
        scan: &pass.scan,
        explodes: &item.explodes,
        name: &pass.name,
    })
}

/// All of each item type.
pub(super) fn articles(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let each = facts.item_types.iter().enumerate();
    each.map(|(at, item)| DocBlock::Article(item.article(facts, at)))
        .collect()
}

/// The keys of the table and its indexes, then the attributes that several item types share, each with what every
/// one of these puts into it. Empty without item types.
pub(super) fn merged(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let table = &facts.inputs.model.table;
    let keys = table.key().chain(table.all_indexes().flat_map(Index::key));
    let all = facts.item_types.iter().flat_map(|item| &item.attributes);
    let keys: Vec<&str> = keys.map(|key| &*key.name).collect();
    let all = all.map(|attribute| attribute.name.as_str());
    let names = each_once(keys.iter().copied().chain(all));
    let merged =
        (names.into_iter()).flat_map(|name| merged_rows(facts, name, keys.contains(&name)));
    let rows: Vec<DocRow> = merged.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![
        DocBlock::Heading("Merged attributes".to_owned()),
        DocBlock::note(
            "The keys, and the attributes that several item types share. Members of documents that become \
             attributes are not listed: their names are known only from rows.",
        ),
        DocBlock::Table(DocTable::new(
            "Merged attributes",
            ["Attribute", "Item type", "Type", "Made from", "Columns"],
            rows,
        )),
    ]
}

/// An attribute as each item type has it, a row each; no rows where one alone has it, unless it is a key.
fn merged_rows(facts: &DocumentFacts<'_>, name: &str, is_key: bool) -> Vec<DocRow> {
    let users: Vec<_> = (facts.item_types.iter())
        .filter_map(|item| {
            let mut attributes = item.attributes.iter();
            Some((item, attributes.find(|each| each.name == name)?))
        })
        .collect();
    if users.len() < 2 && !is_key {
        return Vec::new();
    }
    let of_users = users.iter();
    let roles = each_once(of_users.flat_map(|(item, _)| item.roles(facts.inputs, name)));
    let rows = users.iter().enumerate().map(|(at, (item, attribute))| {
        let mut cells = vec![
            vec![link(About::ItemType, &item.model.name)],
            vec![TextPiece::Type(attribute.data_type.to_owned())],
            vec![code(&attribute.made)],
            origins(&attribute.origins),
        ];
        // The first row's cell with the name spans the others.
        let is_first = at == 0;
        if is_first {
            cells.insert(0, named(name, roles.clone()));
        }
        DocRow {
            span: if is_first { users.len() } else { 0 },
            ..DocRow::new(cells)
        }
    });
    rows.collect()
}

/// An attribute's name, and what it is for.
fn named(name: &str, roles: Vec<String>) -> TextLine {
    let mut named = vec![code(name)];
    for role in roles {
        named.extend([plain(" "), TextPiece::Marked("role", role)]);
    }
    named
}

impl DocumentedItemType<'_> {
    /// What its rows are read from.
    pub(super) fn from(&self) -> &Relation {
        &self.tracer.scan.from
    }

    /// The attributes that carry a column.
    pub(super) fn carriers(&self, carries: impl Fn(&OriginColumn) -> bool) -> Vec<String> {
        let carriers = self.attributes.iter();
        carriers
            .filter(|attribute| attribute.origins.iter().any(&carries))
            .map(|attribute| attribute.name.clone())
            .collect()
    }

    fn article(&self, facts: &DocumentFacts<'_>, at: usize) -> Article {
        let name = &self.model.name;
        let mut blocks = Vec::new();
        blocks.extend(self.model.description.as_ref().map(DocBlock::paragraph));
        blocks.push(DocBlock::Facts(self.facts(facts.inputs)));
        if let Relation::Query(sql) = self.from() {
            blocks.push(DocBlock::Code("sql", sql.clone()));
        }
        let attributes = self.attributes.iter().map(|attribute| {
            DocRow::new(vec![
                named(&attribute.name, self.roles(facts.inputs, &attribute.name)),
                vec![TextPiece::Type(attribute.data_type.to_owned())],
                vec![code(&attribute.made)],
                origins(&attribute.origins),
            ])
        });
        let chosen: Vec<&Item> = facts.shown_items.of_type(at).map(|one| &one.item).collect();
        blocks.push(DocBlock::Table(DocTable::new(
            format!("Attributes of {name}"),
            ["Attribute", "Type", "Made from", "Columns"],
            attributes.chain(self.members(&chosen)),
        )));
        let examples: Vec<_> = chosen.iter().map(|item| cells(item)).collect();
        if !examples.is_empty() {
            let table = DocTable::of_items(format!("Examples of {name}"), &examples);
            let within = vec![DocBlock::Table(table)];
            blocks.push(DocBlock::Folded("Example items".to_owned(), within));
        }
        Article {
            link: ArticleLink::new(About::ItemType, name),
            sources: facts.sources_of(|source| source.item_types.iter().any(|of| **of == **name)),
            blocks,
        }
    }

    /// The members of documents that are attributes of example items, each with its types and the number of the items.
    fn members(&self, examples: &[&Item]) -> Vec<DocRow> {
        if self.model.spreads.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(&str, Vec<&str>, usize)> = Vec::new();
        for (name, value) in examples.iter().flat_map(|item| &item.attributes) {
            if self.model.node(name).is_some() {
                continue;
            }
            let of = value.type_name();
            match found.iter_mut().find(|(known, ..)| **known == **name) {
                Some((_, types, times)) => {
                    *times += 1;
                    if !types.contains(&of) {
                        types.push(of);
                    }
                }
                None => found.push((name, vec![of], 1)),
            }
        }
        let rows = found.into_iter().map(|(name, types, times)| {
            let seen = format!(
                "a member, in {times} of {}",
                counted(examples.len(), "example item")
            );
            DocRow::new(vec![
                vec![code(name)],
                vec![TextPiece::Type(types.join(" or "))],
                vec![plain(seen)],
                Vec::new(),
            ])
        });
        rows.collect()
    }

    fn facts(&self, inputs: &DefinitionInputs<'_>) -> Vec<(&'static str, TextLine)> {
        let Self { model, tracer, .. } = self;
        let mut from = vec![match self.from() {
            Relation::Query(_) => plain("a query"),
            Relation::Table(_) => code(tracer.name),
        }];
        let table = (self.from().table()).and_then(|id| inputs.catalog.table(id));
        if let Some(comment) = table.and_then(|table| table.comment.as_ref()) {
            from.push(TextPiece::Sub(vec![plain(comment)]));
        }
        let mut facts = vec![("From", from)];
        let condition = inputs.model.condition(model);
        facts.extend(condition.map(|condition| ("Where", vec![code(condition)])));
        facts.extend(joins(self).into_iter().map(|join| ("Looks up", join)));
        facts.extend(model.explodes.iter().map(|explode| {
            let array = code(explode.array.written.to_string());
            ("One item for each of", vec![array])
        }));
        facts.extend(index_facts(inputs, model));
        let patterns = inputs.proofs.patterns.iter();
        let finders: Vec<&str> = patterns
            .filter(|proof| proof.finds.iter().any(|name| **name == *model.name))
            .map(|proof| proof.pattern.as_str())
            .collect();
        if !finders.is_empty() {
            facts.push(("Found by", pattern_links(&finders)));
        }
        let mut sizes = inputs.proofs.sizes.iter();
        let size = sizes.find(|proof| *proof.item_type == *model.name);
        if let Some(most) = size.and_then(|proof| proof.most_bytes) {
            let most = format!("at most {} by the schema", bytes(most));
            facts.push(("Size", vec![plain(most)]));
        }
        facts.extend(roll_ups(inputs, model));
        facts.extend(notes(model).map(|note| ("Note", vec![plain(note)])));
        facts
    }

    /// What an attribute is for, in the table and the indexes that the item type is in.
    fn roles(&self, inputs: &DefinitionInputs<'_>, name: &str) -> Vec<String> {
        let table = &inputs.model.table;
        let is = |key: &KeyAttribute| &*key.name == name;
        let mut roles = Vec::new();
        if is(&table.partition) {
            roles.push("partition key".to_owned());
        }
        if table.sort.as_ref().is_some_and(is) {
            roles.push("sort key".to_owned());
        }
        for index in table.all_indexes() {
            let mut proofs = inputs.proofs.indexes.iter();
            let is_in = proofs.any(|proof| {
                let mut items = proof.items.iter();
                proof.index == index.name && items.any(|item| *item.item_type == *self.model.name)
            });
            if !is_in {
                continue;
            }
            // That of a local index is the table's own.
            let is_local = table.local_indexes.contains(index);
            if !is_local && index.partition.iter().any(is) {
                roles.push(format!("{} partition key", index.name));
            }
            if index.sort.iter().any(is) {
                roles.push(format!("{} sort key", index.name));
            }
        }
        if table.ttl.as_deref() == Some(name) {
            roles.push("TTL".to_owned());
        }
        roles
    }
}

/// The indexes that an item type is in: for which of its items, and under which partition key where that is but one.
fn index_facts(
    inputs: &DefinitionInputs<'_>,
    item: &model::ItemType,
) -> Vec<(&'static str, TextLine)> {
    let facts = inputs.proofs.indexes.iter().filter_map(|index| {
        let mut members = index.items.iter();
        let member = members.find(|member| *member.item_type == *item.name)?;
        let mut line = vec![plain(&index.index)];
        if !member.when.is_empty() {
            line.push(plain(", "));
            line.extend(prose(&member.when));
        }
        if let Some(value) = &member.single_partition {
            line.push(plain(", all under the partition key "));
            line.push(TextPiece::Value(value.clone()));
        }
        Some(("In index", line))
    });
    facts.collect()
}

/// What is summed into its items, and where they are summed.
fn roll_ups(
    inputs: &DefinitionInputs<'_>,
    item: &model::ItemType,
) -> Vec<(&'static str, TextLine)> {
    let mut facts = Vec::new();
    for roll_up in &inputs.model.roll_ups {
        if roll_up.total == item.name {
            let what = if roll_up.counts_items {
                " is the number of "
            } else {
                " is the sum over "
            };
            let line = vec![
                code(&*roll_up.attribute),
                plain(what),
                link(About::ItemType, &roll_up.of),
                plain(" items in all shards, brought up to date by a scheduled function, "),
                code(&*roll_up.schedule),
                plain(" (made by CloudFormation or Terraform)"),
            ];
            facts.push(("Roll-up", line));
        }
        if roll_up.of == item.name {
            let line = vec![
                link(About::ItemType, &roll_up.total),
                plain(", "),
                code(&*roll_up.attribute),
            ];
            facts.push(("Summed in", line));
        }
    }
    facts
}

/// What else the mapping says of an item type.
fn notes(item: &model::ItemType) -> impl Iterator<Item = String> {
    let nulls = item
        .keep_nulls
        .then_some("NULL columns are written as NULL");
    let expired = match item.expired {
        Expired::Load => None,
        Expired::Skip => Some("rows that have expired are left out"),
        Expired::Archive => Some("rows that have expired go to the archive"),
    };
    let compressed = (!item.compress.is_empty()).then(|| {
        let names = item.compress.join(", ");
        format!("items that are too large are compressed: {names}")
    });
    let rate = item
        .write_rate
        .map(|rate| format!("{rate} writes a second at peak"));
    let fixed = [nulls, expired].into_iter().flatten().map(str::to_owned);
    fixed.chain(compressed).chain(rate)
}

/// The parents that an item type takes values from, and those between it and them.
fn joins(item: &DocumentedItemType<'_>) -> Vec<TextLine> {
    let DocumentedItemType { model, tracer, .. } = item;
    let scan = tracer.scan;
    let mut used = BTreeSet::new();
    let places = model.attributes.iter().flat_map(|(_, node)| node.places());
    let arrays = model.explodes.iter().map(|explode| &explode.array);
    for place in places.chain(&model.spreads).chain(arrays) {
        let mut next = match scan.columns.get(place.column) {
            Some(ScanColumn::Column { join, .. }) => *join,
            _ => None,
        };
        while let Some(join) = next.filter(|join| used.insert(*join)) {
            let on = scan.joins.get(join).and_then(|join| join.on.first());
            next = on.and_then(|on| on.join);
        }
    }
    let joins = used.into_iter().filter_map(|join| scan.joins.get(join));
    let lines = joins.map(|join| {
        let pair = |on: &Match| {
            let ours = match on.join.and_then(|join| scan.joins.get(join)) {
                Some(other) => format!("{}.{}", other.alias, on.ours),
                None => on.ours.clone(),
            };
            format!("{} = {ours}", on.theirs)
        };
        let on: Vec<String> = join.on.iter().map(pair).collect();
        vec![
            code(tracer.catalog.display_name(&join.table)),
            plain(" as "),
            code(&join.alias),
            plain(": "),
            code(on.join(" and ")),
        ]
    });
    lines.collect()
}

/// DynamoDB's name for the type that values of a family become, as far as the family decides it.
fn type_of_family(family: TypeFamily) -> &'static str {
    match family {
        TypeFamily::Number => "N",
        TypeFamily::Text | TypeFamily::Time => "S",
        TypeFamily::Boolean => "BOOL",
        TypeFamily::Binary => "B",
        TypeFamily::List => "L",
        TypeFamily::Map => "M",
        TypeFamily::Set => "set",
        TypeFamily::Document | TypeFamily::Any => "any",
    }
}

/// A node of the mapping in words, on one line.
fn written(node: &AttributeNode, tracer: &Tracer<'_>) -> String {
    match node {
        AttributeNode::Template(template) => template.to_string(),
        AttributeNode::Constant(constant) => readable(constant),
        AttributeNode::Map { members, spreads } => {
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
        AttributeNode::List(nodes) => {
            let nodes: Vec<String> = nodes.iter().map(|node| written(node, tracer)).collect();
            format!("[{}]", nodes.join(", "))
        }
        AttributeNode::When { flag, value } => {
            format!("{} where {}", written(value, tracer), tracer.flag(*flag))
        }
        AttributeNode::Typed { value, .. } => written(value, tracer),
        AttributeNode::Embed(embed) => {
            let children = tracer.within(&[embed.column]);
            let each = children.map_or(String::new(), |children| written(&embed.each, &children));
            format!("for each of {}: {each}", embed.written)
        }
    }
}
