//! What `plan`, `work` and `finish` have in common: a source and a model as a plan has them.

use std::path::Path;
use std::sync::Arc;

use super::failure::Failure;
use super::identity::{schema, stamped};
use super::mapping::{self, WrittenMapping};
use super::output::OutputStreams;
use super::{selection, target};
use crate::load::KeyCheck;
use crate::load::handout::PlanFacts;
use crate::mapping::model::Model;
use crate::mapping::template::{Context, Filter, Secret};
use crate::source::{self, Source, SourceIdentity};
use jiff::Timestamp;

/// What messages call the mapping of a plan.
const NAME: &str = "the plan's mapping";

/// A source whose snapshot is open, and what is made of its rows.
pub(super) struct HandedSource {
    pub(super) source: Box<dyn Source>,
    /// With the stamp as plans have it.
    pub(super) identity: SourceIdentity,
    pub(super) model: Arc<Model>,
    pub(super) context: Context,
}

/// What a mapping takes from the environment, as a plan has it.
pub(super) fn environment(
    written: &WrittenMapping,
    model: &Model,
    context: &Context,
) -> Option<String> {
    let key = context.secret.as_ref().map(Secret::check);
    written.environment(key.as_ref().filter(|_| model.uses(&Filter::Pseudonym)))
}

impl HandedSource {
    /// Opens the source of a plan: its snapshot, where that is shared.
    pub(super) async fn of(
        facts: &PlanFacts,
        url: &str,
        output: &OutputStreams,
    ) -> Result<Self, Failure> {
        let mut source = source::connect(url).await?;
        if source.dbms() != facts.dbms {
            let message = format!(
                "the plan is for {}, but this source is another database",
                facts.source
            );
            return Err(
                Failure::usage(message).with_help("name the source of the plan with --source")
            );
        }
        if let Some(snapshot) = &facts.snapshot {
            source.join(snapshot)?;
        }
        let catalog = source.catalog().await?;
        let (path, text) = (Path::new(NAME), facts.mapping.clone());
        let file = mapping::check_text(path, text, &catalog, Some(source.as_mut())).await?;
        let keys = file.checked.key_check(KeyCheck::Late);
        let written = file.written();
        let model = selection::item_types(file.into_model(output)?, &facts.items)?;
        let now = facts.now.as_deref().map(str::parse).transpose();
        let now = now.map_err(|error| {
            Failure::failed("the plan's time cannot be read").with_cause(&error)
        })?;
        let context = target::context(&model, Some(now.unwrap_or(Timestamp::UNIX_EPOCH)))?;
        if environment(&written, &model, &context) != facts.environment {
            return Err(Failure::failed(
                "the mapping's environment variables do not have the values that they had for the plan",
            )
            .with_code("plan")
            .with_help("set the variables that the mapping names, and the pseudonym key, as they were for `dynafold plan`"));
        }
        source.begin(&model.scans()).await?;
        let identity = stamped(source.identity().await?, &model);
        if schema(&catalog, &model, &identity) != facts.schema {
            return Err(Failure::failed(
                "this database user may read other tables, columns or rows than the user of the plan",
            )
            .with_code("plan")
            .with_help("use the same database as for `dynafold plan`, and a user with the same search path, rights and row security; if the schema changed since, make a new plan"));
        }
        if facts.keys == KeyCheck::Proved && keys != KeyCheck::Proved {
            return Err(Failure::failed(
                "the schema proved for the plan that no two rows make the same key, and no longer does",
            )
            .with_code("plan")
            .with_help("make a new plan"));
        }
        Ok(Self {
            source,
            identity,
            model: Arc::new(model),
            context,
        })
    }
}
