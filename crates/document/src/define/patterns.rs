//! Access patterns: what they take, where that is from, what they cost and what they answer.

use dynafold_dynamodb::price::{Prices, Rates, monthly};
use dynafold_dynamodb::{Attribute, KeyAttribute, KeyType, request_value};
use dynafold_format::{counted, shell_word, text_if};
use dynafold_mapping::access::{given, plan};
use dynafold_mapping::model::{
    AccessPattern, FilterOperand, ParameterKind, Template, TemplatePart,
};
use dynafold_mapping::{PatternProof, aligned};
use serde_json::{Value as Json, json};

use super::items::tracer;
use super::places::shown;
use super::trace::{OriginColumn, origins};
use super::{DefinitionInputs, DocumentFacts};
use crate::definition::{ExampleAnswer, ExampleRequest};
use crate::phrases::{self, cost, units, with_lower_bound_sign, with_lower_bound_words};
use crate::tree::{
    About, Article, ArticleLink, DocBlock, DocRow, DocTable, TextLine, TextPiece, code, joined,
    link, plain, prose,
};

/// An access pattern with what is known of it.
pub(super) struct DocumentedPattern<'g> {
    pub(super) model: &'g AccessPattern,
    pub(super) proof: &'g PatternProof,
    pub(super) answer: Option<&'g ExampleAnswer>,
    pub(super) units: CallUnits,
}

/// Read units of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallUnits {
    /// Fewest: nothing is found.
    least: f64,
    /// Most; `None` without a limit.
    most: Option<f64>,
    /// Those of the example's answer.
    pub(super) example: Option<f64>,
    /// Whether the usual ones are a lower bound: there is no example, or it was asked of a part of
    /// what the table will hold.
    pub(super) at_least: bool,
}

impl CallUnits {
    /// What a call uses. An answer out of the first rows alone misses what further rows hold, unless it
    /// is one item, or as many as the pattern's limit lets through.
    fn of(
        inputs: &DefinitionInputs<'_>,
        pattern: &AccessPattern,
        proof: &PatternProof,
        answer: Option<&ExampleAnswer>,
    ) -> Self {
        let units = Self {
            least: proof.least_units,
            most: proof.most_units.map(|most| most.max(proof.least_units)),
            example: answer.and_then(|answer| answer.units),
            at_least: false,
        };
        let is_part = (inputs.examples.as_ref())
            .is_none_or(|examples| !examples.whole && examples.asked.is_none());
        let limit = pattern.limit.filter(|_| proof.partitions == 1);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        let is_full = answer.is_some_and(|answer| {
            let is_limited = limit.is_some_and(|limit| answer.found >= limit);
            proof.operation == "GetItem" || (is_limited && pattern.filter.is_none())
        });
        let goes_on = answer.is_some_and(|answer| answer.has_more_pages);
        let at_most = units.most.is_some_and(|most| most <= units.usual());
        let is_lower = units.example.is_none() || goes_on || (is_part && !is_full);
        Self {
            at_least: !at_most && is_lower,
            ..units
        }
    }

    /// What a call is taken to use: the example's units, else the fewest.
    pub(super) fn usual(&self) -> f64 {
        self.example.unwrap_or(self.least)
    }

    /// Those of a call in words: of the example, and what they may be.
    fn words(&self) -> String {
        let bounds = match self.most {
            Some(most) if most <= self.least => format!("always {}", units(most)),
            Some(most) => format!("{} to {}", units(self.least), units(most)),
            None => format!("{} and more, for each 4 KB found", units(self.least)),
        };
        match self.example {
            Some(example) => {
                let example = with_lower_bound_words(self.at_least, &units(example));
                format!("{example} in the example; {bounds}")
            }
            None => bounds,
        }
    }
}

/// All patterns, in the order of the mapping.
pub(super) fn patterns<'g>(inputs: &'g DefinitionInputs<'g>) -> Vec<DocumentedPattern<'g>> {
    let all = inputs.model.patterns.iter().zip(&inputs.proofs.patterns);
    let answers = inputs.answers.iter().map(Option::as_ref);
    let answers = answers.chain(std::iter::repeat(None));
    let all = all
        .zip(answers)
        .map(|((model, proof), answer)| DocumentedPattern {
            model,
            proof,
            answer,
            units: CallUnits::of(inputs, model, proof, answer),
        });
    all.collect()
}

