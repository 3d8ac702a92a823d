//! `dynafold work`: loads chunks of a plan.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use tokio::sync::mpsc;

use super::failure::Failure;
use super::handed::HandedSource;
use super::options::{Service, SourceArguments};
use super::output::OutputStreams;
use super::signals::stop_on_signals;
use super::{Outcome, export, files, format, target};
use crate::load::handout::{
    ChunkJob, ChunkLine, ChunkOutcome, ChunkTarget, FailedChunk, PlanFacts, ResultLine,
    WorkedChunk, work,
};
use crate::load::{Cancel, LoadOptions, NoProgress};
use crate::target::{Target, connect};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dynafold work --target dynamodb --files chunks --plan plan.ndjson > results.ndjson
  dynafold work --target dynamodb --files chunks --plan plan.ndjson --shard 3/16

It reads lines of `dynafold plan`, loads the chunk of each, and writes a line with its result, or
with why it failed. A chunk may be loaded again at any time, also by two workers at once: from one
snapshot it makes the same items.")]
pub(super) struct Work {
    #[command(flatten)]
    source: SourceArguments,
    /// `dynamodb` or `local:FILE`: the table that the plan was made for; not for a plan of an export
    #[arg(long, value_name = "TARGET", env = "DYNAFOLD_TARGET")]
    target: Option<String>,
    #[command(flatten)]
    service: Service,
    /// The folder for the keys, rejects and archived items of chunks
    #[arg(long, value_name = "FOLDER")]
    files: PathBuf,
    /// Read the lines of this file instead of standard input
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Load only one in COUNT lines, beginning with line INDEX, counted from 0
    #[arg(long, value_name = "INDEX/COUNT", requires = "plan")]
    shard: Option<Shard>,
    /// Maximum number of batches in flight [default: as many as the target accepts]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: Option<u16>,
    /// Answer yes to the question before anything that costs money
    #[arg(short, long)]
    yes: bool,
}

/// A worker's share of the plan: every `count`th line, beginning with line `index`, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    fn has(self, line: usize) -> bool {
        line % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('/').and_then(|(index, count)| {
            let (index, count) = (index.parse().ok()?, count.parse().ok()?);
            (index < count).then_some(Self { index, count })
        });
        parsed.ok_or("write it as INDEX/COUNT, INDEX from 0: 0/8 to 7/8")
    }
}

