//! What the database guarantees of the tables that are used, and what takes its place.
//!
//! An item's key takes the place of a unique key where it is made of exactly its columns: each can be read back from it, so
//! that no two values share a key, and nothing else is in it, so that one value has one key. Whatever is less than that needs
//! a guard item.

use std::collections::{BTreeMap, BTreeSet};

use dynafold_format::{each_once, joined, text_if};
use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, Enforcement, ForeignKey, Index, ReferentialAction, Table,
    TableName,
};
use dynafold_relational::scan::{Embed, Match, Relation, Scan};

use super::facts::{Covered, RelationKind};
use super::injective::key_columns;
use crate::guarantee::{Guarantee, GuaranteeKind, Guarantees, KeptBy};
use crate::model::{Placeholder, Template};

/// Everything that the database guarantees of the tables that are used. `meeting`: the item types of which it was not shown
/// that no other makes their keys.
pub(crate) fn guarantees(
    covered: &[Covered<'_>],
    catalog: &Catalog,
    meeting: &BTreeSet<&str>,
) -> Guarantees {
    let uses = TableUses::of(covered);
    let mut all = Guarantees::default();
    for table in &catalog.tables {
        if !uses.is_used(&table.name) || !table.is_stored() {
            continue;
        }
        let of_table = OfTable {
            table,
            covered,
            catalog,
            uses: &uses,
            meeting,
        };
        all.guarantees.extend(of_table.keys());
        all.guarantees.extend(of_table.unique_indexes());
        all.guarantees.extend(of_table.foreign_keys());
        all.guarantees.extend(of_table.not_null());
        all.guarantees.extend(of_table.conditions());
        all.guarantees.extend(of_table.values());
        all.guarantees.extend(of_table.triggers());
    }
    all.not_read = not_read(covered, catalog, &uses);
    all
}

/// What the mapping does with the tables.
#[derive(Default)]
struct TableUses<'a> {
    /// The item types that are made of a table's rows.
    made: BTreeMap<&'a TableName, Vec<usize>>,
    /// The embeds of a table's rows, each with the relation that they are in and its item type.
    embedded: BTreeMap<&'a TableName, Vec<(&'a Embed, &'a Relation, usize)>>,
    /// The item types that look up a table's rows.
    joined: BTreeMap<&'a TableName, Vec<usize>>,
}

impl<'a> TableUses<'a> {
    fn of(covered: &[Covered<'a>]) -> Self {
        let mut uses = Self::default();
        for (at, each) in covered.iter().enumerate() {
            if let Relation::Table(name) = &each.scan.from {
                uses.made.entry(name).or_default().push(at);
            }
            uses.add(each.scan, at, Some(&each.subject.item.embeds()));
        }
        uses
    }

    /// Adds what a scan joins and embeds. One scan may serve several item types: `own` are the embeds of this one.
    fn add(&mut self, scan: &'a Scan, at: usize, own: Option<&[usize]>) {
        for join in &scan.joins {
            self.joined.entry(&join.table).or_default().push(at);
        }
        for (column, embed) in scan.embeds() {
            if own.is_some_and(|own| !own.contains(&column)) {
                continue;
            }
            if let Relation::Table(name) = &embed.rows.from {
                let place = (embed, &scan.from, at);
                self.embedded.entry(name).or_default().push(place);
            }
            self.add(&embed.rows, at, None);
        }
    }

    fn is_used(&self, table: &TableName) -> bool {
        self.made.contains_key(table)
            || self.embedded.contains_key(table)
            || self.joined.contains_key(table)
    }

    fn made_of(&self, table: &TableName) -> &[usize] {
        self.made.get(table).map_or(&[], Vec::as_slice)
    }
}

/// A table that is used.
#[derive(Clone, Copy)]
struct OfTable<'w, 'a> {
    table: &'a Table,
    covered: &'w [Covered<'a>],
    catalog: &'a Catalog,
    uses: &'w TableUses<'a>,
    meeting: &'w BTreeSet<&'w str>,
}

/// What takes the place of a guarantee, the item type that it is about, and how it does.
type Kept = (KeptBy, Option<String>, String);

fn by_application(how: impl Into<String>) -> Kept {
    (KeptBy::Application, None, how.into())
}

/// Whether the key of an item type takes the place of a unique key.
enum KeyFit {
    Kept,
    /// It is made of these columns, and does not all the same, for this reason.
    Flawed(String),
    /// It is made of other columns.
    Other,
}

