//! Access patterns as plain Query calls, as DynamoDB takes them.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use dynafold::mapping::yaml::{YamlEntry, YamlNode};
use serde_json::{Value, json};

use super::example::{Example, Item};
use crate::support::cli::Ran;

/// One call of an access pattern, and its answer.
pub(super) struct Case {
    pub(super) pattern: String,
    pub(super) index: Option<String>,
    /// The key condition; `#name` stands for the attribute of that name.
    pub(super) condition: String,
    /// What stands for each `:value`. All keys here are strings.
    pub(super) values: Vec<(String, String)>,
    /// The parameters from which `query` makes the same call.
    /// What leaves items out after they were read, with the numbers in it.
    filter: Option<String>,
    numbers: Vec<(String, String)>,
    pub(super) params: Vec<(String, String)>,
    pub(super) forward: bool,
    pub(super) limit: Option<i32>,
    /// How many calls it takes: `{shard}` in a value stands for the number of each.
    shards: u32,
    /// Whether the order of the answer is promised.
    ordered: bool,
    /// The attributes that are returned, where the index does not hold all.
    attributes: Option<Vec<String>>,
    /// The keys of the items, in their order.
    pub(super) answer: Vec<Vec<String>>,
}

/// Reads the calls: access pattern → list of calls.
pub(super) fn cases(node: &YamlNode) -> Vec<Case> {
    let of = |entry: &YamlEntry| {
        let calls = entry.value.elements().iter();
        let calls = calls.map(|call| case(&entry.key, call));
        calls.collect::<Vec<_>>()
    };
    node.entries().iter().flat_map(of).collect()
}

fn case(pattern: &str, node: &YamlNode) -> Case {
    let mut case = Case {
        pattern: pattern.to_owned(),
        index: None,
        condition: String::new(),
        values: Vec::new(),
        filter: None,
        numbers: Vec::new(),
        params: Vec::new(),
        forward: true,
        limit: None,
        shards: 1,
        ordered: true,
        attributes: None,
        answer: Vec::new(),
    };
    for YamlEntry { key, value, .. } in node.entries() {
        match key.as_str() {
            "index" => case.index = Some(word(value)),
            "condition" => case.condition = word(value),
            "values" => case.values = pairs(value),
            "filter" => case.filter = Some(word(value)),
            "numbers" => case.numbers = pairs(value),
            "params" => case.params = pairs(value),
            "forward" => case.forward = word(value).parse().unwrap(),
            "limit" => case.limit = Some(word(value).parse().unwrap()),
            "shards" => case.shards = word(value).parse().unwrap(),
            "ordered" => case.ordered = word(value).parse().unwrap(),
            "attributes" => case.attributes = Some(words(value)),
            "answer" => case.answer = value.elements().iter().map(words).collect(),
            other => panic!("{pattern}: {other}"),
        }
    }
    assert!(node.get("answer").is_some(), "{pattern}: no answer");
    case
}

fn pairs(node: &YamlNode) -> Vec<(String, String)> {
    let pairs = node.entries().iter();
    let pairs = pairs.map(|entry| (entry.key.clone(), word(&entry.value)));
    pairs.collect()
}

fn word(node: &YamlNode) -> String {
    node.text().unwrap().to_owned()
}

/// A list of words.
pub(super) fn words(node: &YamlNode) -> Vec<String> {
    node.elements().iter().map(word).collect()
}

impl Case {
    /// The attributes that the condition names, in its order.
    pub(super) fn names(&self) -> Vec<&str> {
        Self::names_in(&self.condition)
    }

    fn names_in(expression: &str) -> Vec<&str> {
        let after = expression.split('#').skip(1);
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        after
            .map(|rest| rest.split(|c| !letter(c)).next().unwrap())
            .collect()
    }

    /// The call as DynamoDB's JSON.
    pub(super) fn request(&self, table: &str) -> Value {
        let filter = self.filter.as_deref();
        let names = self.names().into_iter();
        let names: Item = names
            .chain(filter.map(Self::names_in).into_iter().flatten())
            .map(|name| (format!("#{name}"), json!(name)))
            .collect();
        let values = self.values.iter();
        let numbers = self.numbers.iter();
        let values: Item = values
            .map(|(name, value)| (format!(":{name}"), json!({ "S": value })))
            .chain(numbers.map(|(name, value)| (format!(":{name}"), json!({ "N": value }))))
            .collect();
        let mut request = json!({
            "TableName": table,
            "KeyConditionExpression": self.condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        });
        if let Some(filter) = filter {
            request["FilterExpression"] = json!(filter);
        }
        if let Some(index) = &self.index {
            request["IndexName"] = json!(index);
        }
        if !self.forward {
            request["ScanIndexForward"] = json!(false);
        }
        if let Some(limit) = self.limit {
            request["Limit"] = json!(limit);
        }
        request
    }

