//! A load against an endpoint with limits, in virtual time: what `load/` does with the throttle, and
//! what DynamoDB does with the requests, as far as they concern each other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use dynafold::throttle::{Admission, Answer, Gate, Heat, Kind, Settings};
use serde::Deserialize;

const ITEMS: usize = 25;

/// A case: what the endpoint grants, what is asked of it, and what is expected.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    #[expect(dead_code, reason = "for the reader")]
    pub(crate) about: String,
    #[serde(default)]
    pub(crate) seed: u64,
    pub(crate) seconds: f64,
    /// What happens before is not counted.
    #[serde(default)]
    pub(crate) settle: f64,
    #[serde(default)]
    pub(crate) gate: Limits,
    pub(crate) endpoint: Endpoint,
    #[serde(default)]
    pub(crate) load: Load,
    pub(crate) expect: Expect,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) ceiling: Option<f64>,
    pub(crate) start: Option<f64>,
    pub(crate) most: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ceiling: None,
            start: None,
            most: 32,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Endpoint {
    pub(crate) latency_ms: f64,
    /// How much of the latency is chance: it is multiplied by up to e to this power, or divided.
    pub(crate) noise: f64,
    /// One in a hundred answers takes so many times as long.
    pub(crate) spikes: f64,
    /// Microseconds of the one processor that each request takes.
    pub(crate) processor_us: f64,
    /// Units a second from a time on; none: no limit.
    pub(crate) wcu: Vec<(f64, f64)>,
    /// Seconds' units that may be saved up; there is one at the begin.
    pub(crate) burst: Option<f64>,
    pub(crate) partition_wcu: Option<f64>,
    /// Units that an item takes for each that was estimated: items of this share of all.
    pub(crate) dearer: Vec<(f64, f64)>,
    /// The share of requests that fail, whose items were taken or not.
    pub(crate) failures: f64,
    /// The share of items that are left unprocessed for no reason.
    pub(crate) left: f64,
    /// The share of requests that are throttled whole for no reason.
    pub(crate) throttled: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Load {
    /// Units of an item, one or the other by chance.
    pub(crate) units: Vec<f64>,
    pub(crate) partitions: u64,
    /// The share of items in one partition.
    pub(crate) hot: f64,
    /// Units a second that the source gives.
    pub(crate) offered: Option<f64>,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            units: vec![1.0],
            partitions: 100_000,
            hot: 0.0,
            offered: None,
        }
    }
}

/// Bounds, inclusive.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Expect {
    /// Accepted of the granted units, at least.
    pub(crate) accepted: Option<f64>,
    /// Refused units for each accepted, at most.
    pub(crate) refused: Option<f64>,
    /// Requests of which anything was refused, of all requests, at most.
    pub(crate) requests: Option<f64>,
    /// Used of the ceiling, at least.
    pub(crate) used: Option<f64>,
    /// Items a second, of 25 for each request in flight and latency, at least.
    pub(crate) speed: Option<f64>,
    /// Requests a second, of what the endpoint's processor can do, at least.
    pub(crate) busy: Option<f64>,
    /// Units accepted of partitions that are not hot, of those offered, at least.
    pub(crate) cold: Option<f64>,
    /// Units accepted of the hot partition, of what it takes, at least.
    pub(crate) hot: Option<f64>,
}

/// What came of it, after settling.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) granted: f64,
    pub(crate) accepted: f64,
    pub(crate) refused: f64,
    pub(crate) hot: f64,
    pub(crate) requests: f64,
    pub(crate) refusing: f64,
    pub(crate) items: f64,
    pub(crate) seconds: f64,
    /// The most units in any five seconds, from the begin on.
    pub(crate) window: f64,
    pub(crate) largest: f64,
}

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

#[derive(Debug, Default)]
struct Writer {
    batch: Vec<Item>,
    /// Of its batch, what is sent after it.
    waiting: Vec<Item>,
    left: Vec<Item>,
    failures: u32,
    sent: f64,
    answer: Option<(Kind, f64, f64)>,
}

#[derive(Debug, Clone)]
struct Bucket {
    rate: f64,
    most: f64,
    units: f64,
    at: f64,
}

impl Bucket {
    fn new(rate: f64, burst: f64) -> Self {
        Self {
            rate,
            most: rate * burst,
            units: rate * burst.min(1.0),
            at: 0.0,
        }
    }

    fn has(&mut self, now: f64, units: f64) -> bool {
        self.units = (self.units + (now - self.at) * self.rate).min(self.most);
        self.at = now;
        self.units >= units.min(self.most)
    }
}

