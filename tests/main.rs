//! The one integration binary: a list of modules.

// `cfg(test)` tells clippy that all of this is tests, helpers too.
#[cfg(test)]
mod browser;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod datasets;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod exports;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod handout;
#[cfg(test)]
mod item;
#[cfg(test)]
mod load;
#[cfg(test)]
mod mapping;
#[cfg(test)]
mod patterns;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod relations;
#[cfg(test)]
mod routes;
#[cfg(test)]
mod source {
    mod guarantees;
    mod mysql;
    mod postgres;
    mod range;
    mod session;
    mod sqlite;
    mod stall;
}
#[cfg(test)]
mod storm;
#[cfg(test)]
mod support {
    pub(crate) mod books;
    pub(crate) mod cli;
    pub(crate) mod contents;
    pub(crate) mod datasets;
    pub(crate) mod dynamodb_local;
    pub(crate) mod embedded;
    pub(crate) mod endpoint;
    pub(crate) mod faults;
    pub(crate) mod mysql;
    pub(crate) mod postgres;
    pub(crate) mod servers;
    pub(crate) mod source;
    pub(crate) mod sqlite;
    pub(crate) mod storm;
    pub(crate) mod types;
    pub(crate) mod values;
    pub(crate) mod wait;
}
#[cfg(test)]
mod target {
    mod adding;
    mod conformance;
    mod dynamodb;
    mod environment;
    mod local;
    mod sample;
    mod settings;
    mod waiting;
}