    /// Asks the table, every shard of it, and merges what comes by the sort key.
    pub(super) async fn ask(&self, client: &Client, table: &str) -> Vec<Item> {
        let mut found = Vec::new();
        for shard in 0..self.shards {
            let mut call = client
                .query()
                .table_name(table)
                .set_index_name(self.index.clone())
                .key_condition_expression(&self.condition)
                .set_filter_expression(self.filter.clone())
                .scan_index_forward(self.forward)
                .set_limit(self.limit);
            let filter = self.filter.as_deref();
            let filtered = filter.map(Self::names_in).into_iter().flatten();
            for name in self.names().into_iter().chain(filtered) {
                call = call.expression_attribute_names(format!("#{name}"), name);
            }
            for (name, value) in &self.values {
                let value = value.replace("{shard}", &format!("{shard:02}"));
                call =
                    call.expression_attribute_values(format!(":{name}"), AttributeValue::S(value));
            }
            for (name, value) in &self.numbers {
                let value = AttributeValue::N(value.clone());
                call = call.expression_attribute_values(format!(":{name}"), value);
            }
            let answer = call.send().await.unwrap();
            let whole = self.limit.is_some() || answer.last_evaluated_key().is_none();
            assert!(whole, "{}: more than one page", self.pattern);
            let items = answer.items().iter().map(|item| {
                let attributes = item.iter();
                let attributes = attributes.map(|(name, value)| (name.clone(), attribute(value)));
                attributes.collect::<Item>()
            });
            found.extend(items);
        }
        if self.shards > 1 {
            found.sort_by_key(|item| item["SK"]["S"].as_str().unwrap().to_owned());
        }
        found
    }

    /// Fails unless a table answers with the expected items, each of them whole.
    pub(super) async fn hold(&self, example: &Example, client: &Client, table: &str) {
        self.compare(example, self.ask(client, table).await);
    }

    /// Fails unless these are the expected items.
    fn compare(&self, example: &Example, mut found: Vec<Item>) {
        let mut expected = self.expected(example);
        let text = |item: &Item| {
            let mut item = item.clone();
            item.sort_keys();
            json!(item).to_string()
        };
        if !self.ordered {
            found.sort_by_key(text);
            expected.sort_by_key(text);
        }
        assert_eq!(
            found, expected,
            "{}: {} {:?}",
            example.name, self.pattern, self.values
        );
    }

    /// Fails unless `query` prints the expected items; `run` runs it with these arguments.
    pub(super) fn hold_query(&self, example: &Example, run: &dyn Fn(&[&str]) -> Ran) {
        let params = self.params.iter();
        let params: Vec<String> = params
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let mut arguments = vec![self.pattern.as_str(), "--format", "json"];
        for param in &params {
            arguments.extend(["--param", param]);
        }
        let mut answer = run(&arguments).exits(0).json();
        let items = answer["items"].as_array_mut().unwrap().drain(..);
        let mut found: Vec<Item> = items
            .map(|item| item.as_object().unwrap().clone())
            .collect();
        // A limit that stands in the call alone.
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        found.truncate(limit.unwrap_or(usize::MAX));
        self.compare(example, found);
        assert_eq!(answer["more"], false, "{answer:#}");
        assert_eq!(answer["pages"], self.shards, "{answer:#}");
        // DynamoDB Local does not charge for what finds nothing, as DynamoDB does.
        let units = answer["read_units"].as_f64().unwrap();
        assert!(units >= 0.5 || self.answer.is_empty(), "{answer:#}");
    }

    fn expected(&self, example: &Example) -> Vec<Item> {
        let items = example.items();
        let key = example.key();
        let one = |values: &Vec<String>| {
            let is = |item: &&Item| {
                assert_eq!(key.len(), values.len(), "{}", self.pattern);
                let pairs = key.iter().zip(values);
                pairs
                    .into_iter()
                    .all(|(name, value)| item[*name] == json!({ "S": value }))
            };
            let mut item = items
                .iter()
                .find(is)
                .unwrap_or_else(|| panic!("{}: no item {values:?}", example.name))
                .clone();
            if let Some(attributes) = &self.attributes {
                item.retain(|name, _| attributes.contains(name));
            }
            item
        };
        self.answer.iter().map(one).collect()
    }
}

/// An attribute in DynamoDB's JSON.
fn attribute(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(number) => json!({ "N": number }),
        AttributeValue::Bool(truth) => json!({ "BOOL": truth }),
        AttributeValue::Null(truth) => json!({ "NULL": truth }),
        AttributeValue::L(elements) => {
            json!({ "L": elements.iter().map(attribute).collect::<Vec<_>>() })
        }
        AttributeValue::M(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| (name.clone(), attribute(value)));
            json!({ "M": members.collect::<Item>() })
        }
        other => panic!("no example holds {other:?}"),
    }
}
