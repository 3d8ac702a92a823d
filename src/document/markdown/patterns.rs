//! The access patterns.

use super::text::{code, fenced, prose, slug, table, text};
use crate::document::definition::{Cell, Definition, Origin, Pattern};
use crate::document::phrases::{self, cost, marked};

pub(super) fn patterns(out: &mut String, definition: &Definition) {
    if definition.patterns.is_empty() {
        out.push_str("The mapping has no access patterns.\n\n");
        return;
    }
    let rows = definition.patterns.iter().map(|pattern| {
        let finds: Vec<String> = pattern.finds.iter().map(|name| text(name)).collect();
        let marked = |figure: &str| text(&marked(pattern.units.at_least, figure));
        vec![
            format!("[{}](#{})", text(&pattern.name), slug(&heading(pattern))),
            text(pattern.description.as_deref().unwrap_or_default()),
            code(&phrases::asked(definition, pattern)),
            code(&pattern.condition),
            finds.join(", "),
            marked(&phrases::units(pattern.units.usual())),
            marked(&cost(pattern.cost.usd_per_million)),
            pattern.rate.map_or_else(String::new, |rate| {
                format!("{} at {rate}/s", marked(&cost(pattern.cost.usd_per_month)))
            }),
        ]
    });
    table(
        out,
        &[
            "Pattern",
            "What for",
            "Asks",
            "Key condition",
            "Finds",
            "Read units a call",
            "A million calls",
            "A month",
        ],
        rows,
    );
    let reads = phrases::reads(definition).unwrap_or_default();
    let told = [
        phrases::examples(definition.examples.as_ref()),
        prose(&reads),
        phrases::prices(&definition.figures),
    ];
    let told = told.iter().filter(|sentence| !sentence.is_empty());
    let told: Vec<&str> = told.map(String::as_str).collect();
    out.push_str(&format!("{}\n\n", told.join(" ")));
    for pattern in &definition.patterns {
        one(out, definition, pattern);
    }
}

fn heading(pattern: &Pattern) -> String {
    format!("Pattern {}", pattern.name)
}

fn one(out: &mut String, definition: &Definition, pattern: &Pattern) {
    out.push_str(&format!("### Pattern {}\n\n", text(&pattern.name)));
    if let Some(description) = &pattern.description {
        out.push_str(&format!("{}\n\n", text(description)));
    }
    let mut facts = vec![(
        "Asks",
        format!(
            "{} on {}: {}",
            pattern.operation,
            code(&phrases::asked(definition, pattern)),
            code(&pattern.condition)
        ),
    )];
    if let Some(filter) = &pattern.filter {
        facts.push(("Filter", code(filter)));
    }
    let finds: Vec<String> = pattern.finds.iter().map(|name| text(name)).collect();
    facts.push(("Finds", finds.join(", ")));
    if let Some((order, descending)) = &pattern.order {
        let way = if *descending {
            "descending"
        } else {
            "ascending"
        };
        facts.push(("Order", format!("{} {way}", code(order))));
    }
    if let Some(limit) = pattern.limit {
        facts.push(("Limit", limit.to_string()));
    }
    if pattern.consistent {
        facts.push(("Reads", "strongly consistent".to_owned()));
    }
    if pattern.partitions > 1 {
        facts.push(("Partitions", format!("{}, merged", pattern.partitions)));
    }
    facts.push(("Read units a call", phrases::call(&pattern.units)));
    facts.push(("Command", code(&pattern.command)));
    for (name, fact) in facts {
        out.push_str(&format!("- {name}: {fact}\n"));
    }
    out.push('\n');
    if !pattern.parameters.is_empty() {
        let rows = pattern.parameters.iter().map(|parameter| {
            let mut from: Vec<String> = parameter.origins.iter().map(origin).collect();
            from.extend(
                parameter
                    .clock
                    .iter()
                    .map(|clock| format!("else {}", code(clock))),
            );
            vec![
                code(&parameter.name),
                parameter.kind.to_owned(),
                code(parameter.written.as_deref().unwrap_or_default()),
                from.join(", "),
            ]
        });
        table(out, &["Parameter", "Kind", "Written as", "Values of"], rows);
    }
    if let Some(request) = &pattern.request {
        out.push_str(&format!("The request, a {}:\n\n", request.operation));
        fenced(out, "json", &request.json);
        if request.more > 0 {
            let more = request.more;
            out.push_str(&format!("And {more} more, one for each shard.\n\n"));
        }
        if pattern.answer.as_ref().is_some_and(|answer| answer.is_cut) {
            out.push_str(&format!("{}\n\n", phrases::CUT));
        }
    }
    if let Some(sql) = &pattern.sql {
        out.push_str("The query that it replaces:\n\n");
        fenced(out, "sql", sql);
    }
    let Some(answer) = &pattern.answer else {
        out.push_str(&format!("{}\n\n", phrases::unanswered(definition)));
        return;
    };
    out.push_str("<details><summary>A real answer</summary>\n\n");
    out.push_str(&phrases::found(
        answer.found,
        answer.items.len(),
        answer.more,
    ));
    out.push_str("\n\n");
    items(out, &answer.items);
    out.push_str("</details>\n\n");
}

/// A column with its type.
pub(super) fn origin(origin: &Origin) -> String {
    let name = code(&format!("{}.{}", origin.table, origin.column));
    match origin.declared.as_str() {
        "" => name,
        declared => format!("{name} ({})", text(declared)),
    }
}

/// Items as a table: a column for each attribute that one of them has.
pub(super) fn items(out: &mut String, items: &[Vec<Cell>]) {
    let mut names: Vec<&str> = Vec::new();
    for cell in items.iter().flatten() {
        if !names.contains(&cell.name.as_str()) {
            names.push(&cell.name);
        }
    }
    if names.is_empty() {
        return;
    }
    let heads: Vec<String> = names.iter().map(|name| text(name)).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows = items.iter().map(|item| {
        let value = |name: &&str| {
            let cell = item.iter().find(|cell| cell.name == **name);
            cell.map_or(String::new(), |cell| code(&cell.value))
        };
        names.iter().map(value).collect()
    });
    table(out, &heads, rows);
}
