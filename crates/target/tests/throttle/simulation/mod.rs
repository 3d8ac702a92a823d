//! A load against an endpoint with limits, in virtual time: what `load/` does with the throttle, and
//! what DynamoDB does with the requests, as far as they concern each other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use dynafold_target::retry::Policy;
use dynafold_target::throttle::{
    Admission, Gate, HotPartitions, OutcomeKind, RequestOutcome, ThrottleSettings,
};

mod case;
mod endpoint;
mod figures;
mod writer;

pub(crate) use case::{Case, Endpoint, Expect, Limits, Load};
use endpoint::Bucket;
pub(crate) use figures::Figures;
use writer::Writer;

const ITEMS: usize = 25;
const ENOUGH: usize = 12;

#[derive(Debug, Clone, Copy)]
struct Item {
    partition: u64,
    units: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A writer goes on.
    Writer(usize),
    /// Whose turn it is asks.
    Ask,
    /// The endpoint processes a writer's request.
    Arrive(usize),
    Answered(usize),
}

pub(crate) struct Simulation<'c> {
    case: &'c Case,
    random: fastrand::Rng,
    now: f64,
    events: BinaryHeap<Reverse<(Duration, u64, Event)>>,
    numbered: u64,
    gate: Gate,
    heat: HotPartitions,
    writers: Vec<Writer>,
    turn: VecDeque<usize>,
    /// Whether the first in the turn waits for an answer, and the number of its question.
    full: bool,
    asking: u64,
    table: Option<Bucket>,
    partitions: HashMap<u64, Bucket>,
    free_at: f64,
    offered: f64,
    parked: VecDeque<Item>,
    draining: bool,
    log: VecDeque<(f64, f64)>,
    in_window: f64,
    pub(crate) figures: Figures,
    /// Accepted and refused units of each second.
    pub(crate) each: Vec<(f64, f64)>,
}

const HOT: u64 = u64::MAX;

impl<'c> Simulation<'c> {
    pub(crate) fn run(case: &'c Case) -> Self {
        let endpoint = &case.endpoint;
        let burst = endpoint.burst.unwrap_or(1.0);
        let mut all = Self {
            case,
            random: fastrand::Rng::with_seed(case.seed),
            now: 0.0,
            events: BinaryHeap::new(),
            numbered: 0,
            gate: Gate::new(ThrottleSettings {
                ceiling: case.gate.ceiling,
                start: case.gate.start,
                most_in_flight: case.gate.most,
            }),
            heat: HotPartitions::default(),
            writers: Vec::new(),
            turn: VecDeque::new(),
            full: false,
            asking: 0,
            table: endpoint
                .wcu
                .first()
                .map(|(_, wcu)| Bucket::new(*wcu, burst)),
            partitions: HashMap::new(),
            free_at: 0.0,
            offered: 0.0,
            parked: VecDeque::new(),
            draining: false,
            log: VecDeque::new(),
            in_window: 0.0,
            figures: Figures::default(),
            each: Vec::new(),
        };
        // The last one drains the park.
        for writer in 0..=case.gate.most {
            all.writers.push(Writer::default());
            if writer < case.gate.most {
                all.at(0.0, Event::Writer(writer));
            }
        }
        while let Some(Reverse((at, number, event))) = all.events.pop() {
            all.now = at.as_secs_f64();
            if all.now >= case.seconds {
                break;
            }
            all.step(event, number);
        }
        all.figures.seconds = case.seconds - case.settle;
        all.figures.granted = case.granted(&endpoint.wcu);
        all
    }

    fn at(&mut self, time: f64, event: Event) -> u64 {
        self.numbered += 1;
        let time = Duration::from_secs_f64(time.max(self.now));
        self.events.push(Reverse((time, self.numbered, event)));
        self.numbered
    }

    /// As timers go: by whole milliseconds.
    fn later(&mut self, time: f64, event: Event) -> u64 {
        let time = (time * 1_000.0).ceil() / 1_000.0;
        self.at(time.max(self.now + 0.000_01), event)
    }

    fn time(&self) -> Duration {
        Duration::from_secs_f64(self.now)
    }

    fn step(&mut self, event: Event, number: u64) {
        match event {
            Event::Writer(writer) => self.go_on(writer),
            Event::Ask if number == self.asking => self.ask(),
            Event::Ask => {}
            Event::Arrive(writer) => self.process(writer),
            Event::Answered(writer) => self.answered(writer),
        }
    }

