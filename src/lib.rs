//! Dynafold folds a relational database into one DynamoDB table.
//!
//! The program is a thin shell around this library. [`check`] holds a [`mapping`] against the [`catalog`] and the source that
//! it is of, and hands out a model. The way of a row: a [`source`] reads it, the model says what becomes of it, the [`item`] room
//! folds it into an item, the [`load`] sends it to a [`target`] and keeps the books, and [`verify`]
//! makes it again and compares. `ARCHITECTURE.md` tells more;
//! `examples/load.rs` is a program that loads.
//!
//! ```
//! use dynafold::mapping::template::Context;
//! use dynafold::{check, dynamodb, preview, source};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("shop.db");
//! let script = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
//!               INSERT INTO users VALUES (7, 'Ada')";
//! source::sqlite::create(&file, &[script]).await?;
//!
//! let mapping = r#"
//! dynafold: 1
//! table: { name: shop, key: { partition: PK, sort: SK }, type_attribute: false }
//! items:
//!   USER: { from: users, key: { PK: "USER#{id | pad(3)}", SK: "USER#" }, columns: [name] }
//! "#;
//! let mut source = source::connect(&format!("sqlite:{}", file.display())).await?;
//! let catalog = source.catalog().await?;
//! let checked = check::check(mapping, &|_variable| None, &catalog, Some(source.as_mut())).await?;
//! let model = checked.model.ok_or("the mapping has errors")?;
//!
//! let samples =
//!     preview::sample(source.as_mut(), &model, Context::default(), 5, &|_| true).await?;
//! let mut json = String::new();
//! dynamodb::write_item(&mut json, &samples[0].items[0].item);
//! assert_eq!(json, r#"{"PK":{"S":"USER#007"},"SK":{"S":"USER#"},"name":{"S":"Ada"}}"#);
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new()?.block_on(example())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// The crates below, under the names by which programs use them.
pub use dynafold_design as design;
pub use dynafold_document as document;
pub use dynafold_dynamodb as dynamodb;
pub use dynafold_engine::{check, load, preview, proof, verify};
use dynafold_format as format;
pub use dynafold_format::address;
pub use dynafold_mapping as mapping;
pub use dynafold_mapping::{access, claim, diagnostic, item};
pub use dynafold_relational::{catalog, scan, value};
pub use dynafold_source as source;
pub use dynafold_target as target;
pub use dynafold_target::{retry, throttle};

pub mod cli;
