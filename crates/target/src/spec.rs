//! What `--target` says.

use std::fmt;
use std::path::PathBuf;

use dynafold_format::address::{self, AddressFault};

/// Which target is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSpec {
    /// DynamoDB, or anything else that speaks its protocol.
    Dynamodb(ServiceOptions),
    /// The embedded engine.
    Local {
        /// The file that holds the table; `None`: the table is in memory and ends with the program.
        file: Option<PathBuf>,
    },
}

/// Where a service of AWS is, and with whose credentials it is asked. What is `None` comes from the environment and the
/// profile.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServiceOptions {
    /// Another endpoint than the region's own.
    pub endpoint_url: Option<String>,
    /// The profile of the AWS configuration files.
    pub profile: Option<String>,
    /// The region.
    pub region: Option<String>,
}

/// Why a text names no target, or its options do not go with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// When the kind of target is unknown.
    #[error("`{0}` is not a target; targets are `dynamodb`, `local` and `local:FILE`")]
    Unknown(String),
    /// When `local:` is followed by nothing.
    #[error("`local:` needs a file name; `local` alone is a table in memory")]
    NoFile,
    /// When an option of `dynamodb` is given for `local`. The option's name.
    #[error("`{0}` works with `--target dynamodb`, not with `local`")]
    NotForLocal(&'static str),
    /// When a URL stands where `dynamodb` is meant, with the URL as an option.
    #[error("a URL is not a target; use `--target dynamodb --endpoint-url {0}`")]
    Url(String),
    /// When the endpoint is not an HTTP URL. The URL, without secrets.
    #[error("`{0}` is not an endpoint URL; write http:// or https:// and a host")]
    Endpoint(String, #[source] Option<url::ParseError>),
    /// When the endpoint's URL holds a user or a password, which the protocol has no use for.
    #[error(
        "the endpoint URL must not hold a user or a password; set credentials as for the AWS CLI"
    )]
    Secret,
    /// When the endpoint's URL has a query or a fragment, behind which the protocol's own path would be lost.
    #[error("the endpoint URL must not have a query (`?`) or a fragment (`#`)")]
    Query,
    /// When something else than a file's name follows `local:`.
    #[error("the target is not usable")]
    File(#[from] AddressFault),
}

impl TargetSpec {
    /// Reads `dynamodb`, `local` or `local:FILE`, with the options that go with `dynamodb`.
    ///
    /// # Errors
    ///
    /// [`SpecError`] when the text is none of these or an option does not go with it.
    pub fn parse(
        text: &str,
        endpoint_url: Option<&str>,
        profile: Option<&str>,
        region: Option<&str>,
    ) -> Result<Self, SpecError> {
        let file = match text.split_once(':') {
            None if text == "dynamodb" => {
                endpoint_url.map(check_endpoint).transpose()?;
                return Ok(Self::Dynamodb(ServiceOptions {
                    endpoint_url: endpoint_url.map(str::to_owned),
                    profile: profile.map(str::to_owned),
                    region: region.map(str::to_owned),
                }));
            }
            None if text == "local" => None,
            Some(("local", "")) => return Err(SpecError::NoFile),
            Some(("local", file)) => {
                address::check_file(file)?;
                Some(PathBuf::from(file))
            }
            Some(("http" | "https", _)) => {
                check_endpoint(text)?;
                return Err(SpecError::Url(address::shown(text)));
            }
            _ => return Err(SpecError::Unknown(address::shown(text))),
        };
        let options = [
            ("--endpoint-url", endpoint_url),
            ("--profile", profile),
            ("--region", region),
        ];
        match options.into_iter().find(|option| option.1.is_some()) {
            Some((name, _)) => Err(SpecError::NotForLocal(name)),
            None => Ok(Self::Local { file }),
        }
    }
}

impl fmt::Debug for ServiceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint_url = self.endpoint_url.as_deref().map(address::shown);
        f.debug_struct("ServiceOptions")
            .field("endpoint_url", &endpoint_url)
            .field("profile", &self.profile)
            .field("region", &self.region)
            .finish()
    }
}

