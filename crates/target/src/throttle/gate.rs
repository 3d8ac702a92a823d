//! The ceiling, the pace and the flight together.

use std::time::Duration;

use super::ceiling::Ceiling;
use super::flight::InFlightLimit;
use super::pace::RateControl;
use super::{Admission, Bottleneck, OutcomeKind, RequestOutcome, ThrottleSettings, at};

/// Lets requests in, one after the other.
#[derive(Debug)]
pub struct Gate {
    ceiling: Option<Ceiling>,
    pace: RateControl,
    flight: InFlightLimit,
    /// Requests that had to wait for the ceiling, and for the pace.
    waits: (u64, u64),
}

impl Gate {
    /// A gate for a run.
    pub fn new(settings: ThrottleSettings) -> Self {
        let ThrottleSettings {
            ceiling,
            start,
            most_in_flight,
        } = settings;
        Self {
            ceiling: ceiling.map(Ceiling::new),
            pace: RateControl::new(0.0, start),
            flight: InFlightLimit::new(most_in_flight),
            waits: (0, 0),
        }
    }

    /// Asks to send a request of so many estimated units. After [`Admission::Go`] it is to be
    /// answered to [`Gate::answered`], whatever becomes of it.
    pub fn admit(&mut self, now: Duration, units: f64) -> Admission {
        let seconds = now.as_secs_f64();
        let pace = self.pace.wait(seconds);
        let ceiling = self.ceiling.as_mut();
        let ceiling = ceiling.map_or(0.0, |ceiling| ceiling.wait(seconds, units));
        let wait = pace.max(ceiling);
        if wait > 0.0 {
            if ceiling >= pace {
                self.waits.0 += 1;
            } else {
                self.waits.1 += 1;
            }
            return Admission::At(at(now, wait));
        }
        if self.flight.is_full() {
            return Admission::Full;
        }
        self.flight.take();
        self.pace.take(units);
        if let Some(ceiling) = &mut self.ceiling {
            ceiling.take(units);
        }
        Admission::Go
    }

    /// Enters an answer. `blamed`: the refused units that no hot partition refused, as
    /// [`Heat::judge`](super::Heat::judge) says.
    pub fn answered(&mut self, now: Duration, answer: &RequestOutcome, blamed: f64) {
        let seconds = now.as_secs_f64();
        let latency = answer.latency.as_secs_f64();
        let RequestOutcome {
            estimated, refused, ..
        } = *answer;
        if let Some(ceiling) = &mut self.ceiling {
            match answer.kind {
                OutcomeKind::Took => ceiling.answered(seconds, estimated, refused, answer.consumed),
                OutcomeKind::Throttled => {
                    ceiling.answered(seconds, estimated, estimated, Some(0.0));
                }
                OutcomeKind::Failed => ceiling.answered(seconds, estimated, 0.0, None),
            }
        }
        if answer.kind != OutcomeKind::Failed {
            let accepted = (estimated - refused).max(0.0);
            self.pace.answered(seconds, latency, accepted, blamed);
        }
        let took = (answer.kind == OutcomeKind::Took).then_some(latency);
        self.flight.answered(seconds, took);
    }

    /// The most units that a batch should hold as things stand. One item goes through whatever it
    /// has.
    pub fn batch_units(&self) -> f64 {
        let ceiling = self.ceiling.as_ref();
        let ceiling = ceiling.map_or(f64::INFINITY, Ceiling::batch_units);
        self.pace.batch_units().min(ceiling)
    }

    /// What held the run back most.
    pub fn limit(&self) -> Bottleneck {
        let (ceiling, table) = self.waits;
        match (ceiling, table) {
            (0, 0) => Bottleneck::Nothing,
            _ if ceiling >= table => Bottleneck::Ceiling,
            _ => Bottleneck::Table,
        }
    }
}
