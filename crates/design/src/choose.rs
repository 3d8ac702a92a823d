//! The cheapest choice: a structure for each read, and for each structure the base table's key or an index.
//!
//! Reads that have no item type in common do not touch each other but for the number of indexes: the reads fall into
//! components, each is solved for every number of indexes, and the number with the least sum is taken. A component is
//! searched by branch and bound; what a search that was cut short may have missed is the gap.
#![expect(
    clippy::indexing_slicing,
    reason = "indices number the reads, options and structures of one problem"
)]

use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::{float, whole};

/// The problem, without what it stands for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problem {
    /// For each read the ways to serve it.
    pub(crate) reads: Vec<Vec<ReadOption>>,
    pub(crate) structures: Vec<StructureCost>,
    /// By item type, what its items cost a month in the table if any structure has them; nothing where they are there anyway.
    pub(crate) item_costs: BTreeMap<usize, f64>,
    /// What an index costs a month besides its writes and its storage.
    pub(crate) index_price: f64,
    pub(crate) most_indexes: usize,
}

/// Where a structure has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Placement {
    /// Anywhere.
    #[default]
    Any,
    /// In the base table: a strongly consistent read, or one that is priced so.
    BaseTable,
    /// In an index: the read is priced by what the index holds.
    Index,
}

/// A structure that serves a read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadOption {
    pub(crate) structure: usize,
    /// What the read costs a month by it.
    pub(crate) cost: f64,
    /// Where it has to be for that.
    pub(crate) placement: Placement,
    /// What the read adds to the costs of an index: by what it is, so that two reads do not pay for one thing twice.
    pub(crate) extras: Vec<(usize, f64)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StructureCost {
    /// The item types that it has: each once.
    pub(crate) types: Vec<usize>,
    /// Whether it can be the base table's key.
    pub(crate) can_be_base_table: bool,
    /// What it costs a month in an index: writes and storage.
    pub(crate) index_cost: f64,
    /// What it costs a month as the base table's key.
    pub(crate) base_table_cost: f64,
    /// The updates that change the key of its items if it is the base table's key.
    pub(crate) key_updates: BTreeSet<usize>,
    /// What updates cost in it as an index.
    pub(crate) update_costs: BTreeMap<usize, UpdateCost>,
}

/// What an update costs a month in an index.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct UpdateCost {
    /// If the key of the items stays. It is a part of the index's cost.
    pub(crate) in_place: f64,
    /// If the key of the items changes.
    pub(crate) key_changed: f64,
}

impl UpdateCost {
    /// What the update costs more if the key of the items changes.
    fn key_change(self) -> f64 {
        self.key_changed - self.in_place
    }
}

/// A choice of everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Solution {
    /// The number of each read's option; `None` where there is none within the number of indexes.
    pub(crate) reads: Vec<Option<usize>>,
    /// The place of each structure that is used: 0 the base table, from 1 the indexes.
    pub(crate) slots: BTreeMap<usize, usize>,
    /// What all costs a month, the price of indexes included.
    pub(crate) cost: f64,
    /// How much cheaper another choice may be at most; 0 where none is, and at least [`UNSERVED`] where another may serve more reads.
    pub(crate) gap: f64,
    /// What any choice costs at least that serves all reads; of one that does not, what it costs itself.
    pub(crate) least: f64,
}

/// Search nodes per component; beyond them the search is cut short.
const MAX_NODES: usize = 20_000;
/// What it costs for each request a second that a read is not served: more than any design, and than any read that is not consistent.
/// A gap of so much says that another choice may serve more reads.
pub(crate) const UNSERVED: f64 = 1e8;
/// The same of a read that is not consistent and should be.
pub(crate) const INCONSISTENT: f64 = 1e6;
/// Up to this many structures with a common item type are placed optimally; more are placed greedily.
const MAX_EXACT_GROUP: usize = 8;

/// What is known of a component for one number of indexes.
#[derive(Debug, Clone)]
struct Best {
    cost: f64,
    reads: Vec<(usize, usize)>,
    slots: BTreeMap<usize, usize>,
}

/// Solves the problem. Reads without an option are left out.
pub(crate) fn solve(problem: &Problem) -> Solution {
    solve_within(problem, MAX_NODES, None)
}

