//! The document as a page: one file that needs no network, can be read without its script, and
//! prints whole. Every text is escaped; the page forbids itself to load or to send anything.

mod figures;
mod frame;
mod items;
mod patterns;
mod sources;
mod text;

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use super::definition::Definition;
use super::phrases::{self, SECTIONS};
use frame::section;

/// What a page of the document has near its beginning.
pub const HTML_MARKER: &str = r#"<meta name="generator" content="dynafold docs">"#;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Nothing is loaded and nothing is sent: what rows hold can do no harm.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
     base-uri 'none'; form-action 'none'";

/// The document as one self-contained page.
#[must_use]
pub fn html(definition: &Definition) -> String {
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                (PreEscaped(HTML_MARKER))
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (definition.table) " – DynamoDB table definition" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (frame::header(definition))
                (frame::contents(definition))
                main #main tabindex="-1" { (body(definition)) }
                footer {
                    "Written by dynafold docs from " code { (definition.mapping) }
                    ". It is made again; edit the mapping instead."
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let mut page = page.into_string();
    page.push('\n');
    page
}

fn body(definition: &Definition) -> Markup {
    markup! {
        (overview(definition))
        @for each in SECTIONS {
            @match each.anchor {
                "erd" => (section(each, &sources::erd(definition))),
                "patterns" => {
                    (section(each, &patterns::overview(definition)))
                    (patterns::details(definition))
                }
                "table" => (section(each, &items::places(definition))),
                "items" => (section(each, &items::item_types(definition))),
                "aggregate" => (section(each, &items::aggregate(definition))),
                "coverage" => (section(each, &sources::coverage(definition))),
                "cost" => (section(each, &figures::figures(definition))),
                _ => (section(each, &sources::warnings(definition))),
            }
        }
    }
}

fn overview(definition: &Definition) -> Markup {
    markup! {
        section #overview aria-labelledby="overview-title" {
            h2 #overview-title { "Overview" }
            p.intro {
                "What this DynamoDB table holds, which questions it answers, and what it costs. "
                "Start with the access patterns if you want to know how to ask it."
            }
            dl.facts {
                @for (name, value) in phrases::overview(definition) {
                    div { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}
