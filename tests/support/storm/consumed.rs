//! `ConsumedCapacity` of writes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::image::Charge;
use super::schema::Schema;
use super::settings::ReportedUnits;

/// Units by table.
#[derive(Debug)]
pub(crate) struct Consumed {
    says: ReportedUnits,
    tables: BTreeMap<String, UsedUnits>,
}

#[derive(Debug, Default)]
struct UsedUnits {
    table: f64,
    global: BTreeMap<String, f64>,
    local: BTreeMap<String, f64>,
}

impl Consumed {
    pub(crate) fn new(says: ReportedUnits) -> Self {
        Self {
            says,
            tables: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, schema: &Schema, charge: &Charge) {
        let used = self.tables.entry(schema.name.clone()).or_default();
        used.table += charge.table;
        for one in &charge.indexes {
            if let Some(index) = schema.indexes.get(one.index) {
                let indexes = if index.local {
                    &mut used.local
                } else {
                    &mut used.global
                };
                *indexes.entry(index.name.clone()).or_default() += one.units;
            }
        }
    }

    /// The member of a batch's answer, with a comma before it; nothing where it was not asked for.
    pub(crate) fn batch(&self, mode: Option<&str>) -> String {
        let all: Vec<Value> = self.json(mode).collect();
        match mode {
            Some("TOTAL" | "INDEXES") if self.says != ReportedUnits::Nothing => {
                format!(",\"ConsumedCapacity\":{}", Value::from(all))
            }
            _ => String::new(),
        }
    }

    /// The whole answer to a single write.
    pub(crate) fn single(&self, mode: Option<&str>) -> String {
        let mut answer = Map::new();
        if let (Some("TOTAL" | "INDEXES"), Some(one)) = (mode, self.json(mode).next())
            && self.says != ReportedUnits::Nothing
        {
            answer.insert("ConsumedCapacity".to_owned(), one);
        }
        Value::Object(answer).to_string()
    }

    fn json(&self, mode: Option<&str>) -> impl Iterator<Item = Value> {
        let details = mode == Some("INDEXES") && self.says != ReportedUnits::One;
        let times = if self.says == ReportedUnits::Much {
            10.0
        } else {
            1.0
        };
        self.tables.iter().map(move |(name, used)| {
            let indexes = used.global.values().chain(used.local.values());
            let all = match self.says {
                ReportedUnits::One => 1.0,
                _ => (used.table + indexes.sum::<f64>()) * times,
            };
            let mut one = json!({ "TableName": name, "CapacityUnits": all });
            if let Some(one) = one.as_object_mut().filter(|_| details) {
                one.insert(
                    "Table".to_owned(),
                    json!({ "CapacityUnits": used.table * times }),
                );
                let members = [
                    ("GlobalSecondaryIndexes", &used.global),
                    ("LocalSecondaryIndexes", &used.local),
                ];
                for (member, indexes) in members {
                    let units = |(name, units): (&String, &f64)| {
                        (name.clone(), json!({ "CapacityUnits": units * times }))
                    };
                    if !indexes.is_empty() {
                        one.insert(member.to_owned(), indexes.iter().map(units).collect());
                    }
                }
            }
            one
        })
    }
}
