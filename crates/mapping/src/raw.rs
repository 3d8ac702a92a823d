//! A mapping as it was written: every leaf with its place, nothing checked against a schema yet.

use std::ops::Range;
use std::str::FromStr;

use dynafold_dynamodb::{
    Autoscale, Backups, Billing, KeyType, Projection, Settings, StreamView, TableClass, Throughput,
};

use super::grammar::{MAPPING, validate};
use super::model::Expired;
use super::variables::{Substitutions, substitute};
use super::yaml::{YamlContent, YamlEntry, YamlNode, parse};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, nearest};

/// A value with its place in the file.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    /// What was written.
    pub value: T,
    /// Bytes of the file.
    pub span: Range<usize>,
}

impl<T> Spanned<T> {
    /// Another value with this place.
    pub(super) fn with<U>(&self, value: U) -> Spanned<U> {
        let span = self.span.clone();
        Spanned { value, span }
    }
}

/// A mapping file.
#[derive(Debug)]
pub struct Raw {
    pub(super) table: RawTable,
    pub(super) items: Vec<RawItem>,
    /// The names of all item types that are written, those that could not be read too.
    pub(super) written: Vec<String>,
    pub(super) patterns: Vec<RawPattern>,
    pub(super) acceptances: Vec<RawAcceptance>,
    substitutions: Substitutions,
}

#[derive(Debug)]
pub(super) struct RawTable {
    pub(super) name: Spanned<String>,
    pub(super) partition: RawKey,
    pub(super) sort: Option<RawKey>,
    pub(super) indexes: Vec<RawIndex>,
    pub(super) local_indexes: Vec<RawIndex>,
    pub(super) ttl: Option<Spanned<String>>,
    pub(super) billing: Billing,
    pub(super) type_attribute: Option<Spanned<String>>,
    pub(super) description: Option<String>,
    pub(super) time_zone: Option<Spanned<String>>,
    pub(super) key_escape: bool,
    pub(super) settings: Settings,
    /// The whole `table` node, for the places of its settings.
    pub(super) node: YamlNode,
}

#[derive(Debug, Clone)]
pub(super) struct RawKey {
    pub(super) name: Spanned<String>,
    /// `None` where the file does not say.
    pub(super) key_type: Option<KeyType>,
}

#[derive(Debug)]
pub(super) struct RawIndex {
    pub(super) name: Spanned<String>,
    pub(super) partition: Vec<RawKey>,
    pub(super) sort: Vec<RawKey>,
    pub(super) projection: Projection,
    /// The names that it projects.
    pub(super) projected: Vec<Spanned<String>>,
    pub(super) throughput: Option<Throughput>,
    pub(super) autoscale: Option<Spanned<Autoscale>>,
}

#[derive(Debug)]
pub(super) enum RawFrom {
    Table(Spanned<String>),
    Query {
        sql: Spanned<String>,
        key: Vec<Spanned<String>>,
    },
}

#[derive(Debug)]
pub(super) struct RawJoin {
    pub(super) alias: Spanned<String>,
    pub(super) to: RawJoinTo,
}

/// How a join finds its parent.
#[derive(Debug)]
pub(super) enum RawJoinTo {
    /// By the foreign key on these columns.
    Key(Vec<Spanned<String>>),
    /// By columns of a table that the mapping names.
    Match {
        table: Spanned<String>,
        on: RawMatch,
    },
}

/// Pairs of their column and ours.
pub(super) type RawMatch = Vec<(Spanned<String>, Spanned<String>)>;

