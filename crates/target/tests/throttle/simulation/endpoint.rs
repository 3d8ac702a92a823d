//! What the endpoint does with a request.

use dynafold_target::throttle::OutcomeKind;

use super::{Endpoint, HOT, Item, Simulation};

#[derive(Debug, Clone)]
pub(super) struct Bucket {
    rate: f64,
    most: f64,
    units: f64,
    at: f64,
}

impl Bucket {
    pub(super) fn new(rate: f64, burst: f64) -> Self {
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

impl Simulation<'_> {
    /// What the endpoint does.
    pub(super) fn process(&mut self, writer: usize) {
        let now = self.now;
        let endpoint = &self.case.endpoint;
        if let Some(table) = &mut self.table {
            table.has(now, 0.0);
            if let Some(wcu) = Endpoint::at(&endpoint.wcu, now) {
                table.rate = wcu;
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
            let partition = Endpoint::at(&endpoint.partition_wcu, now).map(|wcu| {
                let new = || Bucket::new(wcu, 1.0);
                let bucket = self.partitions.entry(item.partition).or_insert_with(new);
                let fits_it = bucket.has(now, cost);
                (bucket.rate, bucket.most) = (wcu, wcu);
                fits &= fits_it;
                bucket
            });
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
            (true, _) => OutcomeKind::Failed,
            (false, true) => OutcomeKind::Throttled,
            (false, false) => OutcomeKind::Took,
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
}
