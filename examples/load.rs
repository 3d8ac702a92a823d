//! Checks a mapping, prints the first items that it makes, and loads all of them into a file of the embedded engine.
//!
//! ```sh
//! cargo run --example load -- shop.yaml sqlite:shop.db shop.ddb
//! ```

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use dynafold::load::{self, Cancel, KeyCheck, Load, NoProgress, Options};
use dynafold::mapping::template::Context;
use dynafold::target::TargetSpec;
use dynafold::{check, diagnostic, dynamodb, preview, source, target};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &*arguments {
        [mapping, source, file] => load(mapping, source, file, &mut io::stdout()).await,
        _ => Err("usage: load MAPPING SOURCE FILE".into()),
    }
}

pub(crate) async fn load(
    mapping: &str,
    url: &str,
    table: &str,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(mapping)?;
    let mut source = source::connect(url).await?;
    let catalog = source.catalog().await?;
    let variable = |name: &str| env::var(name).ok();
    let checked = check::check(&text, &variable, &catalog, Some(source.as_mut())).await?;
    write!(
        out,
        "{}",
        diagnostic::render(mapping, &text, &checked.diagnostics, false)
    )?;
    let keys = checked.key_check(KeyCheck::First);
    let model = Arc::new(checked.model.ok_or("the mapping has errors")?);

    for sample in preview::sample(source.as_mut(), &model, Context::default(), 3, &|_| true).await?
    {
        for made in sample.items {
            let mut json = String::new();
            dynamodb::write_item(&mut json, &made.item);
            writeln!(out, "{json}")?;
        }
    }

    let target = target::connect(&TargetSpec::Local {
        file: Some(table.into()),
    })
    .await?;
    load::ensure_table(target.as_ref(), &model.table, true).await?;
    let report = load::run(Load {
        source: Some(source),
        begun: true,
        target,
        model,
        context: Context::default(),
        options: Options {
            keys,
            ..Options::default()
        },
        cancel: Cancel::default(),
        progress: Arc::new(NoProgress),
        state: None,
    })
    .await;
    writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    Ok(())
}
