//! Ways to store items so that a Query finds them: what stands in the partition key and in the sort key, by item type.

use dynafold_mapping::starter::owner;
use dynafold_relational::catalog::{Catalog, Column, DataType, Table, TypeFamily};

use crate::ask::{Ask, Equal, When, is_one_row};
use crate::path::Path;

/// A part of a key: a column, and how its values are written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyPart {
    /// The column.
    pub(crate) path: Path,
    /// Whether it is written in lower case.
    pub(crate) folds: bool,
    /// Whether its numbers count down.
    pub(crate) reversed: bool,
}

/// How the items of one item type stand.
#[derive(Debug, Clone)]
pub(crate) struct Part<'c> {
    /// The item type's table.
    pub(crate) table: &'c Table,
    /// The partition key; nothing where one value gathers all.
    pub(crate) partition: Vec<KeyPart>,
    /// The sort key.
    pub(crate) sort: Vec<KeyPart>,
    /// The columns of it that items are to be sorted by.
    pub(crate) sorted: Vec<Path>,
    /// Whether a separator ends it: a range of its last column needs something behind the values.
    pub(crate) is_ended: bool,
}

/// A way to store items: of one type, or of a parent and its children in one item collection. It stands in the table's own
/// key or in an index.
#[derive(Debug, Clone)]
pub(crate) struct Structure<'c> {
    /// The item types: in a collection the parent first.
    pub(crate) parts: Vec<Part<'c>>,
    /// Conditions that the items meet: a sparse index.
    pub(crate) when: Vec<When>,
    /// The statement after whose name the one partition key value is called, where there is one for all.
    pub(crate) named: Option<String>,
}

impl Part<'_> {
    fn same(&self, other: &Self) -> bool {
        self.table.name == other.table.name
            && self.partition == other.partition
            && self.sort == other.sort
            && self.sorted == other.sorted
            && self.is_ended == other.is_ended
    }

    /// What stands behind a part of the sort key that another part follows: a sign below all others where the order of texts
    /// counts, so that `Ann` comes before `Ann Lee`.
    pub(crate) fn separator(&self, at: usize, catalog: &Catalog) -> char {
        let key = self
            .sort
            .get(at)
            .filter(|key| self.sorted.contains(&key.path));
        let column = key.and_then(|key| key.path.find(self.table, catalog));
        if column.is_some_and(|(_, column)| is_loose(column)) {
            '\u{1}'
        } else {
            '#'
        }
    }
}

impl Structure<'_> {
    /// Whether two store the same items in the same way.
    #[must_use]
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.when == other.when
            && self.parts.len() == other.parts.len()
            && self
                .parts
                .iter()
                .zip(&other.parts)
                .all(|(one, other)| one.same(other))
            && (self.named == other.named
                || self.parts.iter().any(|part| !part.partition.is_empty()))
    }

    /// Whether it can be the table's own key: each row has all of it, and the sort key tells rows apart without
    /// putting text where the order counts.
    #[must_use]
    pub(crate) fn can_be_home(&self, catalog: &Catalog) -> bool {
        self.when.is_empty()
            && self.parts.iter().all(|part| {
                let mut keys = part.partition.iter().chain(&part.sort);
                let all_there = keys.all(|key| !key.path.may_be_null(part.table, catalog));
                let held = part.partition.iter().chain(&part.sort);
                let held: Vec<Path> = held
                    .filter(|key| !key.folds)
                    .map(|key| key.path.clone().shortened())
                    .collect();
                let mut row_key = part.table.row_key().iter();
                let tells_apart = row_key.all(|column| held.contains(&Path::own(column)));
                all_there && tells_apart
            })
    }
}

/// What a read of one item type needs of a key.
fn key_part(equal: &Equal) -> KeyPart {
    KeyPart {
        path: equal.path.clone(),
        folds: equal.folds,
        reversed: false,
    }
}

/// Whether values of a column are as long as they like: text before something else breaks the order.
#[must_use]
pub(crate) fn is_loose(column: &Column) -> bool {
    column.data_type.family() == TypeFamily::Text && !matches!(column.data_type, DataType::Uuid)
        || column.data_type.family() == TypeFamily::Any
}

