//! What stands around the sections: header, contents, headings.

use maud::{Markup, html};

use super::text::{item_id, pattern_id};
use crate::document::definition::Definition;
use crate::document::phrases::{SECTIONS, Section};

pub(super) fn header(definition: &Definition) -> Markup {
    html! {
        header.top {
            p.kind { "DynamoDB table definition" }
            h1 { (definition.table) }
            div.tools hidden {
                button #expand type="button" { "Expand all" }
                button #theme type="button" { "Theme: system" }
            }
        }
    }
}

/// The table of contents.
pub(super) fn contents(definition: &Definition) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ul {
                li { a href="#overview" { "Overview" } }
                @for section in SECTIONS {
                    li {
                        a href={ "#" (section.anchor) } { (section.title) }
                        @match section.anchor {
                            "patterns" => (links(definition.patterns.iter().enumerate().map(
                                |(at, pattern)| (pattern_id(at, &pattern.name), &pattern.name)
                            ))),
                            "items" => (links(definition.item_types.iter().enumerate().map(
                                |(at, item)| (item_id(at, &item.name), &item.name)
                            ))),
                            _ => {}
                        }
                    }
                }
            }
        }
    }
}

fn links<'d>(links: impl Iterator<Item = (String, &'d String)>) -> Markup {
    html! {
        ul {
            @for (id, name) in links {
                li { a href={ "#" (id) } { (super::text::name(name)) } }
            }
        }
    }
}

pub(super) fn section(section: Section, content: &Markup) -> Markup {
    let title = format!("{}-title", section.anchor);
    html! {
        section id=(section.anchor) aria-labelledby=(title) {
            h2 id=(title) { (section.title) }
            p.intro { (super::text::prose(section.intro)) }
            (content)
        }
    }
}

/// Content that is wide: it scrolls by itself, with the keyboard too.
pub(super) fn wide(label: &str, content: &Markup) -> Markup {
    html! { div.wide role="region" aria-label=(label) tabindex="0" { (content) } }
}

/// Content that the script folds away at first. Without it, and on paper, it is open.
pub(super) fn folded(summary: &str, content: &Markup) -> Markup {
    html! { details.fold open { summary { (summary) } (content) } }
}
