//! The one integration binary: a list of modules.

mod support {
    pub(crate) mod endpoint;
}
mod target {
    mod conformance;
    mod dynamodb;
    mod environment;
    mod local;
    mod sample;
}