fn is_integer(table: &Table, path: &Path, catalog: &Catalog) -> bool {
    let found = path.find(table, catalog);
    found.is_some_and(|(_, column)| matches!(column.data_type, DataType::Integer { .. }))
}

/// Whether a read goes backwards: as the first column says that is no whole number, whose order can be turned.
#[must_use]
pub(crate) fn descends(ask: &Ask<'_>, catalog: &Catalog) -> bool {
    let mut order = ask.order.iter();
    let fixed = order.find(|(path, _)| !is_integer(ask.root, path, catalog));
    fixed
        .or(ask.order.first())
        .is_some_and(|(_, descends)| *descends)
}

/// The columns that a read sorts by, each with whether its numbers count down; the first says which way the table is
/// read. `None` where the directions differ and the column cannot be turned.
fn sorted(ask: &Ask<'_>, catalog: &Catalog) -> Option<Vec<KeyPart>> {
    let descends = descends(ask, catalog);
    let parts = ask.order.iter().map(|(path, down)| {
        let reversed = *down != descends;
        (!reversed || is_integer(ask.root, path, catalog)).then(|| KeyPart {
            path: path.clone(),
            folds: false,
            reversed,
        })
    });
    parts.collect()
}

/// The columns of a table's key that a part does not hold yet.
fn rest_of_key(table: &Table, held: &[&[KeyPart]]) -> Vec<KeyPart> {
    let is_held = |path: &Path| {
        let mut all = held.iter().flat_map(|parts| parts.iter());
        all.any(|key| key.path.clone().shortened() == *path && !key.folds)
    };
    let columns = table.row_key().iter().map(|column| Path::own(column));
    let rest = columns.filter(|path| !is_held(path));
    rest.map(|path| KeyPart {
        path,
        folds: false,
        reversed: false,
    })
    .collect()
}

/// A structure that serves a read with these columns in the partition key, and the others that are equal in the sort key.
fn rows<'c>(
    ask: &Ask<'c>,
    partition: Vec<KeyPart>,
    partitions: &[Vec<KeyPart>],
    name: &str,
    catalog: &Catalog,
) -> Option<Structure<'c>> {
    let equal: Vec<KeyPart> = ask.equal.iter().map(key_part).collect();
    let rest = equal.iter().filter(|key| !partition.contains(key));
    let mut sort: Vec<KeyPart> = rest.cloned().collect();
    // What reads with fewer columns ask for stands first: one key then serves them all.
    sort.sort_by_key(|key| {
        let fewer = partitions.iter().filter(|other| {
            other.contains(key)
                && partition.iter().all(|key| other.contains(key))
                && other.iter().all(|key| equal.contains(key))
        });
        fewer.map(Vec::len).min().unwrap_or(usize::MAX)
    });
    let is_one_row = is_one_row(ask);
    let mut sorted_by = Vec::new();
    if !is_one_row {
        let order = sorted(ask, catalog)?;
        let range = ask.range.iter().map(|range| KeyPart {
            path: range.path.clone(),
            folds: false,
            reversed: false,
        });
        let range: Vec<KeyPart> = range.collect();
        if let Some(first) = order.first()
            && let Some(range) = range.first()
            && first.path != range.path
        {
            return None;
        }
        let is_known = |key: &KeyPart| ask.equal.iter().any(|equal| equal.path == key.path);
        let wanted = if order.is_empty() { range } else { order };
        sorted_by = wanted.iter().map(|key| key.path.clone()).collect();
        sort.extend(wanted.into_iter().filter(|key| !is_known(key)));
    }
    // Behind text that is sorted by stands nothing, unless a range needs an end.
    let last = sort.last().and_then(|key| key.path.find(ask.root, catalog));
    let ends_in_text = last.is_some_and(|(_, column)| is_loose(column));
    if !ends_in_text || ask.range.is_some() {
        let mut rest = rest_of_key(ask.root, &[&partition, &sort]);
        // Equal ones come in the order of the key, also where the table is read backwards.
        for key in &mut rest {
            key.reversed =
                !is_one_row && descends(ask, catalog) && is_integer(ask.root, &key.path, catalog);
        }
        sort.extend(rest);
    }
    let last = sort.last().map(|key| &key.path);
    let is_ended = ask
        .range
        .as_ref()
        .is_some_and(|range| Some(&range.path) == last);
    let is_everything = partition.is_empty();
    Some(Structure {
        parts: vec![Part {
            table: ask.root,
            partition,
            sort,
            sorted: sorted_by,
            is_ended,
        }],
        when: ask.when.clone(),
        named: is_everything.then(|| name.to_owned()),
    })
}