/// A table of the access patterns, and how its figures are to be read.
pub(super) fn table(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let all = &facts.patterns;
    if all.is_empty() {
        let none = "The mapping has no access patterns.";
        return vec![DocBlock::paragraph(none)];
    }
    let mut table = DocTable::new(
        "Access patterns: how each is asked and what it costs",
        [
            "Access pattern",
            "Asks",
            "Finds",
            "#Read units a call",
            "#A million calls",
            "#A month",
        ],
        all.iter().map(|each| each.row(facts)),
    );
    table.class = "patterns";
    let examples = facts.inputs.examples.as_ref();
    let mut note = vec![plain(phrases::examples(examples) + " ")];
    if let Some(reads) = reads(facts) {
        note.extend(prose(&reads));
        note.push(plain(" "));
    }
    note.push(plain(phrases::prices(facts.inputs.prices)));
    vec![
        DocBlock::Filter {
            rows: all.len(),
            example: example_filter(all),
        },
        DocBlock::Table(table),
        DocBlock::Note(note),
    ]
}

/// Words that find a pattern: its partition key attribute, and an item type. One in an index shows more of what can be asked.
fn example_filter(all: &[DocumentedPattern<'_>]) -> String {
    let by_index = all.iter().find(|each| each.proof.index.is_some());
    let Some(pattern) = by_index.or_else(|| all.first()) else {
        return String::new();
    };
    let keys = pattern.model.partition.iter().map(|(key, _)| &*key.name);
    let finds = pattern.proof.finds.iter().map(String::as_str);
    let words: Vec<&str> = keys.take(1).chain(finds.take(1)).collect();
    words.join(" ")
}

/// What read units, and the cost of them, are made from; why some are lower bounds.
pub(super) fn reads(facts: &DocumentFacts<'_>) -> Option<String> {
    let patterns = &facts.patterns;
    let examples = facts.inputs.examples.as_ref();
    let mut bounds = patterns.iter().filter(|each| each.units.at_least);
    let goes_on = bounds.clone().any(|each| each.answer.is_some());
    let is_blank = bounds.any(|each| each.answer.is_none());
    let mut notes = Vec::new();
    if patterns.iter().any(|each| each.units.example.is_some()) {
        let usual = "Read units are those of the examples' answers; other parameters may find more or less.";
        notes.push(usual.to_owned());
    }
    let target = "With `--target`, the examples query the loaded table and show all units.";
    match examples {
        Some(examples) if goes_on && examples.asked.is_none() && !examples.whole => {
            let rows = counted(examples.rows, "row");
            notes.push(format!(
                "≥ is a lower bound: the example was run on the first {rows} of each item type, and further rows may add to what it finds. {target}"
            ));
        }
        Some(_) if goes_on => {
            let pages = "≥ is a lower bound: the answer has more pages than were read.";
            notes.push(pages.to_owned());
        }
        _ => {}
    }
    if is_blank {
        let least = "Where there is no example, ≥ is followed by the read units of a call that finds nothing.";
        notes.push(least.to_owned());
        if examples.is_none() {
            notes.push(target.to_owned());
        }
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// All of each access pattern.
pub(super) fn articles(facts: &DocumentFacts<'_>) -> Vec<DocBlock> {
    let each = facts.patterns.iter();
    each.map(|pattern| DocBlock::Article(pattern.article(facts)))
        .collect()
}

impl DocumentedPattern<'_> {
    /// What a million calls cost on demand at the usual units, in US dollars.
    fn usd_per_million(&self, prices: &Prices) -> Option<f64> {
        prices.reads(self.units.usual() * 1e6)
    }

    /// What a month at the declared rate costs on demand.
    pub(super) fn usd_per_month(&self, prices: &Prices) -> Option<f64> {
        let reads = self.model.rate? * self.units.usual();
        monthly(Rates { reads, writes: 0.0 }, prices).on_demand_usd
    }

    fn row(&self, facts: &DocumentFacts<'_>) -> DocRow {
        let Self { model, units, .. } = self;
        let prices = facts.inputs.prices;
        let mut name = vec![link(About::Pattern, &model.name)];
        if let Some(description) = &model.description {
            name.push(TextPiece::Sub(vec![plain(description)]));
        }
        let figure = |text: &str| plain(with_lower_bound_sign(units.at_least, text));
        let finds = self.proof.finds.iter();
        let finds = finds.map(|name| vec![TextPiece::Marked("name", name.clone())]);
        let cells = vec![
            name,
            self.asked(facts.inputs),
            joined(finds, &TextPiece::Break),
            vec![figure(&phrases::units(units.usual()))],
            vec![figure(&cost(self.usd_per_million(prices)))],
            match model.rate {
                Some(rate) => vec![
                    figure(&cost(self.usd_per_month(prices))),
                    plain(format!(" at {rate}/s")),
                ],
                None => vec![TextPiece::Marked("none", "no rate".to_owned())],
            },
        ];
        DocRow {
            sources: self.sources(facts),
            search: model.sql.clone().unwrap_or_default(),
            ..DocRow::new(cells)
        }
    }

    fn sources(&self, facts: &DocumentFacts<'_>) -> Vec<String> {
        facts.sources_of(|source| source.patterns.contains(&self.proof.pattern))
    }

    /// What is asked, and by which key condition.
    fn asked(&self, inputs: &DefinitionInputs<'_>) -> TextLine {
        let index = self.proof.index.as_ref();
        let asked = index.unwrap_or(&inputs.model.table.name).clone();
        let condition = code(condition(self.model));
        vec![TextPiece::TableOrIndex(asked), plain(" "), condition]
    }

    fn article(&self, facts: &DocumentFacts<'_>) -> Article {
        let Self { model, proof, .. } = self;
        let mut blocks = Vec::new();
        blocks.extend(model.description.as_ref().map(DocBlock::paragraph));
        let operation = TextPiece::Marked("operation", proof.operation.to_owned());
        let mut asks = vec![operation, plain(" ")];
        asks.extend(self.asked(facts.inputs));
        blocks.push(DocBlock::Paragraph(asks));
        blocks.push(DocBlock::Facts(self.facts(facts.inputs.prices)));
        if !model.parameters.is_empty() {
            blocks.push(DocBlock::Table(DocTable::new(
                format!("Parameters of {}", model.name),
                ["Parameter", "Kind", "Written into the key as", "Values of"],
                self.parameters(facts.inputs),
            )));
        }
        blocks.push(DocBlock::Subheading("How to ask".to_owned()));
        blocks.push(DocBlock::Code("sh", self.command(facts.inputs)));
        let request = match self.answer {
            Some(answer) => Some(answer.request.clone()),
            None => outline(facts.inputs, model),
        };
        if let Some(request) = request {
            let summary = format!("The request, a {}", request.operation);
            let mut sent = vec![DocBlock::Code("json", request.json)];
            if request.further_requests > 0 {
                let more = format!("And {} more, one for each shard.", request.further_requests);
                sent.push(DocBlock::paragraph(more));
            }
            blocks.push(DocBlock::Folded(summary, sent));
            if self.answer.is_some_and(|answer| answer.is_cut) {
                let cut = "Long values are cut, in the request and in the command: … stands for the rest.";
                blocks.push(DocBlock::note(cut));
            }
        }
        if let Some(sql) = &model.sql {
            let title = "The query that it replaces";
            blocks.push(DocBlock::Subheading(title.to_owned()));
            blocks.push(DocBlock::Code("sql", sql.clone()));
        }
        match (self.answer, &facts.inputs.examples) {
            (Some(answer), _) => blocks.extend(answered(&model.name, answer)),
            (None, examples) => {
                let none = match examples {
                    Some(_) => "No example: the first rows have no values for its parameters.",
                    None => "No example: the document was made without rows.",
                };
                blocks.push(DocBlock::note(none));
            }
        }
        Article {
            link: ArticleLink::new(About::Pattern, &model.name),
            sources: self.sources(facts),
            blocks,
        }
    }

    fn facts(&self, prices: &Prices) -> Vec<(&'static str, TextLine)> {
        let Self { model, proof, .. } = self;
        let mut facts = vec![("Finds", vec![plain(proof.finds.join(", "))])];
        if !model.order.is_empty() && proof.operation == "Query" {
            let order: Vec<&str> = model.order.iter().map(|key| &*key.name).collect();
            let way = if model.descending {
                "descending"
            } else {
                "ascending"
            };
            let order = format!("{} {way}", order.join(", "));
            facts.push(("Order", vec![plain(order)]));
        }
        if let Some(limit) = model.limit {
            facts.push(("Limit", vec![plain(limit.to_string())]));
        }
        let filter = model.filter_text(|constant| match constant {
            Attribute::S(_) => format!("'{}'", shown(constant)),
            _ => shown(constant),
        });
        facts.extend(filter.map(|filter| ("Filter", vec![code(filter)])));
        if model.consistent {
            facts.push(("Reads", vec![plain("strongly consistent")]));
        }
        if model.fetch {
            let then = "BatchGetItem of the keys that the index finds, 100 a request";
            facts.push(("Then", vec![plain(then)]));
        }
        if proof.partitions > 1 {
            let merged = format!("{}, merged", proof.partitions);
            facts.push(("Partitions", vec![plain(merged)]));
        }
        facts.push(("Read units a call", vec![plain(self.units.words())]));
        let bounded_cost = |amount| with_lower_bound_words(self.units.at_least, &cost(amount));
        let mut costs = format!(
            "{} a million calls",
            bounded_cost(self.usd_per_million(prices))
        );
        if let Some(rate) = model.rate {
            let month = bounded_cost(self.usd_per_month(prices));
            costs.push_str(&format!("; {month} a month at {rate} a second"));
        }
        facts.push(("Cost", vec![plain(costs)]));
        facts
    }

    fn parameters(&self, inputs: &DefinitionInputs<'_>) -> Vec<DocRow> {
        let all = self.model.parameters.iter().enumerate();
        let rows = all.map(|(index, parameter)| {
            let mut placeholders = self.model.placeholders();
            let written = placeholders
                .find(|placeholder| placeholder.place.column == index)
                .filter(|placeholder| !placeholder.filters.is_empty());
            let mut from = origins(&self.origins(inputs, index));
            if let Some(clock) = &parameter.from_clock {
                from.extend([plain(" unless given: "), code(clock.to_string())]);
            }
            DocRow::new(vec![
                vec![code(&*parameter.name)],
                vec![plain(parameter.kind.placeholder().to_lowercase())],
                vec![written.map_or(plain("as it is"), |written| code(written.to_string()))],
                from,
            ])
        });
        rows.collect()
    }

    /// The columns that stand in the keys of the found item types where it has a parameter.
    fn origins(&self, inputs: &DefinitionInputs<'_>, parameter: usize) -> Vec<OriginColumn> {
        let mut found = Vec::new();
        for item in &inputs.model.item_types {
            if !self.proof.finds.iter().any(|name| **name == *item.name) {
                continue;
            }
            let Some(tracer) = tracer(inputs, item) else {
                continue;
            };
            for (key, template) in self.model.templates() {
                let Some(made) = item.template(&key.name) else {
                    continue;
                };
                for (_, asked, made) in aligned(template, made).pairs {
                    if asked.place.column == parameter
                        && let Some(origin) = tracer.column(made.place.column)
                        && !found.contains(&origin)
                    {
                        found.push(origin);
                    }
                }
            }
        }
        found
    }

    /// The command that asks it, with the example's values where there is one.
    fn command(&self, inputs: &DefinitionInputs<'_>) -> String {
        let mut command = format!(
            "dynafold query {} {}",
            shell_word(inputs.mapping),
            shell_word(&self.model.name)
        );
        for (at, parameter) in self.model.parameters.iter().enumerate() {
            let value = self.answer.and_then(|answer| answer.parameters.get(at));
            let value = match value {
                Some((_, value)) => shell_word(value),
                None => parameter.kind.placeholder().to_owned(),
            };
            command.push(' ');
            command.push_str(&given(&parameter.name, &value));
        }
        if inputs.needs_schema.contains(&self.model.name) {
            command.push_str(&format!(" {}", inputs.schema));
        }
        if inputs.target.is_empty() {
            command.push_str(" --target TARGET");
        }
        for (option, value) in inputs.target {
            command.push_str(&format!(" --{option} {}", shell_word(value)));
        }
        command
    }
}

fn answered(name: &str, answer: &ExampleAnswer) -> [DocBlock; 3] {
    let parameters = answer.parameters.iter();
    let given: Vec<String> = parameters
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let caption = match given.as_slice() {
        [] => format!("The answer of {name}"),
        given => format!("The answer of {name} for {}", given.join(", ")),
    };
    let more = text_if(answer.has_more_pages, ", and further pages");
    let mut found = counted(answer.found, "item") + &more;
    if answer.items.len() < answer.found {
        found.push_str(&format!("; the first {} of them", answer.items.len()));
    }
    [
        DocBlock::Subheading("A real answer".to_owned()),
        DocBlock::paragraph(found + ":"),
        DocBlock::Table(DocTable::of_items(caption, &answer.items)),
    ]
}

/// The key condition as people write it: `PK = USER#{userId} and SK begins_with PERSONAL#`.
fn condition(pattern: &AccessPattern) -> String {
    let each = pattern.conditions().map(|(key, operator, values)| {
        let values: Vec<String> = values.into_iter().map(plainly).collect();
        format!("{} {operator} {}", key.name, values.join(" and "))
    });
    each.collect::<Vec<_>>().join(" and ")
}

/// A template as people read it: without filters, but for what tells shards.
fn plainly(template: &Template) -> String {
    let mut template = template.clone();
    for placeholder in template.placeholders_mut() {
        if placeholder.place.column != AccessPattern::SHARD && placeholder.shards().is_none() {
            placeholder.filters.clear();
        }
    }
    template.to_string()
}

/// The request of a pattern with its templates in the place of values; `None`
/// where none can be planned.
fn outline(inputs: &DefinitionInputs<'_>, pattern: &AccessPattern) -> Option<ExampleRequest> {
    let mut blank = pattern.clone();
    let mut key_texts: Vec<(KeyAttribute, String)> = Vec::new();
    let mut empty = |key: &mut KeyAttribute, templates: Vec<&mut Template>| {
        for template in templates {
            key_texts.push((key.clone(), template.to_string()));
            // Any text is a key of this type: the values are put in below.
            template.parts = vec![TemplatePart::Text("-".to_owned())];
        }
        key.key_type = KeyType::S;
    };
    for (key, template) in &mut blank.partition {
        empty(key, vec![template]);
    }
    for (key, condition) in &mut blank.sort {
        empty(key, condition.templates_mut());
    }
    let plan = plan(&blank, &[], inputs.context).ok()?;
    let (operation, mut json) = request_value(plan.requests.first()?, &inputs.model.table.name);
    let mut put = |pointer: String, value: Json| {
        if let Some(place) = json.pointer_mut(&pointer) {
            *place = value;
        }
    };
    for (at, (key, text)) in key_texts.into_iter().enumerate() {
        let value = json!({ key.key_type.word(): text });
        if operation == "GetItem" {
            let name = key.name.replace('~', "~0").replace('/', "~1");
            put(format!("/Key/{name}"), value);
        } else {
            put(format!("/ExpressionAttributeValues/:k{at}"), value);
        }
    }
    let operands = pattern.filter.iter().flat_map(|filter| &filter.values);
    for (at, operand) in operands.enumerate() {
        if let FilterOperand::Parameter(index) = operand
            && let Some(parameter) = pattern.parameters.get(*index)
        {
            let letter = match parameter.kind {
                ParameterKind::Number => "N",
                ParameterKind::Boolean => "BOOL",
                ParameterKind::Binary | ParameterKind::Hex => "B",
                ParameterKind::Text | ParameterKind::Time(_) => "S",
            };
            let value = json!({ letter: format!("{{{}}}", parameter.name) });
            put(format!("/ExpressionAttributeValues/:f{at}"), value);
        }
    }
    Some(ExampleRequest {
        operation,
        json: format!("{json:#}"),
        further_requests: plan.requests.len().saturating_sub(1),
    })
}
