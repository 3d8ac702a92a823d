//! The schema as a tree of text: what `inspect` prints for people.

use dynafold_format::{self as format, joined, text_if};
use dynafold_relational::catalog::{Catalog, Column, Dbms, ForeignKey, Index, Table};
use unicode_width::UnicodeWidthStr as _;

/// Draws the tables that `wanted` picks: database, schema, table, columns, keys, indexes.
///
/// Row counts with `~` are the database's estimates. What could not be read stands at the end.
pub fn tree(catalog: &Catalog, wanted: impl Fn(&Table) -> bool) -> String {
    let tables: Vec<&Table> = catalog
        .tables
        .iter()
        .filter(|table| wanted(table))
        .collect();
    let mut schemas: Vec<&str> = tables.iter().map(|t| t.name.schema.as_str()).collect();
    schemas.sort_unstable();
    schemas.dedup();
    let schemas = schemas.into_iter().map(|schema| SchemaNode {
        text: schema.to_owned(),
        children: tables
            .iter()
            .filter(|table| table.name.schema == schema)
            .map(|table| table_node(catalog, table))
            .collect(),
    });
    let notices = catalog.notices.iter();
    let unread = notices.map(|notice| SchemaNode::leaf(format!("not read: {}", one_line(notice))));
    let root = SchemaNode {
        text: format!(
            "{} ({} {})",
            catalog.database, catalog.dbms, catalog.version
        ),
        children: schemas.chain(unread).collect(),
    };
    let mut out = String::new();
    root.write(&mut out, "", "");
    out
}

struct SchemaNode {
    text: String,
    children: Vec<SchemaNode>,
}

impl SchemaNode {
    fn leaf(text: String) -> Self {
        Self {
            text,
            children: Vec::new(),
        }
    }

    /// Writes the node after `prefix`, and its children after `below` and a branch.
    fn write(&self, out: &mut String, prefix: &str, below: &str) {
        out.push_str(prefix);
        out.push_str(&format::one_line(self.text.trim_end()));
        out.push('\n');
        let last = self.children.len().saturating_sub(1);
        for (index, child) in self.children.iter().enumerate() {
            let (branch, trunk) = if index == last {
                ("└── ", "    ")
            } else {
                ("├── ", "│   ")
            };
            child.write(out, &format!("{below}{branch}"), &format!("{below}{trunk}"));
        }
    }
}

fn table_node(catalog: &Catalog, table: &Table) -> SchemaNode {
    let mut facts = vec![table.name.name.clone(), table.kind.word().to_owned()];
    if let Some(rows) = table.estimated_rows {
        let about = text_if(catalog.dbms != Dbms::Sqlite, "~");
        facts.push(format!("{about}{}", format::counted(rows, "row")));
    }
    facts.extend(table.estimated_bytes.map(format::bytes));
    if !table.readable {
        facts.push("no permission to read".to_owned());
    }
    if let Some(comment) = &table.comment {
        facts.push(format!("-- {}", one_line(comment)));
    }
    let children = columns(table)
        .into_iter()
        .chain(keys(table))
        .chain(foreign_keys(catalog, table))
        .chain(indexes(table));
    SchemaNode {
        text: facts.join("  "),
        children: children.map(SchemaNode::leaf).collect(),
    }
}

/// The columns' lines, in cells of one width.
fn columns(table: &Table) -> Vec<String> {
    let cells: Vec<[String; 4]> = table
        .columns
        .iter()
        .map(|column| {
            let key = text_if(table.primary_key.contains(&column.name), "PK");
            let null = if column.nullable { "" } else { "NOT NULL" };
            [
                column.name.clone(),
                column.declared.clone(),
                null.to_owned(),
                key,
            ]
        })
        .collect();
    let widths: [usize; 4] = std::array::from_fn(|at| {
        let cells = cells.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.width()).max().unwrap_or(0)
    });
    let line = |(row, column): (&[String; 4], &Column)| {
        let mut line = String::new();
        for (cell, wide) in row.iter().zip(widths) {
            if wide > 0 {
                line.push_str(cell);
                (cell.width()..wide + 2).for_each(|_| line.push(' '));
            }
        }
        line + &remarks(column)
    };
    cells.iter().zip(&table.columns).map(line).collect()
}