impl OfTable<'_, '_> {
    fn guarantee(
        &self,
        kind: GuaranteeKind,
        columns: &[String],
        declared: String,
        (kept_by, item_type, how): Kept,
    ) -> Guarantee {
        Guarantee {
            table: self.catalog.display_name(&self.table.name),
            kind,
            name: None,
            columns: columns.to_vec(),
            declared,
            doubt: None,
            kept_by,
            item_type,
            how,
        }
    }

    /// The primary key and the unique keys.
    fn keys(&self) -> Vec<Guarantee> {
        let table = self.table;
        let inherited = (!table.heirs.is_empty())
            .then_some("it does not hold over the tables that inherit from this one");
        let primary = (None, &table.primary_key, table.coarse_primary_key, false);
        let primary = (!table.primary_key.is_empty()).then_some(primary);
        let unique = table.unique_keys.iter();
        let unique = unique.map(|key| (Some(&key.name), &key.columns, key.coarse, key.nulls_equal));
        let all = primary.into_iter().chain(unique);
        let found = all.map(|(name, columns, coarse, nulls_equal)| {
            let mut keys = table.keys(self.catalog.dbms);
            let own = keys.find(|key| key.name == name.map(String::as_str));
            let doubt = own.and_then(|key| key.doubt).or(inherited);
            let kept = self.unique(columns, coarse, nulls_equal);
            let (kind, word) = match name {
                None => (GuaranteeKind::PrimaryKey, "PRIMARY KEY"),
                Some(_) => (GuaranteeKind::Unique, "UNIQUE"),
            };
            let nulls = text_if(nulls_equal, " NULLS NOT DISTINCT");
            let coarse = text_if(coarse && name.is_some(), self.coarseness().0);
            let declared = format!("{word}{nulls} ({}){coarse}", columns.join(", "));
            Guarantee {
                name: name.cloned(),
                doubt: doubt.map(str::to_owned),
                ..self.guarantee(kind, columns, declared, kept)
            }
        });
        found.collect()
    }

    /// How a coarse key compares: as it is declared, as a reason, and what a guard item does then.
    fn coarseness(&self) -> (&'static str, &'static str, &'static str) {
        match self.catalog.dbms {
            Dbms::Mysql | Dbms::Mariadb => (
                ", only the beginning of a column",
                "a beginning",
                ", cut to the same beginning",
            ),
            Dbms::Postgres | Dbms::Sqlite => (
                ", with its own collation",
                "them by a collation of the key's own",
                ", with one spelling for all texts that this collation treats as equal",
            ),
        }
    }

    /// What keeps columns unique.
    fn unique(&self, columns: &[String], coarse: bool, nulls_equal: bool) -> Kept {
        if let Some(copies) = self.copies() {
            return copies;
        }
        let columns_of_table = columns.iter().map(|name| self.table.column(name));
        let columns_of_table: Vec<&Column> = columns_of_table.flatten().collect();
        let counts_nulls = nulls_equal && columns_of_table.iter().any(|column| column.nullable);
        let mut flaw = None;
        for at in self.uses.made_of(&self.table.name) {
            let Some(each) = self.covered.get(*at) else {
                continue;
            };
            match self.fit(each, columns) {
                KeyFit::Kept if !coarse && !counts_nulls => {
                    return self.kept_by_key(each, columns);
                }
                KeyFit::Kept => {
                    let name = &each.subject.item.name;
                    let because = if coarse {
                        format!(
                            "the key of `{name}` has the whole columns, and the database compares {}",
                            self.coarseness().1
                        )
                    } else {
                        format!(
                            "a row with NULL there has no item of `{name}`, but the database treats NULL as a value"
                        )
                    };
                    flaw.get_or_insert(because);
                }
                KeyFit::Flawed(because) => {
                    flaw.get_or_insert(because);
                }
                KeyFit::Other => {}
            }
        }
        if self.uses.made_of(&self.table.name).is_empty()
            && let Some(kept) = self.within_parent(columns)
        {
            return kept;
        }
        let flaw = flaw.unwrap_or_else(|| "no item key is made of exactly these columns".into());
        let mut how = self.guard(&flaw, columns);
        if coarse {
            how.push_str(self.coarseness().2);
        }
        if columns_of_table.iter().any(|column| column.insensitive) {
            how.push_str("; its texts have one spelling, because the database treats different spellings as equal");
        }
        if nulls_equal {
            how.push_str("; NULL counts as a value");
        } else if columns_of_table.iter().any(|column| column.nullable) {
            how.push_str("; a row with a NULL there needs none");
        }
        match columns_of_table.as_slice() {
            [one] if one.is_numbered() => by_application(format!(
                "gives no number twice (a UUID, a counter item), or writes a guard item: {flaw}"
            )),
            _ => (KeptBy::GuardItem, None, how),
        }
    }