#[derive(Debug)]
pub(super) struct RawItem {
    pub(super) name: Spanned<String>,
    pub(super) from: RawFrom,
    pub(super) condition: Option<Spanned<String>>,
    pub(super) joins: Vec<RawJoin>,
    /// Aliases of elements, with the arrays that they come from.
    pub(super) explode: Vec<(Spanned<String>, Spanned<String>)>,
    pub(super) key: Vec<YamlEntry>,
    pub(super) key_span: Range<usize>,
    /// `None` for every column.
    pub(super) columns: Option<Vec<Spanned<String>>>,
    pub(super) omit: Vec<Spanned<String>>,
    pub(super) attributes: Vec<YamlEntry>,
    pub(super) keep_nulls: bool,
    pub(super) description: Option<String>,
    pub(super) write_rate: Option<f64>,
    pub(super) expired: Option<Spanned<Expired>>,
    pub(super) compress: Vec<Spanned<String>>,
    pub(super) roll_up: Option<RawRollUp>,
}

#[derive(Debug)]
pub(super) struct RawRollUp {
    pub(super) of: Spanned<String>,
    pub(super) count: Option<Spanned<String>>,
    pub(super) sum: Option<Spanned<String>>,
    pub(super) schedule: Spanned<String>,
    pub(super) span: Range<usize>,
}

impl Raw {
    /// Reads a mapping file. `variables` looks up environment variables, for `${…}` under `table`.
    ///
    /// The second part holds every fault that needs no catalog; the first is there when enough of the file is understood to
    /// check it against a catalog too.
    pub fn read(
        text: &str,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> (Option<Self>, Vec<Diagnostic>) {
        let (faults, mut substitutions) = (Diagnostics::default(), Substitutions::new());
        let mut root = match parse(text) {
            Ok(root) => root,
            Err(fault) => return (None, vec![*fault]),
        };
        if let YamlContent::Map { entries, .. } = &mut root.content {
            for entry in entries.iter_mut().filter(|entry| entry.key == "table") {
                substitute(&mut entry.value, variables, &mut substitutions, &faults);
            }
        }
        validate(&root, &MAPPING, "the mapping", &faults);
        let mut faults = faults.take();
        // A wrong indentation causes all the other faults.
        if let Some(at) = faults.iter().position(|fault| fault.code == Code::Yaml) {
            return (None, vec![faults.swap_remove(at)]);
        }
        let items = named(root.get("items"));
        let patterns = named(root.get("access_patterns"));
        let raw = read_table(&root).map(|table| Self {
            table,
            items: items.iter().filter_map(read_item).collect(),
            written: names(items),
            patterns: patterns.iter().filter_map(read_pattern).collect(),
            acceptances: read_acceptances(&root),
            substitutions,
        });
        (raw, faults)
    }

    /// The environment variables that the file names, with their values: they are part of a mapping's identity.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.substitutions.iter();
        all.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The queries of item types, whose columns the source describes.
    pub fn queries(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.items.iter().filter_map(|item| match &item.from {
            RawFrom::Query { sql, .. } => Some(sql),
            RawFrom::Table(_) => None,
        })
    }

    /// The access patterns that have SQL, by their names, with the SQL.
    pub fn pattern_sql(&self) -> impl Iterator<Item = (&str, &Spanned<String>)> {
        let patterns = self.patterns.iter();
        patterns.filter_map(|pattern| Some((pattern.name.value.as_str(), pattern.sql.as_ref()?)))
    }

    /// Whether a warning of this code is accepted at a place of the file.
    pub fn accepts(&self, code: Code, at: usize) -> bool {
        let mut all = self.acceptances.iter();
        all.any(|acceptance| {
            let mut codes = acceptance.codes.iter();
            acceptance.within.contains(&at) && codes.any(|one| one.value == code.as_str())
        })
    }
}

/// The names of item types, including those that are indented into another one.
fn names(items: &[YamlEntry]) -> Vec<String> {
    let inside = |item: &YamlEntry| {
        let entries = item.value.entries().iter();
        let inner = entries.filter(|entry| entry.value.get("from").is_some());
        inner.map(|entry| entry.key.clone()).collect::<Vec<_>>()
    };
    let each = items.iter().map(|item| (item.key.clone(), inside(item)));
    each.flat_map(|(name, inner)| std::iter::once(name).chain(inner))
        .collect()
}

pub(super) fn named(node: Option<&YamlNode>) -> &[YamlEntry] {
    node.map(YamlNode::entries).unwrap_or_default()
}

pub(super) fn spanned(node: &YamlNode) -> Option<Spanned<String>> {
    parsed(node).filter(|_| !node.is_empty())
}

/// A number, a truth value or a text with its place.
fn parsed<T: FromStr>(node: &YamlNode) -> Option<Spanned<T>> {
    let (value, span) = (node.text()?.parse().ok()?, node.span.clone());
    Some(Spanned { value, span })
}

pub(super) fn texts(node: Option<&YamlNode>) -> Vec<Spanned<String>> {
    let elements = node.map(YamlNode::elements).unwrap_or_default();
    elements.iter().filter_map(spanned).collect()
}

/// A list of texts without their places.
fn plain(node: &YamlNode) -> Vec<String> {
    let texts = texts(Some(node)).into_iter();
    texts.map(|text| text.value).collect()
}

pub(super) fn name_of(entry: &YamlEntry) -> Spanned<String> {
    Spanned {
        value: entry.key.clone(),
        span: entry.key_span.clone(),
    }
}

/// What stands behind a key, or behind one that is misspelled or another tool's word, which is told as that: without it,
/// everything that needs it would be told as a fault too, or nothing else would be checked.
fn meant<'n>(node: &'n YamlNode, key: &str) -> Option<&'n YamlNode> {
    let is_near = |entry: &&YamlEntry| nearest(&entry.key, [key]).is_some();
    let near = || node.entries().iter().find(is_near);
    node.get(key).or_else(|| Some(&near()?.value))
}

