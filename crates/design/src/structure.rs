//! Ways to store items so that a Query finds them: what stands in the partition key and in the sort key, by item type.

use std::collections::BTreeSet;

use dynafold_relational::catalog::{Catalog, Column, DataType, Dbms, Table, UniqueKey};

use crate::ask::{Ask, Asked, Equal, When, is_one_row};
use crate::owner::owner;
use crate::path::{Path, Step};
use crate::pins::Pins;

/// A part of a key: a column, and how its values are written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyPart {
    pub(crate) path: Path,
    /// Whether it is written in lower case.
    pub(crate) folds: bool,
    /// Whether its numbers count down.
    pub(crate) reversed: bool,
}

impl KeyPart {
    /// A column as it is.
    pub(crate) fn of(path: Path) -> Self {
        Self {
            path,
            folds: false,
            reversed: false,
        }
    }

    /// A column that a read holds equal to something.
    pub(crate) fn of_equal(equal: &Equal) -> Self {
        Self {
            folds: equal.folds,
            ..Self::of(equal.path.clone())
        }
    }
}

/// How the items of one item type stand.
#[derive(Debug, Clone)]
pub(crate) struct Part<'c> {
    /// The item type's table.
    pub(crate) table: &'c Table,
    /// The partition key; nothing where one value gathers all.
    pub(crate) partition: Vec<KeyPart>,
    pub(crate) sort: Vec<KeyPart>,
    /// The columns of it that items are to be sorted by.
    pub(crate) sorted: Vec<Path>,
    /// Whether a separator ends it: a range of its last column needs something behind the values.
    pub(crate) is_ended: bool,
    /// Whether its items hold the large columns of the rows of their parent's.
    pub(crate) is_same_row: bool,
    /// Whether its sort key has no words of its own, so that texts keep their order where keys are escaped. Its items share a partition
    /// key value of an index with no others.
    pub(crate) is_bare: bool,
}

impl<'c> Part<'c> {
    /// The key alone, without an order.
    fn unsorted(table: &'c Table, partition: Vec<KeyPart>, sort: Vec<KeyPart>) -> Self {
        Self {
            table,
            partition,
            sort,
            sorted: Vec::new(),
            is_ended: false,
            is_same_row: false,
            is_bare: false,
        }
    }
}

/// A way to store items: of one type, or of a parent and its children in one item collection. It stands in the table's own
/// key or in an index.
#[derive(Debug, Clone)]
pub(crate) struct Structure<'c> {
    /// The item types: in a collection the parent first.
    pub(crate) parts: Vec<Part<'c>>,
    /// Conditions that the items meet: a sparse index.
    pub(crate) when: Vec<When>,
    /// The statement after whose name the one partition key value is called, where there is one for all: of several the first by
    /// name.
    pub(crate) named: Option<String>,
    /// Over how many partition key values each one is spread; 1 where it is not.
    pub(crate) shards: u64,
    /// Whether its parts are the two items of each row, under one key of an index.
    pub(crate) is_twin: bool,
}

