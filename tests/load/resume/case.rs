//! A load that is started, killed and looked at.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dynafold::target::{Target, TargetSpec, connect};

use super::bench::MAPPING;
use super::left::Left;
use crate::support::cli::{Ran, command, ran, run};
use crate::support::contents::contents;
use crate::support::storm::{Settings, Storm};
use crate::support::wait::{PATIENCE, comes};

/// A mapping in a folder, a source, and a table that is loaded.
pub(in crate::load) struct Case {
    pub(in crate::load) folder: tempfile::TempDir,
    pub(super) source: String,
    /// `None`: a table in a file.
    pub(in crate::load) storm: Option<Storm>,
    /// Options of every `migrate`.
    pub(in crate::load) options: Vec<String>,
}

impl Case {
    /// Into an endpoint with these settings.
    pub(in crate::load) fn storm(source: &str, settings: &str) -> Self {
        let settings = Settings::read(&format!("store: map\n{settings}")).unwrap();
        Self::new(source, Some(Storm::start(settings).unwrap()))
    }

    /// Into a file.
    pub(in crate::load) fn file(source: &str) -> Self {
        Self::new(source, None)
    }

    fn new(source: &str, storm: Option<Storm>) -> Self {
        let options = ["--max-rejects", "1000", "--chunk-rows", "120"];
        let case = Self {
            folder: tempfile::tempdir().unwrap(),
            source: source.to_owned(),
            storm,
            options: options.map(str::to_owned).to_vec(),
        };
        case.map(MAPPING);
        case
    }

    pub(in crate::load) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(in crate::load) fn map(&self, mapping: &str) {
        std::fs::write(self.path("app.yaml"), mapping).unwrap();
    }

    pub(in crate::load) fn storms(&self) -> &Storm {
        self.storm.as_ref().unwrap()
    }

    /// From now on the endpoint does this; counts begin anew.
    pub(in crate::load) fn set(&self, settings: &str) {
        self.storms().set(Settings::read(settings).unwrap());
        self.storms().reset();
    }

    fn target(&self) -> Vec<String> {
        match &self.storm {
            Some(storm) => vec![
                "--target".into(),
                "dynamodb".into(),
                "--endpoint-url".into(),
                storm.url(),
            ],
            None => vec![
                "--target".into(),
                format!("local:{}", self.path("app.ddb").display()),
            ],
        }
    }

    /// A command of the program on this case.
    pub(in crate::load) fn command(&self, name: &str, further: &[&str]) -> Command {
        let mut all = vec![name.to_owned(), self.path("app.yaml").display().to_string()];
        all.extend(["--source".to_owned(), self.source.clone()]);
        all.extend(self.target());
        all.extend(["--format".to_owned(), "json".to_owned()]);
        if name == "migrate" {
            all.extend(self.options.iter().cloned());
        }
        all.extend(further.iter().map(|word| (*word).to_owned()));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        command(&all)
    }

    pub(in crate::load) fn migrate(&self, further: &[&str]) -> Ran {
        run(&mut self.command("migrate", further))
    }

    pub(in crate::load) fn verify(&self) -> Ran {
        run(&mut self.command("verify", &[]))
    }

    /// Starts a load, and leaves it to the caller.
    pub(in crate::load) fn start(&self, further: &[&str]) -> Child {
        let mut command = self.command("migrate", further);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts a load and kills it after a while, or when so many more items have been put; what it
    /// left behind where it was faster.
    pub(in crate::load) fn killed(&self, when: When, further: &[&str]) -> Option<Ran> {
        let mut child = self.start(further);
        let begun = Instant::now();
        let put = || {
            self.storm
                .as_ref()
                .map_or(0, |storm| storm.counts().items.put)
        };
        let before = put();
        let is_time = || match when {
            When::After(while_) => begun.elapsed() >= while_,
            When::Put(items) => put() >= before + items,
        };
        let mut is_over = false;
        comes(PATIENCE, || {
            is_over = child.try_wait().unwrap().is_some();
            is_over || is_time()
        });
        if is_over {
            return Some(ran(child));
        }
        child.kill().unwrap();
        let ran = ran(child);
        (ran.code != -1).then_some(ran)
    }

    /// The lines of a file beside the mapping, sorted; none where there is no such file.
    pub(in crate::load) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    }

    pub(in crate::load) async fn open(&self) -> Arc<dyn Target> {
        let target = self.target();
        let spec = TargetSpec::parse(&target[1], target.get(3).map(String::as_str), None, None);
        connect(&spec.unwrap()).await.unwrap()
    }

    /// What the table holds, a line for each item. The endpoint is in order from then on.
    pub(in crate::load) async fn contents(&self) -> Vec<String> {
        if self.storm.is_some() {
            self.set("");
        }
        let all = contents(&*self.open().await, "app").await;
        all.lines().map(str::to_owned).collect()
    }

    /// All that a load leaves behind.
    pub(in crate::load) async fn left(&self) -> Left {
        Left {
            items: self.contents().await,
            rejects: self.lines("app.rejects.ndjson"),
            archive: self.lines("app.archive.ndjson"),
            part: self.path("app.archive.ndjson.part").exists(),
        }
    }
}

/// When a load is killed.
#[derive(Debug, Clone, Copy)]
pub(in crate::load) enum When {
    After(Duration),
    Put(u64),
}
