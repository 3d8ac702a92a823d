//! Where words go: results to stdout, everything else to stderr.

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::args::Color;
use super::failure::{Failure, Form};

/// Bold red, bold yellow, bold green, bold cyan, dim, and the end of them.
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const CYAN: &str = "\x1b[1;36m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// Says something on stderr; where nobody listens any more, it is lost.
pub(super) fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The two streams, and whether they take colours.
#[derive(Debug)]
pub(super) struct Output {
    color: bool,
    color_stderr: bool,
    /// Whether a result was given as JSON.
    answered: AtomicBool,
}

impl Output {
    pub(super) fn new(color: Color) -> Self {
        // https://no-color.org: any non-empty value turns colours off.
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let when = |terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => allowed && terminal,
        };
        Self {
            color: when(io::stdout().is_terminal()),
            color_stderr: when(io::stderr().is_terminal()),
            answered: AtomicBool::new(false),
        }
    }

    /// Whether stdout takes colours.
    pub(super) fn color(&self) -> bool {
        self.color
    }

    /// Whether stderr takes colours.
    pub(super) fn color_stderr(&self) -> bool {
        self.color_stderr
    }

    /// Whether a question can be asked and answered.
    #[expect(clippy::unused_self, reason = "the streams belong to the output")]
    pub(super) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Prints a result; a newline is added where one is missing.
    pub(super) fn text(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let newline = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let written = write!(stdout, "{text}{newline}").and_then(|()| stdout.flush());
        self.written(written)
    }

    /// Prints a result as JSON.
    pub(super) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::failed("cannot write the report").with_cause(&error))?;
        self.answered.store(true, Ordering::Relaxed);
        self.text(&text)
    }

    /// Prints, for programs, why a command failed that has printed no report.
    pub(super) fn answer(&self, failure: &Failure, form: Form) -> Result<(), Failure> {
        match form {
            _ if self.answered.load(Ordering::Relaxed) => Ok(()),
            Form::Document => self.json(&failure.report()),
            Form::Line => self.text(&failure.report().to_string()),
        }
    }

    #[expect(clippy::unused_self, reason = "the streams belong to the output")]
    fn written(&self, result: io::Result<()>) -> Result<(), Failure> {
        match result {
            // `dynafold … | head` is no failure.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => {
                Err(Failure::failed("cannot write to standard output").with_cause(&error))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Says something about what is going on.
    pub(super) fn note(&self, text: &str) {
        self.say("", "", text);
    }

    /// Text that stands out on stdout, where that can be shown.
    pub(super) fn bold(&self, text: &str) -> String {
        if self.color {
            format!("{BOLD}{text}{RESET}")
        } else {
            text.to_owned()
        }
    }

    /// Warns.
    pub(super) fn warning(&self, text: &str) {
        self.say(YELLOW, "warning", &format!(": {text}"));
    }

    /// Says why a command failed.
    pub(super) fn failure(&self, failure: &Failure) {
        if failure.message.is_empty() {
            return;
        }
        self.say(RED, "error", &format!(": {}", failure.message));
        for cause in &failure.causes {
            self.note(&format!("  because: {cause}"));
        }
        if let Some(help) = &failure.help {
            self.say(CYAN, "   help", &format!(": {help}"));
        }
    }

    /// Asks a question that is answered by `y`; anything else is no.
    #[expect(clippy::unused_self, reason = "the streams belong to the output")]
    pub(super) fn ask(&self, question: &str) -> bool {
        let mut stderr = io::stderr().lock();
        if write!(stderr, "{question} [y/N] ")
            .and_then(|()| stderr.flush())
            .is_err()
        {
            return false;
        }
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
    }

    fn say(&self, style: &str, styled: &str, text: &str) {
        let mut stderr = io::stderr().lock();
        // Nothing sensible is left to do when stderr is gone.
        let _ = if self.color_stderr && !style.is_empty() {
            writeln!(stderr, "{style}{styled}{RESET}{text}")
        } else {
            writeln!(stderr, "{styled}{text}")
        };
    }
}
