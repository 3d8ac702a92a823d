//! The throttle against simulated endpoints: a case is a file, and a fact of each is a bound.

mod bounds;
mod simulation;

use std::fs;
use std::path::Path;

use dynafold_mapping::yaml;
use dynafold_testing::cases::plain;
use simulation::{Case, Simulation};

/// The cases of this folder, by name.
fn cases() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/throttle");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let node = yaml::parse(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let case = serde_json::from_value(plain(&node));
        cases.push((
            name.clone(),
            case.unwrap_or_else(|error| panic!("{name}: {error}")),
        ));
    }
    cases.sort_by(|(one, _), (other, _)| one.cmp(other));
    cases
}

/// How many chances each case gets: some, or as many as `DYNAFOLD_THROTTLE_SEEDS` says.
fn seeds(some: u64) -> u64 {
    let given = std::env::var("DYNAFOLD_THROTTLE_SEEDS").ok();
    given.map_or(some, |given| given.parse().unwrap())
}

#[test]
fn every_case_holds_its_bounds_whatever_the_chance() {
    let mut faults = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 14, "{}", cases.len());
    for (name, mut case) in cases {
        for seed in 1..=seeds(2) {
            case.seed = seed;
            let simulation = Simulation::run(&case);
            for fault in simulation.figures.faults(&case) {
                let figures = simulation.figures;
                faults.push(format!("{name}, seed {seed}: {fault}; {figures:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