/// Why no structure serves a read.
#[must_use]
pub(crate) fn reason(ask: &Ask<'_>, catalog: &Catalog) -> String {
    match (sorted(ask, catalog), &ask.range) {
        (None, _) => "sorts by some columns upwards and by others downwards".to_owned(),
        (Some(_), Some(range)) => format!(
            "asks for a range of {} and sorts by another column",
            range.path.column
        ),
        (Some(_), None) => "needs a key that no item type can have".to_owned(),
    }
}

/// The ways to serve a read. `partitions`: of the other reads of the same item type, what is equal in each.
#[must_use]
pub(crate) fn structures<'c>(
    ask: &Ask<'c>,
    partitions: &[Vec<KeyPart>],
    name: &str,
    catalog: &Catalog,
) -> Vec<Structure<'c>> {
    if !ask.children.is_empty() {
        return vec![collection(ask, catalog)];
    }
    let equal: Vec<KeyPart> = ask.equal.iter().map(key_part).collect();
    let mut found: Vec<Structure<'c>> = Vec::new();
    let smaller = partitions.iter().filter(|other| {
        !other.is_empty()
            && other.len() < equal.len()
            && other.iter().all(|key| equal.contains(key))
    });
    // A composite key may stand apart: its first column gathers, the others tell apart.
    let own: Option<Vec<KeyPart>> = is_one_row(ask).then(|| {
        let first = ask.root.row_key().first().map(|column| Path::own(column));
        equal
            .iter()
            .filter(|key| Some(&key.path) == first.as_ref())
            .cloned()
            .collect()
    });
    let own = own.filter(|own: &Vec<KeyPart>| !own.is_empty() && own.len() < equal.len());
    for partition in std::iter::once(&equal).chain(own.as_ref()).chain(smaller) {
        let Some(structure) = rows(ask, partition.clone(), partitions, name, catalog) else {
            continue;
        };
        // Text that stands last leaves rows apart only with the key behind it.
        let mut whole = structure.clone();
        for part in &mut whole.parts {
            let rest = rest_of_key(part.table, &[&part.partition, &part.sort]);
            let texts = part.sort.iter().map(|key| key.path.clone());
            let texts: Vec<Path> = texts.filter(|path| !part.sorted.contains(path)).collect();
            if !rest.is_empty() && !part.is_ended {
                part.sorted.extend(texts);
                part.sort.extend(rest);
            }
        }
        for structure in [structure, whole] {
            if !found.iter().any(|known| known.same(&structure)) {
                found.push(structure);
            }
        }
    }
    found
}

fn collection<'c>(ask: &Ask<'c>, catalog: &Catalog) -> Structure<'c> {
    let key = ask.root.row_key().iter();
    let partition: Vec<KeyPart> = key
        .map(|column| KeyPart {
            path: Path::own(column),
            folds: false,
            reversed: false,
        })
        .collect();
    let mut parts = vec![Part {
        table: ask.root,
        partition,
        sort: Vec::new(),
        sorted: Vec::new(),
        is_ended: false,
    }];
    for child in &ask.children {
        let partition = ask.root.row_key().iter().map(|column| {
            let steps = child.way.clone();
            let column = column.clone();
            KeyPart {
                path: Path { steps, column }.spelled(child.table, catalog),
                folds: false,
                reversed: false,
            }
        });
        let partition: Vec<KeyPart> = partition.collect();
        let order = child.order.iter().map(|(path, _)| KeyPart {
            path: path.clone(),
            folds: false,
            reversed: false,
        });
        let mut sort: Vec<KeyPart> = order.filter(|key| !partition.contains(key)).collect();
        let rest = rest_of_key(child.table, &[&partition, &sort]);
        sort.extend(rest);
        parts.push(Part {
            table: child.table,
            partition,
            sort,
            sorted: child.order.iter().map(|(path, _)| path.clone()).collect(),
            is_ended: false,
        });
    }
    Structure {
        parts,
        when: Vec::new(),
        named: None,
    }
}