/// A solution that is made cheaper, one option after another, without a search.
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
        let mut search = Search::new(problem, reads, nodes);
        search.branch(0, &mut Vec::new(), 0.0);
        if search.nodes >= nodes {
            let known = start.iter().flat_map(|start| {
                let options = reads.iter().map(|read| Some((*read, start.reads[*read]?)));
                options.flatten()
            });
            let known: Vec<(usize, usize)> = known.collect();
            if known.len() == reads.len() {
                search.evaluate(&known);
            }
        }
        let is_whole = search.best[problem.most_indexes].is_some();
        if !is_whole {
            search.serve_some();
        }
        if search.nodes >= nodes {
            search.improve();
        }
        let is_cut = search.nodes >= nodes || search.is_heuristic;
        let bound = search.rest(0, &BTreeMap::new()).max(0.0);
        let reached = search.best[problem.most_indexes].as_ref();
        let reached = reached.map(|best| best.cost);
        let least = if is_cut { Some(bound) } else { reached };
        any_cut |= is_cut;
        may_serve_more |= !is_whole;
        solved.push((search.best, least.unwrap_or(0.0)));
    }
    let mut chosen: Option<(f64, usize)> = None;
    for indexes in 0..=problem.most_indexes {
        let best: Option<Vec<&Best>> = solved
            .iter()
            .map(|(best, _)| best[indexes].as_ref())
            .collect();
        let Some(best) = best else { continue };
        let slots = best.iter().flat_map(|best| best.slots.values());
        let cost = best.iter().map(|best| best.cost).sum::<f64>() + index_rent(problem, slots);
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
        for (read, option) in best.reads {
            solution.reads[read] = Some(option);
        }
        solution.cost += best.cost;
        solution.slots.extend(best.slots);
    }
    solution.cost += index_rent(problem, solution.slots.values());
    solution.least = if any_cut { least } else { solution.cost };
    let least_gap = if may_serve_more { UNSERVED } else { 0.0 };
    solution.gap = (solution.cost - solution.least).max(least_gap);
    solution
}

/// The price of the indexes up to the last one that is used.
fn index_rent<'s>(problem: &Problem, slots: impl Iterator<Item = &'s usize>) -> f64 {
    let used = slots.max().copied().unwrap_or(0);
    problem.index_price * f64::from(u32::try_from(used).unwrap_or(u32::MAX))
}

/// Drops dominated structures: another has the same item types, costs no more, and serves the same reads at no higher cost.
fn without_dominated(problem: &Problem) -> Problem {
    /// What a structure serves: by read and placement, the costs with what they add to an index.
    type Served = BTreeMap<(usize, Placement), Vec<(f64, Vec<(usize, f64)>)>>;
    let mut served: Vec<Served> = vec![Served::new(); problem.structures.len()];
    for (read, options) in problem.reads.iter().enumerate() {
        for option in options {
            let ways = served[option.structure].entry((read, option.placement));
            let ways = ways.or_default();
            ways.push((option.cost, option.extras.clone()));
        }
    }
    let covers = |structure: &Served, other: &Served| {
        let mut all = other.iter();
        all.all(|(what, ways)| {
            let own = structure.get(what).map_or(&[][..], Vec::as_slice);
            ways.iter().all(|(cost, extras)| {
                let is_within =
                    |own: &Vec<(usize, f64)>| own.iter().all(|extra| extras.contains(extra));
                own.iter()
                    .any(|(least, own)| least <= cost && is_within(own))
            })
        })
    };
    let is_dominated = |at: usize| {
        let (structure, own) = (&problem.structures[at], &served[at]);
        let mut others = problem.structures.iter().zip(&served).enumerate();
        others.any(|(place, (other, theirs))| {
            place != at
                && other.types == structure.types
                && other.can_be_base_table >= structure.can_be_base_table
                && other.index_cost <= structure.index_cost
                && other.base_table_cost <= structure.base_table_cost
                && other.key_updates.is_subset(&structure.key_updates)
                && other.update_costs.iter().all(|(write, own)| {
                    let theirs = structure.update_costs.get(write);
                    theirs.is_some_and(|theirs| {
                        own.in_place <= theirs.in_place
                            && own.key_changed <= theirs.key_changed
                            && own.key_change() <= theirs.key_change()
                    })
                })
                && covers(theirs, own)
                // Of two that are alike the first stays.
                && (place < at
                    || other.can_be_base_table && !structure.can_be_base_table
                    || other.index_cost < structure.index_cost
                    || other.base_table_cost < structure.base_table_cost
                    || !covers(own, theirs))
        })
    };
    let dominated: BTreeSet<usize> = (0..problem.structures.len())
        .filter(|at| is_dominated(*at))
        .collect();
    // Options keep their numbers.
    let mut left = problem.clone();
    for option in left.reads.iter_mut().flatten() {
        if dominated.contains(&option.structure) {
            option.cost = f64::INFINITY;
        }
    }
    left
}

/// What the reads of a component have in common, for bounds of what they cost.
struct Sharing {
    /// What each structure costs at least wherever it is.
    least: Vec<f64>,
    /// For each read of the component: of how many reads from it on each structure is an option.
    users: Vec<Vec<f64>>,
    /// By structure and extra, of how many reads it is an option to add it to an index.
    extra_users: BTreeMap<(usize, usize), f64>,
    /// What the items of a type cost, for each read that has an option with them.
    item_costs: BTreeMap<usize, f64>,
}

