//! `dynafold demo`: the whole way on example data, with the commands that anyone can run again.

use std::path::{Path, PathBuf};

use super::args::{
    Answers, Check, Demo, Docs, Format, Inspect, InspectFormat, Migrate, Preview, PreviewFormat,
    Query, QueryFormat, SourceArguments, TargetArguments, Verify,
};
use super::failure::Failure;
use super::output::Output;
use super::{Outcome, check, docs, init, inspect, migrate, preview, query, verify};
use crate::source::sqlite;

const SCHEMA: &str = include_str!("../../../migrations/sqlite/20260101000001_personalization.sql");
const ROWS: &str = include_str!("rows.sql");
const MAPPING: &str = include_str!("../../../mappings/personalization.yaml");

/// The access pattern that is asked, and what for.
const SETTINGS: &str = "findPersonalByUserIdAndService";
const SETTINGS_OF: [(&str, &str); 2] = [("userId", "1"), ("service", "startzum")];

pub(super) async fn run(arguments: &Demo, output: &Output) -> Result<Outcome, Failure> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!("cannot make the folder `{}`", folder.display())).with_cause(&error)
    })?;
    let paths = Paths {
        source: folder.join("portal.db"),
        mapping: folder.join("portal.yaml"),
        table: folder.join("portal.ddb"),
    };
    prepare(&paths, output).await?;
    let commands = paths.commands();

    step(
        output,
        "What is there, and how is it related?",
        &commands.inspect,
    )?;
    let source = || SourceArguments {
        source: Some(format!("sqlite:{}", paths.source.display())),
    };
    let target = || TargetArguments {
        target: format!("local:{}", paths.table.display()),
        endpoint_url: None,
        profile: None,
        region: None,
    };
    let inspect = Inspect {
        source: source(),
        tables: Vec::new(),
        schemas: Vec::new(),
        format: InspectFormat::Tree,
    };
    inspect::run(&inspect, output).await?;

    step(
        output,
        "Does the mapping hold against the schema and DynamoDB's rules?",
        &commands.check,
    )?;
    let check = Check {
        mapping: paths.mapping.clone(),
        source: source(),
        catalog: None,
        deny_warnings: false,
        proofs: false,
        format: Format::Text,
    };
    check::run(&check, output).await?;

    step(output, "What will be in the table?", &commands.preview)?;
    let preview = first_items(&paths.mapping, source());
    preview::run(&preview, output).await?;

    step(output, "Load it.", &commands.migrate)?;
    let migrate = load(&paths, source(), target());
    let loaded = migrate::run(&migrate, output).await?;
    if loaded == Outcome::Interrupted {
        return Ok(loaded);
    }

    step(output, "Prove it.", &commands.verify)?;
    let items = comparison(&paths, source(), target(), false);
    let ended = verify::run(&items, output).await?;
    step(
        output,
        "Prove that it answers what the database answers.",
        &commands.answers,
    )?;
    let answers = comparison(&paths, source(), target(), true);
    let answered = verify::run(&answers, output).await?;
    // A mapping that was edited may ask otherwise.
    if std::fs::read_to_string(&paths.mapping).is_ok_and(|text| text == MAPPING) {
        step(output, "Ask it.", &commands.query)?;
        query::run(&settings(&paths), output).await?;
    }
    step(output, "Write it down, for others to read.", &commands.docs)?;
    docs::run(&document(folder, &paths.mapping, source()), output).await?;
    output.text(&format!(
        "\nAll of this is in {}. Try next:\n\
         \x20 open {} in a browser\n\
         \x20 edit {} and run `{}` again\n\
         \x20 {} --items PERSONAL --limit 10\n\
         \x20 {} --format mermaid\n\
         \x20 dynafold init --source postgres://user@host/database   a starter mapping of your own\n",
        folder.display(),
        paths.mapping.with_extension("html").display(),
        paths.mapping.display(),
        commands.check,
        commands.preview.trim_end_matches(" --limit 3"),
        commands.inspect,
    ))?;
    Ok(if ended == Outcome::Well {
        answered
    } else {
        ended
    })
}

/// The load, as the command line that is shown asks for it.
fn load(paths: &Paths, source: SourceArguments, target: TargetArguments) -> Migrate {
    Migrate {
        now: None,
        archive: None,
        mapping: paths.mapping.clone(),
        source,
        target,
        no_create: false,
        max_rejects: 0,
        rejects: None,
        max_wcu: None,
        concurrency: None,
        readers: None,
        chunk_rows: None,
        one_pass: false,
        changes_only: false,
        prune: None,
        replace: false,
        // A demo that is run again finds its own table.
        append: paths.table.exists(),
        plan: false,
        items: Vec::new(),
        partition: None,
        retry_rejects: None,
        state: None,
        fresh: false,
        yes: false,
        format: Format::Text,
    }
}