    /// Why a guard item is needed, and what it is made of.
    fn guard(&self, because: &str, columns: &[String]) -> String {
        let made = self.uses.made_of(&self.table.name);
        let embedded = self.uses.embedded.get(&self.table.name).into_iter();
        let within = embedded.flatten().map(|(.., at)| *at);
        let item_types: Vec<usize> = made.iter().copied().chain(within).collect();
        let partition = self.covered.first();
        let partition = partition.map_or("", |each| &each.subject.table.partition.name);
        format!(
            "{because}: one more item with a key made of ({}), put with `attribute_not_exists({partition})` and deleted in the transactions that write {}",
            columns.join(", "),
            self.names(&item_types)
        )
    }

    /// The names of item types, each between backticks.
    fn names(&self, item_types: &[usize]) -> String {
        let found = item_types.iter().filter_map(|at| self.covered.get(*at));
        let names = found.map(|each| format!("`{}`", each.subject.item.name));
        each_once(names).join(", ")
    }

    /// Where no item stands for a row of the table: items of others have its values.
    fn copies(&self) -> Option<Kept> {
        let name = &self.table.name;
        let is_made = !self.uses.made_of(name).is_empty() || self.uses.embedded.contains_key(name);
        if is_made {
            return None;
        }
        let joined = self.uses.joined.get(name);
        let joined = self.names(joined.map_or(&[], Vec::as_slice));
        Some(by_application(format!(
            "keeps it where the rows are; no item stands for a row of this table, and {joined} may have copies of its values"
        )))
    }

    fn kept_by_key(&self, each: &Covered<'_>, columns: &[String]) -> Kept {
        let item_type = each.subject.item.name.to_string();
        let partition = &each.subject.table.partition.name;
        let mut how = format!(
            "the key of `{item_type}` is made of exactly these columns: a put with `attribute_not_exists({partition})` fails if an item with this key exists"
        );
        let made = self.uses.made_of(&self.table.name);
        let others = made.iter().copied().filter(|at| {
            let other = self.covered.get(*at);
            other.is_some_and(|other| other.subject.item.name != each.subject.item.name)
        });
        let others: Vec<usize> = others.collect();
        if !others.is_empty() {
            how.push_str(&format!(
                "; {} of the same row goes with it in one transaction",
                self.names(&others)
            ));
        }
        let nullable = |name: &String| self.table.column(name).is_some_and(|c| c.nullable);
        if columns.iter().any(nullable) {
            how.push_str("; a row with a NULL there makes no such item");
        }
        (KeptBy::Key, Some(item_type), how)
    }

    /// Whether an item type's key is made of exactly these columns, for every row.
    fn fit(&self, each: &Covered<'_>, columns: &[String]) -> KeyFit {
        let subject = each.subject;
        let is_of_table =
            matches!(&each.scan.from, Relation::Table(name) if *name == self.table.name);
        if !is_of_table || !subject.item.explodes.is_empty() {
            return KeyFit::Other;
        }
        let Some(held) = key_columns(subject) else {
            return KeyFit::Other;
        };
        let base = |place: usize| each.scan.own_column(place);
        let names = held.iter().map(|(place, _)| base(*place));
        let Some(names) = names.collect::<Option<BTreeSet<&str>>>() else {
            return KeyFit::Other;
        };
        if names != columns.iter().map(String::as_str).collect::<BTreeSet<_>>() {
            return KeyFit::Other;
        }
        let name = &subject.item.name;
        let flawed = |because: &str| {
            KeyFit::Flawed(format!(
                "the key of `{name}` is made of these columns, but {because}"
            ))
        };
        let read_back = |column: &String| {
            let mut readings = held.iter();
            readings
                .any(|(place, is_read_back)| *is_read_back && base(*place) == Some(column.as_str()))
        };
        let is_exact = |column: &String| {
            let column = self.table.column(column);
            column.is_some_and(|column| is_exact(column, self.catalog.dbms))
        };
        if subject.facts.filtered {
            flawed("only rows that its `where` takes have such an item")
        } else if subject.item.may_expire(subject.table) {
            flawed("its items expire: DynamoDB deletes them, and a load may leave such rows out")
        } else if subject.facts.origin != RelationKind::Table {
            flawed("rows of other tables are read with it, or a join may give a row several times")
        } else if !columns.iter().all(read_back) {
            flawed("different values may make one key")
        } else if !columns.iter().all(is_exact) {
            flawed("values that the database treats as equal may make different keys")
        } else if self.meeting.contains(&**name) {
            flawed("it was not shown that no other item type makes the same key")
        } else {
            KeyFit::Kept
        }
    }

