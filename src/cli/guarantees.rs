//! What `check --guarantees` tells: what the database guarantees, and what takes its place.

use super::output::OutputStreams;
use crate::mapping::guarantee::{Guarantee, Guarantees};

/// The guarantees for people, table by table.
pub(super) fn text(all: &Guarantees, output: &OutputStreams) -> String {
    let mut text = format!(
        "{}\n",
        output.bold("What your database guaranteed and this table does not")
    );
    if all.guarantees.is_empty() {
        text.push_str("  nothing: no table of the mapping has a guarantee\n");
    }
    for of_table in all.guarantees.chunk_by(|a, b| a.table == b.table) {
        let Some(first) = of_table.first() else {
            continue;
        };
        text.push_str(&format!("{}\n", output.bold(&first.table)));
        for one in of_table {
            add(&mut text, one, output);
        }
    }
    for missing in &all.not_read {
        text.push_str(&format!("not read: {missing}\n"));
    }
    text.push('\n');
    text
}

fn add(text: &mut String, one: &Guarantee, output: &OutputStreams) {
    let kept = output.bold(one.kept_by.words());
    text.push_str(&format!("  {}\n      {kept}: {}\n", one.declared, one.how));
    if let Some(doubt) = &one.doubt {
        text.push_str(&format!("      in the database: {doubt}\n"));
    }
}