/// A comparison of all items, or of the answers of the access patterns.
fn comparison(
    paths: &Paths,
    source: SourceArguments,
    target: TargetArguments,
    patterns: bool,
) -> Verify {
    Verify {
        now: None,
        mapping: paths.mapping.clone(),
        source,
        target,
        answers: Answers {
            patterns,
            pattern: Vec::new(),
            values: 20,
        },
        sample: None,
        repair: false,
        max_wcu: None,
        items: Vec::new(),
        partition: None,
        readers: None,
        allow_unexpected: false,
        yes: false,
        format: Format::Text,
    }
}

/// A preview of the first items of each type.
fn first_items(mapping: &Path, source: SourceArguments) -> Preview {
    Preview {
        now: None,
        mapping: mapping.to_owned(),
        source,
        limit: 3,
        items: Vec::new(),
        format: PreviewFormat::Table,
        output: None,
        all: false,
        rejects: None,
        prices: None,
        price_region: None,
        key_memory: 32,
    }
}

/// The definition document, in both forms.
fn document(folder: &Path, mapping: &Path, source: SourceArguments) -> Docs {
    Docs {
        mapping: mapping.to_owned(),
        source,
        catalog: None,
        formats: Vec::new(),
        output: Some(folder.to_owned()),
        force: false,
        limit: 5,
        no_examples: false,
        all: false,
        target: None,
        endpoint_url: None,
        profile: None,
        region: None,
        price_region: None,
        account: None,
        tenant: None,
        prices: None,
        now: None,
    }
}

/// The settings of a user at a service.
fn settings(paths: &Paths) -> Query {
    let parameters = SETTINGS_OF.iter();
    let given = parameters.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Query {
        mapping: paths.mapping.clone(),
        pattern: Some(SETTINGS.to_owned()),
        params: Vec::new(),
        given: given.collect(),
        target: Some(format!("local:{}", paths.table.display())),
        endpoint_url: None,
        profile: None,
        region: None,
        explain: false,
        all: false,
        repeat: 1,
        catalog: None,
        source: None,
        now: None,
        keys: false,
        wide: false,
        format: QueryFormat::Table,
    }
}

struct Paths {
    source: PathBuf,
    mapping: PathBuf,
    table: PathBuf,
}

/// The commands that the demo runs, as a shell takes them.
struct Commands {
    inspect: String,
    check: String,
    preview: String,
    migrate: String,
    verify: String,
    answers: String,
    query: String,
    docs: String,
}

impl Paths {
    fn commands(&self) -> Commands {
        let mapping = quoted(&self.mapping.display().to_string());
        let source = format!(
            "--source {}",
            quoted(&format!("sqlite:{}", self.source.display()))
        );
        let target = format!(
            "--target {}",
            quoted(&format!("local:{}", self.table.display()))
        );
        let folder = self.mapping.parent().unwrap_or(Path::new("."));
        let folder = quoted(&folder.display().to_string());
        let parameters = SETTINGS_OF.map(|(name, value)| format!("--{name} {value}"));
        let parameters = parameters.join(" ");
        Commands {
            inspect: format!("dynafold inspect {source}"),
            check: format!("dynafold check {mapping} {source}"),
            preview: format!("dynafold preview {mapping} {source} --limit 3"),
            migrate: format!("dynafold migrate {mapping} {source} {target}"),
            verify: format!("dynafold verify {mapping} {source} {target}"),
            answers: format!("dynafold verify {mapping} {source} {target} --patterns"),
            query: format!("dynafold query {mapping} {SETTINGS} {parameters} {target}"),
            docs: format!("dynafold docs {mapping} {source} -o {folder}"),
        }
    }
}

/// Makes the source and the mapping unless they are there: they may have been edited. The table
/// is made anew.
async fn prepare(paths: &Paths, output: &Output) -> Result<(), Failure> {
    if paths.source.exists() {
        output.note(&format!(
            "{} is there already and stays as it is",
            paths.source.display()
        ));
    } else {
        sqlite::create(&paths.source, &[SCHEMA, ROWS]).await?;
    }
    if paths.mapping.exists() {
        output.note(&format!(
            "{} is there already and stays as it is",
            paths.mapping.display()
        ));
    } else {
        init::write(&paths.mapping, MAPPING)?;
    }
    if paths.table.exists() {
        output.note(&format!("{} is made anew", paths.table.display()));
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

fn step(output: &Output, question: &str, command: &str) -> Result<(), Failure> {
    output.text(&format!("\n{}\n$ {command}\n", output.bold(question)))
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@".contains(c);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
