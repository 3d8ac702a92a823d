//! The mappings in the documentation and in `mappings/` hold.
//!
//! A block is a whole mapping, or some of its top-level sections; the others are then those of
//! [`BASE`]. In docs/diagnostics.md each gives the code that it stands under; elsewhere none is an
//! error. Those in docs/patterns.md and docs/patterns-8-to-14.md are of other tables, and tested with them. Those in
//! docs/rehearse.md are no mappings.

use dynafold::catalog::{Catalog, Column, DataType, Table, TableKind, TableName};
use dynafold::diagnostic::{Code, Diagnostic, Severity, render};
use dynafold::load::Cancel;
use dynafold::mapping::model::Model;
use dynafold::mapping::template::Context;
use dynafold::mapping::{Described, Raw, resolve};
use dynafold::source::{Source, SourceError, connect, sqlite};
use dynafold::verify::patterns::{DrawContext, Proving, unprovable_patterns};
use tempfile::TempDir;

use super::blocks::{Block, blocks, page, pages};
use super::{files, root};

const PATTERN_1: &str = include_str!("../../migrations/sqlite/20260101000001_personalization.sql");
const SHOP: &str = include_str!("shop.sql");

/// The sections that an example may leave out.
const BASE: [(&str, &str); 3] = [
    ("dynafold", "dynafold: 1\n"),
    (
        "table",
        "table:\n  name: app\n  key: { partition: PK, sort: SK }\n",
    ),
    (
        "items",
        "items:\n  USER:\n    from: users\n    key: { PK: \"USER#{id}\", SK: \"USER#\" }\n",
    ),
];

/// The tables that the examples read.
struct Shop {
    source: Box<dyn Source>,
    catalog: Catalog,
    _folder: TempDir,
}

impl Shop {
    async fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("shop.db");
        sqlite::create(&file, &[PATTERN_1, SHOP]).await.unwrap();
        let mut source = connect(&format!("sqlite:{}", file.display()))
            .await
            .unwrap();
        let mut catalog = source.catalog().await.unwrap();
        catalog.tables.push(table("audit_log", "id", None));
        catalog.tables.push(table("shops", "id", Some("location")));
        let mut visits = table("visits", "id", None);
        let row_id = Column::new(
            "my_row_id".into(),
            "bigint".into(),
            visits.columns[0].data_type.clone(),
        );
        visits.columns.push(Column {
            invisible: true,
            ..row_id
        });
        catalog.tables.push(visits);
        let mut payroll = table("payroll", "id", None);
        payroll.hidden_columns = Some(vec!["salary".to_owned()]);
        catalog.tables.push(payroll);
        let mut tickets = table("tickets", "id", None);
        tickets.row_security = true;
        catalog.tables.push(tickets);
        let audit = catalog
            .tables
            .iter_mut()
            .find(|t| t.name.name == "audit_log");
        audit.unwrap().readable = false;
        Self {
            source,
            catalog,
            _folder: folder,
        }
    }

    /// Checks a mapping as `check` does; without a source, as `check --catalog` does.
    async fn check(&mut self, text: &str, offline: bool) -> (Option<Model>, Vec<Diagnostic>) {
        let (raw, faults) = Raw::read(text, &|_| None);
        let Some(raw) = raw else {
            return (None, faults);
        };
        let mut described = Described::new();
        if !offline {
            for sql in raw.queries() {
                let columns = self.source.describe(&sql.value).await;
                let columns = columns.map_err(|error| reason(&error));
                described.insert(sql.value.clone(), columns);
            }
        }
        let resolution = resolve(&raw, faults, &self.catalog, &described);
        let (model, mut diagnostics) = (resolution.model, resolution.diagnostics);
        if let Some(model) = model.as_ref().filter(|_| !offline) {
            diagnostics.extend(self.unproved(&raw, model).await);
        }
        for pass in model.iter().flat_map(|model| &model.passes) {
            if !pass.scan.conditions.is_empty() {
                self.source.prepare(&pass.scan).await.unwrap();
            }
        }
        (model, diagnostics)
    }
}

