//! The JSON Schema of the mapping language, for editors.

use serde_json::{Map, Value, json};

use super::{DIRECTIVES, Field, MAPPING, ValueShape};

/// Writes the schema.
pub fn schema() -> Value {
    let mut root = of(&MAPPING);
    if let Value::Object(root) = &mut root {
        root.insert(
            "$schema".into(),
            "http://json-schema.org/draft-07/schema#".into(),
        );
        root.insert("title".into(), "Dynafold mapping, version 1".into());
        root.insert(
            "definitions".into(),
            json!({
                "tree": tree(),
                "node": {
                    "anyOf": [
                        { "type": ["string", "number", "boolean"] },
                        { "type": "array", "items": { "$ref": "#/definitions/node" } },
                        { "$ref": "#/definitions/tree" }
                    ]
                }
            }),
        );
    }
    root
}

fn of(shape: &ValueShape) -> Value {
    match shape {
        ValueShape::Text | ValueShape::Template => {
            json!({ "type": ["string", "number", "boolean"] })
        }
        ValueShape::Integer => json!({ "type": "integer", "minimum": 1 }),
        ValueShape::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        ValueShape::Bool => json!({ "type": "boolean" }),
        // YAML reads `1` as a number, so that both spellings must pass.
        ValueShape::Word(["1"]) => json!({ "enum": [1, "1"] }),
        ValueShape::Word(words) => json!({ "enum": words }),
        ValueShape::List(element) => json!({ "type": "array", "items": of(element) }),
        ValueShape::Some(element) => {
            json!({ "type": "array", "items": of(element), "minItems": 1 })
        }
        ValueShape::Record(fields) => record(fields),
        ValueShape::Named(value) => json!({ "type": "object", "additionalProperties": of(value) }),
        ValueShape::OneOf(shapes) => {
            json!({ "anyOf": shapes.iter().map(of).collect::<Vec<_>>() })
        }
        ValueShape::Tree => json!({ "$ref": "#/definitions/tree" }),
        ValueShape::Node => json!({ "$ref": "#/definitions/node" }),
    }
}

/// A map of attributes or of directives.
fn tree() -> Value {
    let names: Vec<&str> = DIRECTIVES.iter().map(|field| field.name).collect();
    let names = json!({ "anyOf": [{ "not": { "pattern": "^\\$" } }, { "enum": names }] });
    let node = json!({ "$ref": "#/definitions/node" });
    let mut tree = record(DIRECTIVES);
    if let Value::Object(tree) = &mut tree {
        tree.insert("propertyNames".into(), names);
        tree.insert("additionalProperties".into(), node);
    }
    tree
}

fn record(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| {
            let mut schema = of(&field.shape);
            if let Value::Object(schema) = &mut schema {
                schema.insert("description".into(), field.doc.into());
            }
            (field.name.to_owned(), schema)
        })
        .collect();
    let required = fields.iter().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if let Value::Object(schema) = &mut schema
        && !required.is_empty()
    {
        schema.insert("required".into(), json!(required));
    }
    schema
}
