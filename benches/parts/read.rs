//! Reading alone: the rows of one table, decoded and dropped.

use std::io::{self, Write as _};

use dynafold::scan::{Relation, Scan, ScanColumn};
use dynafold::source;
use futures_util::StreamExt as _;

use crate::invalid;

/// Reads all columns of a table of the database that `DATABASE_URL` names, as `migrate` does.
pub(crate) fn run(table: &str) -> io::Result<()> {
    let url = std::env::var("DATABASE_URL").map_err(|_| invalid("DATABASE_URL is not set"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let rows = runtime.block_on(read(&url, table))?;
    writeln!(io::stdout(), "{rows}")
}

async fn read(url: &str, table: &str) -> io::Result<usize> {
    let mut source = source::connect(url).await.map_err(io::Error::other)?;
    let catalog = source.catalog().await.map_err(io::Error::other)?;
    let table = catalog
        .find(table)
        .ok_or_else(|| invalid("no such table"))?;
    let columns = table
        .columns
        .iter()
        .map(|column| ScanColumn::base(&column.name, column.data_type.clone()));
    let scan = Scan::of(Relation::Table(table.name.clone()), columns.collect());
    source.begin(&[]).await.map_err(io::Error::other)?;
    // On a task of its own, as the tool's reader is.
    let counted = tokio::spawn(async move {
        let mut chunks = source.scan(&scan);
        let mut rows = 0;
        while let Some(chunk) = chunks.next().await {
            rows += chunk.map_err(io::Error::other)?.rows.len();
        }
        Ok(rows)
    });
    counted.await.map_err(io::Error::other)?
}