/// Whether a structure answers a read, with the part that does; a collection is answered by one that has all of its parts.
#[must_use]
pub(crate) fn serves(
    structure: &Structure<'_>,
    ask: &Ask<'_>,
    name: &str,
    catalog: &Catalog,
) -> Option<usize> {
    if !ask.children.is_empty() {
        let wanted = collection(ask, catalog);
        return (structure.same(&wanted)).then_some(0);
    }
    if structure.when != ask.when {
        return None;
    }
    let equal: Vec<KeyPart> = ask.equal.iter().map(key_part).collect();
    let order = if is_one_row(ask) {
        Vec::new()
    } else {
        sorted(ask, catalog)?
    };
    structure.parts.iter().position(|part| {
        if part.table.name != ask.root.name || !part.partition.iter().all(|key| equal.contains(key))
        {
            return false;
        }
        if part.partition.is_empty() && structure.named.as_deref() != Some(name) {
            return false;
        }
        let rest = equal
            .iter()
            .filter(|key| !part.partition.contains(key))
            .count();
        let (first, then) = part.sort.split_at(rest.min(part.sort.len()));
        if first.len() < rest || !first.iter().all(|key| equal.contains(key)) {
            return false;
        }
        let is_known = |key: &&KeyPart| !equal.iter().any(|equal| equal.path == key.path);
        let wanted: Vec<&KeyPart> = order.iter().filter(is_known).collect();
        let range = ask.range.as_ref();
        let is_bounded = range.is_none_or(|_| then.len() > 1 || part.is_ended);
        let begins_with_range = is_bounded
            && range.is_none_or(|range| {
                then.first()
                    .is_some_and(|key| key.path == range.path && !key.reversed)
            });
        let is_ordered = wanted.len() <= then.len()
            && wanted.iter().zip(then).all(|(wanted, key)| *wanted == key);
        // Text that something follows sorts otherwise than the text alone.
        let is_exact = wanted.is_empty() || is_one_row(ask) || {
            let mut loose = then
                .iter()
                .take(wanted.len())
                .enumerate()
                .filter(|(_, key)| {
                    key.path
                        .find(part.table, catalog)
                        .is_some_and(|(_, column)| is_loose(column))
                });
            loose.all(|(at, key)| at + 1 == then.len() || part.sorted.contains(&key.path))
        };
        begins_with_range && is_ordered && is_exact
    })
}

/// The part of an item type's own key: beside its owner, or on its own.
pub(crate) fn own_part<'c>(catalog: &Catalog, table: &'c Table) -> Part<'c> {
    let part = |column: &String| KeyPart {
        path: Path::own(column),
        folds: false,
        reversed: false,
    };
    let row_key = table.row_key();
    let partition: Vec<KeyPart> = match owner(catalog, table) {
        Some((key, parent)) => {
            let own = parent.row_key().iter().filter_map(|column| {
                let place = key
                    .referenced_columns
                    .iter()
                    .position(|there| there == column)?;
                key.columns.get(place)
            });
            own.map(part).collect()
        }
        None => row_key.iter().map(part).collect(),
    };
    let rest = row_key
        .iter()
        .map(part)
        .filter(|key| !partition.contains(key));
    let sort: Vec<KeyPart> = rest.collect();
    Part {
        table,
        partition,
        sort,
        sorted: Vec::new(),
        is_ended: false,
    }
}
