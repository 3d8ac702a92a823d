//! Sizes, capacity and cost.

use maud::{Markup, html};

use super::frame::wide;
use super::text::{prose, value};
use crate::document::definition::Definition;
use crate::document::figures::{Figures, SteadyPlace};
use crate::document::phrases::{self, cost, marked, units};
use crate::format::{bytes, count};

pub(super) fn figures(definition: &Definition) -> Markup {
    let figures = &definition.figures;
    html! {
        p.note { (prose(phrases::basis(figures))) }
        @if let Some(rejected) = phrases::rejected(figures) { p.note { (prose(&rejected)) } }
        (sizes(figures))
        @if !figures.places.is_empty() { (places(figures)) }
        @if let Some(total) = &figures.total {
            dl.facts {
                div {
                    dt { "Loading, once" }
                    dd { (cost(total.load_usd)) " on demand, for " (count(total.write_units)) " write units" }
                }
                div {
                    dt { "Storage" }
                    dd { (cost(total.storage_usd_per_month)) " a month for " (bytes(total.stored_bytes)) ", indexes included" }
                }
            }
        }
        h3 { "At the declared rates" }
        @match &figures.steady_total {
            Some(total) => {
                (steady(figures, total))
                @if let Some(reads) = phrases::rated(definition) { p.note { (prose(&reads)) } }
            },
            None => { p { (prose(phrases::NO_RATES)) } }
        }
        h3 { "How a rate becomes a bill" }
        ul.plain { @for line in phrases::arithmetic(figures) { li { (line) } } }
        p.note { (phrases::prices(figures)) }
        @if !figures.hot.is_empty() {
            h3 { "Hot partitions" }
            p { "Partition keys that take much of what is written. One takes about 1,000 write units a second." }
            ul {
                @for place in &figures.hot {
                    @for line in &place.lines { li { strong { (place.name) } ": " (value(line)) } }
                }
            }
        }
    }
}

fn sizes(figures: &Figures) -> Markup {
    let known = |figure: Option<String>| {
        html! {
            @match figure { Some(figure) => (figure), None => { span.none { "not known" } } }
        }
    };
    wide(
        "Sizes of the item types",
        &html! {
            table {
                caption { "Item types" }
                thead {
                    tr {
                        th scope="col" { "Item type" }
                        th.number scope="col" { "Items" }
                        th.number scope="col" { "Mean size" }
                        th.number scope="col" { "Size" }
                        th.number scope="col" { "Write units to load" }
                    }
                }
                tbody {
                    @for each in &figures.item_types {
                        tr {
                            th scope="row" { (each.name) }
                            td.number { (known(phrases::items_of(each))) }
                            td.number { (known(each.mean_bytes.map(bytes))) }
                            td.number { (known(each.bytes.map(bytes))) }
                            td.number { (known(each.write_units.map(count))) }
                        }
                    }
                }
            }
        },
    )
}

fn places(figures: &Figures) -> Markup {
    wide(
        "Sizes of the table and its indexes",
        &html! {
            table {
                caption { "Table and indexes" }
                thead {
                    tr {
                        th scope="col" { "Holds" }
                        th.number scope="col" { "Items" }
                        th.number scope="col" { "Size" }
                        th.number scope="col" { "Write units to load" }
                    }
                }
                tbody {
                    @for place in &figures.places {
                        tr {
                            th scope="row" { (place.name) }
                            td.number { (count(place.items)) }
                            td.number { (bytes(place.bytes)) }
                            td.number { (count(place.write_units)) }
                        }
                    }
                }
            }
        },
    )
}

fn steady(figures: &Figures, total: &SteadyPlace) -> Markup {
    let row = |place: &SteadyPlace| {
        let marked = |figure: &str| marked(place.at_least, figure);
        html! {
            tr {
                th scope="row" { (place.name) }
                td.number { (marked(&units(place.rates.reads))) }
                td.number { (units(place.rates.writes)) }
                td.number { (marked(&cost(place.cost.on_demand_usd))) }
                td.number { (marked(&cost(place.cost.provisioned_usd))) }
            }
        }
    };
    wide(
        "Cost at the declared rates",
        &html! {
            table {
                caption { "The declared rates, all month" }
                thead {
                    tr {
                        th scope="col" { "Place" }
                        th.number scope="col" { "Read units a second" }
                        th.number scope="col" { "Write units a second" }
                        th.number scope="col" { "On demand, a month" }
                        th.number scope="col" { "Provisioned, a month" }
                    }
                }
                tbody { @for place in &figures.steady { (row(place)) } }
                tfoot { (row(total)) }
            }
        },
    )
}
