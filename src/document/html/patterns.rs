//! The access patterns: a table of them all that can be filtered, then each by itself.

use maud::{Markup, html};

use super::frame::wide;
use super::text::{items, list, name, origins, pattern_id, prose};
use crate::document::definition::{Answer, Definition, Parameter, Pattern};
use crate::document::phrases::{self, cost, marked, told, units};

pub(super) fn overview(definition: &Definition) -> Markup {
    html! {
        @if definition.patterns.is_empty() {
            p { "The mapping has no access patterns." }
        } @else {
            p.filter hidden {
                label for="filter" { "Filter" }
                input #filter type="search" placeholder="subscriptions service" autocomplete="off"
                    aria-describedby="filter-count";
                span #filter-count role="status" {
                    (phrases::number(definition.patterns.len(), "access pattern"))
                }
            }
            (wide("All access patterns", &table(definition)))
            p.note {
                (phrases::examples(definition.examples.as_ref())) " "
                @if let Some(reads) = phrases::reads(definition) { (prose(&reads)) " " }
                (phrases::prices(&definition.figures))
            }
        }
    }
}

fn table(definition: &Definition) -> Markup {
    html! {
        table.patterns {
            caption { "Access patterns: how each is asked and what it costs" }
            thead {
                tr {
                    th scope="col" { "Access pattern" }
                    th scope="col" { "Asks" }
                    th scope="col" { "Finds" }
                    th.number scope="col" { "Read units a call" }
                    th.number scope="col" { "A million calls" }
                    th.number scope="col" { "A month" }
                }
            }
            tbody {
                @for (at, pattern) in definition.patterns.iter().enumerate() {
                    (row(definition, at, pattern))
                }
            }
        }
    }
}

fn row(definition: &Definition, at: usize, pattern: &Pattern) -> Markup {
    let at_least = pattern.units.at_least;
    html! {
        tr data-sources=(sources(definition, pattern))
            data-search=(pattern.sql.as_deref().unwrap_or_default()) {
            th scope="row" {
                a href={ "#" (pattern_id(at, &pattern.name)) } { (name(&pattern.name)) }
                @if let Some(description) = &pattern.description { span.sub { (description) } }
            }
            td {
                span.place { (phrases::asked(definition, pattern)) }
                code.condition { (pattern.condition) }
            }
            td { @for found in &pattern.finds { div { (name(found)) } } }
            td.number data-label="Read units a call" { (marked(at_least, &units(pattern.units.usual()))) }
            td.number data-label="A million calls" { (marked(at_least, &cost(pattern.cost.usd_per_million))) }
            td.number data-label="A month" {
                @match pattern.rate {
                    Some(rate) => { (marked(at_least, &cost(pattern.cost.usd_per_month))) span.sub { "at " (rate) "/s" } }
                    None => { span.none { "no rate" } }
                }
            }
        }
    }
}

/// The tables that a pattern's items are made from.
fn sources(definition: &Definition, pattern: &Pattern) -> String {
    let found = definition.sources.iter();
    let found = found.filter(|source| source.patterns.contains(&pattern.name));
    list(
        &found
            .map(|source| source.id.to_string())
            .collect::<Vec<_>>(),
    )
}

/// Each pattern by itself.
pub(super) fn details(definition: &Definition) -> Markup {
    html! {
        @if !definition.patterns.is_empty() {
            section #pattern-details aria-labelledby="pattern-details-title" {
                h2 #pattern-details-title { "Each access pattern" }
                p.intro { "Parameters, how it is asked, the SQL that it replaces, and a real answer." }
                @for (at, pattern) in definition.patterns.iter().enumerate() {
                    (one(definition, at, pattern))
                }
            }
        }
    }
}

