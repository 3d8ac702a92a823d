//! The lines of `docs/connections.md`, each with a server that is so.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use sqlx::Connection as _;
use tokio::sync::Semaphore;
use url::Url;

use crate::support::cli::{Ran, dynafold};
use crate::support::{mysql, postgres, servers};

const PASSWORD: &str = "S3cret!word";

/// A server that says this to whoever comes, and hangs up; a silent one says nothing and waits.
fn says(first: Vec<u8>, silent: bool) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.write_all(&first);
            if silent || !first.is_empty() {
                kept.push(client);
            }
        }
    });
    format!("any://app@127.0.0.1:{port}/app").parse().unwrap()
}

/// What MySQL says first: who it is, and by which plugin one logs in. It has no TLS.
fn greeting(plugin: &str) -> Vec<u8> {
    let mut body = b"\x0a9.7.4\0\x01\0\0\0saltsalt\0\x01\xa2\x21\x02\0\x08\0\x15".to_vec();
    body.extend([0; 10]);
    body.extend(b"saltsaltsalt\0");
    body.extend(plugin.as_bytes());
    body.push(0);
    packet(&body)
}

/// How MySQL refuses before it has said anything else.
fn refusal(number: u16) -> Vec<u8> {
    let [low, high] = number.to_le_bytes();
    packet(&[&[0xff, low, high][..], b"#08004no"].concat())
}

fn packet(body: &[u8]) -> Vec<u8> {
    let size = u8::try_from(body.len()).unwrap();
    [&[size, 0, 0, 0], body].concat()
}

/// How PostgreSQL answers who asks for no TLS: it refuses.
fn fatal(state: &str) -> Vec<u8> {
    let body = format!("SFATAL\0VFATAL\0C{state}\0Mno\0\0");
    let size = u32::try_from(body.len() + 4).unwrap();
    [b"E", &size.to_be_bytes()[..], body.as_bytes()].concat()
}

/// A server of one product, with a database.
enum Server {
    Postgres(postgres::Database),
    Mysql(mysql::Database),
    Sqlite,
}

impl Server {
    async fn of(product: &str) -> Option<Self> {
        Some(match product {
            "PostgreSQL" => Self::Postgres(postgres::Database::create().await),
            "SQLite" => Self::Sqlite,
            other => {
                let named = other.to_ascii_lowercase();
                let servers = mysql::servers();
                let (_, server) = servers.iter().find(|(name, _)| *name == named)?;
                Self::Mysql(mysql::Database::new(server).await)
            }
        })
    }

    /// Its URL; another one in the words of its product.
    fn url(&self, other: Option<Url>) -> Url {
        let scheme = match self {
            Self::Postgres(_) => "postgres",
            Self::Mysql(_) => "mysql",
            Self::Sqlite => "sqlite",
        };
        let url = other.map_or_else(
            || match self {
                Self::Postgres(database) => database.url(),
                Self::Mysql(database) => database.url().into(),
                Self::Sqlite => "sqlite:shop.db".to_owned(),
            },
            Url::into,
        );
        let (_, rest) = url.split_once(':').unwrap();
        format!("{scheme}:{rest}").parse().unwrap()
    }

    /// A server that answers with this, in the words of the product.
    fn fake(&self, postgres: Vec<u8>, mysql: Vec<u8>) -> Url {
        let first = if matches!(self, Self::Postgres(_)) {
            postgres
        } else {
            mysql
        };
        let mut url = self.url(Some(says(first, false)));
        if let Self::Postgres(_) = self {
            url.set_query(Some("sslmode=disable"));
        }
        url
    }

    /// With these parameters, in the words of the product.
    fn with(&self, postgres: &str, mysql: &str) -> Url {
        let mut url = self.url(None);
        url.set_query(Some(if matches!(self, Self::Postgres(_)) {
            postgres
        } else {
            mysql
        }));
        url
    }

    /// A user of its own, of whom this is said: `{user}` and `{database}` stand for names.
    async fn user(&mut self, postgres: &[&str], mysql: &[&str]) -> Url {
        match self {
            Self::Postgres(database) => {
                let role = database.role("odd").await;
                for sql in postgres {
                    let sql = sql.replace("{user}", &role);
                    database
                        .run(&sql.replace("{database}", database.name()))
                        .await;
                }
                database.url_as(&role, "secret").parse().unwrap()
            }
            Self::Mysql(database) => {
                let url = database.user(&[]).await;
                for sql in mysql {
                    let sql = sql.replace("{user}", url.username());
                    database
                        .run(&sql.replace("{database}", database.name()))
                        .await;
                }
                url
            }
            Self::Sqlite => unreachable!(),
        }
    }

