//! Networks that forget a connection without a word.

use std::time::{Duration, Instant};

use dynafold::catalog::DataType;
use dynafold::scan::{Relation, Scan, ScanColumn};
use dynafold::source::{Source, SourceError, mysql, postgres};
use futures_util::TryStreamExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use url::Url;

use crate::support::source::Source as Database;

/// A way to a server. Once it stalls, what comes on connections that stand goes nowhere; new ones work.
struct Way {
    url: Url,
    stalls: watch::Sender<bool>,
}

impl Way {
    async fn to(url: &str) -> Self {
        let mut url: Url = url.parse().unwrap();
        let host = url.host_str().unwrap().to_owned();
        let server = (host, url.port().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        url.set_port(Some(listener.local_addr().unwrap().port()))
            .unwrap();
        url.set_host(Some("127.0.0.1")).unwrap();
        let (stalls, stalled) = watch::channel(false);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(server.clone()).await.unwrap();
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let stalls = if *stalled.borrow() {
                    None
                } else {
                    Some(stalled.clone())
                };
                tokio::spawn(pass(from_client, to_server, stalls.clone()));
                tokio::spawn(pass(from_server, to_client, stalls));
            }
        });
        Self { url, stalls }
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut stalls: Option<watch::Receiver<bool>>,
) {
    let mut buffer = vec![0; 1 << 14];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        // Who let it stall may be gone: then nobody waits for these bytes either.
        if let Some(stalls) = &mut stalls
            && stalls.wait_for(|stalls| !stalls).await.is_err()
        {
            return;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

async fn open(database: &Database, url: &Url, patience: Duration) -> Box<dyn Source> {
    let mut source: Box<dyn Source> = if let Database::Postgres(_) = database {
        let mut source = postgres::Postgres::connect(url.as_str()).await.unwrap();
        source.set_patience(patience);
        Box::new(source)
    } else {
        let mut source = mysql::Mysql::connect(url.as_str()).await.unwrap();
        source.set_patience(patience);
        Box::new(source)
    };
    source.begin(&[]).await.unwrap();
    source
}

fn query(sql: &str) -> Scan {
    let integer = DataType::Integer {
        bits: 64,
        unsigned: false,
    };
    Scan::of(
        Relation::Query(sql.to_owned()),
        vec![ScanColumn::base("n", integer)],
    )
}

fn rows(_: &str) -> String {
    let ten = "(0), (1), (2), (3), (4), (5), (6), (7), (8), (9)";
    format!("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES {ten};")
}

#[tokio::test]
async fn a_connection_that_went_silent_is_lost_and_a_slow_query_is_not() {
    for database in Database::each(rows).await {
        let (many, slow) = match database {
            Database::Sqlite(_) => continue,
            Database::Postgres(_) => (
                "SELECT a AS n FROM generate_series(1, 100000000) a",
                "SELECT 1 AS n FROM pg_sleep(2)",
            ),
            Database::Mysql(..) => (
                "SELECT a.n FROM t a, t b, t c, t d, t e, t f, t g, t h",
                "SELECT SLEEP(2) AS n",
            ),
        };
        let product = database.product();
        let way = Way::to(&database.url()).await;
        let mut source = open(&database, &way.url, Duration::from_millis(300)).await;
        let scan = query(slow);
        let rows: Vec<_> = source.scan(&scan).try_collect().await.unwrap();
        assert_eq!(rows.len(), 1, "{product}");
        let scan = query(many);
        let mut stream = source.scan(&scan);
        stream.try_next().await.unwrap().unwrap();
        way.stalls.send_replace(true);
        let begun = Instant::now();
        let rest: Result<(), SourceError> =
            stream.try_for_each(|_| std::future::ready(Ok(()))).await;
        let error = rest.expect_err("nothing comes any more");
        assert!(error.is_lost(), "{product}: {error:?}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{product}");
        drop(source);
        way.stalls.send_replace(false);
        database.drop().await;
    }
}
