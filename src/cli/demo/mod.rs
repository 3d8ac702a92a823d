//! `dynafold demo`: the whole way on example data, with the commands that anyone can run again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use super::output::OutputStreams;
use super::{Outcome, carry_out, files};
use crate::format::shell_word;
use crate::source::sqlite;

const SCHEMA: &str = include_str!("../../../migrations/sqlite/20260101000001_personalization.sql");
const ROWS: &str = include_str!("rows.sql");
const WORKLOAD: &str = include_str!("workload.sql");

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
    files::make_folder(&folder)?;
    let file = |name: &str| folder.join(name);
    let (database, workload, table) = (file("portal.db"), file("portal.sql"), file("portal.ddb"));
    let (mapping_file, report) = (file("portal.yaml"), file("portal.design.json"));
    prepare(&database, &workload, &table, output).await?;
    // One that is there may have been edited, and may ask otherwise.
    let is_proposed = !mapping_file.exists();
    if is_proposed {
        files::delete(&report)?;
    }
    let [mapping, report, workload] =
        [&mapping_file, &report, &workload].map(|path| path.display().to_string());
    let source = format!("sqlite:{}", database.display());
    let target = format!("local:{}", table.display());
    let (from, to) = (["--source", &source], ["--target", &target]);
    let inspect = [&["inspect"], &from[..]].concat();
    let weigh = [&["design"], &from[..], &["--workload", &workload]].concat();
    let design = [&weigh[..], &["-o", &mapping, "--report", &report]].concat();
    let compare = [&weigh[..], &["--compare", &mapping]].concat();
    let check = [&["check", &mapping], &from[..]].concat();
    let preview = [&["preview", &mapping], &from[..]].concat();
    let migrate = [&["migrate", &mapping], &from[..], &to[..]].concat();
    let verify = [&["verify", &mapping], &from[..], &to[..]].concat();

    let related = "What is there, and how is it related?";
    step(output, related, &inspect).await?;
    if is_proposed {
        let serves = "Which table serves the SQL of its application, and for how much?";
        step(output, serves, &design).await?;
    } else {
        output.note(&format!("{mapping} exists already and stays as it is"));
    }
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
    if is_proposed {
        let settings: Vec<&str> = SETTINGS.split(' ').collect();
        let query = [&["query", &mapping], &settings[..], &to[..]].concat();
        step(output, "Ask it.", &query).await?;
    }
    let place = folder.display().to_string();
    let mut docs = [&["docs", &mapping], &from[..], &["-o", &place]].concat();
    if is_proposed {
        docs.extend(["--proposal", &report]);
    }
    step(output, "Write it down, for others to read.", &docs).await?;
    output.text(&format!(
        "\nAll of this is in {place}. Try next:\n\
         \x20 open {} in a browser\n\
         \x20 edit {mapping} and run `{}` again\n\
         \x20 {}\n\
         \x20 {} --items PERSONAL_SETTINGS --limit 10\n\
         \x20 {} --format mermaid\n\
         \x20 dynafold init --source postgres://user@host/database   a first mapping of your own\n",
        mapping_file.with_extension("html").display(),
        shown(&check),
        shown(&compare),
        shown(&preview),
        shown(&inspect),
    ))?;
    Ok(if ended == Outcome::Well {
        answered
    } else {
        ended
    })
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

/// Makes the source and the workload unless they are there: they may have been edited. The table
/// is made anew.
async fn prepare(
    database: &Path,
    workload: &Path,
    table: &Path,
    output: &OutputStreams,
) -> Result<(), Failure> {
    let stays = |path: &Path| {
        let shown = path.display();
        output.note(&format!("{shown} exists already and stays as it is"));
    };
    if database.exists() {
        stays(database);
    } else {
        sqlite::create(database, &[SCHEMA, ROWS]).await?;
    }
    if workload.exists() {
        stays(workload);
    } else {
        files::write(workload, WORKLOAD)?;
    }
    if table.exists() {
        output.note(&format!("{} is created again", table.display()));
    }
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = table.as_os_str().to_owned();
        name.push(suffix);
        files::delete(Path::new(&name))?;
    }
    Ok(())
}