impl Sharing {
    fn new(problem: &Problem, reads: &[usize]) -> Self {
        let least = problem.structures.iter().map(|structure| {
            let base_table = if structure.can_be_base_table {
                structure.base_table_cost
            } else {
                f64::INFINITY
            };
            base_table.min(structure.index_cost)
        });
        let mut users = vec![vec![0.0; problem.structures.len()]];
        let mut extra_users: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (at, read) in reads.iter().rev().enumerate() {
            let options = problem.reads[*read].iter();
            let options = options.filter(|option| option.cost.is_finite());
            let mut of_read = users[at].clone();
            let structures: BTreeSet<usize> =
                options.clone().map(|option| option.structure).collect();
            for structure in structures {
                of_read[structure] += 1.0;
            }
            users.push(of_read);
            let extras = options.flat_map(|option| {
                let extras = option.extras.iter();
                extras.map(|(extra, _)| (option.structure, *extra))
            });
            for extra in extras.collect::<BTreeSet<_>>() {
                *extra_users.entry(extra).or_default() += 1.0;
            }
        }
        let item_costs = problem.item_costs.iter().map(|(kind, cost)| {
            let has_kind = |option: &ReadOption| {
                let structure = &problem.structures[option.structure];
                option.cost.is_finite() && structure.types.contains(kind)
            };
            let with = reads
                .iter()
                .filter(|read| problem.reads[**read].iter().any(has_kind));
            (*kind, cost / float(whole(with.count())).max(1.0))
        });
        let item_costs = item_costs.collect();
        users.reverse();
        Self {
            least: least.collect(),
            users,
            extra_users,
            item_costs,
        }
    }
}

/// Groups of what touches, also by way of others.
pub(crate) fn connected<T>(
    items: impl IntoIterator<Item = T>,
    touches: impl Fn(&T, &T) -> bool,
) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        let (touched, mut others): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.iter().any(|other| touches(other, &item)));
        others.push(touched.into_iter().flatten().chain([item]).collect());
        groups = others;
    }
    groups
}