/// Reads lines on a thread of their own, so that a signal can end the wait for the next line.
fn lines(reader: impl BufRead + Send + 'static) -> mpsc::Receiver<io::Result<String>> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in reader.lines() {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

pub(super) async fn run(arguments: Work, output: &OutputStreams) -> Result<Outcome, Failure> {
    let url = arguments.source.url()?.to_owned();
    let target = match &arguments.target {
        Some(target) => Some(connect(&arguments.service.spec(target)?).await?),
        None => None,
    };
    if target.as_ref().is_some_and(|target| target.is_billed()) {
        let (why, question) = ("loading chunks costs money", "Load the chunks?");
        OutputStreams::agree(arguments.yes, why, question, "nothing was loaded")?;
    }
    files::make_folder(&arguments.files)?;
    let mut lines = match &arguments.plan {
        None => lines(BufReader::new(io::stdin())),
        Some(path) => {
            let file =
                File::open(path).map_err(|error| Failure::unread("the plan ", path, &error))?;
            lines(BufReader::new(file))
        }
    };
    let mut worker = Worker {
        url,
        target,
        arguments,
        cancel: stop_on_signals(),
        opened: None,
    };
    let (mut number, mut failed, mut done) = (0, 0, 0);
    loop {
        let received = tokio::select! {
            () = worker.cancel.cancelled() => return Ok(Outcome::Interrupted),
            received = lines.recv() => received,
        };
        let Some(read) = received else { break };
        let text = read.map_err(|error| {
            Failure::failed("cannot read the lines of the plan").with_cause(&error)
        })?;
        if text.trim().is_empty() {
            continue;
        }
        let shard = worker.arguments.shard;
        let is_mine = shard.is_none_or(|shard| shard.has(number));
        number += 1;
        if !is_mine {
            continue;
        }
        let line = ChunkLine::read(&text).map_err(|error| {
            Failure::of(&error)
                .into_usage()
                .with_help("give it lines of `dynafold plan`")
        })?;
        let Some(result) = worker.load(&line, output).await else {
            return Ok(Outcome::Interrupted);
        };
        match &result.outcome {
            ChunkOutcome::Done(_) => done += 1,
            ChunkOutcome::Failed(failure) => {
                failed += 1;
                output.warning(&format!(
                    "chunk {} ({}): {}",
                    line.chunk,
                    line.reads(),
                    failure.one_line()
                ));
            }
        }
        let json = serde_json::to_string(&result).map_err(|error| Failure::of(&error))?;
        output.text(&json)?;
    }
    if failed + done == 0 {
        match worker.arguments.shard.filter(|_| number > 0) {
            None => output.warning("there was no line of a plan, so nothing was loaded"),
            Some(Shard { index, count }) => output.note(&format!(
                "shard {index}/{count} has none of the {}, so nothing was loaded",
                format::counted(number, "line")
            )),
        }
    }
    if failed == 0 {
        return Ok(Outcome::Well);
    }
    let all = format::counted(failed + done, "chunk");
    Err(Failure::failed(format!("{failed} of {all} failed"))
        .with_code("chunks")
        .with_help("give the plan's lines of these chunks to a worker again; the result line of each chunk says why it failed"))
}

struct Worker {
    url: String,
    target: Option<Arc<dyn Target>>,
    arguments: Work,
    cancel: Cancel,
    /// The source of the plan that the last chunk was of: the next chunk is usually of the same plan.
    opened: Option<OpenedPlan>,
}

struct OpenedPlan {
    facts: PlanFacts,
    target: ChunkTarget,
    handed: HandedSource,
}

impl Worker {
    /// Loads a chunk. `None` if a signal has ended the worker.
    async fn load(&mut self, line: &ChunkLine, output: &OutputStreams) -> Option<ResultLine> {
        let opened = match self
            .opened
            .take()
            .filter(|opened| opened.facts == line.plan)
        {
            Some(opened) => opened,
            None => {
                let opening = self.open(&line.plan, output);
                let opened = tokio::select! {
                    opened = opening => opened,
                    () = self.cancel.cancelled() => return None,
                };
                match opened {
                    Ok(opened) => opened,
                    Err(failure) => {
                        let failed = FailedChunk {
                            code: failure.code,
                            message: failure.message,
                            causes: failure.causes,
                            help: failure.help,
                        };
                        return Some(ResultLine::of(line, ChunkOutcome::Failed(failed)));
                    }
                }
            }
        };
        let OpenedPlan {
            facts,
            target,
            handed,
        } = opened;
        let ceiling = match &target {
            ChunkTarget::Table(to) => {
                target::ceiling(facts.max_wcu, to.is_billed(), handed.model.table.billing)
            }
            ChunkTarget::Export(_) => None,
        };
        let job = ChunkJob {
            source: handed.source,
            identity: handed.identity.clone(),
            target: target.clone(),
            model: handed.model.clone(),
            context: handed.context.clone(),
            options: LoadOptions {
                ceiling: ceiling.map(|units| units / f64::from(facts.slots)),
                writers: self.arguments.concurrency.map(usize::from),
                ..LoadOptions::default()
            },
            folder: self.arguments.files.clone(),
            cancel: self.cancel.clone(),
            progress: Arc::new(NoProgress),
        };
        let WorkedChunk { result, source } = Box::pin(work(line, job)).await;
        if let Some(source) = source {
            let handed = HandedSource { source, ..handed };
            self.opened = Some(OpenedPlan {
                facts,
                target,
                handed,
            });
        }
        result
    }

    async fn open(&self, facts: &PlanFacts, output: &OutputStreams) -> Result<OpenedPlan, Failure> {
        let target = match (&facts.export, &self.target) {
            (None, Some(target)) => ChunkTarget::Table(target.clone()),
            (Some(planned), None) => {
                let service = self.arguments.service.options();
                ChunkTarget::Export(export::place(&planned.place, &service).await?)
            }
            (None, None) => {
                return Err(Failure::usage("this plan loads a table")
                    .with_help("name the table with --target"));
            }
            (Some(planned), Some(_)) => {
                let message = format!("this plan exports to {}", planned.place);
                return Err(Failure::usage(message)
                    .with_help("leave out --target, and unset DYNAFOLD_TARGET"));
            }
        };
        let handed = Box::pin(HandedSource::of(facts, &self.url, output)).await?;
        if let ChunkTarget::Table(target) = &target {
            target::require_table(target.as_ref(), &handed.model.table).await?;
        }
        Ok(OpenedPlan {
            facts: facts.clone(),
            target,
            handed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_so_many() {
        assert_eq!("0/8".parse(), Ok(Shard { index: 0, count: 8 }));
        for wrong in ["8/8", "1", "-1/2", "0/0", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
