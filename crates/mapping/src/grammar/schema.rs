//! The JSON Schema of the mapping language, for editors.

use serde_json::{Map, Value, json};

use super::{DIRECTIVES, Field, MAPPING, Shape};

/// Writes the schema.
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

fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Text | Shape::Template => json!({ "type": ["string", "number", "boolean"] }),
        Shape::Integer => json!({ "type": "integer", "minimum": 1 }),
        Shape::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Shape::Bool => json!({ "type": "boolean" }),
        // YAML reads `1` as a number, so that both spellings must pass.
        Shape::Word(["1"]) => json!({ "enum": [1, "1"] }),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::List(element) => json!({ "type": "array", "items": of(element) }),
        Shape::Some(element) => {
            json!({ "type": "array", "items": of(element), "minItems": 1 })
        }
        Shape::Record(fields) => record(fields),
        Shape::Named(value) => json!({ "type": "object", "additionalProperties": of(value) }),
        Shape::OneOf(shapes) => {
            json!({ "anyOf": shapes.iter().map(of).collect::<Vec<_>>() })
        }
        Shape::Tree => json!({ "$ref": "#/definitions/tree" }),
        Shape::Node => json!({ "$ref": "#/definitions/node" }),
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