    /// Columns of embedded rows that hold what leads to the parent: all rows that could be equal are in one item.
    fn within_parent(&self, columns: &[String]) -> Option<Kept> {
        let [(embed, _, at)] = self.uses.embedded.get(&self.table.name)?.as_slice() else {
            return None;
        };
        let leads = embed.on.iter().all(|on| columns.contains(&on.theirs));
        let is_whole = embed.most.is_none() && embed.rows.conditions.is_empty();
        (leads && is_whole).then(|| {
            by_application(format!(
                "compares the rows in one item of {}, where all are that could be equal, and writes on the condition that the item is as it was read",
                self.names(&[*at])
            ))
        })
    }

    /// Unique indexes over expressions or a part of the rows.
    fn unique_indexes(&self) -> impl Iterator<Item = Guarantee> {
        let indexes = self.table.indexes.iter().filter(|index| index.unique);
        indexes.map(move |index| {
            let kept = self.copies().unwrap_or_else(|| self.partial(index));
            let condition = index.condition.as_ref();
            let condition = condition.map_or_else(String::new, |sql| format!(" WHERE {sql}"));
            let declared = format!("UNIQUE ({}){condition}", index.columns.join(", "));
            Guarantee {
                name: Some(index.name.clone()),
                ..self.guarantee(GuaranteeKind::Unique, &index.columns, declared, kept)
            }
        })
    }

    fn partial(&self, index: &Index) -> Kept {
        let is_column = |one: &String| self.table.column(one).is_some();
        let because = match &index.condition {
            Some(_) => "it holds for some rows only",
            None if index.columns.iter().all(is_column) => {
                "it compares otherwise than its columns do"
            }
            None => "it is over an expression",
        };
        let mut how = self.guard(because, &index.columns);
        if index.condition.is_some() {
            how.push_str("; it is there as long as the condition holds");
        }
        (KeptBy::GuardItem, None, how)
    }

    fn foreign_keys(&self) -> impl Iterator<Item = Guarantee> {
        let keys = self.table.foreign_keys.iter();
        keys.map(move |key| {
            let mut declared = format!(
                "FOREIGN KEY ({}) REFERENCES {} ({})",
                key.columns.join(", "),
                self.catalog.display_name(&key.references),
                key.referenced_columns.join(", "),
            );
            // `NO ACTION` and `RESTRICT` are one here, and neither is written.
            let actions = [("DELETE", Some(key.on_delete)), ("UPDATE", key.on_update)];
            for (event, action) in actions {
                if let Some(action) = action.filter(|one| *one != ReferentialAction::NoAction) {
                    declared.push_str(&format!(" ON {event} {}", action.word()));
                }
            }
            let kept = self.copies().or_else(|| self.embedded(key));
            let kept = kept.unwrap_or_else(|| self.referring(key));
            Guarantee {
                name: Some(key.name.clone()),
                doubt: self.unenforced(key).map(str::to_owned),
                ..self.guarantee(GuaranteeKind::ForeignKey, &key.columns, declared, kept)
            }
        })
    }

