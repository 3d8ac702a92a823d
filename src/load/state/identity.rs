//! What makes two runs the same run, and how they differ.

use std::fmt;

/// What a run is known by: two runs with equal facts may go on with one another's work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    facts: Vec<Fact>,
}

/// One thing that a run is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is, for people: `the mapping`.
    pub name: String,
    /// What is compared: a fingerprint or the thing itself. Never a secret.
    pub value: String,
    /// How people read it: `mappings/shop.yaml`. Never a secret.
    pub shown: String,
}

/// A fact of an unfinished run that is another one now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What differs.
    pub what: String,
    /// As it was in the unfinished run; `None`: it was not there.
    pub then: Option<String>,
    /// As it is now; `None`: it is not there any more.
    pub now: Option<String>,
}

impl Identity {
    /// An identity without facts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a fact that is compared by `value` and shown as `shown`.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<String>,
        value: impl Into<String>,
        shown: impl Into<String>,
    ) -> Self {
        self.facts.push(Fact {
            name: name.into(),
            value: value.into(),
            shown: shown.into(),
        });
        self
    }

    /// Adds a fact that can be shown as it is.
    #[must_use]
    pub fn plain(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let value = value.into();
        let shown = value.clone();
        self.with(name, value, shown)
    }

    /// The facts, in the order in which they were added.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Whether these facts of two identities are the same.
    pub(super) fn agrees(&self, then: &Self, names: &[&str]) -> bool {
        let value =
            |identity: &Self, name: &str| identity.fact(name).map(|fact| fact.value.clone());
        names
            .iter()
            .all(|name| value(self, name) == value(then, name))
    }

    /// How this, the identity of now, differs from an earlier one.
    #[must_use]
    pub fn differences(&self, then: &Self) -> Vec<Difference> {
        let gone = then
            .facts
            .iter()
            .filter(|fact| self.fact(&fact.name).is_none());
        let gone = gone.map(|fact| Difference {
            what: fact.name.clone(),
            then: Some(fact.shown.clone()),
            now: None,
        });
        let changed = self.facts.iter().filter_map(|fact| {
            let earlier = then.fact(&fact.name);
            (earlier.map(|earlier| &earlier.value) != Some(&fact.value)).then(|| Difference {
                what: fact.name.clone(),
                then: earlier.map(|earlier| earlier.shown.clone()),
                now: Some(fact.shown.clone()),
            })
        });
        changed.chain(gone).collect()
    }

    fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.name == name)
    }
}

impl FromIterator<Fact> for Identity {
    fn from_iter<I: IntoIterator<Item = Fact>>(facts: I) -> Self {
        Self {
            facts: facts.into_iter().collect(),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = &self.what;
        match (&self.then, &self.now) {
            (Some(then), Some(now)) if then == now => {
                write!(f, "{what} ({now}) is not as it was")
            }
            (Some(then), Some(now)) => write!(f, "{what} was {then} and is {now}"),
            (Some(then), None) => write!(f, "{what} was {then} and is not given"),
            (None, Some(now)) => write!(f, "{what} was not given and is {now}"),
            (None, None) => write!(f, "{what} differs"),
        }
    }
}
