//! The cheapest choice: a structure for each read, the table's own key or an index for each structure.
//!
//! Reads that have no item type in common do not touch each other but for the number of indexes: the reads fall into
//! components, each is solved for every number of indexes, and the number with the least sum is taken. A component is
//! searched by branch and bound; what a search that was cut short may have missed is the gap.

use std::collections::{BTreeMap, BTreeSet};

/// The problem, without what it stands for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problem {
    /// For each read the structures that serve it.
    pub(crate) reads: Vec<Vec<Choice>>,
    /// The structures.
    pub(crate) structures: Vec<Candidate>,
    /// What an index costs a month besides its writes and its storage.
    pub(crate) index_price: f64,
    /// Most indexes.
    pub(crate) most_indexes: usize,
}

/// A structure that serves a read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    /// Which one.
    pub(crate) structure: usize,
    /// What the read costs a month by it.
    pub(crate) cost: f64,
    /// Whether it must be the table's own key: a strongly consistent read.
    pub(crate) at_home: bool,
}

/// A structure.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Candidate {
    /// The item types that it has: each once.
    pub(crate) types: Vec<usize>,
    /// Whether it can be the table's own key.
    pub(crate) can_be_home: bool,
    /// What it costs a month in an index: writes and storage.
    pub(crate) index_cost: f64,
    /// What it costs a month as the table's own key.
    pub(crate) home_cost: f64,
    /// What it costs a month wherever it is: copies of parents' columns that are kept up to date.
    pub(crate) cost: f64,
}

/// A choice of everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Solution {
    /// For each read the place of its choice; `None` where there is none within the number of indexes.
    pub(crate) reads: Vec<Option<usize>>,
    /// The place of each structure that is used: 0 the table's own key, from 1 the indexes.
    pub(crate) slots: BTreeMap<usize, usize>,
    /// What all costs a month, the price of indexes included.
    pub(crate) cost: f64,
    /// How much cheaper another choice may be at most; 0 where none is.
    pub(crate) gap: f64,
}

/// Nodes of the search of a component.
const NODES: usize = 20_000;
/// Structures that share item types up to which all ways are tried to say which of them is the table's own key.
const TRIED: usize = 8;

/// What is known of a component for one number of indexes.
#[derive(Debug, Clone)]
struct Best {
    cost: f64,
    reads: Vec<(usize, usize)>,
    slots: BTreeMap<usize, usize>,
}

/// Solves the problem. Reads without a choice are left out.
#[must_use]
pub(crate) fn solve(problem: &Problem) -> Solution {
    let problem = &without_dominated(problem);
    let components = components(problem);
    let mut solved: Vec<(Vec<Option<Best>>, f64)> = Vec::new();
    for reads in &components {
        let mut search = Search {
            problem,
            reads: reads.clone(),
            best: vec![None; problem.most_indexes + 1],
            nodes: 0,
            is_rough: false,
            rest: rest(problem, reads),
        };
        search.branch(0, &mut Vec::new(), &mut BTreeSet::new(), 0.0);
        let is_cut = search.nodes >= NODES || search.is_rough;
        let bound = search.rest.first().copied().unwrap_or(0.0);
        let reached = search
            .best
            .last()
            .and_then(|best| best.as_ref().map(|best| best.cost));
        let gap = if is_cut {
            reached.map_or(0.0, |reached| (reached - bound).max(0.0))
        } else {
            0.0
        };
        solved.push((search.best, gap));
    }
    let mut chosen: Option<(f64, usize)> = None;
    for indexes in 0..=problem.most_indexes {
        let costs = solved
            .iter()
            .map(|(best, _)| best.get(indexes)?.as_ref().map(|best| best.cost));
        let sum: Option<f64> = costs.sum();
        let Some(sum) = sum else { continue };
        let used = solved
            .iter()
            .filter_map(|(best, _)| best.get(indexes)?.as_ref());
        let used = used
            .flat_map(|best| best.slots.values())
            .max()
            .copied()
            .unwrap_or(0);
        let cost = sum + problem.index_price * f64::from(u32::try_from(used).unwrap_or(u32::MAX));
        if chosen.is_none_or(|(least, _)| cost < least - 1e-9) {
            chosen = Some((cost, indexes));
        }
    }
    let mut solution = Solution {
        reads: vec![None; problem.reads.len()],
        gap: solved.iter().map(|(_, gap)| gap).sum(),
        ..Solution::default()
    };
    // Where not all can be served, each component serves what it can.
    let indexes = chosen.map_or(problem.most_indexes, |(_, indexes)| indexes);
    for (best, _) in solved {
        let Some(best) = best.into_iter().nth(indexes).flatten() else {
            continue;
        };
        for (read, choice) in best.reads {
            if let Some(place) = solution.reads.get_mut(read) {
                *place = Some(choice);
            }
        }
        solution.cost += best.cost;
        solution.slots.extend(best.slots);
    }
    let used = solution.slots.values().max().copied().unwrap_or(0);
    solution.cost += problem.index_price * f64::from(u32::try_from(used).unwrap_or(u32::MAX));
    solution
}

