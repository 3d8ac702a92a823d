//! Runs the program as a user does, with an environment of its own.

use std::process::Command;

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

/// Runs the program.
pub(crate) fn dynafold(arguments: &[&str]) -> Ran {
    run(&mut command(arguments))
}

/// Runs a prepared command.
pub(crate) fn run(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
