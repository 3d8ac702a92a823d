//! The failures that hurt others, in one list. Each is a test with real databases and, where an engine has a say, with
//! both: the embedded one and DynamoDB Local. Those that are tested elsewhere are named here.
//!
//! | failure | test |
//! | --- | --- |
//! | cyclic foreign keys | [`keys::a_cycle_of_foreign_keys_gets_a_mapping_that_loads`]; joins around one: `relations::join` |
//! | an array in a map in an array | [`values::an_array_in_a_map_in_an_array_comes_back_as_it_was`]; exploded: `relations::explode` |
//! | a merged parent whose columns clash | [`keys::a_parents_columns_that_clash_are_named_before_any_row_is_read`]; members of a document: `item::fold` |
//! | lists of scalars with NULLs | [`values::a_list_keeps_its_nulls_and_a_set_with_one_is_rejected`]; children: `relations::embed` |
//! | a delimiter in a value that makes two keys one | [`keys::a_delimiter_in_a_value_overwrites_nothing`] |
//! | 9 sorting after 31 | [`keys::nine_sorts_before_thirty_one`]; every ordering filter at random: `mapping::template::filter::tests::order` |
//! | a NULL or empty index key | [`keys::an_index_key_that_is_null_or_empty_loses_no_item`]; that engines refuse them: `target::conformance` |
//! | a number of 39 digits within JSON | [`values::a_number_of_39_digits_in_a_document_is_never_rounded`] |
//! | a set that holds a member twice | [`values::a_set_with_a_member_twice_is_rejected_as_the_engines_would`]; children: `relations::embed` |
//! | an item of 400 KB and one byte more | `item::size` |

mod keys;
mod values;

use std::sync::atomic::{AtomicU32, Ordering};

use dynafold::target::{TargetSpec, connect};

use crate::relations::{Loaded, load_everywhere};
use crate::support::cli::dynafold;
use crate::support::contents::contents;
use crate::support::dynamodb_local::{delete_table, endpoint};
use crate::support::source::Source;

/// A mapping for a table of its own on DynamoDB Local, and its name.
fn renamed(mapping: &str) -> (String, String) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("failures-{}-{count}", std::process::id());
    let renamed = mapping.replace("name: tab", &format!("name: {name}"));
    assert_ne!(renamed, mapping);
    (renamed, name)
}

/// Loads from every database into both engines, and makes sure that all end with the same items and the same books.
async fn load_into_both(script: impl Fn(&str) -> String, mapping: &str) -> Loaded {
    let loaded = load_everywhere(&script, mapping).await;
    for source in Source::each(&script).await {
        let (mapping, name) = renamed(mapping);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mapping.yaml");
        std::fs::write(&file, mapping).unwrap();
        let (file, url, endpoint) = (file.to_str().unwrap(), source.url(), endpoint());
        let mut arguments = vec!["migrate", file, "--source", &url, "--format", "json"];
        arguments.extend(["--target", "dynamodb", "--endpoint-url", &endpoint]);
        arguments.extend(["--max-rejects", "100"]);
        let report = dynafold(&arguments).json();
        for count in ["made", "rejected", "rejects_by_code"] {
            assert_eq!(
                report["total"][count], loaded.report["total"][count],
                "{count}"
            );
        }
        let spec = TargetSpec::parse("dynamodb", Some(&endpoint), None, None).unwrap();
        let target = connect(&spec).await.unwrap();
        let items = contents(target.as_ref(), &name).await;
        assert_eq!(items, loaded.items, "{}", source.product());
        delete_table(&name).await;
        source.drop().await;
    }
    loaded
}