fn read_table(root: &YamlNode) -> Option<RawTable> {
    let table = root.get("table")?;
    let key = meant(table, "key")?;
    let indexes = |which: &str| {
        named(table.get(which))
            .iter()
            .map(|entry| RawIndex {
                name: name_of(entry),
                partition: read_keys(meant(&entry.value, "partition")),
                sort: read_keys(meant(&entry.value, "sort")),
                projected: texts(entry.value.get("project")),
                projection: match entry.value.get("project") {
                    Some(node) if node.text() == Some("keys") => Projection::Keys,
                    Some(node) if !node.elements().is_empty() => Projection::Include(plain(node)),
                    _ => Projection::All,
                },
                throughput: entry.value.get("billing").and_then(read_throughput),
                autoscale: entry.value.get("billing").and_then(read_autoscale),
            })
            .collect()
    };
    Some(RawTable {
        name: meant(table, "name").and_then(spanned)?,
        partition: meant(key, "partition").and_then(read_key)?,
        sort: meant(key, "sort").and_then(read_key),
        indexes: indexes("indexes"),
        local_indexes: indexes("local_indexes"),
        ttl: table.get("ttl").and_then(spanned),
        billing: table
            .get("billing")
            .and_then(read_throughput)
            .map_or(Billing::OnDemand, Billing::Provisioned),
        type_attribute: table.get("type_attribute").and_then(spanned),
        description: table.read("description"),
        time_zone: table.get("time_zone").and_then(spanned),
        key_escape: table.get("key_escape").and_then(YamlNode::text) == Some("percent"),
        settings: read_settings(table),
        node: table.clone(),
    })
}

fn read_throughput(node: &YamlNode) -> Option<Throughput> {
    Some(Throughput {
        read: node.read("read")?,
        write: node.read("write")?,
    })
}

fn read_keys(node: Option<&YamlNode>) -> Vec<RawKey> {
    match node {
        Some(node) if matches!(node.content, YamlContent::List(_)) => {
            node.elements().iter().filter_map(read_key).collect()
        }
        node => node.and_then(read_key).into_iter().collect(),
    }
}

fn read_key(node: &YamlNode) -> Option<RawKey> {
    let key_type = node.get("type");
    let key_type = key_type.and_then(|node| Some(word(KeyType::WORDS, node)?.value));
    let name = spanned(node).or_else(|| node.get("name").and_then(spanned))?;
    Some(RawKey { name, key_type })
}