fn remarks(column: &Column) -> String {
    let default = column.default.as_ref();
    let generated = column.generated.as_ref();
    let comment = column.comment.as_ref();
    let remarks = [
        default.map(|it| format!("default {}", one_line(it))),
        generated.map(|it| format!("generated as ({})", one_line(it))),
        column.invisible.then(|| "invisible".to_owned()),
        comment.map(|it| format!("-- {}", one_line(it))),
    ];
    joined(remarks.into_iter().flatten(), "  ")
}

/// A key of one column is marked at the column; the primary key of several is listed here too.
fn keys(table: &Table) -> Vec<String> {
    let primary = (table.primary_key.len() > 1)
        .then(|| format!("primary key ({})", table.primary_key.join(", ")));
    let unique = table
        .unique_keys
        .iter()
        .map(|key| format!("unique {} ({})", key.name, key.columns.join(", ")));
    primary.into_iter().chain(unique).collect()
}

fn foreign_keys(catalog: &Catalog, table: &Table) -> Vec<String> {
    let line = |key: &ForeignKey| {
        format!(
            "foreign key {} ({}) → {} ({})",
            key.name,
            key.columns.join(", "),
            catalog.display_name(&key.references),
            key.referenced_columns.join(", ")
        )
    };
    table.foreign_keys.iter().map(line).collect()
}

fn indexes(table: &Table) -> Vec<String> {
    let line = |index: &Index| {
        let unique = if index.unique { "unique " } else { "" };
        format!(
            "{unique}index {} ({})",
            index.name,
            index.columns.join(", ")
        )
    };
    table.indexes.iter().map(line).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::sample::shop;

    use super::*;

    #[test]
    fn the_shop_is_a_tree() {
        insta::assert_snapshot!(tree(&shop(), |_| true), @r"
        shop (PostgreSQL 17.2)
        ├── public
        │   ├── Order Details  table
        │   │   ├── Order ID  bigint         NOT NULL  PK
        │   │   ├── no        smallint       NOT NULL  PK
        │   │   ├── price     numeric(10,2)  NOT NULL
        │   │   ├── total     numeric(12,2)                generated as (price * quantity)
        │   │   ├── primary key (Order ID, no)
        │   │   └── foreign key details_order_fkey (Order ID) → orders (id)
        │   ├── orders  table  ~1,234,567 rows  93.75 MiB
        │   │   ├── id         bigint                    NOT NULL  PK
        │   │   ├── user_id    bigint
        │   │   ├── placed_at  timestamp with time zone  NOT NULL      default now()
        │   │   ├── foreign key orders_user_fkey (user_id) → users (id)
        │   │   └── index orders_day (date(placed_at))
        │   ├── profiles  table
        │   │   ├── user_id  bigint  NOT NULL  PK
        │   │   ├── 소개     text
        │   │   └── foreign key profiles_user_fkey (user_id) → users (id)
        │   ├── recent  view
        │   │   └── id  bigint
        │   └── users  table  ~1 row  8.00 KiB  -- everyone who signed up
        │       ├── id     bigint        NOT NULL  PK
        │       ├── email  varchar(255)  NOT NULL      -- lowercase
        │       └── unique users_email_key (email)
        ├── vault
        │   └── secrets  table  no permission to read
        └── not read: schema `audit`: no permission
        ");
    }

    #[test]
    fn only_wanted_tables_and_their_schemas_are_shown() {
        let tree = tree(&shop(), |table| table.name.schema == "vault");
        assert_eq!(
            tree,
            "shop (PostgreSQL 17.2)\n├── vault\n│   └── secrets  table  no permission to read\n\
             └── not read: schema `audit`: no permission\n"
        );
    }

    #[test]
    fn counts_of_sqlite_are_exact() {
        let mut catalog = shop();
        catalog.dbms = Dbms::Sqlite;
        let tree = tree(&catalog, |table| table.name.name == "orders");
        assert!(
            tree.contains("orders  table  1,234,567 rows  93.75 MiB"),
            "{tree}"
        );
    }
}