/// The problem without the choices of structures that another one makes needless: of the same item types, not dearer, and
/// serving all that they serve, not dearer either.
fn without_dominated(problem: &Problem) -> Problem {
    /// What a structure serves: by read and whether it is at home, the least cost.
    type Served = BTreeMap<(usize, bool), f64>;
    let mut served: Vec<Served> = vec![Served::new(); problem.structures.len()];
    for (read, choices) in problem.reads.iter().enumerate() {
        for choice in choices {
            if let Some(served) = served.get_mut(choice.structure) {
                let least = served.entry((read, choice.at_home)).or_insert(choice.cost);
                *least = least.min(choice.cost);
            }
        }
    }
    let covers = |one: &Served, other: &Served| {
        let mut all = other.iter();
        all.all(|(what, cost)| one.get(what).is_some_and(|own| own <= cost))
    };
    let is_dominated = |at: usize| {
        let (Some(structure), Some(own)) = (problem.structures.get(at), served.get(at)) else {
            return false;
        };
        let mut others = problem.structures.iter().zip(&served).enumerate();
        others.any(|(place, (other, theirs))| {
            place != at
                && other.types == structure.types
                && other.can_be_home >= structure.can_be_home
                && other.index_cost <= structure.index_cost
                && other.home_cost <= structure.home_cost
                && other.cost <= structure.cost
                && covers(theirs, own)
                // Of two that are alike the first stays.
                && (place < at
                    || other.can_be_home && !structure.can_be_home
                    || other.index_cost < structure.index_cost
                    || other.home_cost < structure.home_cost
                    || other.cost < structure.cost
                    || !covers(own, theirs)
                    || own.iter().any(|(what, cost)| theirs.get(what).is_some_and(|other| other < cost)))
        })
    };
    let dominated: BTreeSet<usize> = (0..problem.structures.len())
        .filter(|at| is_dominated(*at))
        .collect();
    // The places of choices stay, so that they still name what they named.
    let mut left = problem.clone();
    for choices in &mut left.reads {
        for choice in choices {
            if dominated.contains(&choice.structure) {
                choice.cost = f64::INFINITY;
            }
        }
    }
    left
}

/// The least that the reads from each place on cost, with nothing for their structures.
fn rest(problem: &Problem, reads: &[usize]) -> Vec<f64> {
    let least = |read: &usize| {
        let choices = problem.reads.get(*read).into_iter().flatten();
        choices
            .map(|choice| choice.cost)
            .fold(f64::INFINITY, f64::min)
    };
    let mut sums: Vec<f64> = Vec::new();
    let mut sum = 0.0;
    for read in reads.iter().rev() {
        sum += least(read);
        sums.push(sum);
    }
    sums.reverse();
    sums.push(0.0);
    sums
}