/// The reads whose structures have item types in common, by way of others too; those with the fewest options first.
fn components(problem: &Problem) -> Vec<Vec<usize>> {
    let reads = problem.reads.iter().enumerate();
    let reads = reads.filter(|(_, options)| !options.is_empty());
    let reads = reads.map(|(read, options)| {
        let structures = options
            .iter()
            .map(|option| &problem.structures[option.structure]);
        let types = structures.flat_map(|structure| structure.types.iter().copied());
        (read, types.collect::<BTreeSet<usize>>())
    });
    let groups = connected(reads, |(_, types), (_, others)| !types.is_disjoint(others));
    let mut components: Vec<Vec<usize>> = groups
        .into_iter()
        .map(|group| group.into_iter().map(|(read, _)| read).collect())
        .collect();
    for reads in &mut components {
        reads.sort_by_key(|read| (problem.reads[*read].len(), *read));
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
    is_heuristic: bool,
    sharing: Sharing,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, reads: &[usize], most_nodes: usize) -> Self {
        Self {
            problem,
            reads: reads.to_vec(),
            best: vec![None; problem.most_indexes + 1],
            nodes: 0,
            most_nodes,
            is_heuristic: false,
            sharing: Sharing::new(problem, reads),
        }
    }

    fn branch(&mut self, at: usize, chosen: &mut Vec<(usize, usize)>, cost: f64) {
        self.nodes += 1;
        if self.nodes > self.most_nodes {
            return;
        }
        let used = self.used(chosen);
        if !self.is_possible(&used) {
            return;
        }
        if self.is_no_cheaper(&used, cost + self.rest(at, &used)) {
            return;
        }
        let Some(&read) = self.reads.get(at) else {
            self.record_if_cheapest(chosen, &used, cost);
            return;
        };
        for (option, more) in self.in_order(read, &used) {
            chosen.push((read, option));
            self.branch(at + 1, chosen, cost + more);
            chosen.pop();
        }
    }

    /// The options of a read with what each costs besides what is used; what is likely the cheapest first.
    fn in_order(&self, read: usize, used: &BTreeMap<usize, Requirements>) -> Vec<(usize, f64)> {
        let mut order: Vec<(usize, f64, f64)> = Vec::new();
        for (number, option) in self.problem.reads[read].iter().enumerate() {
            if option.cost.is_infinite() {
                continue;
            }
            let structure = &self.problem.structures[option.structure];
            let new = if used.contains_key(&option.structure) {
                0.0
            } else {
                let may_be_base_table =
                    structure.can_be_base_table && option.placement != Placement::Index;
                let base_table = if may_be_base_table {
                    structure.base_table_cost
                } else {
                    f64::INFINITY
                };
                let index = structure.index_cost + self.problem.index_price;
                base_table.min(index)
            };
            let extras: f64 = option.extras.iter().map(|(_, cost)| cost).sum();
            let items = self.new_items(structure, used, &self.problem.item_costs);
            order.push((number, option.cost, option.cost + new + extras + items));
        }
        order.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0)));
        let order = order.into_iter();
        order.map(|(option, more, _)| (option, more)).collect()
    }

    /// Where no way to serve all reads was found: serves one after another that still fits.
    fn serve_some(&mut self) {
        let mut chosen = Vec::new();
        for read in self.reads.clone() {
            for (option, _) in self.in_order(read, &self.used(&chosen)) {
                chosen.push((read, option));
                let used = self.used(&chosen);
                let mut groups = self.groups(&used).into_iter();
                let fits = |group: Vec<GroupPlacement>| {
                    let mut placements = group.iter();
                    placements.any(|one| one.indexes <= self.problem.most_indexes)
                };
                if self.is_possible(&used) && groups.all(fits) {
                    break;
                }
                chosen.pop();
            }
        }
        self.evaluate(&chosen);
    }

    /// Whether each structure can be where the options ask for it: of those with a common item type one is the base table's key.
    fn is_possible(&self, used: &BTreeMap<usize, Requirements>) -> bool {
        let base_tables = used.iter().filter(|(_, one)| one.needs_base_table);
        let base_tables: Vec<usize> = base_tables.map(|(at, _)| *at).collect();
        let is_free = |place: usize, at: usize| {
            let mut others = base_tables[..place].iter();
            !others.any(|other| self.have_common_type(*other, at))
        };
        let mut numbered = base_tables.iter().enumerate();
        let contradicts = |one: &Requirements| one.needs_base_table && one.needs_index;
        !used.values().any(contradicts)
            && numbered.all(|(place, at)| {
                self.problem.structures[*at].can_be_base_table && is_free(place, *at)
            })
    }

    /// The cheapest cost so far.
    fn reached(&self) -> f64 {
        let best = self.best[self.problem.most_indexes].as_ref();
        best.map_or(f64::INFINITY, |best| best.cost)
    }

    /// Where a search was cut short: changes the option of one read after another while that makes it cheaper.
    fn improve(&mut self) {
        let best = self.best[self.problem.most_indexes].as_ref();
        let Some(mut chosen) = best.map(|best| best.reads.clone()) else {
            return;
        };
        for _ in 0..4 {
            let before = self.reached();
            for at in 0..chosen.len() {
                let (read, kept) = chosen[at];
                let options = 0..self.problem.reads[read].len();
                for option in options.filter(|option| *option != kept) {
                    let mut tried = chosen.clone();
                    tried[at].1 = option;
                    self.take_if_cheaper(&mut chosen, tried);
                }
            }
            // One structure may take the reads of several others.
            for structure in 0..self.problem.structures.len() {
                let tried = chosen.iter().map(|(read, kept)| {
                    let option = self.cheapest_option(*read, structure);
                    (*read, option.unwrap_or(*kept))
                });
                let tried: Vec<(usize, usize)> = tried.collect();
                if tried != chosen {
                    self.take_if_cheaper(&mut chosen, tried);
                }
            }
            if self.reached() >= before {
                break;
            }
        }
    }

    fn take_if_cheaper(&mut self, chosen: &mut Vec<(usize, usize)>, tried: Vec<(usize, usize)>) {
        let before = self.reached();
        self.evaluate(&tried);
        if self.reached() < before {
            *chosen = tried;
        }
    }

    /// The cheapest option by which a structure serves a read.
    fn cheapest_option(&self, read: usize, structure: usize) -> Option<usize> {
        let options = self.problem.reads[read].iter().enumerate();
        let of_it =
            options.filter(|(_, option)| option.structure == structure && option.cost.is_finite());
        let least = of_it.min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
        least.map(|(number, _)| number)
    }

    /// Evaluates one complete choice.
    fn evaluate(&mut self, chosen: &[(usize, usize)]) {
        let used = self.used(chosen);
        let options = self.options(chosen);
        let cost: f64 = options.map(|option| option.cost).sum();
        if cost.is_finite() && !self.is_no_cheaper(&used, cost) && self.is_possible(&used) {
            self.record_if_cheapest(chosen, &used, cost);
        }
    }

    /// Whether these structures, with so much besides what they cost in their places, are no cheaper than what is known for any
    /// number of indexes that they can do with.
    fn is_no_cheaper(&self, used: &BTreeMap<usize, Requirements>, cost: f64) -> bool {
        let (indexes, more) = self.lower_bound(used);
        let mut best = self.best.iter().skip(indexes);
        best.all(|best| {
            best.as_ref()
                .is_some_and(|best| cost + more >= best.cost - 1e-9)
        })
    }

    /// What the reads from one on cost at least besides what is used: each its cheapest option, with its shares of what it has in
    /// common with others.
    fn rest(&self, at: usize, used: &BTreeMap<usize, Requirements>) -> f64 {
        let users = &self.sharing.users[at];
        let least = |option: &ReadOption| {
            let structure = &self.problem.structures[option.structure];
            let known = used.get(&option.structure);
            let own = match known {
                Some(_) => 0.0,
                None => self.sharing.least[option.structure] / users[option.structure],
            };
            let is_in_index = option.placement == Placement::Index || !structure.can_be_base_table;
            let extras = option.extras.iter().filter(|(extra, _)| {
                is_in_index && known.is_none_or(|known| !known.extras.contains_key(extra))
            });
            let extras = extras.map(|(extra, cost)| {
                let of = (option.structure, *extra);
                cost / self
                    .sharing
                    .extra_users
                    .get(&of)
                    .map_or(1.0, |of| of.max(1.0))
            });
            let items = self.new_items(structure, used, &self.sharing.item_costs);
            option.cost + own + extras.sum::<f64>() + items
        };
        let each = self.reads[at..].iter().map(|read| {
            let options = self.problem.reads[*read].iter();
            let options = options.filter(|option| option.cost.is_finite());
            options.map(least).fold(f64::INFINITY, f64::min)
        });
        each.sum()
    }

    /// What the items of a structure cost by their types, but for those that something used has already.
    fn new_items(
        &self,
        structure: &StructureCost,
        used: &BTreeMap<usize, Requirements>,
        costs: &BTreeMap<usize, f64>,
    ) -> f64 {
        let new = costs.iter().filter(|(kind, _)| {
            let mut known = used.keys();
            structure.types.contains(kind)
                && !known.any(|at| self.problem.structures[*at].types.contains(kind))
        });
        new.map(|(_, cost)| cost).sum()
    }

    /// What the items of structures cost, each type once.
    fn items<'s>(&self, structures: impl Iterator<Item = &'s usize>) -> f64 {
        let types = structures.flat_map(|at| &self.problem.structures[*at].types);
        let types: BTreeSet<&usize> = types.collect();
        let costs = types
            .into_iter()
            .filter_map(|kind| self.problem.item_costs.get(kind));
        costs.sum()
    }

    /// The fewest indexes that structures take, and the least that all cost in their places: of those with a common item type one at
    /// most is the base table's key.
    fn lower_bound(&self, used: &BTreeMap<usize, Requirements>) -> (usize, f64) {
        let mut by_type: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
        // What the base table's key saves against an index, at most, by a structure's first item type.
        let mut saved: BTreeMap<usize, f64> = BTreeMap::new();
        let mut cost = self.items(used.keys());
        for (at, required) in used {
            let structure = &self.problem.structures[*at];
            let can_be_base_table = structure.can_be_base_table && !required.needs_index;
            let in_index = self.index_cost(*at, used);
            if required.needs_base_table {
                cost += structure.base_table_cost;
            } else {
                cost += in_index;
                if let Some(first) = structure.types.first().filter(|_| can_be_base_table) {
                    let saved = saved.entry(*first).or_default();
                    *saved = saved.max(in_index - structure.base_table_cost);
                }
            }
            for kind in &structure.types {
                let (count, has_base_table) = by_type.entry(*kind).or_default();
                *count += 1;
                *has_base_table |= can_be_base_table;
            }
        }
        let indexes = by_type
            .into_values()
            .map(|(count, has_base_table)| count - usize::from(has_base_table));
        let saved: f64 = saved.into_values().sum();
        (indexes.max().unwrap_or(0), cost - saved)
    }

    fn options(&self, chosen: &[(usize, usize)]) -> impl Iterator<Item = &'p ReadOption> {
        let problem = self.problem;
        let options = chosen.iter();
        options.map(|(read, option)| &problem.reads[*read][*option])
    }

    /// The structures that are chosen, with what the options ask of them.
    fn used(&self, chosen: &[(usize, usize)]) -> BTreeMap<usize, Requirements> {
        let mut found: BTreeMap<usize, Requirements> = BTreeMap::new();
        for option in self.options(chosen) {
            let required = found.entry(option.structure).or_default();
            required.needs_base_table |= option.placement == Placement::BaseTable;
            required.needs_index |= option.placement == Placement::Index;
            for (extra, cost) in &option.extras {
                let known = required.extras.entry(*extra).or_default();
                *known = known.max(*cost);
            }
        }
        found
    }

    /// All reads have a structure: which are the base table's keys, and in which indexes are the others?
    fn record_if_cheapest(
        &mut self,
        chosen: &[(usize, usize)],
        used: &BTreeMap<usize, Requirements>,
        cost: f64,
    ) {
        let groups = self.groups(used);
        self.is_heuristic |= groups.iter().flatten().any(|group| group.is_heuristic);
        for (indexes, best) in self.best.iter_mut().enumerate() {
            let cheapest = |placements: &Vec<GroupPlacement>| {
                let fits = placements.iter().filter(|group| group.indexes <= indexes);
                fits.min_by(|a, b| a.cost.total_cmp(&b.cost)).cloned()
            };
            let all: Option<Vec<GroupPlacement>> = groups.iter().map(cheapest).collect();
            let Some(all) = all else { continue };
            let sum = cost + all.iter().map(|group| group.cost).sum::<f64>();
            if best.as_ref().is_none_or(|best| sum < best.cost - 1e-9) {
                let slots = all.into_iter().flat_map(|group| group.slots).collect();
                *best = Some(Best {
                    cost: sum,
                    reads: chosen.to_vec(),
                    slots,
                });
            }
        }
    }

    /// Ways to place the structures that are used, for each group of those with common item types.
    fn groups(&self, used: &BTreeMap<usize, Requirements>) -> Vec<Vec<GroupPlacement>> {
        let groups = connected(used.keys().copied(), |structure, other| {
            self.have_common_type(*structure, *other)
        });
        let groups = groups.into_iter().map(|mut group| {
            group.sort_unstable();
            self.placements(&group, used)
        });
        groups.collect()
    }

    fn have_common_type(&self, structure: usize, other: usize) -> bool {
        let others = &self.problem.structures[other].types;
        let mut types = self.problem.structures[structure].types.iter();
        types.any(|known| others.contains(known))
    }

    /// Ways to place a group: for each set of structures that are the base table's keys, the fewest indexes for the others.
    fn placements(
        &self,
        group: &[usize],
        used: &BTreeMap<usize, Requirements>,
    ) -> Vec<GroupPlacement> {
        let costs = |at: usize| &self.problem.structures[at];
        let needs_base_table = |at: &usize| used.get(at).is_some_and(|one| one.needs_base_table);
        let needs_index = |at: &usize| used.get(at).is_some_and(|one| one.needs_index);
        let fixed: Vec<usize> = group.iter().copied().filter(needs_base_table).collect();
        let is_free = |set: &[usize], at: usize| {
            let mut others = set.iter();
            others.all(|other| !self.have_common_type(*other, at))
        };
        let others: Vec<usize> = group
            .iter()
            .copied()
            .filter(|at| !needs_base_table(at) && !needs_index(at))
            .filter(|at| costs(*at).can_be_base_table && is_free(&fixed, *at))
            .collect();
        let is_heuristic = others.len() > MAX_EXACT_GROUP;
        let mut sets: Vec<Vec<usize>> = vec![fixed.clone()];
        if is_heuristic {
            let index_cost = |at: usize| self.index_cost(at, used);
            let mut by_cost = others;
            by_cost.retain(|at| costs(*at).base_table_cost <= index_cost(*at));
            by_cost.sort_by(|a, b| index_cost(*b).total_cmp(&index_cost(*a)).then(a.cmp(b)));
            let mut set = fixed;
            for at in by_cost {
                if is_free(&set, at) {
                    set.push(at);
                }
            }
            sets = vec![set];
        } else {
            for at in &others {
                let with: Vec<Vec<usize>> = sets
                    .iter()
                    .filter(|set| is_free(set, *at))
                    .map(|set| set.iter().copied().chain([*at]).collect())
                    .collect();
                sets.extend(with);
            }
        }
        let items = self.items(group.iter());
        let placements = sets.into_iter().map(|set| {
            let rest = group.iter().copied().filter(|at| !set.contains(at));
            let rest: Vec<usize> = rest.collect();
            let slots = self.assign_indexes(&rest);
            let indexes = slots.values().max().copied().unwrap_or(0);
            let in_indexes = rest
                .iter()
                .map(|at| self.index_cost(*at, used) + self.key_change_cost(*at, &set, used));
            let in_base_table = set.iter().map(|at| costs(*at).base_table_cost);
            GroupPlacement {
                is_heuristic: is_heuristic
                    || rest.len() > MAX_EXACT_GROUP && indexes > self.min_indexes(&rest),
                indexes,
                cost: items + in_indexes.sum::<f64>() + in_base_table.sum::<f64>(),
                slots: set.iter().map(|at| (*at, 0)).chain(slots).collect(),
            }
        });
        placements.collect()
    }

    /// Structures that have one item type in common: they take as many indexes at least.
    fn min_indexes(&self, rest: &[usize]) -> usize {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let structures = rest.iter().map(|at| &self.problem.structures[*at]);
        for kind in structures.flat_map(|structure| &structure.types) {
            *counts.entry(*kind).or_default() += 1;
        }
        counts.into_values().max().unwrap_or(0)
    }

    fn index_cost(&self, at: usize, used: &BTreeMap<usize, Requirements>) -> f64 {
        let extras = used.get(&at).map(|used| used.extras.values().sum::<f64>());
        self.problem.structures[at].index_cost + extras.unwrap_or(0.0)
    }

    /// What an index costs besides, where updates change the keys that these structures give items in the base table.
    fn key_change_cost(
        &self,
        at: usize,
        base_table: &[usize],
        used: &BTreeMap<usize, Requirements>,
    ) -> f64 {
        let update_costs = &self.problem.structures[at].update_costs;
        let keys = base_table
            .iter()
            .filter(|key| self.have_common_type(**key, at));
        let updates = keys.flat_map(|key| &self.problem.structures[*key].key_updates);
        let more = updates.filter_map(|write| {
            let extra = used.get(&at).and_then(|used| used.extras.get(write));
            let more = update_costs.get(write)?.key_change() - extra.copied().unwrap_or(0.0);
            Some(more.max(0.0))
        });
        more.sum()
    }

    /// An index for each, from 1: structures with an item type in common are in different ones. The fewest for up to
    /// [`MAX_EXACT_GROUP`] structures.
    fn assign_indexes(&self, rest: &[usize]) -> BTreeMap<usize, usize> {
        let mut order = rest.to_vec();
        let degree = |at: &usize| {
            rest.iter()
                .filter(|other| self.have_common_type(*at, **other))
                .count()
        };
        order.sort_by_key(|at| (std::cmp::Reverse(degree(at)), *at));
        let mut best = self.assign_within(&order, usize::MAX).unwrap_or_default();
        if rest.len() <= MAX_EXACT_GROUP {
            while let Some(fewer) = best
                .values()
                .max()
                .and_then(|most| self.assign_within(&order, most - 1))
            {
                best = fewer;
            }
        }
        best
    }

    /// Assigns indexes in this order, at most so many, by trying; the first way where the number does not matter.
    fn assign_within(&self, order: &[usize], most: usize) -> Option<BTreeMap<usize, usize>> {
        let mut found: Vec<usize> = Vec::new();
        let mut from = 1;
        while found.len() < order.len() {
            let at = order[found.len()];
            let is_taken = |index: usize| {
                let mut known = order.iter().zip(&found);
                known.any(|(other, slot)| *slot == index && self.have_common_type(at, *other))
            };
            // An index that nobody has yet is like any other such.
            let last = found.iter().max().map_or(1, |most| most + 1).min(most);
            match (from..=last).find(|index| !is_taken(*index)) {
                Some(index) => {
                    found.push(index);
                    from = 1;
                }
                None => from = found.pop()? + 1,
            }
        }
        Some(order.iter().copied().zip(found).collect())
    }
}

