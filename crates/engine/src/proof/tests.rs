use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn options(memory: usize) -> ProofOptions {
    ProofOptions {
        memory,
        folder: std::env::temp_dir(),
    }
}

/// All groups of a proof, each with all its locators.
fn groups(proof: Proof) -> BTreeMap<u128, Vec<u64>> {
    let mut groups = proof.finish().unwrap();
    let mut found = BTreeMap::new();
    loop {
        let mut later = Vec::new();
        let Some(group) = groups.next_group(1, |locator| later.push(locator)).unwrap() else {
            return found;
        };
        let mut all = group.locators;
        all.append(&mut later);
        assert_eq!(u64::try_from(all.len()).unwrap(), group.count);
        found.insert(group.fingerprint, all);
    }
}

/// What the proof must find, by a map of everything.
fn reference(keys: &[u128]) -> BTreeMap<u128, Vec<u64>> {
    let mut all: BTreeMap<u128, Vec<u64>> = BTreeMap::new();
    for (locator, key) in (0_u64..).zip(keys) {
        all.entry(*key).or_default().push(locator);
    }
    all.retain(|_, locators| locators.len() > 1);
    all
}

fn prove(keys: &[u128], memory: usize) -> (BTreeMap<u128, Vec<u64>>, u64) {
    let mut proof = Proof::new(options(memory));
    for (locator, key) in (0_u64..).zip(keys) {
        proof.push(*key, locator).unwrap();
    }
    let spilled = proof.spilled();
    (groups(proof), spilled)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_spilled_gives_what_a_map_of_everything_gives(
        small in proptest::collection::vec(0_u128..40, 0..200),
        distinct in 0_usize..12_000,
        planted in proptest::collection::vec((0_usize..12_000, 0_usize..12_000), 0..20),
    ) {
        // Spread like hashes, so that runs interleave.
        let spread = |n: usize| u128::try_from(n).unwrap().wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let mut keys: Vec<u128> = (0..distinct).map(spread).collect();
        for (from, to) in planted {
            if from < distinct && to < distinct {
                keys[to] = keys[from];
            }
        }
        keys.extend(small);
        let wanted = reference(&keys);
        let (in_memory, none) = prove(&keys, 64 << 20);
        prop_assert_eq!(none, 0);
        prop_assert_eq!(&in_memory, &wanted);
        let (spilled, bytes) = prove(&keys, LEAST_MEMORY);
        prop_assert_eq!(bytes > 0, keys.len() > LEAST_MEMORY / RECORD);
        prop_assert_eq!(&spilled, &wanted);
    }
}

#[test]
fn one_key_may_fill_every_run() {
    let keys = vec![7_u128; 20_000];
    let (found, spilled) = prove(&keys, LEAST_MEMORY);
    assert!(spilled > 0);
    assert_eq!(found.len(), 1);
    assert_eq!(found[&7].len(), 20_000);
    assert!(found[&7].is_sorted());
}

#[test]
fn both_halves_of_a_fingerprint_count() {
    let keys = [1_u128, 1 << 64, 1 | 1 << 64, u128::MAX, 0, u128::MAX];
    assert_eq!(prove(&keys, LEAST_MEMORY).0, reference(&keys));
    for key in keys {
        assert_eq!(Record::new(key, 0).fingerprint(), key);
    }
}

#[test]
fn no_key_is_no_group() {
    assert!(groups(Proof::new(options(0))).is_empty());
}

#[test]
fn the_memory_is_never_exceeded() {
    let mut proof = Proof::new(options(LEAST_MEMORY));
    for key in 0..10_000 {
        proof.push(key, 0).unwrap();
        assert!(proof.gathered.capacity() * RECORD <= LEAST_MEMORY);
    }
    assert_eq!(size_of::<Record>(), RECORD);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut proof = Proof::with_file(LEAST_MEMORY, full, PathBuf::from("/spill"));
    let error = (0..10_000)
        .find_map(|key| proof.push(key, 0).err())
        .unwrap();
    assert_eq!(
        error.to_string(),
        "cannot write the keys to a file in /spill, after 0 bytes"
    );
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("No space left"), "{cause}");
    assert!(error.help().contains("TMPDIR"));
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let mut proof = Proof::new(ProofOptions {
        memory: LEAST_MEMORY,
        folder: gone,
    });
    let error = (0..10_000)
        .find_map(|key| proof.push(key, 0).err())
        .unwrap();
    assert!(matches!(error, ProofError::Make { .. }), "{error}");
}
