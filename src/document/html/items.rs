//! The table, its indexes, the item types, and the aggregate view.

use maud::{Markup, html};

use super::frame::{folded, wide};
use super::text::{
    self, attributes, item_id, items, list, name, origins, pattern_id, prose, type_title,
};
use crate::document::definition::{
    Cell, Collection, Definition, Entry, ItemType, Key, Member, Place,
};
use crate::document::phrases;
use crate::format::bytes;

pub(super) fn places(definition: &Definition) -> Markup {
    let keys = |keys: &[Key]| {
        html! {
            @for (at, key) in keys.iter().enumerate() {
                @if at > 0 { ", " }
                code { (key.name) } " " abbr.type title=(type_title(key.key_type)) { (key.key_type) }
            }
        }
    };
    let table = html! {
        table {
            caption { "The table and its indexes" }
            thead {
                tr {
                    th scope="col" { "Name" }
                    th scope="col" { "Partition key" }
                    th scope="col" { "Sort key" }
                    th scope="col" { "Projects" }
                    th scope="col" { "Capacity" }
                    th scope="col" { "Holds" }
                }
            }
            tbody {
                @for place in &definition.places {
                    tr {
                        th scope="row" { (place.name) span.sub { (phrases::kind(place)) } }
                        td { (keys(&place.partition)) }
                        td { (keys(&place.sort)) }
                        td { (place.projection) }
                        td { (place.billing) }
                        td { (members(definition, &place.members)) }
                    }
                }
            }
        }
    };
    html! {
        (wide("The table and its indexes", &table))
        dl.facts {
            @for (name, value) in &definition.settings { div { dt { (name) } dd { (value) } } }
        }
    }
}

fn members(definition: &Definition, members: &[Member]) -> Markup {
    html! {
        ul.plain {
            @for member in members {
                li {
                    @if member.when.is_some() { "some " }
                    (item_link(definition, &member.name))
                    @if let Some(when) = &member.when { span.sub { (prose(when)) } }
                    @if let Some(value) = &member.single_partition {
                        span.sub { "all under " code { (text::value(value)) } }
                    }
                }
            }
        }
    }
}

pub(super) fn item_link(definition: &Definition, name: &str) -> Markup {
    let mut all = definition.item_types.iter().enumerate();
    let id = all
        .find(|(_, item)| item.name == name)
        .map(|(at, _)| item_id(at, name));
    html! {
        @match id { Some(id) => { a href={ "#" (id) } { (text::name(name)) } } None => (name) }
    }
}

pub(super) fn pattern_link(definition: &Definition, name: &str) -> Markup {
    let mut all = definition.patterns.iter().enumerate();
    let id = all
        .find(|(_, pattern)| pattern.name == name)
        .map(|(at, _)| pattern_id(at, name));
    html! {
        @match id { Some(id) => { a href={ "#" (id) } { (text::name(name)) } } None => (name) }
    }
}

/// Links with commas between.
pub(super) fn joined<'n>(names: &'n [String], link: impl Fn(&'n str) -> Markup) -> Markup {
    html! {
        @for (at, name) in names.iter().enumerate() {
            @if at > 0 { ", " }
            (link(name))
        }
    }
}

pub(super) fn item_types(definition: &Definition) -> Markup {
    html! {
        @for (at, item) in definition.item_types.iter().enumerate() {
            (item_type(definition, at, item))
        }
    }
}

fn item_type(definition: &Definition, at: usize, item: &ItemType) -> Markup {
    let sources = definition.sources.iter();
    let sources = sources.filter(|source| source.item_types.contains(&item.name));
    let sources: Vec<String> = sources.map(|source| source.id.to_string()).collect();
    let attributes = format!("Attributes of {}", item.name);
    html! {
        article.item id=(item_id(at, &item.name)) data-sources=(list(&sources)) {
            h3 { (name(&item.name)) }
            (facts(definition, item))
            @if let Some(sql) = &item.query { pre tabindex="0" { code { (sql) } } }
            (wide(&attributes, &html! {
                table {
                    caption { (attributes) }
                    thead {
                        tr {
                            th scope="col" { "Attribute" }
                            th scope="col" { "Type" }
                            th scope="col" { "Made from" }
                            th scope="col" { "Columns" }
                        }
                    }
                    tbody {
                        @for attribute in &item.attributes {
                            tr {
                                th scope="row" {
                                    code { (attribute.name) }
                                    @for role in &attribute.roles { " " span.role { (role) } }
                                }
                                td { abbr.type title=(type_title(&attribute.data_type)) { (attribute.data_type) } }
                                td { code { (attribute.made) } }
                                td.origins { (origins(&attribute.origins)) }
                            }
                        }
                    }
                }
            }))
            @if !item.examples.is_empty() {
                (folded("Example items", &items(&format!("Examples of {}", item.name), &item.examples)))
            }
        }
    }
}