/// What the options of reads ask of a structure.
#[derive(Debug, Clone, Default)]
struct Requirements {
    needs_base_table: bool,
    needs_index: bool,
    extras: BTreeMap<usize, f64>,
}

/// A way to place structures that have item types in common.
#[derive(Debug, Clone)]
struct GroupPlacement {
    /// Whether not all ways were tried.
    is_heuristic: bool,
    indexes: usize,
    cost: f64,
    slots: BTreeMap<usize, usize>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What updates of the base table's keys cost in the indexes besides.
    fn moved(problem: &Problem, used: &[usize], chosen: &[&ReadOption], slots: &[usize]) -> f64 {
        let mut sum = 0.0;
        for (one, _) in used.iter().zip(slots).filter(|(_, slot)| **slot > 0) {
            for (base_table, _) in used.iter().zip(slots).filter(|(_, slot)| **slot == 0) {
                let (index, base_table) =
                    (&problem.structures[*one], &problem.structures[*base_table]);
                if !index
                    .types
                    .iter()
                    .any(|kind| base_table.types.contains(kind))
                {
                    continue;
                }
                for (write, update) in &index.update_costs {
                    let choices = chosen.iter().filter(|choice| choice.structure == *one);
                    let mut extras = choices.flat_map(|choice| &choice.extras);
                    let extra = extras.find(|(extra, _)| extra == write);
                    if base_table.key_updates.contains(write) {
                        let extra = extra.map_or(0.0, |extra| extra.1);
                        sum += (update.key_change() - extra).max(0.0);
                    }
                }
            }
        }
        sum
    }

