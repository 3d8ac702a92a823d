//! The JSON Schema of the mapping language, for editors.

use serde_json::{Map, Value, json};

use super::{DIRECTIVES, Field, MAPPING, Shape};

/// Writes the schema. It holds what this version does: keys that are refused are not in it.
#[must_use]
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
                "tree": {
                    "type": "object",
                    "propertyNames": {
                        "anyOf": [
                            { "not": { "pattern": "^\\$" } },
                            { "enum": DIRECTIVES },
                        ]
                    },
                    "additionalProperties": { "$ref": "#/definitions/node" }
                },
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

fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Text | Shape::Template => json!({ "type": ["string", "number", "boolean"] }),
        Shape::Integer => json!({ "type": "integer", "minimum": 1 }),
        Shape::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Shape::Bool => json!({ "type": "boolean" }),
        // YAML reads `1` as a number, so that both spellings must pass.
        Shape::Word(["1"], _) => json!({ "enum": [1, "1"] }),
        Shape::Word(words, _) => json!({ "enum": words }),
        Shape::List(element) => json!({ "type": "array", "items": of(element) }),
        Shape::Some(element) => {
            json!({ "type": "array", "items": of(element), "minItems": 1 })
        }
        Shape::Record(fields) => record(fields),
        Shape::Named(value) => json!({ "type": "object", "additionalProperties": of(value) }),
        Shape::OneOf(shapes) => {
            json!({ "anyOf": shapes.iter().filter(|shape| !is_empty(shape)).map(of).collect::<Vec<_>>() })
        }
        Shape::Tree => json!({ "$ref": "#/definitions/tree" }),
    }
}

/// A record of which this version knows no key.
fn is_empty(shape: &Shape) -> bool {
    matches!(shape, Shape::Record(fields) if fields.iter().all(|field| field.later))
}

fn record(fields: &[Field]) -> Value {
    let now = || fields.iter().filter(|field| !field.later);
    let properties: Map<String, Value> = now()
        .map(|field| {
            let mut schema = of(&field.shape);
            if let Value::Object(schema) = &mut schema {
                schema.insert("description".into(), field.doc.into());
            }
            (field.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = now()
        .filter(|field| field.required)
        .map(|f| f.name)
        .collect();
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