/// The reads whose structures have item types in common, by way of others too; those with the fewest choices first.
fn components(problem: &Problem) -> Vec<Vec<usize>> {
    let mut found: Vec<(BTreeSet<usize>, Vec<usize>)> = Vec::new();
    for (read, choices) in problem.reads.iter().enumerate() {
        if choices.is_empty() {
            continue;
        }
        let structures = choices
            .iter()
            .filter_map(|choice| problem.structures.get(choice.structure));
        let types: BTreeSet<usize> = structures
            .flat_map(|one| one.types.iter().copied())
            .collect();
        let (mut touched, others): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|(known, _)| !known.is_disjoint(&types));
        found = others;
        let mut whole = (types, vec![read]);
        for (types, reads) in touched.drain(..) {
            whole.0.extend(types);
            whole.1.extend(reads);
        }
        found.push(whole);
    }
    let mut components: Vec<Vec<usize>> = found.into_iter().map(|(_, reads)| reads).collect();
    for reads in &mut components {
        reads.sort_by_key(|read| (problem.reads.get(*read).map_or(0, Vec::len), *read));
    }
    components.sort();
    components
}

struct Search<'p> {
    problem: &'p Problem,
    reads: Vec<usize>,
    /// By the number of indexes that there may be.
    best: Vec<Option<Best>>,
    nodes: usize,
    /// Whether not all ways to place structures were tried.
    is_rough: bool,
    rest: Vec<f64>,
}

