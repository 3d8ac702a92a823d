//! The relational side as data: values between SQL and DynamoDB ([`value`]), tables, columns and keys ([`catalog`]), and
//! what is asked of a source ([`scan`]). It reads no database and knows no item; every other crate of Dynafold uses it.

pub mod catalog;
pub mod scan;
pub mod value;