    /// The certificate of the server's authority, as a file.
    async fn authority(&self, folder: &Path) -> String {
        let pem = match self {
            Self::Postgres(database) => {
                let mut connection = sqlx::PgConnection::connect(&database.url()).await.unwrap();
                let sql = "SELECT pg_read_file(current_setting('ssl_cert_file'))";
                let pem = sqlx::query_scalar::<_, String>(sql);
                pem.fetch_one(&mut connection).await.unwrap()
            }
            _ => {
                let url = self.url(None);
                let mut connection = sqlx::MySqlConnection::connect(url.as_str()).await.unwrap();
                let sql = "SELECT CAST(LOAD_FILE(CONCAT(@@datadir, 'ca.pem')) AS CHAR)";
                let pem = sqlx::query_scalar::<_, String>(sql);
                pem.fetch_one(&mut connection).await.unwrap()
            }
        };
        let file = folder.join("ca.pem");
        std::fs::write(&file, pem).unwrap();
        file.display().to_string()
    }

    /// A URL with which this goes wrong.
    #[expect(clippy::too_many_lines, reason = "an arm for each line of the table")]
    async fn wrong(&mut self, what: &str, folder: &Path) -> String {
        let file = folder.join("text.txt");
        std::fs::write(
            &file,
            "no certificate, and no database at all, but text".repeat(99),
        )
        .unwrap();
        let file = file.display();
        match what {
            "nothing listens on the port" => {
                let mut url = self.url(None);
                url.set_port(Some(1)).unwrap();
                url
            }
            "the host is silent" => self.url(Some(says(Vec::new(), true))),
            "the host's name is not known" => {
                let mut url = self.url(None);
                url.set_host(Some("no-such-host.invalid")).unwrap();
                url
            }
            "the socket is not there" => self.with("host=/nowhere", "socket=/nowhere/my.sock"),
            "another kind of server answers" => {
                let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
                let answer = match self {
                    Self::Postgres(_) => answer.to_vec(),
                    _ => packet(answer),
                };
                self.url(Some(says(answer, false)))
            }
            "MySQL answers" => {
                let port = says(greeting("caching_sha2_password"), true).port();
                let mut url = self.url(None);
                url.set_port(port).unwrap();
                url
            }
            "PostgreSQL answers" => {
                let server = servers::url("postgres");
                let mut url = self.url(None);
                url.set_port(server.parse::<Url>().unwrap().port()).unwrap();
                url
            }
            "all connections are taken" => self.fake(fatal("53300"), refusal(1040)),
            "the server is starting up" => self.fake(fatal("57P03"), Vec::new()),
            "this machine is not let in" => self.fake(Vec::new(), refusal(1130)),
            "the account uses a login plugin" => {
                self.fake(Vec::new(), greeting("auth_gssapi_client"))
            }
            "the server requires TLS" => self.fake(Vec::new(), refusal(3159)),
            "there is no such database" => {
                let mut url = self.url(None);
                url.set_path("no_such_database");
                url
            }
            "user or password is wrong" => {
                let mut url = self.url(None);
                url.set_password(Some(PASSWORD)).unwrap();
                url
            }
            "the password has expired" => {
                let postgres = "ALTER ROLE {user} VALID UNTIL '2020-01-01'";
                self.user(
                    &[postgres],
                    &[
                        "GRANT SELECT ON {database}.* TO {user}",
                        "ALTER USER {user} PASSWORD EXPIRE",
                    ],
                )
                .await
            }
            "the account is locked" => {
                let mysql = "ALTER USER {user} ACCOUNT LOCK";
                self.user(&["ALTER ROLE {user} NOLOGIN"], &[mysql]).await
            }
            "the database was not granted" => {
                let revoke = "REVOKE CONNECT ON DATABASE {database} FROM PUBLIC";
                self.user(&[revoke], &[]).await
            }
            "a role was granted and is no default" => {
                let role = [
                    "CREATE ROLE {database}_role",
                    "GRANT SELECT ON {database}.* TO {database}_role",
                    "GRANT {database}_role TO {user}",
                ];
                if let Self::Mysql(database) = self {
                    database.drop_later(format!("DROP ROLE {}_role", database.name()));
                }
                self.user(&[], &role).await
            }
            "the account requires TLS" => {
                let mut url = self.user(&[], &["ALTER USER {user} REQUIRE SSL"]).await;
                url.set_query(Some("ssl-mode=disabled"));
                url
            }
            "the account requires a certificate" => {
                self.user(&[], &["ALTER USER {user} REQUIRE X509"]).await
            }
            "a first login without TLS, by caching_sha2_password" => {
                let mut url = self.user(&[], &[]).await;
                url.set_query(Some("ssl-mode=disabled"));
                url
            }
            "the server has no TLS" => {
                let mut url = self.fake(b"N".to_vec(), greeting("mysql_native_password"));
                url.set_query(Some(match self {
                    Self::Postgres(_) => "sslmode=require",
                    _ => "ssl-mode=required",
                }));
                url
            }
            "the certificate's authority is not known" => {
                self.with("sslmode=verify-ca", "ssl-mode=verify_ca")
            }
            "the certificate is for another name" => {
                let file = self.authority(folder).await;
                let postgres = format!("sslmode=verify-full&sslrootcert={file}");
                self.with(
                    &postgres,
                    &format!("ssl-mode=verify_identity&ssl-ca={file}"),
                )
            }
            "the file of the authority is not there" => {
                self.with("sslrootcert=/nowhere.pem", "ssl-ca=/nowhere.pem")
            }
            "the file of the authority holds none" => {
                self.with(&format!("sslrootcert={file}"), &format!("ssl-ca={file}"))
            }
            "a certificate comes without its key" => {
                let pem = "-----BEGIN CERTIFICATE-----";
                self.with(&format!("sslcert={pem}"), &format!("ssl-cert={pem}"))
            }
            "the mode is misspelt" => self.with("sslmode=verify_full", "ssl-mode=verify-full"),
            "a parameter is misspelt" => self.with("sslmod=disable", "ssl-mod=disabled"),
            "the scheme is misspelt" => return "posgres://app@127.0.0.1/app".to_owned(),
            "there is no such file" => return "sqlite:/nowhere/shop.db".to_owned(),
            "the file is a folder" => return format!("sqlite:{}", folder.display()),
            "the file is no database" => return format!("sqlite:{file}"),
            other => panic!("no test for: {other}"),
        }
        .into()
    }