impl Part<'_> {
    /// The parts of its partition key and its sort key.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &KeyPart> {
        self.partition.iter().chain(&self.sort)
    }

    /// What decides in which shard an item stands: the last column of its row's key, which tells rows apart.
    pub(crate) fn shard_key(&self) -> Option<KeyPart> {
        let last = self.table.row_key().last();
        last.map(|column| KeyPart::of(Path::own(column)))
    }

    /// Whether each partition key value holds one item of the type at most.
    pub(crate) fn is_row(&self) -> bool {
        let mut key = self.table.row_key().iter();
        !self.table.row_key().is_empty()
            && key.all(|column| {
                let mut held = self.partition.iter();
                held.any(|part| part.path == Path::own(column) && !part.folds)
            })
    }

    /// Whether no two rows have the same key.
    fn tells_apart(&self) -> bool {
        let held = self.keys().filter(|key| !key.folds);
        let held: Vec<Path> = held.map(|key| key.path.clone().shortened()).collect();
        let mut row_key = self.table.row_key().iter();
        row_key.all(|column| held.contains(&Path::own(column)))
    }

    /// Whether its key is made of the columns of a unique key and no others, so that it enforces that key.
    fn is_unique_key(&self, catalog: &Catalog) -> bool {
        let mut keys = self.table.unique_keys.iter();
        keys.any(|key| self.enforces(key, catalog))
    }

    /// Whether its key is made of the columns of this unique key and no others.
    pub(crate) fn enforces(&self, key: &UniqueKey, catalog: &Catalog) -> bool {
        let own = self.keys().map(|one| {
            let is_own = one.path.steps.is_empty() && !one.folds;
            is_own.then_some(&one.path.column)
        });
        let held: Option<BTreeSet<&String>> = own.collect();
        let columns: BTreeSet<&String> = key.columns.iter().collect();
        let is_kept = |name: &String| {
            let column = self.table.column(name);
            column.is_some_and(|column| is_exact(column, catalog.dbms))
        };
        !key.coarse
            && held == Some(columns)
            && self.table.is_unique(&key.columns, catalog.dbms)
            && key.columns.iter().all(is_kept)
    }

    /// Whether another one has the same items under the same partition key values.
    fn gathers(&self, other: &Self) -> bool {
        self.table.name == other.table.name && self.partition == other.partition
    }

    fn same(&self, other: &Self) -> bool {
        self.gathers(other)
            && self.sort == other.sort
            && self.sorted == other.sorted
            && self.is_ended == other.is_ended
            && self.is_bare == other.is_bare
    }

    /// What stands behind a part of the sort key that another part follows: a sign below all others where the order of texts
    /// counts, so that `Ann` comes before `Ann Lee`; above the one for NULL where that comes before the empty text.
    pub(crate) fn separator(&self, at: usize, catalog: &Catalog) -> char {
        let key = self
            .sort
            .get(at)
            .filter(|key| self.sorted.contains(&key.path));
        if key.is_some_and(|key| needs_end(&key.path, self.table, catalog)) {
            '\u{2}'
        } else if self.is_bare || key.is_some_and(|key| key.path.is_loose(self.table, catalog)) {
            '\u{1}'
        } else {
            '#'
        }
    }
}

impl<'c> Structure<'c> {
    /// One of all items, and for several reads.
    pub(crate) fn of_parts(parts: Vec<Part<'c>>) -> Self {
        Self {
            parts,
            when: Vec::new(),
            named: None,
            shards: 1,
            is_twin: false,
        }
    }

    /// Whether it is a parent with its children.
    pub(crate) fn is_collection(&self) -> bool {
        self.parts.len() > 1 && !self.is_twin
    }

    /// Whether a part's items stand before the parent's: the large columns of its row. Behind that stand other children, or the
    /// parent's sort key goes on behind its name.
    pub(crate) fn stands_before(&self, part: &Part<'_>) -> bool {
        part.is_same_row && (self.parts.len() > 2 || self.goes_on())
    }

    /// Whether the parent's sort key has more than its name.
    pub(crate) fn goes_on(&self) -> bool {
        let parent = self.parts.first();
        parent.is_some_and(|parent| !parent.sort.is_empty())
    }

    /// Whether a read of a collection reads the items of one of its children.
    pub(crate) fn reads_child(&self, ask: &Ask<'_>, part: &Part<'_>) -> bool {
        let mut children = ask.children.iter();
        !self.parts.iter().any(|one| self.stands_before(one))
            || children.any(|child| child.is_same_row == part.is_same_row)
    }

    /// The part by whose table a part's key is made: the two items of a row have one key.
    pub(crate) fn keyed<'s>(&'s self, part: &'s Part<'c>) -> &'s Part<'c> {
        self.parts.first().filter(|_| self.is_twin).unwrap_or(part)
    }

    /// Whether two store the same items in the same way.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let mut parts = self.parts.iter().zip(&other.parts);
        self.when == other.when
            && self.shards == other.shards
            && self.is_twin == other.is_twin
            && self.parts.len() == other.parts.len()
            && parts.all(|(one, other)| one.same(other))
    }

    /// Whether it can be the table's own key: each row has all of it, and the sort key tells rows apart without
    /// putting text where the order counts.
    pub(crate) fn can_be_base_table(&self, catalog: &Catalog) -> bool {
        self.when.is_empty()
            && !self.is_twin
            && self.parts.iter().all(|part| {
                let may_be_null = |key: &KeyPart| key.path.may_be_null(part.table, catalog);
                !part.keys().any(may_be_null) && part.tells_apart() && !part.is_bare
            })
    }
}

