//! Where words go: results to stdout, everything else to stderr. What reaches a terminal goes through [`shown`], or was
//! made `printable`: names, values and messages are others', and steer nothing.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::failure::{Failure, FailureFormat};
use super::format::printable;
use super::options::{Color, Format};

const RED: &str = "1;31";
const YELLOW: &str = "1;33";
const CYAN: &str = "1;36";
const BOLD: &str = "1";
const RESET: &str = "0";
/// Stands for the escape character where a style of ours begins or ends: no character of Unicode, ever.
const STYLE: char = '\u{fdd0}';

/// Says something on stderr; where nobody listens any more, it is lost.
pub(super) fn write_to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

fn styled(style: &str, text: &str) -> String {
    format!("{STYLE}[{style}m{text}{STYLE}[{RESET}m")
}

/// A text whose colours are ours, such as a renderer's that has replaced the control characters of what it was given.
pub(super) fn colored(text: &str) -> String {
    text.replace('\u{1b}', &STYLE.to_string())
}

/// A text as a terminal gets it: our styles, where they are wanted, and nothing else that steers it.
pub(super) fn shown(text: &str, color: bool) -> Cow<'_, str> {
    let text = printable(text);
    if !text.contains(STYLE) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for (at, piece) in text.split(STYLE).enumerate() {
        let style = |piece: &str| -> Option<usize> {
            let inner = piece.strip_prefix('[')?;
            let end = inner.find(|sign: char| !sign.is_ascii_digit() && sign != ';')?;
            inner.get(end..)?.starts_with('m').then_some(end + 2)
        };
        match style(piece).filter(|_| at > 0) {
            Some(_) if color => {
                out.push('\u{1b}');
                out.push_str(piece);
            }
            Some(length) => out.push_str(piece.get(length..).unwrap_or_default()),
            None => out.push_str(piece),
        }
    }
    Cow::Owned(out)
}

/// A message's text: further lines are set in, so that none of another's passes for one of ours.
fn set_in(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let space = if line.starts_with("    ") { "" } else { "    " };
        out.push_str(&format!("\n{space}{line}"));
    }
    out
}

/// A result as JSON, for programs.
pub(super) fn as_json(result: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(result)
        .map_err(|error| Failure::failed("cannot write the report").with_cause(&error))
}

/// Stderr for writers that know nothing of this, with their own colours.
pub(super) struct Stderr;

impl io::Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = colored(&String::from_utf8_lossy(bytes));
        io::stderr().write_all(shown(&text, true).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The two streams, and whether they take colours.
#[derive(Debug)]
pub(super) struct OutputStreams {
    /// Whether stdout takes colours.
    pub(super) color: bool,
    /// Whether stderr takes colours.
    pub(super) color_stderr: bool,
    /// Whether a result was given as JSON.
    answered: AtomicBool,
}

impl OutputStreams {
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

    /// Whether a question can be asked and answered.
    pub(super) fn can_ask() -> bool {
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
        let text = shown(text, self.color);
        let written = write!(stdout, "{text}{newline}").and_then(|()| stdout.flush());
        Self::written(written)
    }

    /// Prints a result as JSON.
    pub(super) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = as_json(value)?;
        self.answered.store(true, Ordering::Relaxed);
        self.text(&text)
    }

    /// Prints a report as text or as JSON.
    pub(super) fn report<T: Serialize>(
        &self,
        format: Format,
        report: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        match format {
            Format::Text => self.text(&text(report)),
            Format::Json => self.json(report),
        }
    }

    /// Prints, for programs, why a command failed that has printed no report.
    pub(super) fn answer(&self, failure: &Failure, form: FailureFormat) -> Result<(), Failure> {
        match form {
            _ if self.answered.load(Ordering::Relaxed) => Ok(()),
            FailureFormat::Document => self.json(&failure.report()),
            FailureFormat::Line => self.text(&failure.report().to_string()),
        }
    }

    fn written(result: io::Result<()>) -> Result<(), Failure> {
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
        // Nothing sensible is left to do when stderr is gone.
        let _ = writeln!(io::stderr(), "{}", shown(text, self.color_stderr));
    }

    /// Text that stands out on stdout, where that can be shown.
    pub(super) fn bold(&self, text: &str) -> String {
        if self.color {
            styled(BOLD, text)
        } else {
            text.to_owned()
        }
    }

    pub(super) fn warning(&self, text: &str) {
        self.message(YELLOW, "warning", text);
    }

    pub(super) fn warnings(&self, texts: impl IntoIterator<Item = impl AsRef<str>>) {
        for text in texts {
            self.warning(text.as_ref());
        }
    }

    /// Says why a command failed.
    pub(super) fn failure(&self, failure: &Failure) {
        if failure.message.is_empty() {
            return;
        }
        self.message(RED, "error", &failure.message);
        for cause in &failure.causes {
            self.note(&format!("  because: {}", set_in(cause)));
        }
        if let Some(help) = &failure.help {
            self.message(CYAN, "   help", help);
        }
    }

    /// Asks a question that is answered by `y`; anything else is no.
    fn ask(question: &str) -> bool {
        let mut stderr = io::stderr().lock();
        if write!(stderr, "{} [y/N] ", printable(question))
            .and_then(|()| stderr.flush())
            .is_err()
        {
            return false;
        }
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
    }

    /// Asks before something is done, unless that was answered already. `why` says what it takes.
    pub(super) fn agree(
        yes: bool,
        why: &str,
        question: &str,
        refused: &str,
    ) -> Result<(), Failure> {
        if !yes && !Self::can_ask() {
            let message = format!("{why}, and there is no terminal on which to ask");
            return Err(Failure::usage(message).with_help("use --yes to confirm in advance"));
        }
        if yes || Self::ask(question) {
            Ok(())
        } else {
            Err(Failure::failed(refused))
        }
    }

    fn message(&self, style: &str, kind: &str, text: &str) {
        self.note(&format!("{}: {}", styled(style, kind), set_in(text)));
    }
}
