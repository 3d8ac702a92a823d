//! Stand-in until the room comes.
use std::time::Duration;
/// S
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// c
    pub ceiling: Option<f64>,
    /// s
    pub start: Option<f64>,
    /// m
    pub most_in_flight: usize,
}
/// A
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Admission {
    /// g
    Go,
    /// a
    At(Duration),
    /// f
    Full,
}
/// K
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// t
    Took,
    /// t
    Throttled,
    /// f
    Failed,
}
/// A
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// e
    pub estimated: f64,
    /// c
    pub consumed: Option<f64>,
    /// r
    pub refused: f64,
    /// l
    pub latency: Duration,
    /// k
    pub kind: Kind,
}
/// L
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// n
    Nothing,
    /// c
    Ceiling,
    /// t
    Table,
}
/// S
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    /// l
    pub limit: Limit,
}
/// G
#[derive(Debug)]
pub struct Gate {
    inflight: usize,
    most: usize,
}
impl Gate {
    /// n
    #[must_use]
    pub fn new(s: Settings) -> Self {
        Self {
            inflight: 0,
            most: s.most_in_flight.max(1),
        }
    }
    /// a
    pub fn admit(&mut self, _now: Duration, _units: f64) -> Admission {
        if self.inflight < self.most {
            self.inflight += 1;
            Admission::Go
        } else {
            Admission::Full
        }
    }
    /// a
    pub fn answered(&mut self, _now: Duration, _a: &Answer) {
        self.inflight = self.inflight.saturating_sub(1);
    }
    /// b
    #[must_use]
    pub fn batch_units(&self) -> f64 {
        f64::INFINITY
    }
    /// s
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            limit: Limit::Nothing,
        }
    }
}
/// H
#[derive(Debug, Default)]
pub struct Heat;
/// V
#[derive(Debug)]
pub struct Verdict {
    /// t
    pub table_refused: f64,
}
impl Heat {
    /// j
    pub fn judge(&mut self, _n: Duration, _a: &[(u64, f64)], r: &[(u64, f64)]) -> Verdict {
        Verdict {
            table_refused: r.iter().map(|x| x.1).sum(),
        }
    }
    /// h
    #[must_use]
    pub fn is_hot(&self, _p: u64) -> bool {
        false
    }
    /// a
    #[must_use]
    pub fn any_hot(&self) -> bool {
        false
    }
    /// w
    #[must_use]
    pub fn is_watching(&self) -> bool {
        false
    }
    /// a
    pub fn admit(&mut self, _n: Duration, _p: u64, _u: f64) -> Admission {
        Admission::Go
    }
}
