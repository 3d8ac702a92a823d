//! The load against sources and targets that fail as they are told to.

mod archive;
mod cancel;
mod duplicates;
mod erase;
mod faults;
mod library;
mod local;
mod rejects;
mod resume;
mod throttled;
mod verify;

use std::path::Path;
use std::sync::Arc;

use dynafold::load::{Cancel, KeyCheck, Load, LoadOptions, NoProgress, Report, run};
use dynafold::mapping::model::Model;
use dynafold::mapping::template::Context;
use dynafold::source::Source;
use dynafold::target::Target;

/// Options of a test: rejects go to a file of this folder.
pub(crate) fn options(folder: &Path, max_rejects: Option<u64>) -> LoadOptions {
    LoadOptions {
        max_rejects,
        rejects_file: folder.join("rejects.ndjson"),
        ..LoadOptions::default()
    }
}

pub(crate) async fn load(
    source: impl Source + 'static,
    target: Arc<dyn Target>,
    model: Model,
    options: LoadOptions,
) -> Report {
    load_until(source, target, model, options, Cancel::default()).await
}

/// Loads in one pass over the source, as where `check` has proved the keys.
pub(crate) async fn load_until(
    source: impl Source + 'static,
    target: Arc<dyn Target>,
    model: Model,
    options: LoadOptions,
    cancel: Cancel,
) -> Report {
    let options = LoadOptions {
        keys: KeyCheck::Proved,
        ..options
    };
    load_with(source, target, model, options, cancel).await
}

pub(crate) async fn load_with(
    source: impl Source + 'static,
    target: Arc<dyn Target>,
    model: Model,
    options: LoadOptions,
    cancel: Cancel,
) -> Report {
    let report = run(Load {
        source: Some(Box::new(source)),
        begun: false,
        state: None,
        target,
        model: Arc::new(model),
        context: Context::default(),
        options,
        cancel,
        progress: Arc::new(NoProgress),
    })
    .await;
    assert!(report.balances(), "{report:#?}");
    report
}