    fn unenforced(&self, key: &ForeignKey) -> Option<&'static str> {
        match (key.enforcement, self.catalog.dbms) {
            (Enforcement::Enforced, Dbms::Postgres) => None,
            (Enforcement::Enforced, Dbms::Mysql | Dbms::Mariadb) => {
                Some("a session that turns `foreign_key_checks` off is not held to it")
            }
            (Enforcement::Enforced, Dbms::Sqlite) => {
                Some("enforced only on connections with `PRAGMA foreign_keys = ON`")
            }
            (Enforcement::NotEnforced, Dbms::Postgres) => {
                Some("`NOT ENFORCED`, or its triggers are disabled: nothing keeps it")
            }
            (declared, _) => unenforced(declared),
        }
    }

    /// A foreign key by which rows are embedded in their parent, and are nowhere else.
    fn embedded(&self, key: &ForeignKey) -> Option<Kept> {
        if !self.uses.made_of(&self.table.name).is_empty() {
            return None;
        }
        let [(embed, from, at)] = self.uses.embedded.get(&self.table.name)?.as_slice() else {
            return None;
        };
        let is_parent = matches!(from, Relation::Table(name) if *name == key.references);
        if !is_parent || !is_along(&embed.on, key) {
            return None;
        }
        let item_type = self.covered.get(*at)?.subject.item.name.to_string();
        let mut how = format!(
            "its rows are in the items of `{item_type}`, and go with them: none is there without its parent"
        );
        how.push_str(match key.on_delete {
            ReferentialAction::Cascade => "",
            ReferentialAction::NoAction => "; the database refuses to delete a parent that has rows, and a delete of the item needs a condition for that",
            ReferentialAction::SetNull | ReferentialAction::SetDefault => "; the database keeps the rows of a parent that is deleted, and here the application moves them before",
        });
        Some((KeptBy::Item, Some(item_type), how))
    }

    /// A foreign key of rows that are items, or in the items of others.
    fn referring(&self, key: &ForeignKey) -> Kept {
        let parent = self.catalog.table(&key.references);
        let of_parent = parent.map(|table| OfTable { table, ..*self });
        let made = self.uses.made_of(&key.references);
        let keyed = made.iter().filter_map(|at| self.covered.get(*at));
        let keyed = keyed.into_iter().find(|each| {
            let fit = of_parent.map(|parent| parent.fit(each, &key.referenced_columns));
            matches!(fit, Some(KeyFit::Kept))
        });
        let deleted = match key.on_delete {
            ReferentialAction::NoAction => {
                "the database refuses to delete a parent that has rows: here the application looks for them first"
            }
            ReferentialAction::Cascade => {
                "when a parent is deleted, the application deletes its rows"
            }
            ReferentialAction::SetNull => {
                "when a parent is deleted, the application takes the reference out of its rows"
            }
            ReferentialAction::SetDefault => {
                "when a parent is deleted, the application writes the default into its rows"
            }
        };
        let changed = match key.on_update {
            None | Some(ReferentialAction::NoAction) => "",
            Some(_) => "; when the parent's columns change, it writes its rows again",
        };
        let written = self.catalog.display_name(&key.references);
        let columns = key.referenced_columns.join(", ");
        match keyed {
            Some(each) => {
                let item_type = each.subject.item.name.to_string();
                let partition = &each.subject.table.partition.name;
                let how = format!(
                    "a `ConditionCheck` with `attribute_exists({partition})` on the item of `{item_type}`, in one transaction with the write; {deleted}{changed}"
                );
                (KeptBy::ConditionCheck, Some(item_type), how)
            }
            None if made.is_empty() => by_application(format!(
                "knows whether the parent is there: no item stands for a row of {written}; {deleted}{changed}"
            )),
            None => by_application(format!(
                "looks the parent up before it writes: no item key is known to be made of exactly {written} ({columns}); {deleted}{changed}"
            )),
        }
    }

    /// The columns that are not NULL, but for those of the primary key.
    fn not_null(&self) -> Vec<Guarantee> {
        let table = self.table;
        let required = table
            .columns
            .iter()
            .filter(|column| !column.nullable && !table.primary_key.contains(&column.name));
        let alone = |name: &str| {
            let made = self.uses.made_of(&table.name).iter();
            let made = made.filter_map(|at| self.covered.get(*at));
            made.into_iter().find(|each| is_key_attribute(each, name))
        };
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for column in required {
            let Some(each) = alone(&column.name) else {
                others.push(column.name.clone());
                continue;
            };
            let how = "it is a key attribute by itself, and DynamoDB takes no item without its key";
            let item_type = each.subject.item.name.to_string();
            let kept = (KeptBy::Key, Some(item_type), how.to_owned());
            let columns = [column.name.clone()];
            let declared = format!("NOT NULL ({})", column.name);
            found.push(self.guarantee(GuaranteeKind::NotNull, &columns, declared, kept));
        }
        if !others.is_empty() {
            let kept = by_application("writes no item without them");
            let declared = format!("NOT NULL ({})", others.join(", "));
            found.push(self.guarantee(GuaranteeKind::NotNull, &others, declared, kept));
        }
        found
    }

    /// Checks and exclusion constraints.
    fn conditions(&self) -> impl Iterator<Item = Guarantee> {
        let checks = self.table.checks.iter().flatten().map(|check| {
            let kept = by_application("checks it before it writes");
            let declared = format!("CHECK {}", within_parentheses(&check.expression));
            (GuaranteeKind::Check, check, declared, kept)
        });
        let exclusions = self.table.exclusions.iter().map(|one| {
            let kept = by_application(
                "checks for conflicting rows and then writes, in a transaction on a lock item that lets only one writer succeed: no condition expression compares an item with other items",
            );
            (GuaranteeKind::Exclusion, one, one.expression.clone(), kept)
        });
        let all = checks.chain(exclusions);
        all.map(move |(kind, check, declared, kept)| Guarantee {
            name: Some(check.name.clone()).filter(|name| !name.is_empty()),
            doubt: unenforced(check.enforcement).map(str::to_owned),
            ..self.guarantee(kind, &[], declared, kept)
        })
    }

    /// What single columns are given or may hold.
    fn values(&self) -> Vec<Guarantee> {
        let mut found = Vec::new();
        for column in &self.table.columns {
            let name = &column.name;
            let mut add = |kind, declared: String, how: &str| {
                let columns = [name.clone()];
                let kept = by_application(how);
                found.push(self.guarantee(kind, &columns, declared, kept));
            };
            match &column.data_type {
                DataType::Enum { values } => add(
                    GuaranteeKind::Enum,
                    format!("{name}: one of {}", values.join(", ")),
                    "writes no other: DynamoDB takes any text",
                ),
                DataType::Set { values } => add(
                    GuaranteeKind::Enum,
                    format!("{name}: some of {}", values.join(", ")),
                    "writes no others: DynamoDB takes any set",
                ),
                _ => {}
            }
            match (&column.generated, column.default.as_deref()) {
                (Some(expression), _) => add(
                    GuaranteeKind::Generated,
                    format!("{name} GENERATED AS {}", within_parentheses(expression)),
                    "computes it whenever it writes what it is made of",
                ),
                (None, default) if column.is_numbered() => add(
                    GuaranteeKind::Numbered,
                    match default {
                        Some(default) if default.starts_with("nextval(") => {
                            format!("{name} DEFAULT {default}")
                        }
                        Some(default) => format!("{name} {default}"),
                        None => format!("{name}, which SQLite numbers"),
                    },
                    "generates the next value: a UUID, or a counter item incremented with `ADD`",
                ),
                (None, Some(default)) => add(
                    GuaranteeKind::Default,
                    format!("{name} DEFAULT {default}"),
                    "writes it where no value is given",
                ),
                (None, None) => {}
            }
        }
        found
    }

    fn triggers(&self) -> impl Iterator<Item = Guarantee> {
        let triggers = self.table.triggers.iter().flatten();
        triggers.map(move |trigger| {
            let kept = by_application(
                "does the work of the trigger; work that may come later can follow the table's stream",
            );
            let declared = format!("TRIGGER {} {}", trigger.name, trigger.event);
            let declared = declared.trim_end().to_owned();
            Guarantee {
                name: Some(trigger.name.clone()),
                ..self.guarantee(GuaranteeKind::Trigger, &[], declared, kept)
            }
        })
    }
}

