//! What the program says to MySQL and MariaDB, packet by packet, and under other settings of the server.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::support::cli::{Ran, dynafold};
use crate::support::mysql::{Database, servers};

/// `COM_QUERY` and `COM_STMT_CLOSE`; the server answers the second with nothing.
const QUERY: u8 = 3;
const CLOSE: u8 = 25;

/// A way to a server, where every session begins with some SQL that the program knows nothing of.
struct Way {
    url: Url,
    /// The commands of all sessions.
    commands: Arc<Mutex<Vec<u8>>>,
}

impl Way {
    async fn to(url: &Url, first: &'static str) -> Self {
        let mut url = url.clone();
        let server = (url.host_str().unwrap().to_owned(), url.port().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        url.set_port(Some(port)).unwrap();
        url.set_query(Some("ssl-mode=disabled"));
        let commands = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&commands);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(server.clone()).await.unwrap();
                tokio::spawn(session(client, server, first, Arc::clone(&seen)));
            }
        });
        Self { url, commands }
    }
}

async fn session(
    client: TcpStream,
    server: TcpStream,
    first: &'static str,
    commands: Arc<Mutex<Vec<u8>>>,
) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let login = log_in(
        &mut from_client,
        &mut to_client,
        &mut from_server,
        &mut to_server,
    );
    let welcome = login.await?;
    let length = u8::try_from(first.len() + 1).unwrap();
    let query = [&[length, 0, 0, 0, QUERY], first.as_bytes()].concat();
    to_server.write_all(&query).await?;
    assert_eq!(packet(&mut from_server).await?[4], 0, "{first}");
    to_client.write_all(&welcome).await?;
    tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    loop {
        let sent = packet(&mut from_client).await?;
        commands.lock().unwrap().push(sent[4]);
        to_server.write_all(&sent).await?;
    }
}

/// Passes on what is said until the server lets the client in, and returns its words.
async fn log_in(
    from_client: &mut OwnedReadHalf,
    to_client: &mut OwnedWriteHalf,
    from_server: &mut OwnedReadHalf,
    to_server: &mut OwnedWriteHalf,
) -> io::Result<Vec<u8>> {
    loop {
        let said = packet(from_server).await?;
        if said[4] == 0 {
            return Ok(said);
        }
        to_client.write_all(&said).await?;
        // After the word that the password was known, the server goes on by itself.
        if said[4..] != [1, 3] {
            to_server.write_all(&packet(from_client).await?).await?;
        }
    }
}

/// One packet with its head.
async fn packet(from: &mut OwnedReadHalf) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; 4];
    from.read_exact(&mut packet).await?;
    let length = u32::from_le_bytes([packet[0], packet[1], packet[2], 0]);
    packet.resize(4 + usize::try_from(length).unwrap(), 0);
    from.read_exact(&mut packet[4..]).await?;
    Ok(packet)
}

async fn run(arguments: &[&str], url: &Url) -> Ran {
    let mut arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
    arguments.extend(["--source".to_owned(), url.to_string()]);
    let ran = tokio::task::spawn_blocking(move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        dynafold(&arguments)
    });
    ran.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_a_server_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("m.yaml");
    let text = "dynafold: 1\ntable: { name: portal, key: { partition: PK } }\nitems:\n  T:\n    from: t\n    where: word <> 'x'\n    key: { PK: \"T#{id}\" }\n";
    std::fs::write(&mapping, text).unwrap();
    let mapping = mapping.display().to_string();
    for (product, server) in servers() {
        let mut database = Database::new(&server).await;
        let tables = "CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(9) NOT NULL, KEY (word));
            INSERT INTO t VALUES (1, 'a'), (2, ''''); CREATE TABLE hidden (id INT)";
        database.run(tables).await;
        // Whoever sees a part only is asked about more.
        let grant = format!("SELECT ON {}.t", database.name());
        let url = database.user(&[&grant]).await;
        // The server keeps the password from now on, so that no TLS is needed.
        let plain = run(&["inspect"], &url).await.exits(0);
        let reported = format!("{}{}", plain.stdout, plain.stderr);
        assert!(
            reported.contains("access only to some tables"),
            "{reported}"
        );
        for setting in [
            "SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')",
            "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE')",
            "SET sql_mode = ''",
            "SET autocommit = 0",
            "SET completion_type = 1",
            "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        ] {
            let way = Way::to(&url, setting).await;
            let ran = run(&["inspect"], &way.url).await;
            let also = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(also, reported, "{product}: {setting}");
            let ran = run(&["preview", &mapping, "--all"], &way.url).await;
            assert_eq!(ran.code, 0, "{product}: {setting}: {}", ran.stderr);
        }
        database.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn relations_and_conditions_cost_a_round_trip_each_and_no_wait_for_an_acknowledgement() {
    const TABLES: usize = 60;
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("m.yaml");
    let mut text =
        "dynafold: 1\ntable: { name: portal, key: { partition: PK } }\nitems:\n".to_owned();
    let mut script = String::new();
    for n in 0..TABLES {
        let item = format!("  T{n}:\n    from: t{n}\n    where: id <> 7\n");
        writeln!(text, "{item}    key: {{ PK: \"T{n}#{{id}}\" }}").unwrap();
        write!(
            script,
            "CREATE TABLE t{n} (id INT PRIMARY KEY, word VARCHAR(9));"
        )
        .unwrap();
    }
    std::fs::write(&mapping, text).unwrap();
    let mapping = mapping.display().to_string();
    for (product, server) in servers() {
        let mut database = Database::new(&server).await;
        database.run(&script).await;
        // A user who sees this database alone: what other tests make meanwhile costs commands too.
        let grant = format!("SELECT ON {}.*", database.name());
        let url = database.user(&[&grant]).await;
        // The server keeps the password from now on, so that no TLS is needed.
        run(&["check", &mapping], &url).await.exits(0);
        let way = Way::to(&url, "SET autocommit = 1").await;
        run(&["check", &mapping], &way.url).await.exits(0);
        let commands = way.commands.lock().unwrap().clone();
        // What is sent while the server has not acknowledged a closing waits for 40 ms.
        let closes = commands.iter().filter(|command| CLOSE == **command);
        let stalls = closes.count();
        assert_eq!(stalls, 0, "{product}: {commands:?}");
        assert!(commands.len() <= 2 * TABLES + 16, "{product}: {commands:?}");
        database.drop().await;
    }
}