fn read_item(entry: &YamlEntry) -> Option<RawItem> {
    let item = &entry.value;
    let from = item.get("from")?;
    let from = match spanned(from) {
        Some(table) => RawFrom::Table(table),
        None => RawFrom::Query {
            sql: from.get("sql").and_then(spanned)?,
            key: texts(from.get("key")),
        },
    };
    let key = item.get("key")?;
    Some(RawItem {
        name: name_of(entry),
        from,
        condition: item.get("where").and_then(spanned),
        joins: read_joins(item.get("join")),
        explode: read_pairs(item.get("explode")),
        key: key.entries().to_vec(),
        key_span: entry.key_span.clone(),
        columns: item
            .get("columns")
            .filter(|node| node.text().is_none())
            .map(|node| texts(Some(node))),
        omit: texts(item.get("omit")),
        attributes: named(item.get("attributes")).to_vec(),
        keep_nulls: item.get("nulls").and_then(YamlNode::text) == Some("keep"),
        description: item.read("description"),
        write_rate: item.read("write_rate"),
        expired: item.get("expired").and_then(|node| word(EXPIRED, node)),
        compress: texts(item.get("oversize").and_then(|node| node.get("compress"))),
        roll_up: item.get("roll_up").and_then(read_roll_up),
    })
}

fn read_roll_up(node: &YamlNode) -> Option<RawRollUp> {
    let text = |name: &str| node.get(name).and_then(spanned);
    Some(RawRollUp {
        of: text("of")?,
        count: text("count"),
        sum: text("sum"),
        schedule: text("schedule")?,
        span: node.span.clone(),
    })
}

/// Reads a `join` or `$join`.
pub(super) fn read_joins(node: Option<&YamlNode>) -> Vec<RawJoin> {
    let join = |entry: &YamlEntry| {
        let value = &entry.value;
        let to = match (value.get("table"), spanned(value)) {
            (Some(table), _) => RawJoinTo::Match {
                table: spanned(table)?,
                on: read_pairs(value.get("match")),
            },
            (None, Some(column)) => RawJoinTo::Key(vec![column]),
            (None, None) => RawJoinTo::Key(texts(Some(value))),
        };
        let alias = name_of(entry);
        Some(RawJoin { alias, to })
    };
    let empty = |join: &RawJoin| match &join.to {
        RawJoinTo::Key(columns) => columns.is_empty(),
        RawJoinTo::Match { on, .. } => on.is_empty(),
    };
    let joins = named(node).iter().filter_map(join);
    joins.filter(|join| !empty(join)).collect()
}

/// Reads a map of names to texts.
pub(super) fn read_pairs(node: Option<&YamlNode>) -> RawMatch {
    let pair = |entry: &YamlEntry| Some((name_of(entry), spanned(&entry.value)?));
    named(node).iter().filter_map(pair).collect()
}

/// Warnings that an item type, an index or an access pattern accepts.
#[derive(Debug)]
pub(super) struct RawAcceptance {
    /// The span of the item type, index or access pattern.
    pub within: Range<usize>,
    pub codes: Vec<Spanned<String>>,
}

fn read_acceptances(root: &YamlNode) -> Vec<RawAcceptance> {
    let table = root.get("table");
    let of_table = |name| table.and_then(|table| table.get(name));
    let places = [
        of_table("indexes"),
        of_table("local_indexes"),
        root.get("items"),
        root.get("access_patterns"),
    ];
    let entries = places.into_iter().flat_map(named);
    let acceptances = entries.map(|entry| RawAcceptance {
        within: entry.key_span.start..entry.value.span.end,
        codes: texts(entry.value.get("accept")),
    });
    acceptances.collect()
}

