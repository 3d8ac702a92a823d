//! The one integration binary: a list of modules.

mod load;
mod source {
    mod mysql;
    mod sqlite;
}
mod support {
    pub(crate) mod faults;
    pub(crate) mod model;
    pub(crate) mod mysql;
    pub(crate) mod sqlite;
    pub(crate) mod types;
}