impl Structure<'_> {
    /// The same without the columns of its rows' own key behind those of a unique key, which tells rows apart alone. `asks`: the reads
    /// that it serves. `None` where all columns are needed.
    pub(crate) fn by_unique_key(&self, asks: &[&Ask<'_>], catalog: &Catalog) -> Option<Self> {
        // Which shard an item stands in, the row's own key says.
        let ([part, others @ ..], 1) = (self.parts.as_slice(), self.shards) else {
            return None;
        };
        if !others.iter().all(|other| other.is_same_row) {
            return None;
        }
        let is_of_row = |key: &&KeyPart| {
            key.path.steps.is_empty() && part.table.row_key().contains(&key.path.column)
        };
        let behind = part.sort.iter().rev().take_while(is_of_row).count();
        let mut shorter = (1..=behind).rev().flat_map(|left_out| {
            [false, true].map(|is_ended| {
                let mut shorter = self.clone();
                for part in &mut shorter.parts {
                    part.sort.truncate(part.sort.len().saturating_sub(left_out));
                    part.is_ended = is_ended;
                }
                shorter
            })
        });
        shorter.find(|one| {
            let mut parts = one.parts.iter();
            parts.all(|part| part.is_unique_key(catalog))
                && asks.iter().all(|ask| serves(one, ask, catalog).is_some())
        })
    }
}

/// Whether values of a column are equal to the database just where their texts in a key are.
fn is_exact(column: &Column, dbms: Dbms) -> bool {
    let is_of_type = match &column.data_type {
        DataType::Integer { .. } => true,
        DataType::Text { .. } => column.is_plain_text(dbms),
        // SQLite has times in several forms, and items have them in one.
        DataType::Uuid
        | DataType::Boolean
        | DataType::Date
        | DataType::Timestamp { .. }
        | DataType::Decimal { .. }
        | DataType::Enum { .. } => dbms == Dbms::Postgres,
        _ => false,
    };
    is_of_type && !column.nullable && !column.insensitive && column.ambiguous_charset.is_none()
}

/// Whether something has to stand behind a text that is sorted by: the sign for NULL sorts before the empty text by what
/// follows both.
fn needs_end(path: &Path, table: &Table, catalog: &Catalog) -> bool {
    catalog.dbms != Dbms::Postgres
        && path.may_be_null(table, catalog)
        && path.is_loose(table, catalog)
}

/// Those of these columns whose order depends on what stands behind them.
fn loose<'p>(paths: impl Iterator<Item = &'p Path>, table: &Table, catalog: &Catalog) -> Vec<Path> {
    let loose = paths.filter(|path| path.is_loose(table, catalog));
    loose.cloned().collect()
}

fn is_integer(table: &Table, path: &Path, catalog: &Catalog) -> bool {
    let column = path.column_of(table, catalog);
    column.is_some_and(|column| matches!(column.data_type, DataType::Integer { .. }))
}