fn facts(definition: &Definition, item: &ItemType) -> Markup {
    html! {
        dl.facts {
            div { dt { "From" } dd { @if item.query.is_some() { "a query" } @else { code { (item.from) } } } }
            @if let Some(condition) = &item.condition { div { dt { "Where" } dd { code { (condition) } } } }
            @for (alias, parent, on) in &item.joins {
                div { dt { "Looks up" } dd { code { (parent) } " as " code { (alias) } ": " code { (on) } } }
            }
            @for array in &item.explodes { div { dt { "One item for each of" } dd { code { (array) } } } }
            @for member in &item.indexes {
                div {
                    dt { "In index" }
                    dd {
                        (member.name)
                        @if let Some(when) = &member.when { ", " (prose(when)) }
                        @if let Some(value) = &member.single_partition {
                            ", all under the partition key " code { (text::value(value)) }
                        }
                    }
                }
            }
            @if !item.patterns.is_empty() {
                div { dt { "Found by" } dd { (joined(&item.patterns, |name| pattern_link(definition, name))) } }
            }
            @if let Some(most) = item.most_bytes {
                div { dt { "Size" } dd { "at most " (bytes(u64::try_from(most).unwrap_or(u64::MAX))) " by the schema" } }
            }
            @for note in &item.notes { div { dt { "Note" } dd { (note) } } }
        }
    }
}

/// The item collections of the table and of each index, side by side.
pub(super) fn aggregate(definition: &Definition) -> Markup {
    let filled: Vec<&Place> = definition
        .places
        .iter()
        .filter(|place| !place.collections.is_empty())
        .collect();
    html! {
        p.note { (phrases::examples(definition.examples.as_ref())) }
        @if !filled.is_empty() {
            (wide("Item collections side by side", &html! {
                div.views { @for place in filled { (view(place)) } }
            }))
        }
    }
}

fn view(place: &Place) -> Markup {
    let names = |keys: &[Key]| {
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        names.join(", ")
    };
    let has_sort = !place.sort.is_empty();
    html! {
        table.view {
            caption { (phrases::kind(place)) " " strong { (place.name) } }
            thead {
                tr {
                    th scope="colgroup" colspan=(if has_sort { 2 } else { 1 }) { "Primary key" }
                    th scope="col" rowspan="2" { "Attributes" }
                }
                tr {
                    th scope="col" { span.sub { "partition key" } (names(&place.partition)) }
                    @if has_sort { th scope="col" { span.sub { "sort key" } (names(&place.sort)) } }
                }
            }
            @for collection in &place.collections { (rows(collection, has_sort)) }
        }
    }
}

/// An item collection: its partition key spans the rows of its items.
fn rows(collection: &Collection, has_sort: bool) -> Markup {
    let values = |cells: &[Cell]| {
        html! {
            @for (at, cell) in cells.iter().enumerate() { @if at > 0 { br; } (text::key(&cell.value)) }
        }
    };
    let item = |entry: &Entry| {
        html! {
            @if has_sort { td.sort { (values(&entry.sort)) } }
            td.rest { span.role { (entry.item_type) } (attributes(&entry.attributes)) }
        }
    };
    html! {
        tbody {
            @for (at, entry) in collection.items.iter().enumerate() {
                tr {
                    @if at == 0 {
                        th.partition scope="rowgroup" rowspan=(collection.items.len()) {
                            (values(&collection.partition))
                        }
                    }
                    (item(entry))
                }
            }
        }
    }
}
