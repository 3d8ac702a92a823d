//! The table, its indexes, the item types, and examples of them.

use super::patterns::{items, origin};
use super::text::{code, fenced, prose, table, text};
use crate::document::definition::{Cell, Definition, ItemType, Key, Member, Place};
use crate::document::phrases;
use crate::format::bytes;

pub(super) fn places(out: &mut String, definition: &Definition) {
    let keys = |keys: &[Key]| {
        let keys: Vec<String> = keys
            .iter()
            .map(|key| format!("{} ({})", code(&key.name), key.key_type))
            .collect();
        keys.join(", ")
    };
    let rows = definition.places.iter().map(|place| {
        vec![
            code(&place.name),
            phrases::kind(place).to_owned(),
            keys(&place.partition),
            keys(&place.sort),
            text(&place.projection),
            text(&place.billing),
            members(&place.members),
        ]
    });
    table(
        out,
        &[
            "Name",
            "",
            "Partition key",
            "Sort key",
            "Projects",
            "Capacity",
            "Holds",
        ],
        rows,
    );
    let settings = definition.settings.iter();
    let rows = settings.map(|(name, value)| vec![(*name).to_owned(), text(value)]);
    table(out, &["Setting", ""], rows);
}

fn members(members: &[Member]) -> String {
    let all = members.iter().map(|member| match &member.when {
        None => text(&member.name),
        Some(when) => format!("some {} ({})", text(&member.name), prose(when)),
    });
    all.collect::<Vec<_>>().join("<br>")
}

pub(super) fn item_types(out: &mut String, definition: &Definition) {
    for item in &definition.item_types {
        item_type(out, item);
    }
}

fn item_type(out: &mut String, item: &ItemType) {
    out.push_str(&format!("### Item type {}\n\n", text(&item.name)));
    let mut facts = vec![(
        "From",
        match &item.query {
            Some(_) => "a query, below".to_owned(),
            None => code(&item.from),
        },
    )];
    if let Some(condition) = &item.condition {
        facts.push(("Where", code(condition)));
    }
    for (alias, parent, on) in &item.joins {
        facts.push((
            "Looks up",
            format!("{} as {}: {}", code(parent), code(alias), code(on)),
        ));
    }
    for array in &item.explodes {
        facts.push(("One item for each of", code(array)));
    }
    for member in &item.indexes {
        let when = member.when.as_ref();
        let when = when.map_or(String::new(), |when| format!(", {}", prose(when)));
        let single = member.single_partition.as_ref();
        let single = single.map_or(String::new(), |value| {
            format!(", all under the partition key {}", code(value))
        });
        facts.push(("In index", format!("{}{when}{single}", code(&member.name))));
    }
    if !item.patterns.is_empty() {
        let names: Vec<String> = item.patterns.iter().map(|name| text(name)).collect();
        facts.push(("Found by", names.join(", ")));
    }
    if let Some(most) = item.most_bytes {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        facts.push(("Size", format!("at most {} by the schema", bytes(most))));
    }
    for note in &item.notes {
        facts.push(("Note", text(note)));
    }
    for (name, fact) in facts {
        out.push_str(&format!("- {name}: {fact}\n"));
    }
    out.push('\n');
    if let Some(sql) = &item.query {
        fenced(out, "sql", sql);
    }
    let rows = item.attributes.iter().map(|attribute| {
        let origins: Vec<String> = attribute.origins.iter().map(origin).collect();
        vec![
            code(&attribute.name),
            attribute.data_type.clone(),
            text(&attribute.roles.join(", ")),
            code(&attribute.made),
            origins.join("<br>"),
        ]
    });
    table(
        out,
        &["Attribute", "Type", "Key", "Made from", "Columns"],
        rows,
    );
    if !item.examples.is_empty() {
        out.push_str("<details><summary>Examples</summary>\n\n");
        items(out, &item.examples);
        out.push_str("</details>\n\n");
    }
}

pub(super) fn collections(out: &mut String, definition: &Definition) {
    out.push_str(&format!(
        "{}\n\n",
        phrases::examples(definition.examples.as_ref())
    ));
    for place in &definition.places {
        if !place.collections.is_empty() {
            one(out, place);
        }
    }
}

fn one(out: &mut String, place: &Place) {
    out.push_str(&format!(
        "<details><summary>{} {}</summary>\n\n",
        phrases::kind(place),
        text(&place.name)
    ));
    let names = |keys: &[Key]| {
        let names: Vec<String> = keys.iter().map(|key| text(&key.name)).collect();
        names.join(", ")
    };
    let values = |cells: &[Cell]| {
        let values: Vec<String> = cells.iter().map(|cell| code(&cell.value)).collect();
        values.join(", ")
    };
    let mut rows = Vec::new();
    for collection in &place.collections {
        for (at, entry) in collection.items.iter().enumerate() {
            let attributes = entry.attributes.iter();
            let attributes: Vec<String> = attributes
                .map(|cell| format!("{} {}", text(&cell.name), code(&cell.value)))
                .collect();
            rows.push(vec![
                if at == 0 {
                    values(&collection.partition)
                } else {
                    String::new()
                },
                values(&entry.sort),
                text(&entry.item_type),
                attributes.join("; "),
            ]);
        }
    }
    let (partition, sort) = (names(&place.partition), names(&place.sort));
    table(out, &[&partition, &sort, "Item type", "Attributes"], rows);
    out.push_str("</details>\n\n");
}