#[derive(Debug)]
pub(super) struct RawPattern {
    pub name: Spanned<String>,
    pub description: Option<String>,
    pub items: Vec<Spanned<String>>,
    pub index: Option<Spanned<String>>,
    pub key: Vec<YamlEntry>,
    pub key_span: Range<usize>,
    pub descending: bool,
    pub limit: Option<Spanned<u64>>,
    pub filter: Option<YamlNode>,
    pub consistent: Option<Spanned<bool>>,
    pub fetch: Option<Spanned<bool>>,
    pub sql: Option<Spanned<String>>,
    /// Parameters with the column or template that their values come from.
    pub params: RawMatch,
    /// Attributes with SQL columns.
    pub answer: RawMatch,
    pub rate: Option<f64>,
}

impl RawPattern {
    /// Whether the items that it finds are then read whole.
    pub(super) fn fetches(&self) -> bool {
        self.fetch.as_ref().is_some_and(|said| said.value)
    }

    /// Whether it lists this item type under `items`.
    pub(super) fn promises(&self, item_type: &str) -> bool {
        self.items.iter().any(|item| item.value == item_type)
    }
}

fn read_pattern(entry: &YamlEntry) -> Option<RawPattern> {
    let pattern = &entry.value;
    let key = pattern
        .get("key")
        .filter(|key| matches!(key.content, YamlContent::Map { .. }))?;
    let word = |name: &str| pattern.get(name).and_then(YamlNode::text);
    Some(RawPattern {
        name: name_of(entry),
        description: word("description").map(str::to_owned),
        items: texts(pattern.get("items")),
        index: pattern.get("index").and_then(spanned),
        key: key.entries().to_vec(),
        key_span: entry.key_span.clone(),
        descending: word("order") == Some("desc"),
        limit: pattern.get("limit").and_then(parsed),
        filter: pattern.get("filter").cloned(),
        consistent: pattern.get("consistent").and_then(parsed),
        fetch: pattern.get("fetch").and_then(parsed),
        sql: pattern.get("sql").and_then(spanned),
        params: read_pairs(pattern.get("params")),
        answer: read_pairs(pattern.get("answer")),
        rate: pattern.read("rate"),
    })
}

/// What the mapping says of the table besides keys, indexes, TTL and billing.
fn read_settings(table: &YamlNode) -> Settings {
    let tags = named(table.get("tags")).iter().map(|entry| {
        let value = entry.value.text().unwrap_or_default();
        (entry.key.clone(), value.to_owned())
    });
    let stream = table.get("stream");
    let class = table.get("class");
    Settings {
        stream: stream.and_then(|node| Some(word(StreamView::WORDS, node)?.value)),
        point_in_time_recovery: table.read("point_in_time_recovery"),
        deletion_protection: table.read("deletion_protection"),
        class: class.and_then(|node| Some(word(TableClass::WORDS, node)?.value)),
        tags: tags.collect(),
        warm_throughput: table.get("warm_throughput").and_then(read_throughput),
        replicas: table.get("replicas").map(plain).unwrap_or_default(),
        autoscale: table
            .get("billing")
            .and_then(|billing| Some(read_autoscale(billing)?.value)),
        backups: table.get("backups").and_then(read_backups),
    }
}

fn read_backups(node: &YamlNode) -> Option<Backups> {
    Some(Backups {
        schedule: node.get("schedule")?.text()?.to_owned(),
        keep_days: node.read("keep_days")?,
    })
}

/// The `autoscale` of a `billing`.
pub(super) fn read_autoscale(billing: &YamlNode) -> Option<Spanned<Autoscale>> {
    let node = billing.get("autoscale")?;
    Some(Spanned {
        value: Autoscale {
            min: node.read("min"),
            max: node.read("max")?,
            target: node.read("target")?,
        },
        span: node.span.clone(),
    })
}

/// The words of `expired`.
const EXPIRED: &[(&str, Expired)] = &[
    ("load", Expired::Load),
    ("skip", Expired::Skip),
    ("archive", Expired::Archive),
];

/// The value that a word stands for.
pub(super) fn word<T: Copy>(words: &[(&str, T)], node: &YamlNode) -> Option<Spanned<T>> {
    let written = spanned(node)?;
    let (_, value) = words.iter().find(|(word, _)| *word == written.value)?;
    Some(written.with(*value))
}
