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
    pub(crate) structures: Vec<Candidate>,
    /// What an index costs a month besides its writes and its storage.
    pub(crate) index_price: f64,
    pub(crate) most_indexes: usize,
}

/// Where a structure has to stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    /// Anywhere.
    #[default]
    Any,
    /// In the table's own key: a strongly consistent read, or one that is priced so.
    Home,
    /// In an index: the read is priced by what the index holds.
    Index,
}

/// A structure that serves a read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) structure: usize,
    /// What the read costs a month by it.
    pub(crate) cost: f64,
    /// Where it has to stand for that.
    pub(crate) spot: Spot,
    /// What the read adds to the costs of an index: by what it is, so that two reads do not pay for one thing twice.
    pub(crate) extras: Vec<(usize, f64)>,
}

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
    /// The updates that change the key of its items where it is the table's own key.
    pub(crate) moves: BTreeSet<usize>,
    /// What updates cost in it as an index, which is in its costs, and what they cost where they change the key of the items.
    pub(crate) moved: BTreeMap<usize, [f64; 2]>,
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
    /// How much cheaper another choice may be at most; 0 where none is, and at least [`UNSERVED`] where another may serve more reads.
    pub(crate) gap: f64,
    /// What any choice costs at least that serves all reads.
    pub(crate) least: f64,
}

/// Nodes of the search of a component.
const NODES: usize = 20_000;
/// The gap where a search that was cut short left out reads: more than any money.
pub(crate) const UNSERVED: f64 = 1e6;
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
pub(crate) fn solve(problem: &Problem) -> Solution {
    solve_within(problem, NODES, None)
}

/// A solution that is made cheaper, one choice after another, without a search.
pub(crate) fn improved(problem: &Problem, start: &Solution) -> Solution {
    solve_within(problem, 0, Some(start))
}

/// The same with so many nodes for each component, and from a known solution on where the search is cut short.
fn solve_within(problem: &Problem, nodes: usize, start: Option<&Solution>) -> Solution {
    let problem = &without_dominated(problem);
    let components = components(problem);
    // With what each component costs at least.
    let mut solved: Vec<(Vec<Option<Best>>, f64)> = Vec::new();
    let (mut any_cut, mut may_serve_more) = (false, false);
    for reads in &components {
        let shared = shared(problem, reads);
        let mut search = Search {
            problem,
            reads: reads.clone(),
            best: vec![None; problem.most_indexes + 1],
            nodes: 0,
            most_nodes: nodes,
            is_rough: false,
            rest: rest(reads, &|read, place| {
                let choice = problem.reads.get(read)?.get(place)?;
                Some(choice.cost)
            }),
            rest_shared: rest(reads, &|read, place| shared.get(&read)?.get(place).copied()),
            shared,
        };
        search.branch(0, &mut Vec::new(), 0.0);
        if search.nodes >= nodes {
            let known = start.iter().flat_map(|start| {
                let places = reads.iter().map(|read| (*read, start.reads.get(*read)));
                places.filter_map(|(read, place)| Some((read, (*place?)?)))
            });
            let known: Vec<(usize, usize)> = known.collect();
            if known.len() == reads.len() {
                search.try_all(&known);
            }
        }
        let is_whole = search.best.last().is_some_and(Option::is_some);
        if !is_whole {
            search.serve_some();
        }
        if search.nodes >= nodes {
            search.improve();
        }
        let is_cut = search.nodes >= nodes || search.is_rough;
        let bounds = [&search.rest, &search.rest_shared].map(|rest| rest.first().copied());
        let bound = bounds.into_iter().flatten().fold(0.0, f64::max);
        let reached = search
            .best
            .last()
            .and_then(|best| best.as_ref().map(|best| best.cost));
        let least = if is_cut { Some(bound) } else { reached };
        any_cut |= is_cut;
        may_serve_more |= is_cut && !is_whole;
        solved.push((search.best, least.unwrap_or(0.0)));
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
        ..Solution::default()
    };
    let least: f64 = solved.iter().map(|(_, least)| least).sum();
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
    solution.least = if any_cut { least } else { solution.cost };
    solution.gap =
        (solution.cost - solution.least).max(if may_serve_more { UNSERVED } else { 0.0 });
    solution
}

