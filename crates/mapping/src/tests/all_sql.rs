//! All SQL that stands in mappings, in the documentation and in the datasets is read.

use dynafold_relational::catalog::Dbms::{self, Mariadb, Postgres, Sqlite};
use dynafold_sql::SqlQuery;
use dynafold_testing::missing::named_by;

/// The SQL of a mapping: queries as they are, conditions as those of a query.
fn written(node: &super::yaml::YamlNode, found: &mut Vec<String>) {
    for entry in node.entries() {
        match (entry.key.as_str(), entry.value.text()) {
            ("sql", Some(sql)) => found.push(sql.to_owned()),
            ("where" | "$when", Some(sql)) => found.push(format!("SELECT 1 FROM t WHERE {sql}")),
            _ => written(&entry.value, found),
        }
    }
    for element in node.elements() {
        written(element, found);
    }
}

/// The texts of a folder's files.
fn texts(folder: &std::path::Path, extension: &str) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|file| file.expect("it can be listed").path())
        .filter(|file| file.extension().is_some_and(|end| end == extension));
    let text = |file: std::path::PathBuf| {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        (file.display().to_string(), text)
    };
    files.map(text).collect()
}

#[test]
fn all_sql_of_mappings_documentation_and_sample_queries_is_read() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut all: Vec<(String, Dbms, String)> = Vec::new();
    let mut mapping = |place: &str, text: &str| {
        let dbms = match place {
            _ if place.contains("sakila") => Mariadb,
            _ if place.contains("chinook") || place.contains("sqlite") => Sqlite,
            _ => Postgres,
        };
        let mut found = Vec::new();
        if let Ok(node) = super::yaml::parse(text) {
            written(&node, &mut found);
        }
        all.extend(found.into_iter().map(|sql| (place.to_owned(), dbms, sql)));
    };
    for (place, text) in texts(&root.join("mappings"), "yaml") {
        mapping(&place, &text);
    }
    for (place, text) in texts(&root.join("docs"), "md") {
        for block in text.split("```yaml\n").skip(1) {
            mapping(&place, block.split("```").next().unwrap_or_default());
        }
    }
    if let Some(folder) = named_by("DYNAFOLD_DATASETS", "the datasets") {
        for (place, text) in texts(&std::path::Path::new(&folder).join("queries"), "sql") {
            let queries = text.split(';').filter(|query| query.contains("SELECT"));
            all.extend(queries.map(|query| (place.clone(), Postgres, query.to_owned())));
        }
    }
    assert!(all.len() > 150, "only {} were found", all.len());
    let unread = all.iter().filter_map(|(place, dbms, sql)| {
        let unread = SqlQuery::read(sql, Some(*dbms)).err()?;
        Some(format!("{place}: {unread}: {sql}"))
    });
    // Each of these is an example of what `check` refuses.
    let refused = ["SELECT id, FROM users"];
    let unread: Vec<String> = unread
        .filter(|unread| !refused.iter().any(|sql| unread.ends_with(sql)))
        .collect();
    assert!(unread.is_empty(), "{}", unread.join("\n"));
}