/// Whether a read goes backwards: as the first column says that is no whole number, whose order can be turned.
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
    if ask.unsortable.is_some() && !ask.order.is_empty() {
        return None;
    }
    let descends = descends(ask, catalog);
    let parts = ask.order.iter().map(|(path, down)| {
        let reversed = *down != descends;
        let mut ranges = ask.range.iter();
        let folds = ranges.any(|range| range.folds && range.path == *path);
        (!reversed || is_integer(ask.root, path, catalog)).then(|| KeyPart {
            path: path.clone(),
            folds,
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
    rest.map(KeyPart::of).collect()
}

/// A structure that serves a read with these columns in the partition key, and the others that are equal in the sort key.
fn rows<'c>(
    ask: &Ask<'c>,
    partition: Vec<KeyPart>,
    partitions: &BTreeSet<Vec<KeyPart>>,
    name: &str,
    catalog: &Catalog,
) -> Option<Structure<'c>> {
    let equal: Vec<KeyPart> = ask.equal.iter().map(KeyPart::of_equal).collect();
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
            folds: range.folds,
            ..KeyPart::of(range.path.clone())
        });
        let range: Vec<KeyPart> = range.collect();
        if let Some(first) = order.first()
            && let Some(range) = range.first()
            && first.path != range.path
        {
            return None;
        }
        let wanted = if order.is_empty() { range } else { order };
        sorted_by = loose(wanted.iter().map(|key| &key.path), ask.root, catalog);
        sort.extend(wanted.into_iter().filter(|key| !ask.has_equal(&key.path)));
    }
    // Behind text that is sorted by stands nothing, unless a range needs an end.
    let last = sort.last();
    let ends_in_text = last.is_some_and(|key| key.path.is_loose(ask.root, catalog));
    if !ends_in_text || ask.range.is_some() {
        let mut rest = rest_of_key(ask.root, &[&partition, &sort]);
        // Equal ones come in the order of the key, also where the table is read backwards.
        for key in &mut rest {
            key.reversed =
                !is_one_row && descends(ask, catalog) && is_integer(ask.root, &key.path, catalog);
        }
        sort.extend(rest);
    }
    let is_ended = sort.last().map(|key| &key.path).is_some_and(|last| {
        let is_range = ask.range.as_ref().is_some_and(|range| range.path == *last);
        is_range || sorted_by.contains(last) && needs_end(last, ask.root, catalog)
    });
    let is_everything = partition.is_empty();
    let part = Part {
        sorted: sorted_by,
        is_ended,
        is_bare: ask.is_bare,
        ..Part::unsorted(ask.root, partition, sort)
    };
    Some(Structure {
        when: ask.when.clone(),
        named: is_everything.then(|| name.to_owned()),
        shards: ask.shards,
        ..Structure::of_parts(vec![part])
    })
}

/// Adds those that are not there yet.
pub(crate) fn add_new<'c>(
    all: &mut Vec<Structure<'c>>,
    new: impl IntoIterator<Item = Structure<'c>>,
) {
    for one in new {
        if !all.iter().any(|known| known.same(&one)) {
            all.push(one);
        }
    }
}

/// Why no structure serves a read.
pub(crate) fn reason(ask: &Ask<'_>, catalog: &Catalog) -> String {
    if let Some(column) = ask.unsortable.as_ref().filter(|_| !ask.order.is_empty()) {
        return format!("sorts by {column}");
    }
    match (sorted(ask, catalog), &ask.range) {
        (None, _) => {
            "sorts by some columns in ascending and by others in descending order".to_owned()
        }
        (Some(order), Some(range)) if order.is_empty() => format!(
            "asks for a range of {} and of another column",
            range.path.column
        ),
        (Some(_), Some(range)) => format!(
            "asks for a range of {} and sorts by another column",
            range.path.column
        ),
        (Some(_), None) => "needs a key that `design` cannot make from its columns".to_owned(),
    }
}

/// The way out for a read that no structure serves.
pub(crate) fn way_out(ask: &Ask<'_>) -> &'static str {
    let folds = ask.range.as_ref().filter(|range| range.folds);
    let is_in_lower =
        folds.is_some_and(|range| ask.order.iter().any(|(path, _)| *path == range.path));
    if is_in_lower && ask.unsortable.is_some() {
        "write `ORDER BY lower(column)`, or leave out ORDER BY and LIMIT and sort in the application"
    } else {
        "sort in the application, or filter the range there"
    }
}

/// The ways to serve a read. `partitions`: of the other reads of the same item type, what is equal in each.
pub(crate) fn structures<'c>(
    ask: &Ask<'c>,
    partitions: &BTreeSet<Vec<KeyPart>>,
    name: &str,
    catalog: &Catalog,
) -> Vec<Structure<'c>> {
    if !ask.children.is_empty() {
        return vec![collection(ask, catalog)];
    }
    let equal: Vec<KeyPart> = ask.equal.iter().map(KeyPart::of_equal).collect();
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
        add_new(&mut found, [structure, whole]);
    }
    if let Some(twin) = &ask.twin {
        for structure in &mut found {
            let other = structure.parts.first().map(|part| Part {
                table: twin.table,
                ..part.clone()
            });
            structure.parts.extend(other);
            structure.is_twin = true;
        }
    }
    found
}