/// The problem without the choices of structures that another one makes needless: of the same item types, not dearer, and
/// serving all that they serve, not dearer either.
fn without_dominated(problem: &Problem) -> Problem {
    /// What a structure serves: by read and place, the costs with what they add to an index.
    type Served = BTreeMap<(usize, Spot), Vec<(f64, Vec<(usize, f64)>)>>;
    let mut served: Vec<Served> = vec![Served::new(); problem.structures.len()];
    for (read, choices) in problem.reads.iter().enumerate() {
        for choice in choices {
            if let Some(served) = served.get_mut(choice.structure) {
                let ways = served.entry((read, choice.spot)).or_default();
                ways.push((choice.cost, choice.extras.clone()));
            }
        }
    }
    let covers = |one: &Served, other: &Served| {
        let mut all = other.iter();
        all.all(|(what, ways)| {
            let own = one.get(what).map_or(&[][..], Vec::as_slice);
            ways.iter().all(|(cost, extras)| {
                let is_within =
                    |own: &Vec<(usize, f64)>| own.iter().all(|one| extras.contains(one));
                own.iter()
                    .any(|(least, own)| least <= cost && is_within(own))
            })
        })
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
                && other.moves.is_subset(&structure.moves)
                && other.moved.iter().all(|(write, own)| {
                    let theirs = structure.moved.get(write);
                    // What it costs more as the table's own key than as an index counts.
                    theirs.is_some_and(|theirs| {
                        own.iter().zip(theirs).all(|(a, b)| a <= b)
                            && own[1] - own[0] <= theirs[1] - theirs[0]
                    })
                })
                && covers(theirs, own)
                // Of two that are alike the first stays.
                && (place < at
                    || other.can_be_home && !structure.can_be_home
                    || other.index_cost < structure.index_cost
                    || other.home_cost < structure.home_cost
                    || other.cost < structure.cost
                    || !covers(own, theirs))
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

/// What each structure costs at least where it stands, shared out among all reads that may use it.
fn shares(problem: &Problem, reads: &[usize]) -> Vec<f64> {
    let mut users = vec![0.0; problem.structures.len()];
    for read in reads {
        let choices = problem.reads.get(*read).into_iter().flatten();
        let used = choices.filter(|choice| choice.cost.is_finite());
        let used: BTreeSet<usize> = used.map(|choice| choice.structure).collect();
        for one in used {
            if let Some(count) = users.get_mut(one) {
                *count += 1.0;
            }
        }
    }
    let structures = problem.structures.iter().zip(users);
    let share = structures.map(|(one, users)| {
        let home = if one.can_be_home {
            one.home_cost
        } else {
            f64::INFINITY
        };
        (home.min(one.index_cost) + one.cost) / f64::max(users, 1.0)
    });
    share.collect()
}

/// What each choice of these reads costs at least, with its shares of what it has in common with others: of its structure, and of
/// what it adds to an index, where that is in one for sure.
fn shared(problem: &Problem, reads: &[usize]) -> BTreeMap<usize, Vec<f64>> {
    let shares = shares(problem, reads);
    let is_away = |choice: &Choice| {
        let structure = problem.structures.get(choice.structure);
        choice.spot == Spot::Index || structure.is_some_and(|one| !one.can_be_home)
    };
    let mut users: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
    for read in reads {
        let choices = problem.reads.get(*read).into_iter().flatten();
        for choice in choices.filter(|choice| choice.cost.is_finite()) {
            for (extra, _) in &choice.extras {
                let of = users.entry((choice.structure, *extra)).or_default();
                of.insert(*read);
            }
        }
    }
    let least = |choice: &Choice| {
        let share = shares.get(choice.structure).copied().unwrap_or(0.0);
        let extras = choice.extras.iter().filter(|_| is_away(choice));
        let extras = extras.map(|(extra, cost)| {
            let of = users
                .get(&(choice.structure, *extra))
                .map_or(1, BTreeSet::len);
            cost / f64::from(u32::try_from(of).unwrap_or(u32::MAX)).max(1.0)
        });
        choice.cost + share + extras.sum::<f64>()
    };
    let each = reads.iter().map(|read| {
        let choices = problem.reads.get(*read).into_iter().flatten();
        (*read, choices.map(least).collect())
    });
    each.collect()
}

/// The least that the reads from each place on cost. `cost`: of a read by a choice.
fn rest(reads: &[usize], cost: &dyn Fn(usize, usize) -> Option<f64>) -> Vec<f64> {
    let least = |read: &usize| {
        let choices = (0..).map_while(|place| cost(*read, place));
        choices.fold(f64::INFINITY, f64::min)
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
    /// The nodes after which it stops.
    most_nodes: usize,
    /// Whether not all ways to place structures were tried.
    is_rough: bool,
    rest: Vec<f64>,
    rest_shared: Vec<f64>,
    /// What each choice of a read costs at least, with its shares of what it has in common with others.
    shared: BTreeMap<usize, Vec<f64>>,
}

impl Search<'_> {
    fn branch(&mut self, at: usize, chosen: &mut Vec<(usize, usize)>, cost: f64) {
        self.nodes += 1;
        if self.nodes > self.most_nodes {
            return;
        }
        let rest = self.rest.get(at).copied().unwrap_or(0.0);
        let used = self.used(chosen);
        if !self.is_possible(&used) {
            return;
        }
        let (indexes, more) = self.at_least(&used);
        let shared = chosen
            .iter()
            .filter_map(|(read, place)| self.shared.get(read)?.get(*place));
        let shared = shared.sum::<f64>() + self.rest_shared.get(at).copied().unwrap_or(0.0);
        let bound = (cost + more + rest).max(shared);
        // Nothing below is cheaper than what is known for any number of indexes that it can do with.
        let mut best = self.best.iter().skip(indexes);
        if best.all(|best| best.as_ref().is_some_and(|best| bound >= best.cost - 1e-9)) {
            return;
        }
        let Some(&read) = self.reads.get(at) else {
            self.leaf(chosen, &used, cost);
            return;
        };
        for (place, more) in self.in_order(read, &used) {
            chosen.push((read, place));
            self.branch(at + 1, chosen, cost + more);
            chosen.pop();
        }
    }

    /// The choices of a read with what each costs besides what is used; what is likely the cheapest first.
    fn in_order(&self, read: usize, used: &BTreeMap<usize, Used>) -> Vec<(usize, f64)> {
        let choices = self.problem.reads.get(read).cloned().unwrap_or_default();
        let mut order: Vec<(usize, f64, f64)> = Vec::new();
        for (place, choice) in choices.into_iter().enumerate() {
            if choice.cost.is_infinite() {
                continue;
            }
            let (own, new) = match self.problem.structures.get(choice.structure) {
                Some(one) if !used.contains_key(&choice.structure) => {
                    let home = if one.can_be_home && choice.spot != Spot::Index {
                        one.home_cost
                    } else {
                        f64::INFINITY
                    };
                    (
                        one.cost,
                        home.min(one.index_cost + self.problem.index_price),
                    )
                }
                _ => (0.0, 0.0),
            };
            let extras: f64 = choice.extras.iter().map(|(_, cost)| cost).sum();
            order.push((place, choice.cost + own, choice.cost + own + new + extras));
        }
        order.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0)));
        order
            .into_iter()
            .map(|(place, more, _)| (place, more))
            .collect()
    }

    /// Where no way to serve all reads was found: serves one after another that still fits.
    fn serve_some(&mut self) {
        let mut chosen = Vec::new();
        for read in self.reads.clone() {
            for (place, _) in self.in_order(read, &self.used(&chosen)) {
                chosen.push((read, place));
                let used = self.used(&chosen);
                let fits = |placed: Vec<Placed>| {
                    let mut all = placed.iter();
                    all.any(|placed| placed.indexes <= self.problem.most_indexes)
                };
                let all: Vec<usize> = used.keys().copied().collect();
                let mut groups = self.groups(&all).into_iter();
                if self.is_possible(&used) && groups.all(|group| fits(self.place(&group, &used))) {
                    break;
                }
                chosen.pop();
            }
        }
        self.try_all(&chosen);
    }

    /// Whether each structure can stand where reads ask for it: of those that have an item type in common one is the table's own key.
    fn is_possible(&self, used: &BTreeMap<usize, Used>) -> bool {
        let homes = used.iter().filter(|(_, one)| one.is_home);
        let homes: Vec<usize> = homes.map(|(one, _)| *one).collect();
        let is_free = |at: usize, one: usize| {
            let mut others = homes.iter().take(at);
            !others.any(|other| self.share(*other, one))
        };
        let mut numbered = homes.iter().enumerate();
        !used.values().any(|one| one.is_home && one.is_away)
            && numbered.all(|(at, one)| self.can_be_home(*one) && is_free(at, *one))
    }

    /// Where a search was cut short: changes the choice of one read after another while that makes it cheaper.
    fn improve(&mut self) {
        let Some(mut chosen) = self
            .best
            .last()
            .and_then(Option::as_ref)
            .map(|best| best.reads.clone())
        else {
            return;
        };
        let reached = |search: &Self| {
            let best = search.best.last().and_then(Option::as_ref);
            best.map_or(f64::INFINITY, |best| best.cost)
        };
        for _ in 0..4 {
            let before = reached(self);
            for at in 0..chosen.len() {
                let Some(&(read, kept)) = chosen.get(at) else {
                    continue;
                };
                let choices = self.problem.reads.get(read).map_or(0, Vec::len);
                for place in (0..choices).filter(|place| *place != kept) {
                    let mut tried = chosen.clone();
                    if let Some(one) = tried.get_mut(at) {
                        one.1 = place;
                    }
                    let least = reached(self);
                    self.try_all(&tried);
                    if reached(self) < least {
                        chosen = tried;
                    }
                }
            }
            // One structure may take the reads of several others.
            for one in 0..self.problem.structures.len() {
                let tried: Vec<(usize, usize)> = chosen
                    .iter()
                    .map(|(read, kept)| (*read, self.by(*read, one).unwrap_or(*kept)))
                    .collect();
                let least = reached(self);
                if tried != chosen {
                    self.try_all(&tried);
                }
                if reached(self) < least {
                    chosen = tried;
                }
            }
            if reached(self) >= before {
                break;
            }
        }
    }

    /// The cheapest choice by which a structure serves a read.
    fn by(&self, read: usize, one: usize) -> Option<usize> {
        let choices = self.problem.reads.get(read)?.iter().enumerate();
        let of_it =
            choices.filter(|(_, choice)| choice.structure == one && choice.cost.is_finite());
        let least = of_it.min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
        least.map(|(place, _)| place)
    }

    /// Reckons one choice of all reads.
    fn try_all(&mut self, chosen: &[(usize, usize)]) {
        let used = self.used(chosen);
        let choices = chosen
            .iter()
            .filter_map(|(read, place)| self.problem.reads.get(*read)?.get(*place));
        let cost: f64 = choices.map(|choice| choice.cost).sum();
        let structures = used
            .keys()
            .filter_map(|one| self.problem.structures.get(*one));
        let cost = cost + structures.map(|one| one.cost).sum::<f64>();
        if cost.is_finite() && self.is_possible(&used) {
            self.leaf(chosen, &used, cost);
        }
    }

    /// The fewest indexes that structures take, and the least that they cost in them.
    fn at_least(&self, used: &BTreeMap<usize, Used>) -> (usize, f64) {
        let mut by_type: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
        let mut cost = 0.0;
        for (one, how) in used {
            let Some(structure) = self.problem.structures.get(*one) else {
                continue;
            };
            let can_be_home = structure.can_be_home && !how.is_away;
            if !can_be_home {
                cost += self.index_cost(*one, used);
            }
            for kind in &structure.types {
                let (count, has_home) = by_type.entry(*kind).or_default();
                *count += 1;
                *has_home |= can_be_home;
            }
        }
        let indexes = by_type
            .into_values()
            .map(|(count, has_home)| count - usize::from(has_home));
        (indexes.max().unwrap_or(0), cost)
    }

    /// The structures that are chosen, with what the choices ask of them.
    fn used(&self, chosen: &[(usize, usize)]) -> BTreeMap<usize, Used> {
        let mut found: BTreeMap<usize, Used> = BTreeMap::new();
        let choices = chosen
            .iter()
            .filter_map(|(read, place)| self.problem.reads.get(*read)?.get(*place));
        for choice in choices {
            let used = found.entry(choice.structure).or_default();
            used.is_home |= choice.spot == Spot::Home;
            used.is_away |= choice.spot == Spot::Index;
            for (extra, cost) in &choice.extras {
                let known = used.extras.entry(*extra).or_default();
                *known = known.max(*cost);
            }
        }
        found
    }

    /// All reads have a structure: which are the table's own keys, and which indexes do the others stand in?
    fn leaf(&mut self, chosen: &[(usize, usize)], used: &BTreeMap<usize, Used>, cost: f64) {
        let all: Vec<usize> = used.keys().copied().collect();
        let groups = self.groups(&all);
        let placed: Vec<Vec<Placed>> = groups.iter().map(|group| self.place(group, used)).collect();
        self.is_rough |= placed.iter().flatten().any(|placed| placed.is_rough);
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
    fn place(&self, group: &[usize], used: &BTreeMap<usize, Used>) -> Vec<Placed> {
        let is_home = |one: &usize| used.get(one).is_some_and(|one| one.is_home);
        let is_away = |one: &usize| used.get(one).is_some_and(|one| one.is_away);
        let fixed: Vec<usize> = group.iter().copied().filter(is_home).collect();
        let is_free = |set: &[usize], one: usize| set.iter().all(|other| !self.share(*other, one));
        let others: Vec<usize> = group
            .iter()
            .copied()
            .filter(|one| !is_home(one) && !is_away(one))
            .filter(|one| self.can_be_home(*one) && is_free(&fixed, *one))
            .collect();
        let is_rough = others.len() > TRIED;
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
            by_cost.retain(|one| self.home_cost(*one) <= self.index_cost(*one, used));
            by_cost.sort_by(|a, b| {
                self.index_cost(*b, used)
                    .total_cmp(&self.index_cost(*a, used))
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
            let indexes = colours.values().max().copied().unwrap_or(0);
            Placed {
                is_rough: is_rough || rest.len() > TRIED && indexes > self.clique(&rest),
                indexes,
                cost: rest
                    .iter()
                    .map(|one| self.index_cost(*one, used) + self.moved(*one, &set, used))
                    .sum::<f64>()
                    + set.iter().map(|one| self.home_cost(*one)).sum::<f64>(),
                slots: set.iter().map(|one| (*one, 0)).chain(colours).collect(),
            }
        });
        placed.collect()
    }

    /// Structures that have one item type in common: they take as many indexes at least.
    fn clique(&self, rest: &[usize]) -> usize {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let structures = rest
            .iter()
            .filter_map(|one| self.problem.structures.get(*one));
        for kind in structures.flat_map(|one| &one.types) {
            *counts.entry(*kind).or_default() += 1;
        }
        counts.into_values().max().unwrap_or(0)
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

    fn index_cost(&self, one: usize, used: &BTreeMap<usize, Used>) -> f64 {
        let own = self.problem.structures.get(one);
        let extras = used.get(&one).map(|used| used.extras.values().sum::<f64>());
        own.map_or(0.0, |one| one.index_cost) + extras.unwrap_or(0.0)
    }

    /// What an index costs besides, where updates change the keys of these structures' items.
    fn moved(&self, one: usize, homes: &[usize], used: &BTreeMap<usize, Used>) -> f64 {
        let Some(index) = self.problem.structures.get(one) else {
            return 0.0;
        };
        let homes = homes.iter().filter(|home| self.share(**home, one));
        let homes = homes.filter_map(|home| self.problem.structures.get(*home));
        let more = homes.flat_map(|home| &home.moves).filter_map(|write| {
            let [own, moved] = index.moved.get(write)?;
            let extra = used.get(&one).and_then(|used| used.extras.get(write));
            Some((moved - own - extra.copied().unwrap_or(0.0)).max(0.0))
        });
        more.sum()
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

/// What the choices of reads ask of a structure.
#[derive(Debug, Clone, Default)]
struct Used {
    is_home: bool,
    is_away: bool,
    extras: BTreeMap<usize, f64>,
}

/// A way to place structures that have item types in common.
#[derive(Debug, Clone)]
struct Placed {
    /// Whether not all ways were tried.
    is_rough: bool,
    indexes: usize,
    cost: f64,
    slots: BTreeMap<usize, usize>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What updates of the table's own keys cost in the indexes besides.
    fn moved(problem: &Problem, used: &[usize], chosen: &[&Choice], slots: &[usize]) -> f64 {
        let mut sum = 0.0;
        for (one, _) in used.iter().zip(slots).filter(|(_, slot)| **slot > 0) {
            for (home, _) in used.iter().zip(slots).filter(|(_, slot)| **slot == 0) {
                let (index, home) = (&problem.structures[*one], &problem.structures[*home]);
                if !index.types.iter().any(|kind| home.types.contains(kind)) {
                    continue;
                }
                for (write, [own, moved]) in &index.moved {
                    let choices = chosen.iter().filter(|choice| choice.structure == *one);
                    let mut extras = choices.flat_map(|choice| &choice.extras);
                    let extra = extras.find(|(extra, _)| extra == write);
                    if home.moves.contains(write) {
                        sum += (moved - own - extra.map_or(0.0, |extra| extra.1)).max(0.0);
                    }
                }
            }
        }
        sum
    }

    /// All choices of all reads, all sets of structures as the table's own keys, all places of the others.
    pub(crate) fn brute(problem: &Problem) -> f64 {
        fn places(
            problem: &Problem,
            used: &[usize],
            chosen: &[&Choice],
            slots: &mut Vec<usize>,
            best: &mut f64,
            cost: f64,
        ) {
            let Some(&one) = used.get(slots.len()) else {
                let most = slots.iter().max().copied().unwrap_or(0);
                let cost = cost + moved(problem, used, chosen, slots);
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
                let own = chosen.iter().filter(|choice| choice.structure == one);
                let refused = if slot == 0 { Spot::Index } else { Spot::Home };
                let is_refused = own.clone().any(|choice| choice.spot == refused);
                if clashes || slot == 0 && !candidate.can_be_home || is_refused {
                    continue;
                }
                let mut extras: BTreeMap<usize, f64> = BTreeMap::new();
                for (extra, cost) in own.flat_map(|choice| &choice.extras) {
                    let known = extras.entry(*extra).or_default();
                    *known = known.max(*cost);
                }
                slots.push(slot);
                let more = if slot == 0 {
                    candidate.home_cost
                } else {
                    candidate.index_cost + extras.values().sum::<f64>()
                };
                places(problem, used, chosen, slots, best, cost + more);
                slots.pop();
            }
        }
        fn reads<'p>(
            problem: &'p Problem,
            at: usize,
            chosen: &mut Vec<&'p Choice>,
            cost: f64,
            best: &mut f64,
        ) {
            let Some(choices) = problem.reads.get(at) else {
                let mut distinct: Vec<usize> =
                    chosen.iter().map(|choice| choice.structure).collect();
                distinct.sort_unstable();
                distinct.dedup();
                let own: f64 = distinct
                    .iter()
                    .map(|one| problem.structures[*one].cost)
                    .sum();
                places(
                    problem,
                    &distinct,
                    chosen,
                    &mut Vec::new(),
                    best,
                    cost + own,
                );
                return;
            };
            for choice in choices {
                chosen.push(choice);
                reads(problem, at + 1, chosen, cost + choice.cost, best);
                chosen.pop();
            }
        }
        let mut best = f64::INFINITY;
        reads(problem, 0, &mut Vec::new(), 0.0, &mut best);
        best
    }

    #[test]
    fn no_choice_is_cheaper_than_the_one_that_is_found() {
        let (mut served, mut several, mut bounded) = (0, 0, 0);
        for seed in 0..600 {
            let mut random = fastrand::Rng::with_seed(seed);
            let types = random.usize(1..=3);
            let structures: Vec<Candidate> = (0..random.usize(1..=6))
                .map(|_| {
                    let mut own: Vec<usize> = (0..types).filter(|_| random.bool()).collect();
                    if own.is_empty() {
                        own.push(random.usize(0..types));
                    }
                    let moved: BTreeMap<usize, [f64; 2]> = (0..3)
                        .map(|write| {
                            let own = f64::from(random.u8(0..3));
                            (write, [own, own + f64::from(random.u8(0..9))])
                        })
                        .collect();
                    let owns: f64 = moved.values().map(|[own, _]| own).sum();
                    Candidate {
                        types: own,
                        can_be_home: random.bool(),
                        index_cost: owns + f64::from(random.u8(0..12)),
                        home_cost: f64::from(random.u8(0..8)),
                        cost: f64::from(random.u8(0..6)),
                        moves: (0..3).filter(|_| random.u8(0..4) == 0).collect(),
                        moved,
                    }
                })
                .collect();
            let reads = (0..random.usize(1..=4)).map(|_| {
                let choices = (0..random.usize(1..=3)).map(|_| Choice {
                    structure: random.usize(0..structures.len()),
                    cost: f64::from(random.u8(0..30)),
                    spot: match random.u8(0..6) {
                        0 => Spot::Home,
                        1 => Spot::Index,
                        _ => Spot::Any,
                    },
                    extras: (0..3)
                        .filter(|_| random.bool())
                        .map(|extra| (extra, f64::from(2 + u8::try_from(extra).unwrap())))
                        .collect(),
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
                // One that is cut short says how much cheaper another choice may be at most.
                let cut = solve_within(&problem, 2, None);
                assert!(cut.cost - cut.gap <= best + 1e-6, "{seed}: {best} {cut:?}");
                bounded += usize::from(cut.gap > 0.0);
                served += 1;
                several += usize::from(found.slots.values().any(|slot| *slot > 1));
            }
        }
        assert!(
            served > 200 && several > 20 && bounded > 50,
            "{served} {several} {bounded}"
        );
    }

    /// Structures of one item type, each in an index for 1, and reads by these.
    fn of_one_type(structures: usize, reads: Vec<Vec<Choice>>, most_indexes: usize) -> Problem {
        let structure = |at: usize| Candidate {
            types: vec![0],
            can_be_home: at < 3,
            index_cost: 1.0,
            ..Candidate::default()
        };
        Problem {
            reads,
            structures: (0..structures).map(structure).collect(),
            index_price: 1.0,
            most_indexes,
        }
    }

    fn choice(structure: usize, cost: f64, spot: Spot) -> Choice {
        Choice {
            structure,
            cost,
            spot,
            extras: Vec::new(),
        }
    }

    #[test]
    fn strong_reads_that_exclude_each_other_do_not_end_the_search() {
        let strong = |own| vec![choice(own, 1.0, Spot::Home), choice(2, 9.0, Spot::Home)];
        let others = (0..14).map(|read| {
            let choices = (0..4).map(|at| choice(3 + (read + at) % 14, 1.0, Spot::Any));
            choices.collect()
        });
        let reads = [strong(0), strong(1)].into_iter().chain(others).collect();
        let found = solve(&of_one_type(17, reads, 20));
        assert!(found.reads.iter().all(Option::is_some), "{found:?}");
    }

    #[test]
    fn where_not_all_reads_fit_the_others_are_served() {
        let reads = (0..25).map(|read| vec![choice(read, 1.0, Spot::Any)]);
        let found = solve(&of_one_type(25, reads.collect(), 20));
        assert_eq!(found.reads.iter().flatten().count(), 21, "{found:?}");
    }

    #[test]
    fn a_search_that_is_cut_short_says_what_it_may_have_missed() {
        let structures: Vec<Candidate> = (0..60)
            .map(|at| Candidate {
                types: vec![0],
                can_be_home: at == 0,
                index_cost: 1.0 + f64::from(at % 7),
                ..Candidate::default()
            })
            .collect();
        let reads = (0..30).map(|read| {
            let choices = (0..4).map(|at| Choice {
                structure: (read * 7 + at * 13) % 60,
                cost: 1.0,
                spot: Spot::Any,
                extras: Vec::new(),
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
