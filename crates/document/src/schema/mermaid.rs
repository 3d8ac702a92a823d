//! The ERD as a Mermaid diagram.
//!
//! Mermaid's grammar takes fewer names than databases do. Tables are always in quotes; a column's
//! name or type that Mermaid could not read has the odd characters replaced by `_`, and the true
//! name beside it as the comment, before the comment that the database has.

use std::fmt::Write as _;

use dynafold_relational::catalog::{Catalog, ForeignKey, Table};

/// Draws the catalog as a Mermaid `erDiagram`, the same for the same catalog.
///
/// Each table is an entity with its columns, each foreign key a relationship. The parent's end is
/// `||`, or `|o` where a column of the key may be NULL; the child's end is `o{`, or `o|` where the
/// key's columns are unique. The line is solid where the key is part of the child's primary key.
/// This is what the keys declare; a comment in the diagram says so.
pub fn mermaid(catalog: &Catalog) -> String {
    let mut out = String::from("erDiagram\n");
    out.push_str("    %% Lines show what the foreign keys declare. Where a key is not enforced, rows without a parent may exist.\n");
    for table in &catalog.tables {
        entity(&mut out, catalog, table);
    }
    for table in &catalog.tables {
        for key in &table.foreign_keys {
            relationship(&mut out, catalog, table, key);
        }
    }
    out
}

fn entity(out: &mut String, catalog: &Catalog, table: &Table) {
    out.push_str("    ");
    out.push_str(&quoted(&catalog.display_name(&table.name)));
    if table.columns.is_empty() {
        out.push('\n');
        return;
    }
    out.push_str(" {\n");
    for column in &table.columns {
        let name = word(&column.name);
        // Writing to a String cannot fail.
        let _ = write!(out, "        {} {name}", word(&column.declared));
        let keys = catalog.keys_of(table, column);
        if !keys.is_empty() {
            let _ = write!(out, " {}", keys.join(", "));
        }
        let true_name = Some(&column.name).filter(|own| **own != name);
        let notes: Vec<String> = true_name
            .into_iter()
            .chain(&column.comment)
            .map(|note| comment(note))
            .collect();
        if !notes.is_empty() {
            let _ = write!(out, " \"{}\"", notes.join(": "));
        }
        out.push('\n');
    }
    out.push_str("    }\n");
}

fn relationship(out: &mut String, catalog: &Catalog, table: &Table, key: &ForeignKey) {
    let nullable = |name: &String| table.column(name).is_none_or(|column| column.nullable);
    let parent = if key.columns.iter().any(nullable) {
        "|o"
    } else {
        "||"
    };
    let child = if table.is_declared_unique(&key.columns, catalog.dbms) {
        "o|"
    } else {
        "o{"
    };
    let identifying = key.columns.iter().all(|c| table.primary_key.contains(c));
    let line = if identifying { "--" } else { ".." };
    let _ = writeln!(
        out,
        "    {} {parent}{line}{child} {} : \"{}\"",
        quoted(&catalog.display_name(&key.references)),
        quoted(&catalog.display_name(&table.name)),
        comment(&key.columns.join(", ")),
    );
}

/// An entity's name; the characters that Mermaid's quoted names cannot hold are replaced.
fn quoted(name: &str) -> String {
    let is_unsafe = |c: char| matches!(c, '"' | '%' | '\\') || c.is_control();
    let name = name.replace(is_unsafe, "_");
    format!("\"{}\"", if name.is_empty() { "_" } else { &name })
}

/// A column's name or type as Mermaid's grammar reads it in all versions since 10.
fn word(name: &str) -> String {
    let fits = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '(' | ')' | '[' | ']')
            || ('\u{c0}'..='\u{ffff}').contains(&c)
    };
    let word = name.replace(|c| !fits(c), "_");
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    // `pk`, `fk` and `uk`, in any case, are the marks of keys wherever a word ends after them.
    let (mark, rest) = word.split_at_checked(2).unwrap_or((&word, ""));
    let is_mark = ["pk", "fk", "uk"].contains(&mark.to_ascii_lowercase().as_str())
        && !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if word.starts_with(starts) && !is_mark {
        word
    } else {
        format!("_{word}")
    }
}

/// Text that stands in quotes and is shown as it is.
fn comment(text: &str) -> String {
    text.replace('"', "'").replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use dynafold_relational::catalog::sample::shop;

    use super::*;

    #[test]
    fn the_shop_is_drawn() {
        insta::assert_snapshot!(mermaid(&shop()), @r#"
        erDiagram
            %% Lines show what the foreign keys declare. Where a key is not enforced, rows without a parent may exist.
            "Order Details" {
                bigint Order_ID PK, FK "Order ID"
                smallint no PK
                numeric(10_2) price
                numeric(12_2) total
            }
            "orders" {
                bigint id PK
                bigint user_id FK
                timestamp_with_time_zone placed_at
            }
            "profiles" {
                bigint user_id PK, FK
                text 소개
            }
            "recent" {
                bigint id
            }
            "users" {
                bigint id PK
                varchar(255) email UK "lowercase"
            }
            "vault.secrets"
            "orders" ||--o{ "Order Details" : "Order ID"
            "users" |o..o{ "orders" : "user_id"
            "users" ||--o| "profiles" : "user_id"
        "#);
    }

    #[test]
    fn odd_names_are_made_words() {
        for (name, made) in [
            ("id", "id"),
            ("Order ID", "Order_ID"),
            ("numeric(10,2)", "numeric(10_2)"),
            ("timestamp with time zone", "timestamp_with_time_zone"),
            ("integer[]", "integer[]"),
            ("PK", "_PK"),
            ("fk", "_fk"),
            ("uk가", "_uk가"),
            ("fk_user", "fk_user"),
            ("pkg", "pkg"),
            ("2nd", "_2nd"),
            ("가격", "가격"),
            ("😀", "_"),
            ("a`b~c\"d", "a_b_c_d"),
            ("", "_"),
        ] {
            assert_eq!(word(name), made, "{name}");
        }
        assert_eq!(quoted("a\"b%c\\d\n"), "\"a_b_c_d_\"");
        assert_eq!(quoted("Order Details"), "\"Order Details\"");
    }
}
