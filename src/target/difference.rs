//! The ways in which a table can differ from its mapping, in words.

use std::fmt;

/// One way in which a table is not what the mapping says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The table's key: attributes or their types.
    Key {
        /// As the mapping says it.
        wanted: String,
        /// As the table has it.
        found: String,
    },
    /// An index of the mapping is not there.
    IndexMissing {
        /// Its name.
        name: String,
        /// Whether it is a local one, which cannot be added to a table that exists.
        local: bool,
    },
    /// The table has an index that the mapping does not know.
    IndexExtra {
        /// Its name.
        name: String,
    },
    /// An index's key: attributes or their types.
    IndexKey {
        /// The index.
        name: String,
        /// As the mapping says it.
        wanted: String,
        /// As the table has it.
        found: String,
    },
    /// What an index holds.
    IndexProjection {
        /// The index.
        name: String,
        /// Whether it lacks an attribute that the mapping wants in it.
        lacking: bool,
        /// As the mapping says it.
        wanted: String,
        /// As the table has it.
        found: String,
    },
    /// The attribute that holds the expiry time.
    Ttl {
        /// As the mapping says it.
        wanted: Option<String>,
        /// As the table has it.
        found: Option<String>,
    },
    /// A setting that no item depends on: the stream, backups, tags and so on.
    Setting {
        /// The mapping's key for it.
        setting: &'static str,
        /// As the mapping says it.
        wanted: String,
        /// As the table has it; `None` where the endpoint does not tell.
        found: Option<String>,
        /// The error code of an endpoint that does not set or tell it.
        why: Option<String>,
    },
    /// How the table, or an index of it, is paid for.
    Billing {
        /// The index; `None` for the table.
        index: Option<String>,
        /// As the mapping says it.
        wanted: String,
        /// As the table has it.
        found: String,
    },
}

impl Difference {
    /// Whether items could not be written, or access patterns not be served: the key, and an index
    /// that is missing or has another key or holds less. The rest costs money or comfort.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        match self {
            Self::Key { .. } | Self::IndexMissing { .. } | Self::IndexKey { .. } => true,
            Self::IndexProjection { lacking, .. } => *lacking,
            Self::IndexExtra { .. }
            | Self::Ttl { .. }
            | Self::Setting { .. }
            | Self::Billing { .. } => false,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key { wanted, found } => {
                write!(f, "the table's key is {found}, the mapping says {wanted}")
            }
            Self::IndexMissing { name, local } => {
                let kind = if *local { "local index" } else { "index" };
                write!(f, "the table has no {kind} {name}")
            }
            Self::IndexExtra { name } => {
                write!(f, "the mapping does not know the table's index {name}")
            }
            Self::IndexKey {
                name,
                wanted,
                found,
            } => write!(
                f,
                "the key of index {name} is {found}, the mapping says {wanted}"
            ),
            Self::IndexProjection {
                name,
                wanted,
                found,
                lacking: _,
            } => write!(f, "index {name} holds {found}, the mapping says {wanted}"),
            Self::Ttl { wanted, found } => {
                let say = |ttl: &Option<String>| ttl.clone().unwrap_or_else(|| "none".to_owned());
                let (wanted, found) = (say(wanted), say(found));
                write!(f, "the TTL attribute is {found}, the mapping says {wanted}")
            }
            Self::Setting {
                setting,
                wanted,
                found,
                why,
            } => {
                match found {
                    Some(found) => write!(f, "`{setting}` is {found}")?,
                    None => write!(f, "`{setting}` is not known here")?,
                }
                if let Some(code) = why {
                    write!(f, " (the endpoint answers {code})")?;
                }
                write!(f, ", the mapping says {wanted}")
            }
            Self::Billing {
                index,
                wanted,
                found,
            } => {
                let what = index
                    .as_ref()
                    .map_or_else(|| "the table".to_owned(), |name| format!("index {name}"));
                write!(f, "{what} is {found}, the mapping says {wanted}")
            }
        }
    }
}
