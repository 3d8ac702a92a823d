//! A table that is made from the CloudFormation template of an example is the one that `migrate` would
//! have made: it differs in nothing, takes the items, and answers the access patterns.

use dynafold::dynamodb::Table;
use dynafold::mapping::yaml::{YamlContent, YamlNode};
use dynafold::mapping::{Described, Raw, resolve};
use dynafold::target::{TargetSpec, compare, connect};
use serde_json::{Map, Value, json};

use super::bench::Bench;
use super::example::Example;
use super::{all, in_words_of};
use crate::exports::{at, template};
use crate::support::dynamodb_local;
use crate::support::source::Source;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_made_from_templates_take_the_items_and_serve_the_patterns() {
    for example in all() {
        let source = Source::on_sqlite(example.migration).await;
        let mut bench = Bench::new(&example, &source);
        bench.table = format!("cfn-{}", bench.table);
        let arguments = ["--as", "cloudformation", "-o", "-"];
        let made = bench.run("docs", &arguments).exits(0);
        let wanted = table(&example, &source, &bench.table).await;
        create(&template(&made.stdout)).await;
        assert_eq!(differences(&wanted).await, "", "{}", example.name);
        bench.hold_remote(&["--no-create"]).await;
    }
}

/// Makes the table of a template, as CloudFormation does.
async fn create(template: &YamlNode) {
    let name = at(template, &["Parameters", "TableName", "Default"]);
    let name = name.text().unwrap();
    let properties = at(template, &["Resources", "Table", "Properties"]);
    let Value::Object(mut properties) = json_of(properties) else {
        panic!("no properties");
    };
    let reference = properties.insert("TableName".to_owned(), json!(name));
    assert_eq!(reference, Some(json!("TableName")));
    let ttl = properties.remove("TimeToLiveSpecification");
    if let Some(stream) = properties.get_mut("StreamSpecification") {
        stream["StreamEnabled"] = json!(true);
    }
    dynamodb_local::call("CreateTable", &Value::Object(properties)).await;
    if let Some(ttl) = ttl {
        let arguments = json!({ "TableName": name, "TimeToLiveSpecification": ttl });
        dynamodb_local::call("UpdateTimeToLive", &arguments).await;
    }
}

/// A node as JSON: what stands without quotes may be a number or a truth.
fn json_of(node: &YamlNode) -> Value {
    match &node.content {
        YamlContent::Scalar { text, plain: true } => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        YamlContent::Scalar { text, .. } => json!(text),
        YamlContent::List(elements) => elements.iter().map(json_of).collect(),
        YamlContent::Map { entries, .. } => {
            let members = entries.iter();
            let members = members.map(|entry| (entry.key.clone(), json_of(&entry.value)));
            Value::Object(members.collect::<Map<String, Value>>())
        }
    }
}

/// The table that the example's mapping describes.
async fn table(example: &Example, source: &Source, name: &str) -> Table {
    let mapping = in_words_of(source.product(), &example.mapping);
    let mut source = dynafold::source::connect(&source.url()).await.unwrap();
    let catalog = source.catalog().await.unwrap();
    let variable = |wanted: &str| (wanted == "TABLE_NAME").then(|| name.to_owned());
    let (raw, faults) = Raw::read(&mapping, &variable);
    let raw = raw.unwrap();
    let mut described = Described::new();
    for sql in raw.queries() {
        let columns = source.describe(&sql.value).await.unwrap();
        described.insert(sql.value.clone(), Ok(columns));
    }
    let resolution = resolve(&raw, faults, &catalog, &described);
    resolution.model.unwrap().table
}

/// In what the table that is there differs from the one that is wanted.
async fn differences(wanted: &Table) -> String {
    let spec = TargetSpec::parse("dynamodb", Some(&dynamodb_local::endpoint()), None, None);
    let target = connect(&spec.unwrap()).await.unwrap();
    let found = target.describe(&wanted.name).await.unwrap().unwrap();
    let mut all = compare(wanted, &found);
    all.extend(target.compare_settings(wanted).await);
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    all.join("\n")
}