impl Search<'_> {
    fn branch(
        &mut self,
        at: usize,
        chosen: &mut Vec<(usize, usize)>,
        homes: &mut BTreeSet<usize>,
        cost: f64,
    ) {
        self.nodes += 1;
        if self.nodes > NODES {
            return;
        }
        let rest = self.rest.get(at).copied().unwrap_or(0.0);
        let used: BTreeSet<usize> = self.structures_of(chosen);
        let (indexes, more) = self.at_least(&used);
        let bound = cost + more + rest;
        // Nothing below is cheaper than what is known for any number of indexes that it can do with.
        let mut best = self.best.iter().skip(indexes);
        if best.all(|best| best.as_ref().is_some_and(|best| bound >= best.cost - 1e-9)) {
            return;
        }
        let Some(&read) = self.reads.get(at) else {
            self.leaf(chosen, homes, cost);
            return;
        };
        let choices = self.problem.reads.get(read).cloned().unwrap_or_default();
        let mut order: Vec<(usize, Choice, f64)> = Vec::new();
        for (place, choice) in choices.into_iter().enumerate() {
            if choice.cost.is_infinite() {
                continue;
            }
            let structure = self.problem.structures.get(choice.structure);
            let own = if used.contains(&choice.structure) {
                0.0
            } else {
                structure.map_or(0.0, |one| one.cost)
            };
            order.push((place, choice, choice.cost + own));
        }
        // What is there already is tried first.
        order.sort_by(|a, b| {
            let there = |one: &Choice| !used.contains(&one.structure);
            a.2.total_cmp(&b.2)
                .then(there(&a.1).cmp(&there(&b.1)))
                .then(a.0.cmp(&b.0))
        });
        for (place, choice, more) in order {
            let is_new_home = choice.at_home && homes.insert(choice.structure);
            chosen.push((read, place));
            self.branch(at + 1, chosen, homes, cost + more);
            chosen.pop();
            if is_new_home {
                homes.remove(&choice.structure);
            }
        }
    }

    /// The fewest indexes that structures take, and the least that they cost in them.
    fn at_least(&self, used: &BTreeSet<usize>) -> (usize, f64) {
        let mut by_type: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
        let mut cost = 0.0;
        for structure in used
            .iter()
            .filter_map(|one| self.problem.structures.get(*one))
        {
            if !structure.can_be_home {
                cost += structure.index_cost;
            }
            for kind in &structure.types {
                let (count, has_home) = by_type.entry(*kind).or_default();
                *count += 1;
                *has_home |= structure.can_be_home;
            }
        }
        let indexes = by_type
            .into_values()
            .map(|(count, has_home)| count - usize::from(has_home));
        (indexes.max().unwrap_or(0), cost)
    }

    fn structures_of(&self, chosen: &[(usize, usize)]) -> BTreeSet<usize> {
        let choices = chosen
            .iter()
            .filter_map(|(read, place)| self.problem.reads.get(*read)?.get(*place));
        choices.map(|choice| choice.structure).collect()
    }

    /// All reads have a structure: which are the table's own keys, and which indexes do the others stand in?
    fn leaf(&mut self, chosen: &[(usize, usize)], homes: &BTreeSet<usize>, cost: f64) {
        let used: Vec<usize> = self.structures_of(chosen).into_iter().collect();
        let groups = self.groups(&used);
        self.is_rough |= groups.iter().any(|group| group.len() > TRIED);
        let placed: Vec<Vec<Placed>> = groups
            .iter()
            .map(|group| self.place(group, homes))
            .collect();
        for indexes in 0..=self.problem.most_indexes {
            let cheapest = |placed: &Vec<Placed>| {
                let fits = placed.iter().filter(|placed| placed.indexes <= indexes);
                fits.min_by(|a, b| a.cost.total_cmp(&b.cost)).cloned()
            };
            let Some(all) = placed.iter().map(cheapest).collect::<Option<Vec<Placed>>>() else {
                continue;
            };
            let sum = cost + all.iter().map(|placed| placed.cost).sum::<f64>();
            let Some(best) = self.best.get_mut(indexes) else {
                continue;
            };
            if best.as_ref().is_none_or(|best| sum < best.cost - 1e-9) {
                let slots = all.into_iter().flat_map(|placed| placed.slots).collect();
                *best = Some(Best {
                    cost: sum,
                    reads: chosen.to_vec(),
                    slots,
                });
            }
        }
    }

    fn share(&self, one: usize, other: usize) -> bool {
        let types = |at: usize| {
            self.problem
                .structures
                .get(at)
                .map_or(&[][..], |one| &one.types[..])
        };
        types(one).iter().any(|known| types(other).contains(known))
    }

    /// Structures that have item types in common, by way of others too.
    fn groups(&self, used: &[usize]) -> Vec<Vec<usize>> {
        let mut found: Vec<Vec<usize>> = Vec::new();
        for one in used {
            let (touched, others): (Vec<_>, Vec<_>) = found
                .into_iter()
                .partition(|group| group.iter().any(|other| self.share(*one, *other)));
            found = others;
            let mut group: Vec<usize> = touched.into_iter().flatten().collect();
            group.push(*one);
            group.sort_unstable();
            found.push(group);
        }
        found
    }

    /// Ways to place a group: for each set of structures that are the table's own keys, the fewest indexes for the others.
    fn place(&self, group: &[usize], homes: &BTreeSet<usize>) -> Vec<Placed> {
        let fixed: Vec<usize> = group
            .iter()
            .copied()
            .filter(|one| homes.contains(one))
            .collect();
        let is_free = |set: &[usize], one: usize| set.iter().all(|other| !self.share(*other, one));
        let mut valid = fixed.iter().enumerate();
        if !valid.all(|(at, one)| {
            self.can_be_home(*one) && is_free(fixed.get(..at).unwrap_or_default(), *one)
        }) {
            return Vec::new();
        }
        let others: Vec<usize> = group
            .iter()
            .copied()
            .filter(|one| !homes.contains(one) && self.can_be_home(*one) && is_free(&fixed, *one))
            .collect();
        let mut sets: Vec<Vec<usize>> = vec![fixed.clone()];
        if others.len() <= TRIED {
            for one in &others {
                let with: Vec<Vec<usize>> = sets
                    .iter()
                    .filter(|set| is_free(set, *one))
                    .map(|set| set.iter().copied().chain([*one]).collect())
                    .collect();
                sets.extend(with);
            }
        } else {
            let mut by_cost = others;
            by_cost.retain(|one| self.home_cost(*one) <= self.index_cost(*one));
            by_cost.sort_by(|a, b| {
                self.index_cost(*b)
                    .total_cmp(&self.index_cost(*a))
                    .then(a.cmp(b))
            });
            let mut set = fixed;
            for one in by_cost {
                if is_free(&set, one) {
                    set.push(one);
                }
            }
            sets = vec![set];
        }
        let placed = sets.into_iter().map(|set| {
            let rest: Vec<usize> = group
                .iter()
                .copied()
                .filter(|one| !set.contains(one))
                .collect();
            let colours = self.colours(&rest);
            Placed {
                indexes: colours.values().max().copied().unwrap_or(0),
                cost: rest.iter().map(|one| self.index_cost(*one)).sum::<f64>()
                    + set.iter().map(|one| self.home_cost(*one)).sum::<f64>(),
                slots: set.iter().map(|one| (*one, 0)).chain(colours).collect(),
            }
        });
        placed.collect()
    }

    fn can_be_home(&self, one: usize) -> bool {
        self.problem
            .structures
            .get(one)
            .is_some_and(|one| one.can_be_home)
    }

    fn home_cost(&self, one: usize) -> f64 {
        self.problem
            .structures
            .get(one)
            .map_or(0.0, |one| one.home_cost)
    }

    fn index_cost(&self, one: usize) -> f64 {
        self.problem
            .structures
            .get(one)
            .map_or(0.0, |one| one.index_cost)
    }

    /// An index for each, from 1: structures with an item type in common stand in different ones. The fewest for up to
    /// [`TRIED`] structures.
    fn colours(&self, rest: &[usize]) -> BTreeMap<usize, usize> {
        let mut order = rest.to_vec();
        let degree = |one: &usize| {
            rest.iter()
                .filter(|other| self.share(*one, **other))
                .count()
        };
        order.sort_by_key(|one| (std::cmp::Reverse(degree(one)), *one));
        let mut best = self.coloured(&order, usize::MAX).unwrap_or_default();
        if rest.len() <= TRIED {
            while let Some(fewer) = best
                .values()
                .max()
                .and_then(|most| self.coloured(&order, most - 1))
            {
                best = fewer;
            }
        }
        best
    }

    /// Colours in this order with at most so many, by trying; the first way where the number does not matter.
    fn coloured(&self, order: &[usize], most: usize) -> Option<BTreeMap<usize, usize>> {
        let mut found: Vec<usize> = Vec::new();
        let mut from = 1;
        while found.len() < order.len() {
            let one = *order.get(found.len())?;
            let is_taken = |colour: usize| {
                let mut known = order.iter().zip(&found);
                known.any(|(other, slot)| *slot == colour && self.share(one, *other))
            };
            // A colour that nobody has yet is like any other such.
            let last = found.iter().max().map_or(1, |most| most + 1).min(most);
            match (from..=last).find(|colour| !is_taken(*colour)) {
                Some(colour) => {
                    found.push(colour);
                    from = 1;
                }
                None => from = found.pop()? + 1,
            }
        }
        Some(order.iter().copied().zip(found).collect())
    }
}

