//! What holds for any ceiling, latency and cost.

use proptest::prelude::*;

use super::simulation::{Case, Endpoint, Expect, Limits, Load, Simulation};

fn case(ceiling: f64, endpoint: Endpoint, units: Vec<f64>, seed: u64) -> Case {
    Case {
        about: String::new(),
        seed,
        seconds: 30.0,
        settle: 0.0,
        gate: Limits {
            ceiling: Some(ceiling),
            ..Limits::default()
        },
        endpoint,
        load: Load {
            units,
            ..Load::default()
        },
        expect: Expect::default(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn five_seconds_never_use_more_than_five_times_the_ceiling_and_one_item(
        ceiling in 1.0_f64..5_000.0,
        latency_ms in 0.2_f64..300.0,
        noise in 0.0_f64..2.0,
        spikes in 0.0_f64..50.0,
        limited in proptest::option::of(50.0_f64..5_000.0),
        units in proptest::collection::vec(1.0_f64..60.0, 1..4),
        seed: u64,
    ) {
        let endpoint = Endpoint {
            latency_ms,
            noise,
            spikes,
            wcu: limited.map(|wcu| (0.0, wcu)).into_iter().collect(),
            ..Endpoint::default()
        };
        let case = case(ceiling, endpoint, units, seed);
        let simulation = Simulation::run(&case);
        let faults = simulation.figures.faults(&case);
        prop_assert!(faults.is_empty(), "{faults:?} {:?}", simulation.figures);
    }

    #[test]
    fn nor_do_they_where_items_cost_up_to_three_times_what_was_estimated(
        ceiling in 20.0_f64..5_000.0,
        latency_ms in 0.2_f64..30.0,
        dearer in proptest::collection::vec((1.0_f64..3.0, Just(1.0)), 1),
        seed: u64,
    ) {
        let endpoint = Endpoint { latency_ms, dearer, ..Endpoint::default() };
        let case = case(ceiling, endpoint, vec![1.0, 2.0], seed);
        let simulation = Simulation::run(&case);
        let faults = simulation.figures.faults(&case);
        prop_assert!(faults.is_empty(), "{faults:?} {:?}", simulation.figures);
    }
}
