//! Arguments that several commands take.

use std::any::TypeId;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{Arg, Args, Command as Clap, ValueEnum};
use jiff::Timestamp;

use super::failure::Failure;
use super::format::{address, shell_word};
use crate::format::address::AddressFault;
use crate::target::{ServiceOptions, TargetSpec};

/// Where rows come from.
#[derive(Debug, Args)]
pub(super) struct SourceArguments {
    /// The database: postgres://…, mysql://…, mariadb://… or sqlite:FILE
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub(super) source: Option<String>,
}

impl SourceArguments {
    /// `--source` as a shell takes it, for commands that are printed: without a URL that may hold a password.
    pub(super) fn shown_option(&self) -> String {
        match &self.source {
            Some(url) if address::shown(url) == *url => format!("--source {}", shell_word(url)),
            _ => r#"--source "$DATABASE_URL""#.to_owned(),
        }
    }

    pub(super) fn url(&self) -> Result<&str, Failure> {
        self.source.as_deref().ok_or_else(|| {
            Failure::usage("no source is named").with_help(
                "use --source postgres://user@host/database (or mysql://…, sqlite:FILE), or set DATABASE_URL",
            )
        })
    }
}

/// How many rejected rows a load may have.
#[derive(Debug, Args)]
pub(super) struct RejectLimit {
    /// Stop when more than N rows are rejected
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub(super) max_rejects: u64,
}

#[derive(Debug, Args)]
pub(super) struct TargetArguments {
    /// `dynamodb`, `local` (in memory) or `local:FILE`
    #[arg(long, value_name = "TARGET", env = "DYNAFOLD_TARGET")]
    target: String,
    #[command(flatten)]
    service: Service,
}

impl TargetArguments {
    /// The target that they name.
    pub(super) fn spec(&self) -> Result<TargetSpec, Failure> {
        self.service.spec(&self.target)
    }
}

/// Which DynamoDB or S3 is meant, and as whom.
#[derive(Debug, Args)]
pub(super) struct Service {
    /// The endpoint of DynamoDB Local or another server that speaks the protocol
    #[arg(long, value_name = "URL")]
    pub(super) endpoint_url: Option<String>,
    /// The profile of ~/.aws/config to use
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// The AWS region
    #[arg(long, value_name = "REGION", value_parser = region)]
    pub(super) region: Option<String>,
}

impl Service {
    pub(super) fn options(&self) -> ServiceOptions {
        ServiceOptions {
            endpoint_url: self.endpoint_url.clone(),
            profile: self.profile.clone(),
            region: self.region.clone(),
        }
    }

    /// The target that `--target` names with these.
    pub(super) fn spec(&self, target: &str) -> Result<TargetSpec, Failure> {
        TargetSpec::parse(
            target,
            self.endpoint_url.as_deref(),
            self.profile.as_deref(),
            self.region.as_deref(),
        )
        .map_err(|error| Failure::of(&error).into_usage())
    }
}

/// Reports are text for people, or JSON for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

/// The command, whose paths are those of files and folders in each of its commands: a URL is refused, which would be taken for
/// folders, with its password in their names.
pub(super) fn with_paths(command: Clap) -> Clap {
    let path = |arg: Arg| {
        if arg.get_value_parser().type_id() == TypeId::of::<PathBuf>() {
            arg.value_parser(PathBufValueParser::new().try_map(no_url))
        } else {
            arg
        }
    };
    command.mut_subcommands(|own| own.mut_args(path))
}

fn no_url(path: PathBuf) -> Result<PathBuf, AddressFault> {
    address::check_file(&path.to_string_lossy())?;
    Ok(path)
}

/// Refuses options that name one file, said or not, and names them: the later would take the other's for damaged or for
/// somebody else's, after it was begun.
pub(super) fn refuse_one_file_twice(files: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let files = files.iter();
    let files: Vec<(&str, PathBuf)> = files
        .filter_map(|(name, file)| Some((*name, real((*file)?))))
        .collect();
    for (at, (name, file)) in files.iter().enumerate() {
        let mut before = files.iter().take(at);
        if let Some((other, _)) = before.find(|(_, before)| before == file) {
            return Err(
                Failure::usage(format!("{other} and {name} name the same file"))
                    .with_help("give each a file of its own"),
            );
        }
    }
    Ok(())
}

/// The file behind a name, which need not be there yet.
fn real(file: &Path) -> PathBuf {
    if let Ok(real) = file.canonicalize() {
        return real;
    }
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match (whole.parent().map(Path::canonicalize), whole.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => whole,
    }
}

/// How fast a table may be written to.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct WriteRate {
    /// Maximum write capacity units a second, indexes included [default: as fast as the table accepts]
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(super) max_wcu: Option<u32>,
}

/// When a text is not the name of a region. It may hold a secret and is shown nowhere.
#[derive(Debug)]
pub(super) struct NotARegion;

impl fmt::Display for NotARegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a region is letters, digits and hyphens: eu-west-1")
    }
}

impl std::error::Error for NotARegion {}

/// Reads the name of an AWS region.
pub(super) fn region(text: &str) -> Result<String, NotARegion> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_name.then(|| text.to_owned()).ok_or(NotARegion)
}

/// Reads `--now`.
pub(super) fn moment(text: &str) -> Result<Timestamp, &'static str> {
    text.parse()
        .map_err(|_| "write it in RFC 3339, with its offset: 2026-01-31T09:00:00Z")
}

/// When output has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}