/// Whether a column is a key attribute of an item type's table by itself, for every row.
fn is_key_attribute(each: &Covered<'_>, name: &str) -> bool {
    let is_alone = |place: usize| each.scan.own_column(place) == Some(name);
    let keys = each.subject.key().unwrap_or_default();
    !each.subject.facts.filtered
        && keys.into_iter().any(|(_, node)| {
            let only = node.template().and_then(Template::single);
            only.and_then(Placeholder::plain_column)
                .is_some_and(is_alone)
        })
}

/// Whether children are found by exactly the columns of a foreign key.
fn is_along(on: &[Match], key: &ForeignKey) -> bool {
    let matched: BTreeSet<(&str, &str)> = on
        .iter()
        .filter(|on| on.join.is_none())
        .map(|on| (on.theirs.as_str(), on.ours.as_str()))
        .collect();
    let columns = key.columns.iter().zip(&key.referenced_columns);
    let wanted: BTreeSet<(&str, &str)> = columns.map(|(a, b)| (a.as_str(), b.as_str())).collect();
    matched.len() == on.len() && matched == wanted
}

/// An expression between parentheses, which it may have already. Parentheses in its texts at worst double them.
fn within_parentheses(expression: &str) -> String {
    let before_last = expression.strip_suffix(')').unwrap_or_default();
    let mut depth = 0_i32;
    let is_within = |sign: char| {
        depth += i32::from(sign == '(') - i32::from(sign == ')');
        depth > 0
    };
    if !before_last.is_empty() && before_last.chars().all(is_within) {
        expression.to_owned()
    } else {
        format!("({expression})")
    }
}

