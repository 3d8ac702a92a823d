//! `dynafold demo`: the whole way on example data, with the commands that anyone can run again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use super::output::OutputStreams;
use super::{Outcome, carry_out, init};
use crate::format::shell_word;
use crate::source::sqlite;

const SCHEMA: &str = include_str!("../../../migrations/sqlite/20260101000001_personalization.sql");
const ROWS: &str = include_str!("rows.sql");
const MAPPING: &str = include_str!("../../../mappings/personalization.yaml");

/// The access pattern that is asked, and what for: the settings of a user at a service.
const SETTINGS: &str = "findPersonalByUserIdAndService --userId 1 --service startzum";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold demo            writes into ./dynafold-demo
  dynafold demo /tmp/try   writes into another folder")]
pub(in crate::cli) struct Demo {
    /// The folder that the example is written into
    #[arg(default_value = "dynafold-demo")]
    folder: PathBuf,
}

pub(super) async fn run(arguments: Demo, output: &OutputStreams) -> Result<Outcome, Failure> {
    let folder = arguments.folder;
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::failed(format!("cannot make the folder `{}`", folder.display())).with_cause(&error)
    })?;
    let paths = Paths {
        source: folder.join("portal.db"),
        mapping: folder.join("portal.yaml"),
        table: folder.join("portal.ddb"),
    };
    prepare(&paths, output).await?;
    let mapping = paths.mapping.display().to_string();
    let source = format!("sqlite:{}", paths.source.display());
    let target = format!("local:{}", paths.table.display());
    let (from, to) = (["--source", &source], ["--target", &target]);
    let inspect = [&["inspect"], &from[..]].concat();
    let check = [&["check", &mapping], &from[..]].concat();
    let preview = [&["preview", &mapping], &from[..]].concat();
    let migrate = [&["migrate", &mapping], &from[..], &to[..]].concat();
    let verify = [&["verify", &mapping], &from[..], &to[..]].concat();

    let related = "What is there, and how is it related?";
    step(output, related, &inspect).await?;
    let holds = "Does the mapping hold against the schema and DynamoDB's rules?";
    step(output, holds, &check).await?;
    let items = [&preview[..], &["--limit", "3"]].concat();
    step(output, "What will be in the table?", &items).await?;
    let loaded = step(output, "Load it.", &migrate).await?;
    if loaded == Outcome::Interrupted {
        return Ok(loaded);
    }
    let ended = step(output, "Prove it.", &verify).await?;
    let answers = "Prove that it answers what the database answers.";
    let patterns = [&verify[..], &["--patterns"]].concat();
    let answered = step(output, answers, &patterns).await?;
    // A mapping that was edited may ask otherwise.
    if std::fs::read_to_string(&paths.mapping).is_ok_and(|text| text == MAPPING) {
        let settings: Vec<&str> = SETTINGS.split(' ').collect();
        let query = [&["query", &mapping], &settings[..], &to[..]].concat();
        step(output, "Ask it.", &query).await?;
    }
    let place = folder.display().to_string();
    let docs = [&["docs", &mapping], &from[..], &["-o", &place]].concat();
    step(output, "Write it down, for others to read.", &docs).await?;
    output.text(&format!(
        "\nAll of this is in {place}. Try next:\n\
         \x20 open {} in a browser\n\
         \x20 edit {mapping} and run `{}` again\n\
         \x20 {} --items PERSONAL --limit 10\n\
         \x20 {} --format mermaid\n\
         \x20 dynafold init --source postgres://user@host/database   a starter mapping of your own\n",
        paths.mapping.with_extension("html").display(),
        shown(&check),
        shown(&preview),
        shown(&inspect),
    ))?;
    Ok(if ended == Outcome::Well {
        answered
    } else {
        ended
    })
}

struct Paths {
    source: PathBuf,
    mapping: PathBuf,
    table: PathBuf,
}

/// Shows a command and runs it, as it would be run from a shell.
async fn step(output: &OutputStreams, question: &str, words: &[&str]) -> Result<Outcome, Failure> {
    let question = output.bold(question);
    output.text(&format!("\n{question}\n$ {}\n", shown(words)))?;
    let words: Vec<OsString> = ["dynafold"]
        .iter()
        .chain(words)
        .map(OsString::from)
        .collect();
    carry_out(&words, output).await
}

/// A command as a shell takes it.
fn shown(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    format!("dynafold {}", words.join(" "))
}

/// Makes the source and the mapping unless they are there: they may have been edited. The table
/// is made anew.
async fn prepare(paths: &Paths, output: &OutputStreams) -> Result<(), Failure> {
    let stays = |path: &Path| {
        let shown = path.display();
        output.note(&format!("{shown} exists already and stays as it is"));
    };
    if paths.source.exists() {
        stays(&paths.source);
    } else {
        sqlite::create(&paths.source, &[SCHEMA, ROWS]).await?;
    }
    if paths.mapping.exists() {
        stays(&paths.mapping);
    } else {
        init::write(&paths.mapping, MAPPING)?;
    }
    if paths.table.exists() {
        output.note(&format!("{} is created again", paths.table.display()));
    }
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = paths.table.clone().into_os_string();
        name.push(suffix);
        remove(Path::new(&name))?;
    }
    Ok(())
}

fn remove(file: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::failed(format!("cannot remove `{}`", file.display())).with_cause(&error))
        }
        _ => Ok(()),
    }
}
