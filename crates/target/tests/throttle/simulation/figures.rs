//! What is counted, and whether it is as expected.

use super::Case;

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
    /// Answers while a partition was thought to be hot.
    pub(crate) heated: f64,
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
        let own = case.granted(&case.endpoint.partition_wcu);
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
        least("heated", -self.heated, expect.heated.map(|most| -most));
        if case.gate.ceiling.is_some() {
            let most = ceiling * 5.0 + self.largest;
            least("window", -self.window, Some(-most - 1e-6));
        }
        faults
    }
}