    async fn drop(self) {
        match self {
            Self::Mysql(database) => database.drop().await,
            // It waits for the server, and the server for whoever is about to log in.
            other => tokio::task::spawn_blocking(|| drop(other)).await.unwrap(),
        }
    }
}

/// Connects as a user would.
async fn inspect(url: String) -> Ran {
    let ran = tokio::task::spawn_blocking(move || dynafold(&["inspect", "--source", &url]));
    ran.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_failure_of_the_list_says_what_the_list_says() {
    let list = include_str!("../../docs/connections.md");
    let lines = list.lines().filter(|line| line.starts_with("| ")).skip(2);
    let few = Arc::new(Semaphore::new(12));
    let mut tests = Vec::new();
    for line in lines {
        let cells: Vec<String> = line
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect();
        for product in cells[1].split(", ") {
            let (what, words) = (cells[0].clone(), cells[2].clone());
            let (product, few) = (product.to_owned(), Arc::clone(&few));
            tests.push(tokio::spawn(async move {
                let _permit = few.acquire().await.unwrap();
                let mut server = Server::of(&product).await?;
                let folder = tempfile::tempdir().unwrap();
                let url = server.wrong(&what, folder.path()).await;
                let ran = inspect(url).await;
                let said = ran.stderr;
                server.drop().await;
                let hides = !said.contains(PASSWORD);
                let fails = [1, 2].contains(&ran.code);
                (!(fails && hides && said.contains(&words)))
                    .then(|| format!("{product}: {what}\n{said}"))
            }));
        }
    }
    assert!(tests.len() > 60);
    let mut wrong = Vec::new();
    for test in tests {
        wrong.extend(test.await.unwrap());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
