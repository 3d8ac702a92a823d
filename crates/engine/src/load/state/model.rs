//! What a state tells: attempts, committed extents of files, and whose it is.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How to meet the state of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeMode {
    /// Go on with an unfinished run.
    Resume,
    /// Forget its plan and what is done (`--fresh`). Where it wrote to the same table and was about the
    /// same part of it, the new run takes over what it has written. What the last full run selected is
    /// kept.
    Fresh,
    /// The same, and the table is emptied: there is nothing to take over.
    Replace,
}

/// What the table held when a run began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableAtStart {
    /// Nothing: every item in it is the run's own.
    Empty,
    /// Items.
    #[default]
    Held,
}

/// What a full run selected from its source, for a place that items are pruned in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PruneSelection {
    /// The table, told from every other: what makes it unique is the caller's to know.
    pub place: String,
    /// What was selected, as the caller writes it.
    pub json: String,
}

/// One process's work at a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAttempt {
    /// What told the source's state, where the database can tell.
    pub stamp: Option<String>,
    /// The time that the items were made for.
    pub now: String,
    /// What the table held.
    #[serde(rename = "ground")]
    pub table_at_start: TableAtStart,
    /// What tells the table that it wrote to from others of its name.
    pub table_id: Option<String>,
}

impl RunAttempt {
    /// Stands for the attempts of a run whose items are taken over, by what the table held before it.
    pub(super) fn taken_over(table_at_start: TableAtStart) -> Self {
        Self {
            stamp: None,
            now: String::new(),
            table_at_start,
            table_id: None,
        }
    }
}

/// An unfinished run with the same identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierRun {
    /// Its attempts, at least one.
    pub attempts: Vec<RunAttempt>,
    /// How far the files beside the table count, by their names.
    pub extents: BTreeMap<String, CommittedExtent>,
}

impl EarlierRun {
    /// The time that the run's items are made for: that of its first attempt. `None`: it has made none,
    /// and only takes over what another run has written.
    pub fn now(&self) -> Option<&str> {
        let mut times = self.attempts.iter().map(|attempt| attempt.now.as_str());
        times.find(|now| !now.is_empty())
    }

    /// What a run that begins anew takes over: what was written, and nothing of what is done.
    pub(super) fn taken_over(&self) -> RunAttempt {
        RunAttempt {
            table_id: self.table_id().map(str::to_owned),
            ..RunAttempt::taken_over(self.table_at_start())
        }
    }

    /// The table that the attempts wrote to, as the service tells it from all others.
    pub fn table_id(&self) -> Option<&str> {
        let mut attempts = self.attempts.iter().rev();
        attempts.find_map(|attempt| attempt.table_id.as_deref())
    }

    /// What the table held before the run.
    pub fn table_at_start(&self) -> TableAtStart {
        self.attempts
            .first()
            .map_or(TableAtStart::Held, |first| first.table_at_start)
    }
}

/// The committed part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommittedExtent {
    /// Its bytes.
    pub length: u64,
    /// A hash of the last 4 KiB of them.
    pub tail: String,
}

/// What a run is known by: two runs with equal facts may go on with one another's work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    facts: Vec<IdentityFact>,
}

/// One thing that a run is known by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityFact {
    /// What it is, for people: `the mapping`.
    pub name: String,
    /// What is compared: a fingerprint or the thing itself. Never a secret.
    pub value: String,
    /// How people read it: `mappings/shop.yaml`. Never a secret.
    pub shown: String,
}

/// A fact of an unfinished run that is another one now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFact {
    /// What differs.
    pub what: String,
    /// As it was in the unfinished run; `None`: it was not there.
    pub earlier: Option<String>,
    /// As it is now; `None`: it is not there any more.
    pub now: Option<String>,
}

impl RunIdentity {
    /// An identity without facts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a fact that is compared by `value` and shown as `shown`.
    pub fn with(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
        shown: impl Into<String>,
    ) -> Self {
        self.facts.push(IdentityFact {
            name: name.into(),
            value: value.into(),
            shown: shown.into(),
        });
        self
    }

    /// Adds a fact that can be shown as it is.
    pub fn plain(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let value = value.into();
        let shown = value.clone();
        self.with(name, value, shown)
    }

    /// How this, the identity of now, differs from an earlier one.
    pub fn differences(&self, earlier: &Self) -> Vec<ChangedFact> {
        let gone = earlier
            .facts
            .iter()
            .filter(|fact| self.fact(&fact.name).is_none())
            .map(|fact| ChangedFact {
                what: fact.name.clone(),
                earlier: Some(fact.shown.clone()),
                now: None,
            });
        let changed = self.facts.iter().filter_map(|fact| {
            let before = earlier.fact(&fact.name);
            (before.map(|before| &before.value) != Some(&fact.value)).then(|| ChangedFact {
                what: fact.name.clone(),
                earlier: before.map(|before| before.shown.clone()),
                now: Some(fact.shown.clone()),
            })
        });
        changed.chain(gone).collect()
    }

    fn fact(&self, name: &str) -> Option<&IdentityFact> {
        self.facts.iter().find(|fact| fact.name == name)
    }
}

/// The value of an option that is given without one.
pub const SWITCHED_ON: &str = "on";

impl fmt::Display for ChangedFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = &self.what;
        if let (Some(earlier), Some(now)) = (&self.earlier, &self.now)
            && earlier == now
        {
            return write!(f, "{what} ({now}) has changed");
        }
        let [now, then] = [&self.now, &self.earlier].map(Option::as_deref);
        let absent = match now.or(then) {
            Some(SWITCHED_ON) => "off",
            _ => "none",
        };
        let (now, then) = (now.unwrap_or(absent), then.unwrap_or(absent));
        write!(f, "{what}: {now} now, {then} then")
    }
}
