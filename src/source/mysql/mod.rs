//! Reads Mysql.

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::{Chunk, Relation, Scan, Source, SourceError};
use crate::catalog::{Catalog, Column, Dbms};

/// A connection to Mysql.
#[derive(Debug)]
pub struct Mysql;

impl Mysql {
    /// Connects.
    ///
    /// # Errors
    ///
    /// [`SourceError`] when it cannot.
    pub async fn connect(_url: &str) -> Result<Self, SourceError> {
        Err(SourceError::Url("not built".into()))
    }
}

impl Source for Mysql {
    fn dbms(&self) -> Dbms {
        Dbms::Mysql
    }
    fn catalog(&mut self) -> BoxFuture<'_, Result<Catalog, SourceError>> {
        unimplemented!()
    }
    fn describe<'a>(
        &'a mut self,
        _sql: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Column>, SourceError>> {
        unimplemented!()
    }
    fn prepare<'a>(&'a mut self, _scan: &'a Scan) -> BoxFuture<'a, Result<(), SourceError>> {
        unimplemented!()
    }
    fn begin(&mut self) -> BoxFuture<'_, Result<(), SourceError>> {
        unimplemented!()
    }
    fn count<'a>(&'a mut self, _from: &'a Relation) -> BoxFuture<'a, Result<u64, SourceError>> {
        unimplemented!()
    }
    fn scan<'a>(&'a mut self, _scan: &'a Scan) -> BoxStream<'a, Result<Chunk, SourceError>> {
        unimplemented!()
    }
}