fn collection<'c>(ask: &Ask<'c>, catalog: &Catalog) -> Structure<'c> {
    let key: Vec<&String> = if is_one_row(ask) {
        ask.root.row_key().iter().collect()
    } else {
        ask.equal.iter().map(|equal| &equal.path.column).collect()
    };
    let partition = key.iter().map(|column| KeyPart::of(Path::own(column)));
    let partition: Vec<KeyPart> = partition.collect();
    // By another unique key the parent has its own behind.
    let sort = rest_of_key(ask.root, &[&partition]);
    let mut parts = vec![Part::unsorted(ask.root, partition, sort)];
    for child in &ask.children {
        let partition = key.iter().map(|column| {
            let steps = child.way.clone();
            let column = (*column).clone();
            KeyPart::of(Path { steps, column }.spelled(child.table, catalog))
        });
        let partition: Vec<KeyPart> = partition.collect();
        let order = child.order.iter();
        let order = order.map(|(path, _)| KeyPart::of(path.clone()));
        let mut sort: Vec<KeyPart> = order.filter(|key| !partition.contains(key)).collect();
        let rest = rest_of_key(child.table, &[&partition, &sort]);
        sort.extend(rest);
        let order = child.order.iter().map(|(path, _)| path);
        let sorted = loose(order, child.table, catalog);
        let is_ended = sort.last().is_some_and(|key| {
            sorted.contains(&key.path) && needs_end(&key.path, child.table, catalog)
        });
        parts.push(Part {
            sorted,
            is_ended,
            is_same_row: child.is_same_row,
            ..Part::unsorted(child.table, partition, sort)
        });
    }
    Structure::of_parts(parts)
}

/// The children of a read's collection, as it has them.
pub(crate) fn children<'c>(ask: &Ask<'c>, catalog: &Catalog) -> Vec<Part<'c>> {
    if ask.children.is_empty() {
        return Vec::new();
    }
    collection(ask, catalog).parts.split_off(1)
}

/// A collection whose children stand as another structure has them, which then serves both reads. `None` where it has none of
/// them, or has them otherwise.
pub(crate) fn with_sorted<'c>(
    collection: &Structure<'c>,
    other: &Structure<'c>,
) -> Option<Structure<'c>> {
    let [part] = other.parts.as_slice() else {
        return None;
    };
    let is_plain = other.when.is_empty() && other.shards == 1 && !part.is_bare;
    let mut children = collection.parts.iter().enumerate().skip(1);
    let (place, _) =
        children.find(|(_, child)| is_plain && child.gathers(part) && !child.same(part))?;
    let mut found = collection.clone();
    let child = found.parts.get_mut(place)?;
    *child = Part {
        is_same_row: child.is_same_row,
        ..part.clone()
    };
    Some(found)
}

/// One collection in the place of two: the children of one parent that either has. `None` where they do not go together.
pub(crate) fn united<'c>(one: &Structure<'c>, other: &Structure<'c>) -> Option<Structure<'c>> {
    let (parent, another) = one.parts.first().zip(other.parts.first())?;
    let are_collections = one.parts.len() > 1 && other.parts.len() > 1;
    if !are_collections || !parent.same(another) {
        return None;
    }
    let mut united = one.clone();
    for part in &other.parts {
        let mut known = united.parts.iter();
        match known.find(|own| own.table.name == part.table.name) {
            Some(own) if own.same(part) => {}
            Some(_) => return None,
            None => united.parts.push(part.clone()),
        }
    }
    united
        .parts
        .get_mut(1..)?
        .sort_by(|a, b| a.table.name.cmp(&b.table.name));
    Some(united)
}