    /// All choices of all reads, all sets of structures as the base table's keys, all places of the others.
    pub(crate) fn brute_force_cost(problem: &Problem) -> f64 {
        fn places(
            problem: &Problem,
            used: &[usize],
            chosen: &[&ReadOption],
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
                let refused = if slot == 0 {
                    Placement::Index
                } else {
                    Placement::BaseTable
                };
                let is_refused = own.clone().any(|choice| choice.placement == refused);
                if clashes || slot == 0 && !candidate.can_be_base_table || is_refused {
                    continue;
                }
                let mut extras: BTreeMap<usize, f64> = BTreeMap::new();
                for (extra, cost) in own.flat_map(|choice| &choice.extras) {
                    let known = extras.entry(*extra).or_default();
                    *known = known.max(*cost);
                }
                slots.push(slot);
                let more = if slot == 0 {
                    candidate.base_table_cost
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
            chosen: &mut Vec<&'p ReadOption>,
            cost: f64,
            best: &mut f64,
        ) {
            let Some(choices) = problem.reads.get(at) else {
                let mut distinct: Vec<usize> =
                    chosen.iter().map(|choice| choice.structure).collect();
                distinct.sort_unstable();
                distinct.dedup();
                let has = |kind: &usize| {
                    let mut used = distinct.iter();
                    used.any(|at| problem.structures[*at].types.contains(kind))
                };
                let items = problem.item_costs.iter().filter(|(kind, _)| has(kind));
                let cost = cost + items.map(|(_, cost)| cost).sum::<f64>();
                places(problem, &distinct, chosen, &mut Vec::new(), best, cost);
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
            let structures: Vec<StructureCost> = (0..random.usize(1..=6))
                .map(|_| {
                    let mut own: Vec<usize> = (0..types).filter(|_| random.bool()).collect();
                    if own.is_empty() {
                        own.push(random.usize(0..types));
                    }
                    let update_costs: BTreeMap<usize, UpdateCost> = (0..3)
                        .map(|write| {
                            let in_place = f64::from(random.u8(0..3));
                            let key_changed = in_place + f64::from(random.u8(0..9));
                            let update = UpdateCost {
                                in_place,
                                key_changed,
                            };
                            (write, update)
                        })
                        .collect();
                    let owns: f64 = update_costs.values().map(|update| update.in_place).sum();
                    StructureCost {
                        types: own,
                        can_be_base_table: random.bool(),
                        index_cost: owns + f64::from(random.u8(0..12)),
                        base_table_cost: f64::from(random.u8(0..8)),
                        key_updates: (0..3).filter(|_| random.u8(0..4) == 0).collect(),
                        update_costs,
                    }
                })
                .collect();
            let reads = (0..random.usize(1..=4)).map(|_| {
                let choices = (0..random.usize(1..=3)).map(|_| ReadOption {
                    structure: random.usize(0..structures.len()),
                    cost: f64::from(random.u8(0..30)),
                    placement: match random.u8(0..6) {
                        0 => Placement::BaseTable,
                        1 => Placement::Index,
                        _ => Placement::Any,
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
                item_costs: (0..types)
                    .map(|kind| (kind, f64::from(random.u8(0..9))))
                    .collect(),
                index_price: f64::from(random.u8(0..10)),
                most_indexes: random.usize(1..=3),
            };
            let found = solve(&problem);
            let best = brute_force_cost(&problem);
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
    fn of_one_type(structures: usize, reads: Vec<Vec<ReadOption>>, most_indexes: usize) -> Problem {
        let structure = |at: usize| StructureCost {
            types: vec![0],
            can_be_base_table: at < 3,
            index_cost: 1.0,
            ..StructureCost::default()
        };
        Problem {
            reads,
            structures: (0..structures).map(structure).collect(),
            item_costs: BTreeMap::new(),
            index_price: 1.0,
            most_indexes,
        }
    }

    fn choice(structure: usize, cost: f64, placement: Placement) -> ReadOption {
        ReadOption {
            structure,
            cost,
            placement,
            extras: Vec::new(),
        }
    }

    #[test]
    fn strong_reads_that_exclude_each_other_do_not_end_the_search() {
        let strong = |own| {
            vec![
                choice(own, 1.0, Placement::BaseTable),
                choice(2, 9.0, Placement::BaseTable),
            ]
        };
        let others = (0..14).map(|read| {
            let choices = (0..4).map(|at| choice(3 + (read + at) % 14, 1.0, Placement::Any));
            choices.collect()
        });
        let reads = [strong(0), strong(1)].into_iter().chain(others).collect();
        let found = solve(&of_one_type(17, reads, 20));
        assert!(found.reads.iter().all(Option::is_some), "{found:?}");
    }

    #[test]
    fn where_not_all_reads_fit_the_others_are_served() {
        let reads = (0..25).map(|read| vec![choice(read, 1.0, Placement::Any)]);
        let found = solve(&of_one_type(25, reads.collect(), 20));
        assert_eq!(found.reads.iter().flatten().count(), 21, "{found:?}");
    }

    #[test]
    fn a_search_that_is_cut_short_says_what_it_may_have_missed() {
        let structures: Vec<StructureCost> = (0..60)
            .map(|at| StructureCost {
                types: vec![0],
                can_be_base_table: at == 0,
                index_cost: 1.0 + f64::from(at % 7),
                ..StructureCost::default()
            })
            .collect();
        let reads = (0..30).map(|read| {
            let choices = (0..4).map(|at| choice((read * 7 + at * 13) % 60, 1.0, Placement::Any));
            choices.collect()
        });
        let problem = Problem {
            reads: reads.collect(),
            structures,
            item_costs: BTreeMap::new(),
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