/// Reads the URL of an endpoint. Refuses what is not an HTTP URL with a host, and what holds credentials, a query or a
/// fragment.
pub(super) fn check_endpoint(text: &str) -> Result<url::Url, SpecError> {
    let url = url::Url::parse(text)
        .map_err(|error| SpecError::Endpoint(address::shown(text), Some(error)))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(SpecError::Endpoint(address::shown(text), None));
    }
    // A bare `/` in a password ends the host: what follows is in the path.
    let has_password_in_path = url.path().contains('@');
    if !url.username().is_empty() || url.password().is_some() || has_password_in_path {
        return Err(SpecError::Secret);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(SpecError::Query);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_targets_are_read() {
        assert_eq!(
            TargetSpec::parse("dynamodb", None, Some("dev"), Some("eu-west-1")),
            Ok(TargetSpec::Dynamodb(ServiceOptions {
                endpoint_url: None,
                profile: Some("dev".to_owned()),
                region: Some("eu-west-1".to_owned()),
            }))
        );
        assert_eq!(
            TargetSpec::parse("local", None, None, None),
            Ok(TargetSpec::Local { file: None })
        );
        assert_eq!(
            TargetSpec::parse("local:out/a:b.db", None, None, None),
            Ok(TargetSpec::Local {
                file: Some(PathBuf::from("out/a:b.db"))
            })
        );
    }

    #[test]
    fn what_is_no_target_is_refused_with_the_reason() {
        for (text, endpoint, message) in [
            (
                "dynamo",
                None,
                "`dynamo` is not a target; targets are `dynamodb`, `local` and `local:FILE`",
            ),
            (
                "local:",
                None,
                "`local:` needs a file name; `local` alone is a table in memory",
            ),
            (
                "http://127.0.0.1:8000",
                None,
                "a URL is not a target; use `--target dynamodb --endpoint-url http://127.0.0.1:8000`",
            ),
            (
                "local",
                Some("http://127.0.0.1:8000"),
                "`--endpoint-url` works with `--target dynamodb`, not with `local`",
            ),
            (
                "dynamodb",
                Some("127.0.0.1:8000"),
                "`127.0.0.1:8000` is not an endpoint URL; write http:// or https:// and a host",
            ),
            (
                "dynamodb",
                Some("http://me:geheim@host:8000"),
                "the endpoint URL must not hold a user or a password; set credentials as for the AWS CLI",
            ),
            (
                "dynamodb",
                Some("http://127.0.0.1:8000/#x"),
                "the endpoint URL must not have a query (`?`) or a fragment (`#`)",
            ),
            (
                "dynamodb",
                Some("http://127.0.0.1:8000?x"),
                "the endpoint URL must not have a query (`?`) or a fragment (`#`)",
            ),
        ] {
            let error = TargetSpec::parse(text, endpoint, None, None).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn no_password_is_shown() {
        let spec = TargetSpec::Dynamodb(ServiceOptions {
            endpoint_url: Some("http://me:geheim@host:8000/?token=geheim".to_owned()),
            ..ServiceOptions::default()
        });
        assert!(!format!("{spec:?}").contains("geheim"), "{spec:?}");
        let error = TargetSpec::parse("postgres://me:geheim@host/db", None, None, None);
        assert!(!error.unwrap_err().to_string().contains("geheim"));
        for target in [
            "local:postgres://me:geheim@host/db",
            "http://me:8/geheim@host",
            "postgres://me:geheim#geheim@host",
        ] {
            let error = TargetSpec::parse(target, None, None, None).unwrap_err();
            assert!(!error.to_string().contains("heim"), "{error}");
        }
        let error = TargetSpec::parse("dynamodb", Some("ftp://me:geheim@host"), None, None);
        assert!(!error.unwrap_err().to_string().contains("geheim"));
    }
}