/// Whether a structure answers a read, with the part that does; a collection is answered by one that has all of its parts.
pub(crate) fn serves(structure: &Structure<'_>, ask: &Ask<'_>, catalog: &Catalog) -> Option<usize> {
    if !ask.children.is_empty() {
        let wanted = collection(ask, catalog);
        let mut parents = wanted.parts.iter().zip(&structure.parts);
        // That of a unique key may be without the rest of its row's.
        let is_parent = |(asked, parent): (&Part<'_>, &Part<'_>)| {
            asked.same(parent) || asked.gathers(parent) && parent.sort.is_empty()
        };
        let is_same = structure.when.is_empty() && parents.next().is_some_and(is_parent);
        let children = wanted.parts.iter().skip(1).zip(&ask.children);
        let mut has = children.map(|(part, child)| {
            // The application takes children without an order as they come.
            let mut others = structure.parts.iter().skip(1);
            others.any(|other| other.same(part) || child.order.is_empty() && other.gathers(part))
        });
        return (is_same && has.all(|has| has)).then_some(0);
    }
    if structure.is_twin != ask.twin.is_some() || ask.twin.is_some() && !ask.fetches {
        return None;
    }
    // One shard is asked where the key says which.
    let is_known_shard = || {
        let mut shards = structure.parts.iter().filter_map(Part::shard_key);
        shards.all(|key| ask.has_equal(&key.path))
    };
    if structure.when != ask.when || structure.shards != ask.shards && !is_known_shard() {
        return None;
    }
    let equal: Vec<KeyPart> = ask.equal.iter().map(KeyPart::of_equal).collect();
    let order = if is_one_row(ask) {
        Vec::new()
    } else {
        sorted(ask, catalog)?
    };
    let mut parts = structure.parts.iter().enumerate();
    parts.position(|(place, part)| {
        if part.table.name != ask.root.name || !part.partition.iter().all(|key| equal.contains(key))
        {
            return false;
        }
        // Nothing bounds a range in a bare sort key.
        if ask.is_bare && !part.is_bare || part.is_bare && ask.range.is_some() {
            return false;
        }
        let rest = equal
            .iter()
            .filter(|key| !part.partition.contains(key))
            .count();
        let (first, then) = part.sort.split_at(rest.min(part.sort.len()));
        // A parameter counts down as the key does.
        let is_equal = |key: &KeyPart| {
            let turned = KeyPart {
                reversed: false,
                ..key.clone()
            };
            let is_given =
                |one: &Equal| one.path == key.path && matches!(one.value, Asked::Parameter(_));
            equal.contains(key) || equal.contains(&turned) && ask.equal.iter().any(is_given)
        };
        if first.len() < rest || !first.iter().all(is_equal) {
            return false;
        }
        let is_known = |key: &&KeyPart| !ask.has_equal(&key.path);
        let wanted: Vec<&KeyPart> = order.iter().filter(is_known).collect();
        let range = ask.range.as_ref();
        let is_bounded = range.is_none_or(|_| then.len() > 1 || part.is_ended);
        let begins_with_range = is_bounded
            && range.is_none_or(|range| {
                then.first().is_some_and(|key| {
                    key.path == range.path && key.folds == range.folds && !key.reversed
                })
            });
        // A range of texts has an end where what stands behind a text is below all signs of texts.
        let is_range_exact = range
            .filter(|range| range.prefix.is_none())
            .is_none_or(|range| {
                !range.path.is_loose(part.table, catalog) || part.sorted.contains(&range.path)
            });
        let is_ordered = wanted.len() <= then.len()
            && wanted.iter().zip(then).all(|(wanted, key)| *wanted == key);
        // Text that something follows sorts otherwise than the text alone.
        let is_exact = wanted.is_empty() || is_one_row(ask) || {
            let sorted = then.iter().take(wanted.len()).enumerate();
            let mut loose = sorted.filter(|(_, key)| key.path.is_loose(part.table, catalog));
            loose.all(|(at, key)| {
                let is_sorted = part.sorted.contains(&key.path);
                let is_last = at + 1 == then.len();
                if needs_end(&key.path, part.table, catalog) {
                    is_sorted && (!is_last || part.is_ended)
                } else {
                    is_last || is_sorted
                }
            })
        };
        // The sort keys of a collection's children begin like their parent's.
        let mut children = structure.parts.iter().skip(1);
        let is_alone = place > 0
            || !structure.is_collection()
            || then.is_empty()
            || children.all(|child| structure.stands_before(child));
        // A limit cuts between rows where both items of each stand together.
        let is_whole = !structure.is_twin || ask.limit.is_none() || part.tells_apart();
        begins_with_range && is_range_exact && is_ordered && is_exact && is_alone && is_whole
    })
}

