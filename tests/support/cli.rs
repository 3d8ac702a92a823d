//! Runs the program as a user does, with an environment of its own.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use super::wait::comes;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The report that `--format json` printed.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts the exit code, and says what was printed otherwise.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// Asserts that a text stands on stderr, and says what does otherwise.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) {
        assert!(self.stderr.contains(text), "{}", self.stderr);
    }

    /// Asserts that a text stands on stdout, and says what does otherwise.
    #[track_caller]
    pub(crate) fn prints(&self, text: &str) {
        assert!(self.stdout.contains(text), "{}", self.stdout);
    }
}

/// A command of the program that was built, or of the one that `DYNAFOLD_TEST_PROGRAM` names, without the tester's own environment: no credentials, no region, no `DATABASE_URL`.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let program = std::env::var_os("DYNAFOLD_TEST_PROGRAM");
    let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_dynafold").into());
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("AWS_EC2_METADATA_DISABLED", "true");
    command
}

pub(crate) fn dynafold(arguments: &[&str]) -> Ran {
    run(&mut command(arguments))
}

/// Runs a command of a mapping, a source and a target, which reports as JSON.
pub(crate) fn reported(
    command: &str,
    [mapping, source, target]: [&str; 3],
    further: &[&str],
) -> Ran {
    let all = [command, mapping, "--source", source, "--target", target];
    dynafold(&[&all[..], &["--format", "json"], further].concat())
}

/// Sends a program a signal, as `kill` names it: `-INT`.
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Runs a prepared command.
pub(crate) fn run(command: &mut Command) -> Ran {
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    ran(command.spawn().unwrap())
}

/// How long a program may run: one that hangs fails its test, and not all of them.
const PATIENCE: Duration = Duration::from_mins(5);

/// Waits for a program's end. Its output is piped.
pub(crate) fn ran(mut child: Child) -> Ran {
    let stdout = reader(child.stdout.take().unwrap());
    let stderr = reader(child.stderr.take().unwrap());
    let mut status = None;
    let ends = comes(PATIENCE, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if !ends {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    let status =
        status.unwrap_or_else(|| panic!("it ran for over {PATIENCE:?}:\n{stdout}\n{stderr}"));
    Ran {
        code: status.code().unwrap_or(-1),
        stdout,
        stderr,
    }
}

fn reader(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        text
    })
}