    /// Fills the batch of a writer that has none, and queues for the turn.
    fn go_on(&mut self, writer: usize) {
        let hot = writer == self.case.gate.most;
        if self.writers[writer].batch.is_empty() && !self.fill(writer, hot) {
            return;
        }
        if hot {
            let units = self.units(writer);
            match self.heat.admit(self.time(), HOT, units) {
                Admission::At(at) => {
                    self.later(at.as_secs_f64(), Event::Writer(writer));
                    return;
                }
                Admission::Go | Admission::Full => {}
            }
        } else if self.heat.any_hot() {
            let heat = &self.heat;
            let batch = &mut self.writers[writer].batch;
            let (parked, rest) = batch.iter().partition(|item| heat.is_hot(item.partition));
            *batch = rest;
            let parked: Vec<Item> = parked;
            if !parked.is_empty() {
                self.parked.extend(parked);
                if !self.draining {
                    self.draining = true;
                    self.at(self.now, Event::Writer(self.case.gate.most));
                }
            }
            if self.writers[writer].batch.is_empty() {
                self.at(self.now, Event::Writer(writer));
                return;
            }
        }
        if hot {
            // Not behind all the others.
            self.turn.push_front(writer);
            self.ask();
            return;
        }
        self.turn.push_back(writer);
        if self.turn.len() == 1 {
            self.ask();
        }
    }

    fn ask(&mut self) {
        self.full = false;
        while let Some(writer) = self.turn.front().copied() {
            self.trim(writer);
            let units = self.units(writer);
            match self.gate.admit(self.time(), units) {
                Admission::Go => {}
                Admission::At(at) => {
                    self.asking = self.later(at.as_secs_f64(), Event::Ask);
                    return;
                }
                Admission::Full => {
                    self.full = true;
                    self.asking = self.later(self.now + 0.25, Event::Ask);
                    return;
                }
            }
            self.turn.pop_front();
            self.writers[writer].sent = self.now;
            let endpoint = &self.case.endpoint;
            let mut latency = endpoint.latency_ms / 1_000.0;
            latency *= ((self.random.f64() * 2.0 - 1.0) * endpoint.noise).exp();
            if endpoint.spikes > 0.0 && self.random.f64() < 0.01 {
                latency *= endpoint.spikes;
            }
            self.free_at = self.free_at.max(self.now) + endpoint.processor_us / 1e6;
            let arrive = self.free_at + latency / 2.0;
            self.at(arrive, Event::Arrive(writer));
            self.at(arrive + latency / 2.0, Event::Answered(writer));
        }
    }

    fn answered(&mut self, writer: usize) {
        let time = self.time();
        let now = self.now;
        let all = &mut self.writers[writer];
        let Some((kind, estimated, consumed)) = all.answer.take() else {
            return;
        };
        let pairs = |items: &[Item]| -> Vec<(u64, f64)> {
            let pairs = items.iter().map(|item| (item.partition, item.units));
            pairs.collect()
        };
        let accepted = std::mem::take(&mut all.batch);
        let left = std::mem::take(&mut all.left);
        let refused: f64 = left.iter().map(|item| item.units).sum();
        let refused = if kind == OutcomeKind::Failed {
            0.0
        } else {
            refused
        };
        let mut blamed = 0.0;
        if refused > 0.0 || self.heat.is_watching() {
            let left = if refused > 0.0 {
                pairs(&left)
            } else {
                Vec::new()
            };
            let latency = Duration::from_secs_f64(now - all.sent);
            blamed = self.heat.judge(time, latency, &pairs(&accepted), &left);
        }
        let answer = RequestOutcome {
            estimated,
            consumed: (kind == OutcomeKind::Took).then_some(consumed),
            refused,
            latency: Duration::from_secs_f64(now - all.sent),
            kind,
        };
        self.gate.answered(time, &answer, blamed);
        self.figures.heated += f64::from(u8::from(self.heat.any_hot()));
        let hot = writer == self.case.gate.most;
        if !hot
            && kind == OutcomeKind::Took
            && left.len() <= accepted.len()
            && all.kept.len() <= ENOUGH
        {
            // A few are sent with others.
            all.kept.extend(left);
            self.at(now, Event::Writer(writer));
        } else {
            let progress = !accepted.is_empty();
            if progress {
                all.failures = 0;
            }
            let delay = if progress {
                Duration::ZERO
            } else {
                Policy::default().delay(all.failures, self.random.f64())
            };
            all.failures += 1;
            all.batch = left;
            self.later(now + delay.as_secs_f64(), Event::Writer(writer));
        }
        if self.full {
            self.ask();
        }
    }
}