/// The part of an item type's own key: as it is pinned, beside its owner, or on its own.
pub(crate) fn own_part<'c>(catalog: &Catalog, table: &'c Table, pins: &Pins) -> Part<'c> {
    let of = |columns: &[String]| columns.iter().map(|column| Path::own(column)).collect();
    let paths: Vec<Path> = match (pins.get(&table.name), owner(catalog, table)) {
        (Some(pinned), _) => of(pinned),
        (None, Some((key, parent))) => {
            let step = Step {
                columns: key.columns.clone(),
                table: parent.name.clone(),
                referenced: key.referenced_columns.clone(),
            };
            let by_parent = parent.row_key().iter().map(|column| Path {
                steps: vec![step.clone()],
                column: column.clone(),
            });
            by_parent.map(|path| path.spelled(table, catalog)).collect()
        }
        (None, None) => of(table.row_key()),
    };
    let partition: Vec<KeyPart> = paths.into_iter().map(KeyPart::of).collect();
    let sort = rest_of_key(table, &[&partition]);
    Part::unsorted(table, partition, sort)
}

/// Whether a structure may be the table's own key under the pins.
pub(crate) fn is_allowed(pins: &Pins, structure: &Structure<'_>) -> bool {
    structure.parts.iter().all(|part| {
        pins.get(&part.table.name).is_none_or(|columns| {
            let held: Vec<&Path> = part.partition.iter().map(|key| &key.path).collect();
            columns.len() == held.len()
                && columns
                    .iter()
                    .all(|column| held.contains(&&Path::own(column)))
        })
    })
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::UniqueKey;

    use crate::traps::tests::{all_served, schema};

    /// The mapping of bids, of which an auction has one of each amount where that is said.
    fn of_bids(is_unique: bool, read: &str) -> String {
        let tables = "bids 9000: id, auction distinct=900 most=20, amount";
        let (mut catalog, limits) = schema(tables);
        if is_unique {
            let columns = ["auction", "amount"].map(str::to_owned).to_vec();
            catalog.tables[0].unique_keys.push(UniqueKey {
                columns,
                ..UniqueKey::default()
            });
        }
        let sql = format!(
            "-- bid (9/s)\nINSERT INTO bids (id, auction, amount) VALUES (:i, :a, :m);
            -- bids (9/s)\nSELECT id, amount FROM bids WHERE auction = :a {read};"
        );
        all_served(&catalog, &limits, &sql).mapping
    }

    #[test]
    fn a_key_of_a_unique_keys_columns_has_no_others() {
        let highest = "ORDER BY amount DESC LIMIT 9";
        for (is_unique, read, key) in [
            (true, highest, "SK: \"BIDS#{amount | ordered}\" }"),
            (false, highest, "SK: \"BIDS#{amount | ordered}#{id"),
            (
                true,
                "AND amount > :low ORDER BY amount",
                "SK: \"BIDS#{amount | ordered}#\" }",
            ),
            // What a read sorts by stays.
            (
                true,
                "ORDER BY amount DESC, id DESC LIMIT 9",
                "SK: \"BIDS#{amount | ordered}#{id",
            ),
        ] {
            let text = of_bids(is_unique, read);
            assert!(text.contains(key), "{read}: {text}");
        }
    }

    #[test]
    fn numbers_that_count_down_are_asked_for_one_by_one_too() {
        let (catalog, limits) = schema(
            "ratings 9000: id, player distinct=900 most=20, season distinct=10 most=900, kind distinct=3 most=3000",
        );
        let sql = "-- all (9/s)\nSELECT id, season, kind FROM ratings WHERE player = :p ORDER BY season DESC, kind;
            -- one (9/s)\nSELECT id FROM ratings WHERE player = :p AND season = :s AND kind = :k;";
        let text = all_served(&catalog, &limits, sql).mapping;
        assert!(text.contains("{s | ordered}#{k | desc(19)}"), "{text}");
    }

    #[test]
    fn one_unique_column_is_the_whole_key() {
        let (mut catalog, limits) = schema("pages 1000: id, slug text unique, words");
        let sql = "-- page (9/s)\nSELECT id, words FROM pages WHERE slug = :s;";
        let text = all_served(&catalog, &limits, sql).mapping;
        let key = "key: { PK: \"SLUG#{slug}\", SK: \"PAGES#\" }";
        assert!(text.contains(key), "{text}");
        // Two of its texts may be one once they are read.
        for column in &mut catalog.tables[0].columns {
            column.ambiguous_charset = Some("EUC_JP".to_owned());
        }
        let text = all_served(&catalog, &limits, sql).mapping;
        assert!(!text.contains(key), "{text}");
    }
}