/// A way to place structures that have item types in common.
#[derive(Debug, Clone)]
struct Placed {
    indexes: usize,
    cost: f64,
    slots: BTreeMap<usize, usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All choices of all reads, all sets of structures as the table's own keys, all places of the others.
    fn brute(problem: &Problem) -> f64 {
        fn places(
            problem: &Problem,
            used: &[usize],
            homes: &BTreeSet<usize>,
            slots: &mut Vec<usize>,
            best: &mut f64,
            cost: f64,
        ) {
            let Some(&one) = used.get(slots.len()) else {
                let most = slots.iter().max().copied().unwrap_or(0);
                let price = problem.index_price * f64::from(u32::try_from(most).unwrap());
                *best = best.min(cost + price);
                return;
            };
            let candidate = &problem.structures[one];
            for slot in 0..=problem.most_indexes {
                let clashes = used.iter().zip(slots.iter()).any(|(other, taken)| {
                    *taken == slot
                        && problem.structures[*other]
                            .types
                            .iter()
                            .any(|kind| candidate.types.contains(kind))
                });
                if clashes
                    || slot == 0 && !candidate.can_be_home
                    || slot != 0 && homes.contains(&one)
                {
                    continue;
                }
                slots.push(slot);
                let more = if slot == 0 {
                    candidate.home_cost
                } else {
                    candidate.index_cost
                };
                places(problem, used, homes, slots, best, cost + more);
                slots.pop();
            }
        }
        fn reads(
            problem: &Problem,
            at: usize,
            used: &mut Vec<usize>,
            homes: &mut BTreeSet<usize>,
            cost: f64,
            best: &mut f64,
        ) {
            let Some(choices) = problem.reads.get(at) else {
                let mut distinct = used.clone();
                distinct.sort_unstable();
                distinct.dedup();
                let own: f64 = distinct
                    .iter()
                    .map(|one| problem.structures[*one].cost)
                    .sum();
                places(problem, &distinct, homes, &mut Vec::new(), best, cost + own);
                return;
            };
            for choice in choices {
                let is_new = choice.at_home && homes.insert(choice.structure);
                used.push(choice.structure);
                reads(problem, at + 1, used, homes, cost + choice.cost, best);
                used.pop();
                if is_new {
                    homes.remove(&choice.structure);
                }
            }
        }
        let mut best = f64::INFINITY;
        reads(
            problem,
            0,
            &mut Vec::new(),
            &mut BTreeSet::new(),
            0.0,
            &mut best,
        );
        best
    }