fn one(definition: &Definition, at: usize, pattern: &Pattern) -> Markup {
    let id = pattern_id(at, &pattern.name);
    html! {
        article.pattern id=(id) data-sources=(sources(definition, pattern)) {
            h3 { (name(&pattern.name)) }
            @if let Some(description) = &pattern.description { p { (description) } }
            p.key {
                span.operation { (pattern.operation) } " "
                span.place { (phrases::asked(definition, pattern)) } " "
                code { (pattern.condition) }
            }
            (facts(pattern))
            @if !pattern.parameters.is_empty() { (parameters(pattern)) }
            (asking(pattern))
            @if let Some(sql) = &pattern.sql {
                h4 { "The query that it replaces" }
                pre tabindex="0" { code { (sql) } }
            }
            @match &pattern.answer {
                Some(answer) => (answered(pattern, answer)),
                None => { p.none { (phrases::unanswered(definition)) } }
            }
        }
    }
}

fn facts(pattern: &Pattern) -> Markup {
    let at_least = pattern.units.at_least;
    html! {
        dl.facts {
            div { dt { "Finds" } dd { (pattern.finds.join(", ")) } }
            @if let Some((order, descending)) = &pattern.order {
                div { dt { "Order" } dd { (order) @if *descending { " descending" } @else { " ascending" } } }
            }
            @if let Some(limit) = pattern.limit { div { dt { "Limit" } dd { (limit) } } }
            @if let Some(filter) = &pattern.filter { div { dt { "Filter" } dd { code { (filter) } } } }
            @if pattern.consistent { div { dt { "Reads" } dd { "strongly consistent" } } }
            @if pattern.partitions > 1 {
                div { dt { "Partitions" } dd { (pattern.partitions) ", merged" } }
            }
            div {
                dt { "Read units a call" }
                dd {
                    (phrases::call(&pattern.units))
                }
            }
            div {
                dt { "Cost" }
                dd {
                    (told(at_least, &cost(pattern.cost.usd_per_million))) " a million calls"
                    @if let Some(rate) = pattern.rate {
                        "; " (told(at_least, &cost(pattern.cost.usd_per_month))) " a month at " (rate) " a second"
                    }
                }
            }
        }
    }
}

fn parameters(pattern: &Pattern) -> Markup {
    let table = html! {
        table {
            caption { "Parameters of " (pattern.name) }
            thead {
                tr {
                    th scope="col" { "Parameter" }
                    th scope="col" { "Kind" }
                    th scope="col" { "Written into the key as" }
                    th scope="col" { "Values of" }
                }
            }
            tbody { @for parameter in &pattern.parameters { (parameter_row(parameter)) } }
        }
    };
    wide(&format!("Parameters of {}", pattern.name), &table)
}

fn parameter_row(parameter: &Parameter) -> Markup {
    html! {
        tr {
            th scope="row" { code { (parameter.name) } }
            td { (parameter.kind.to_lowercase()) }
            td { @match &parameter.written { Some(written) => { code { (written) } } None => "as it is" } }
            td {
                (origins(&parameter.origins))
                @if let Some(clock) = &parameter.clock { " unless given: " code { (clock) } }
            }
        }
    }
}

/// The command that asks it, and the request that is sent.
fn asking(pattern: &Pattern) -> Markup {
    html! {
        h4 { "How to ask" }
        pre tabindex="0" { code { (pattern.command) } }
        @if let Some(request) = &pattern.request {
            p { "The request, a " (request.operation) ":" }
            pre tabindex="0" { code { (request.json) } }
            @if request.more > 0 { p { "And " (request.more) " more, one for each shard." } }
            @if pattern.answer.as_ref().is_some_and(|answer| answer.is_cut) {
                p.note { (phrases::CUT) }
            }
        }
    }
}

fn answered(pattern: &Pattern, answer: &Answer) -> Markup {
    let given = answer
        .parameters
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    let given = given.collect::<Vec<_>>().join(", ");
    let caption = match given.as_str() {
        "" => format!("The answer of {}", pattern.name),
        given => format!("The answer of {} for {given}", pattern.name),
    };
    html! {
        h4 { "A real answer" }
        p { (phrases::found(answer.found, answer.items.len(), answer.more)) }
        (items(&caption, &answer.items))
    }
}