fn unenforced(declared: Enforcement) -> Option<&'static str> {
    match declared {
        Enforcement::Enforced => None,
        Enforcement::NotValid => Some("`NOT VALID`: rows that were there before may break it"),
        Enforcement::NotEnforced => Some("`NOT ENFORCED`: nothing keeps it"),
    }
}

/// Whether values that the database takes for equal are one value, and make one text. It is not claimed of floats (`-0`),
/// PostgreSQL's `character(n)`, which compares without the blanks at the end, intervals, documents and what is only printed.
fn is_exact(column: &Column, dbms: Dbms) -> bool {
    let is_sqlite = dbms == Dbms::Sqlite;
    !column.insensitive
        && match &column.data_type {
            DataType::Integer { .. } => true,
            DataType::Text { .. } => column.is_plain_text(dbms),
            // Without declared digits, `string` keeps those of a number that DynamoDB cannot hold, zeros at its end with them.
            DataType::Decimal {
                precision: Some(_), ..
            }
            | DataType::Boolean
            | DataType::Uuid
            | DataType::Date
            | DataType::Timestamp { .. }
            | DataType::Enum { .. }
            | DataType::Binary { .. } => !is_sqlite,
            _ => false,
        }
}

/// What the catalog does not say of the tables that are used.
fn not_read(covered: &[Covered<'_>], catalog: &Catalog, uses: &TableUses<'_>) -> Vec<String> {
    let of = |what: &str, is: &dyn Fn(&Table) -> bool| {
        let tables = catalog.tables.iter();
        let tables = tables.filter(|table| uses.is_used(&table.name) && is(table));
        let names = joined(tables.map(|table| catalog.display_name(&table.name)), ", ");
        (!names.is_empty()).then(|| format!("{what} {names}"))
    };
    let of_stored =
        |what: &str, is: &dyn Fn(&Table) -> bool| of(what, &|table| table.is_stored() && is(table));
    let is_unread = |key: &ForeignKey| key.on_update.is_none();
    let hidden = "declarations with columns that this user may not read, of";
    let may_hide = |table: &Table| table.hidden_columns.is_some() || catalog.may_hide_names(table);
    let missing = [
        of_stored("CHECK constraints of", &|table| table.checks.is_none()),
        of_stored("triggers of", &|table| table.triggers.is_none()),
        of_stored("ON UPDATE of the foreign keys of", &|table| {
            table.foreign_keys.iter().any(is_unread)
        }),
        of_stored(hidden, &may_hide),
        of("the tables behind", &|table| !table.is_stored()),
    ];
    let mut missing: Vec<String> = missing.into_iter().flatten().collect();
    let queries = covered.iter().filter(|each| each.scan.from.sql().is_some());
    let queries = joined(queries.map(|each| &*each.subject.item.name), ", ");
    if !queries.is_empty() {
        missing.push(format!("the tables in the queries of {queries}"));
    }
    let may_be_numbered = |table: &Table| {
        let own = table.columns.iter();
        let mut keys = own.filter(|column| table.primary_key == [column.name.as_str()]);
        keys.any(|key| !key.rowid && key.declared.eq_ignore_ascii_case("integer"))
    };
    if catalog.dbms == Dbms::Sqlite {
        missing.extend(of("whether SQLite numbers the keys of", &may_be_numbered));
    }
    if catalog.dbms == Dbms::Postgres {
        missing.push("checks of domains, and rules".to_owned());
    }
    missing
}