    #[test]
    fn no_choice_is_cheaper_than_the_one_that_is_found() {
        let (mut served, mut several) = (0, 0);
        for seed in 0..400 {
            let mut random = fastrand::Rng::with_seed(seed);
            let types = random.usize(1..=3);
            let structures: Vec<Candidate> = (0..random.usize(1..=6))
                .map(|_| {
                    let mut own: Vec<usize> = (0..types).filter(|_| random.bool()).collect();
                    if own.is_empty() {
                        own.push(random.usize(0..types));
                    }
                    Candidate {
                        types: own,
                        can_be_home: random.bool(),
                        index_cost: f64::from(random.u8(0..20)),
                        home_cost: f64::from(random.u8(0..8)),
                        cost: f64::from(random.u8(0..6)),
                    }
                })
                .collect();
            let reads = (0..random.usize(1..=4)).map(|_| {
                let choices = (0..random.usize(1..=3)).map(|_| Choice {
                    structure: random.usize(0..structures.len()),
                    cost: f64::from(random.u8(0..30)),
                    at_home: random.u8(0..5) == 0,
                });
                choices.collect()
            });
            let problem = Problem {
                reads: reads.collect(),
                structures,
                index_price: f64::from(random.u8(0..10)),
                most_indexes: random.usize(1..=3),
            };
            let found = solve(&problem);
            let best = brute(&problem);
            assert_eq!(
                found.reads.iter().all(Option::is_some),
                best.is_finite(),
                "{seed} {problem:?} {found:?}"
            );
            if best.is_finite() {
                assert!(
                    (found.cost - best).abs() < 1e-6,
                    "{seed}: {} and {best}: {problem:?} {found:?}",
                    found.cost
                );
                assert!(found.gap.abs() < 1e-9);
                served += 1;
                several += usize::from(found.slots.values().any(|slot| *slot > 1));
            }
        }
        assert!(served > 200 && several > 20, "{served} {several}");
    }

    #[test]
    fn a_search_that_is_cut_short_says_what_it_may_have_missed() {
        let structures: Vec<Candidate> = (0..60)
            .map(|at| Candidate {
                types: vec![0],
                can_be_home: at == 0,
                index_cost: 1.0 + f64::from(at % 7),
                home_cost: 0.0,
                cost: 0.0,
            })
            .collect();
        let reads = (0..30).map(|read| {
            let choices = (0..4).map(|at| Choice {
                structure: (read * 7 + at * 13) % 60,
                cost: 1.0,
                at_home: false,
            });
            choices.collect()
        });
        let problem = Problem {
            reads: reads.collect(),
            structures,
            index_price: 1.0,
            most_indexes: 20,
        };
        let found = solve(&problem);
        assert!(
            found.gap > 0.0 && found.reads.iter().all(Option::is_some),
            "{found:?}"
        );
    }
}