pub(crate) struct Simulation<'c> {
    case: &'c Case,
    random: fastrand::Rng,
    now: f64,
    events: BinaryHeap<Reverse<(Duration, u64, Event)>>,
    numbered: u64,
    gate: Gate,
    heat: Heat,
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

/// The hot partition.
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
            gate: Gate::new(Settings {
                ceiling: case.gate.ceiling,
                start: case.gate.start,
                most_in_flight: case.gate.most,
            }),
            heat: Heat::default(),
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
        all.figures.granted = all.granted();
        all
    }

    fn granted(&self) -> f64 {
        let Case {
            seconds, settle, ..
        } = *self.case;
        let steps = &self.case.endpoint.wcu;
        let mut granted = 0.0;
        for (at, (from, wcu)) in steps.iter().enumerate() {
            let to = steps.get(at + 1).map_or(seconds, |(next, _)| *next);
            granted += (to.min(seconds) - from.max(settle)).max(0.0) * wcu;
        }
        granted
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

    fn fill(&mut self, writer: usize, hot: bool) -> bool {
        let mut batch = std::mem::take(&mut self.writers[writer].waiting);
        let mut sum = 0.0;
        if !batch.is_empty() {
            // What was split off is sent first.
        } else if hot {
            while let Some(item) = self.parked.front().copied() {
                if batch.len() == ITEMS || (sum > 0.0 && sum + item.units > 100.0) {
                    break;
                }
                self.parked.pop_front();
                sum += item.units;
                batch.push(item);
            }
            self.draining = !batch.is_empty();
            if batch.is_empty() {
                return false;
            }
        } else {
            if let Some(rate) = self.case.load.offered
                && self.offered > rate * self.now
            {
                self.later(self.offered / rate, Event::Writer(writer));
                return false;
            }
            let most = self.gate.batch_units();
            while batch.len() < ITEMS {
                let load = &self.case.load;
                let units = load.units[self.random.usize(..load.units.len())];
                if !batch.is_empty() && sum + units > most {
                    break;
                }
                let partition = if self.random.f64() < load.hot {
                    HOT
                } else {
                    self.random.u64(..load.partitions)
                };
                sum += units;
                batch.push(Item { partition, units });
            }
            self.offered += sum;
        }
        let writer = &mut self.writers[writer];
        writer.batch = batch;
        writer.failures = 0;
        true
    }

    /// Sends no more at one time than batches should hold by now.
    fn trim(&mut self, writer: usize) {
        let most = self.gate.batch_units();
        let writer = &mut self.writers[writer];
        let all: f64 = writer.batch.iter().map(|item| item.units).sum();
        if all <= most * 1.5 {
            return;
        }
        let mut sum = 0.0;
        let fits = writer.batch.iter().take_while(|item| {
            sum += item.units;
            sum <= most
        });
        let fits = fits.count().max(1);
        writer.waiting.extend(writer.batch.drain(fits..));
    }

    fn units(&self, writer: usize) -> f64 {
        self.writers[writer]
            .batch
            .iter()
            .map(|item| item.units)
            .sum()
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

    /// What the endpoint does.
    fn process(&mut self, writer: usize) {
        let now = self.now;
        let endpoint = &self.case.endpoint;
        if let Some(table) = &mut self.table {
            table.has(now, 0.0);
            let steps = endpoint.wcu.iter().rev();
            if let Some((_, wcu)) = steps.into_iter().find(|(from, _)| *from <= now) {
                table.rate = *wcu;
                table.most = wcu * endpoint.burst.unwrap_or(1.0);
            }
        }
        let failed = self.random.f64() < endpoint.failures;
        let done = !failed || self.random.bool();
        let left_whole = endpoint.throttled > 0.0 && self.random.f64() < endpoint.throttled;
        let batch = std::mem::take(&mut self.writers[writer].batch);
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        let mut consumed = 0.0;
        for item in batch {
            let mut cost = item.units;
            for (factor, share) in &endpoint.dearer {
                if self.random.f64() < *share {
                    cost *= factor;
                }
            }
            let mut fits = done && !left_whole && self.random.f64() >= endpoint.left;
            if let Some(table) = &mut self.table {
                fits &= table.has(now, cost);
            }
            let mut partition = endpoint.partition_wcu.map(|wcu| {
                let new = || Bucket::new(wcu, 1.0);
                self.partitions.entry(item.partition).or_insert_with(new)
            });
            if let Some(bucket) = &mut partition {
                fits &= bucket.has(now, cost);
            }
            if !fits {
                left.push(item);
                continue;
            }
            for bucket in partition.into_iter().chain(&mut self.table) {
                bucket.units -= cost;
            }
            consumed += cost;
            taken.push(item);
            self.log.push_back((now, cost));
            self.in_window += cost;
            self.figures.largest = self.figures.largest.max(cost);
            if now >= self.case.settle {
                self.figures.items += 1.0;
                if item.partition == HOT {
                    self.figures.hot += cost;
                }
            }
        }
        while let Some((at, units)) = self.log.front().copied() {
            if now - at < 5.0 {
                break;
            }
            self.in_window -= units;
            self.log.pop_front();
        }
        self.figures.window = self.figures.window.max(self.in_window);
        let sum = |items: &[Item]| items.iter().map(|item| item.units).sum::<f64>();
        let (took, refused) = (sum(&taken), sum(&left));
        let second = self.case_second();
        self.each
            .resize(self.each.len().max(second + 1), (0.0, 0.0));
        self.each[second].0 += consumed;
        if now >= self.case.settle {
            self.figures.accepted += consumed;
            self.figures.requests += 1.0;
        }
        if !failed && refused > 0.0 {
            self.each[second].1 += refused;
            if now >= self.case.settle {
                self.figures.refused += refused;
                self.figures.refusing += 1.0;
            }
        }
        let all = &mut self.writers[writer];
        let kind = match (failed, taken.is_empty()) {
            (true, _) => Kind::Failed,
            (false, true) => Kind::Throttled,
            (false, false) => Kind::Took,
        };
        all.answer = Some((kind, took + refused, consumed));
        if failed {
            // What it does not know it sends again.
            left.append(&mut taken);
        }
        all.left = left;
        all.batch = taken;
    }

    fn case_second(&self) -> usize {
        (0..100_000)
            .find(|second| f64::from(*second) > self.now)
            .map_or(0, |second| usize::try_from(second - 1).unwrap_or(0))
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
        let refused = if kind == Kind::Failed { 0.0 } else { refused };
        let mut blamed = 0.0;
        if refused > 0.0 || self.heat.is_watching() {
            let left = if refused > 0.0 {
                pairs(&left)
            } else {
                Vec::new()
            };
            let verdict = self.heat.judge(time, &pairs(&accepted), &left);
            blamed = verdict.table_refused;
        }
        let answer = Answer {
            estimated,
            consumed: (kind == Kind::Took).then_some(consumed),
            refused,
            latency: Duration::from_secs_f64(now - all.sent),
            kind,
        };
        self.gate.answered(time, &answer, blamed);
        if left.is_empty() {
            self.at(now, Event::Writer(writer));
        } else {
            if !accepted.is_empty() {
                all.failures = 0;
            }
            let cap = (0.05 * f64::from(1_u32 << all.failures.min(10))).min(10.0);
            all.failures += 1;
            all.batch = left;
            let delay = cap * self.random.f64();
            self.later(now + delay, Event::Writer(writer));
        }
        if self.full {
            self.ask();
        }
    }
}

impl Figures {
    /// What does not hold.
    pub(crate) fn faults(&self, case: &Case) -> Vec<String> {
        let expect = &case.expect;
        let mut faults = Vec::new();
        let mut least = |name: &str, is: f64, least: Option<f64>| {
            if least.is_some_and(|least| is.is_nan() || is < least) {
                faults.push(format!("{name} is {is:.3}"));
            }
        };
        let cold = case.load.offered.unwrap_or(0.0) * (1.0 - case.load.hot) * self.seconds;
        let own = case.endpoint.partition_wcu.unwrap_or(0.0) * self.seconds;
        let flight = f64::from(u32::try_from(case.gate.most).unwrap_or(0));
        let items = 25.0 * flight * self.seconds / (case.endpoint.latency_ms / 1_000.0);
        let processor = self.seconds * 1e6 / case.endpoint.processor_us;
        let ceiling = case.gate.ceiling.unwrap_or(0.0);
        least("accepted", self.accepted / self.granted, expect.accepted);
        least("used", self.accepted / ceiling / self.seconds, expect.used);
        least("speed", self.items / items, expect.speed);
        least("busy", self.requests / processor, expect.busy);
        least("cold", (self.accepted - self.hot) / cold, expect.cold);
        least("hot", self.hot / own, expect.hot);
        let refused = -self.refused / self.accepted;
        least("refused", refused, expect.refused.map(|most| -most));
        let refusing = -self.refusing / self.requests;
        least("requests", refusing, expect.requests.map(|most| -most));
        if case.gate.ceiling.is_some() {
            let most = ceiling * 5.0 + self.largest;
            least("window", -self.window, Some(-most - 1e-6));
        }
        faults
    }
}