impl Shop {
    /// What `check` adds where there is a source: answers that cannot be proved.
    async fn unproved(&mut self, raw: &Raw, model: &Model) -> Vec<Diagnostic> {
        let (context, cancel) = (Context::default(), Cancel::default());
        let proving = Proving {
            draw_context: DrawContext {
                catalog: &self.catalog,
                model,
                context: &context,
            },
            finds: Vec::new(),
            names: &[],
            values: 0,
            examples: 0,
            cancel: &cancel,
            progress: &|_, _, _, _| {},
        };
        let found = unprovable_patterns(&proving, self.source.as_mut())
            .await
            .unwrap();
        let found = found.into_iter().map(|(name, why)| {
            let (_, sql) = raw.pattern_sql().find(|(other, _)| *other == name).unwrap();
            Diagnostic::new(Code::UnprovedAnswer, sql.span.clone(), why)
        });
        found.collect()
    }
}

fn reason(error: &SourceError) -> String {
    error.to_string()
}

/// A table that the examples need and SQLite has not: one column that tells rows apart, and one
/// of a type that is printed.
fn table(name: &str, key: &str, printed: Option<&str>) -> Table {
    let column = |name: &str, declared: &str, data_type: DataType| Column {
        nullable: false,
        ..Column::new(name.to_owned(), declared.to_owned(), data_type)
    };
    let number = DataType::Integer {
        bits: 64,
        unsigned: false,
    };
    let mut columns = vec![column(key, "bigint", number)];
    columns.extend(printed.map(|name| column(name, "point", DataType::Printed)));
    let name = TableName {
        schema: "main".to_owned(),
        name: name.to_owned(),
    };
    Table {
        columns,
        primary_key: vec![key.to_owned()],
        ..Table::new(name, TableKind::Table)
    }
}

/// A block's text as a whole mapping.
fn whole(block: &Block) -> String {
    let has = |section: &str| {
        let mut lines = block.text.lines();
        lines.any(|line| line.starts_with(&format!("{section}:")))
    };
    let base = BASE.iter().filter(|(section, _)| !has(section));
    let base: String = base.map(|(_, text)| *text).collect();
    base + &block.text
}

#[tokio::test]
async fn every_mapping_in_the_documentation_holds() {
    let mut shop = Shop::open().await;
    let mut checked = 0;
    let elsewhere = [
        "docs/diagnostics.md",
        "docs/patterns.md",
        "docs/patterns-8-to-14.md",
        "docs/rehearse.md",
    ];
    let pages = pages();
    for page in pages
        .iter()
        .filter(|p| !elsewhere.contains(&p.path.as_str()))
    {
        for block in blocks(page).iter().filter(|b| b.language == "yaml") {
            let text = whole(block);
            let (model, diagnostics) = shop.check(&text, false).await;
            assert!(
                model.is_some(),
                "{} is refused:\n{}",
                block.place,
                render("mapping", &text, &diagnostics, false)
            );
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked} mappings were found");
}

#[tokio::test]
async fn every_diagnostic_has_an_example_that_gives_it() {
    let mut shop = Shop::open().await;
    let page = page("docs/diagnostics.md");
    let examples: Vec<Block> = blocks(&page)
        .into_iter()
        .filter(|block| block.language == "yaml")
        .collect();
    for code in Code::ALL {
        let mut own = examples.iter().filter(|b| b.section == code.as_str());
        let example = own
            .next()
            .unwrap_or_else(|| panic!("`{}` has no example", code.as_str()));
        let text = whole(example);
        let (model, diagnostics) = shop.check(&text, *code == Code::Unchecked).await;
        assert!(
            diagnostics.iter().any(|d| d.code == *code),
            "{} does not give `{}`, but:\n{}",
            example.place,
            code.as_str(),
            render("mapping", &text, &diagnostics, false)
        );
        let error = code.severity() == Severity::Error;
        assert_eq!(model.is_none(), error, "{}", example.place);
    }
}

#[test]
fn every_mapping_file_is_well_formed() {
    for file in files("mappings", "yaml") {
        let text = std::fs::read_to_string(&file).unwrap();
        let (raw, faults) = Raw::read(&text, &|_| None);
        let shown = file.strip_prefix(root()).unwrap().display().to_string();
        assert!(raw.is_some(), "{shown}");
        assert!(
            faults.is_empty(),
            "{}",
            render(&shown, &text, &faults, false)
        );
    }
}
