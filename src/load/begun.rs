//! A load that has begun, and has not touched its table: its source is open, its files are in order
//! and its keys are proved.
//!
//! Whoever has to make the table, or to delete one that is to be replaced, does so between [`begin`]
//! and [`Begun::run`]. A load that was killed in between has entered no attempt into its state: it
//! begins anew.

use tokio::time::Instant;

use super::Load;
use super::failure::Failure;
use super::halt::{Halt, Why};
use super::prove::Told;
use super::report::{KeysReport, Report};
use super::start::{Before, Setting, Unset, set};
use super::state::Ground;

/// A load that can be run, or can only report why not.
pub struct Begun {
    pub(super) load: Load,
    pub(super) halt: Halt,
    pub(super) before: Before,
    /// `None`: it ends here.
    pub(super) setting: Option<Setting>,
    /// Rows that would be rejected, of a load that ends because of them.
    pub(super) refused: Option<Told>,
    pub(super) keys: KeysReport,
    /// Whether an earlier attempt had done a part.
    pub(super) resumed: bool,
    pub(super) at: Instant,
}

/// A table that can be written to.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// What it held before the run.
    pub ground: Ground,
    /// What tells it from another of its name.
    pub table_id: Option<String>,
    /// Write units a second to begin with, where it takes no more at first.
    pub start: Option<f64>,
}

impl Default for Ready {
    fn default() -> Self {
        Self {
            ground: Ground::Held,
            table_id: None,
            start: None,
        }
    }
}

/// Opens the source, plans, and proves the keys. Never fails but in its report.
pub async fn begin(mut load: Load) -> Begun {
    let at = Instant::now();
    let halt = Halt::new();
    let (mut before, failure) = Before::of(&mut load);
    if let Some(failure) = failure {
        halt.set(Why::Failed(failure));
    }
    let resumed = before.done.is_there();
    let (mut setting, mut refused, mut keys) = (None, None, KeysReport::default());
    if !halt.is_set() {
        match load.source.take() {
            None => halt.set(Why::Failed(Failure::internal("a load has no source"))),
            Some(source) => match Box::pin(set(&load, source, &mut before)).await {
                Ok(set) => {
                    keys = set.keys.clone();
                    setting = Some(set);
                }
                Err(Unset::Why(why)) => halt.set(why),
                Err(Unset::Refused(found)) => {
                    halt.set(Why::TooManyRejects);
                    keys = found.1;
                    refused = Some(found.0);
                }
            },
        }
    }
    Begun {
        load,
        halt,
        before,
        setting,
        refused,
        keys,
        resumed,
        at,
    }
}

/// Loads a table that is there already, and reports. Never fails but in its report.
pub async fn run(load: Load) -> Report {
    Box::pin(begin(load)).await.run(Ready::default()).await
}

impl Begun {
    /// Whether it writes: then its table is to be made ready now.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.setting.is_some() && !self.load.cancel.is_cancelled()
    }

    /// Loads and reports. Never fails but in its report.
    pub async fn run(mut self, ready: Ready) -> Report {
        if let Some(mut setting) = self.setting.take() {
            setting.ready = ready;
            match self.enter(&mut setting).await {
                Ok(()) => self.setting = Some(setting),
                Err(why) => self.halt.set(why),
            }
        }
        Box::pin(super::run::run(self)).await
    }

    async fn enter(&mut self, setting: &mut Setting) -> Result<(), Why> {
        let Load {
            target,
            model,
            options,
            cancel,
            ..
        } = &self.load;
        if cancel.is_cancelled() {
            return Err(Why::Cancelled);
        }
        if let Some(state) = &mut self.before.state {
            // An attempt that is in the state has a journal of its own.
            let kept = setting.keep_journal(&self.load, state);
            kept.map_err(Why::Failed)?;
            let entered = setting.enter(&self.load, state);
            entered.map_err(|error| Why::Failed(Failure::of_state(&error)))?;
        }
        let started = tokio::select! {
            started = target.start(&model.table, options.bulk) => started,
            () = cancel.cancelled() => return Err(Why::Cancelled),
        };
        started.map_err(|error| Why::Failed(Failure::from(&error)))
    }
}
