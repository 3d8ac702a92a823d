//! The mapping language: from YAML with places to a model that cannot be invalid.

pub mod model;
pub mod template;
