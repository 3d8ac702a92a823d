//! `dynafold check`: everything that can be said of a mapping without reading rows.

use serde_json::json;

use super::args::{Check, Format};
use super::failure::Failure;
use super::mapping::Checked;
use super::output::Output;
use super::{Outcome, catalog, mapping, proofs};
use crate::catalog::Catalog;
use crate::diagnostic::{Code, Diagnostic, Severity, to_json};
use crate::load::Cancel;
use crate::mapping::template::Context;
use crate::source::Source;
use crate::verify::patterns::{Ground, Proving, foresee};

pub(super) async fn run(arguments: &Check, output: &Output) -> Result<Outcome, Failure> {
    if arguments.catalog.is_none() && arguments.source.source.is_none() {
        // What is wrong whatever the schema is told all the same.
        if let Ok(found) = mapping::Outlined::read(&arguments.mapping) {
            found.tell(&arguments.mapping, output);
        }
    }
    let file = arguments.catalog.as_deref();
    let (mut source, catalog) = catalog::source_or_file(&arguments.source, file).await?;
    let checked = mapping::check(&arguments.mapping, &catalog, source.as_deref_mut());
    let mut checked = checked.await?;
    if let Some(source) = &mut source {
        Box::pin(answers(&mut checked, &catalog, source.as_mut())).await?;
    }
    if checked.model.is_none() {
        output.warnings(&checked.notices);
    }
    match arguments.format {
        Format::Text => {
            output.text(&checked.rendered(Severity::Warning, output.color()))?;
            if let Some(proofs) = &checked.proofs {
                if !checked.diagnostics.is_empty() {
                    output.text("\n")?;
                }
                output.text(&proofs::text(proofs, arguments.proofs, output))?;
            }
            output.text(&checked.summary())?;
        }
        Format::Json => {
            let path = checked.path.display().to_string();
            output.json(&json!({
                "diagnostics": to_json(&path, &checked.text, &checked.diagnostics),
                "accepted": to_json(&path, &checked.text, &checked.accepted),
                "claims": checked.proofs.as_ref().map_or(&[][..], |proofs| &proofs.claims),
                "proofs": checked.proofs,
            }))?;
        }
    }
    match checked.counts() {
        (0, warnings) if warnings == 0 || !arguments.deny_warnings => Ok(Outcome::Well),
        _ => Err(Failure::silent()),
    }
}

/// Tells of access patterns whose answers cannot be compared with those of their SQL.
async fn answers(
    checked: &mut Checked,
    catalog: &Catalog,
    source: &mut dyn Source,
) -> Result<(), Failure> {
    let Some(model) = &checked.model else {
        return Ok(());
    };
    let cancel = Cancel::default();
    let context = Context {
        time_zone: model.time_zone.clone(),
        ..Context::default()
    };
    let proving = Proving {
        ground: Ground {
            catalog,
            model,
            context: &context,
        },
        finds: checked.finds(),
        names: &[],
        values: 0,
        examples: 0,
        cancel: &cancel,
        progress: &|_, _, _, _| {},
    };
    for (name, why) in foresee(&proving, source).await? {
        let mut places = checked.answers.iter();
        let Some((_, span, accepted)) = places.find(|(other, ..)| *other == name) else {
            continue;
        };
        let message = format!("the answers of `{name}` cannot be proved: {why}");
        let warning = Diagnostic::new(Code::UnprovedAnswer, span.clone(), message).with_help(
            "mend that, and `verify --patterns` proves them; if they need not be proved: accept: [unproved-answer]",
        );
        if *accepted {
            checked.accepted.push(warning);
        } else {
            checked.diagnostics.push(warning);
        }
    }
    for told in [&mut checked.diagnostics, &mut checked.accepted] {
        told.sort_by_key(|diagnostic| diagnostic.span.start);
    }
    Ok(())
}
