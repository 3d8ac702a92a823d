//! The progress of a run on stderr: a bar for each item type on a terminal, plain lines elsewhere.

use std::collections::HashMap;
use std::fmt;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::format;
use super::output::write_to_stderr;
use crate::load::{Progress, RunStep};
use crate::mapping::model::Model;

/// The least time between two plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Bars if stderr is a terminal, plain lines if not.
pub(super) fn progress(model: &Model) -> Arc<dyn Progress> {
    let names: Vec<Arc<str>> = model
        .item_types
        .iter()
        .map(|item| item.name.clone())
        .collect();
    if std::io::stderr().is_terminal() {
        Arc::new(Bars::new(names))
    } else {
        Arc::new(ProgressLines::new(names))
    }
}

fn step_text(step: RunStep) -> &'static str {
    match step {
        RunStep::ProvingKeys => "reading the keys",
        RunStep::ComparingKeys => "comparing the keys",
        RunStep::NamingDuplicates => "reading again to name the rows that share a key",
        RunStep::Finishing => "finishing",
        RunStep::LookingForUnexpected => "looking for items that the source does not make",
    }
}

/// A bar for each item type.
struct Bars {
    names: Vec<Arc<str>>,
    all: MultiProgress,
    /// The bars that were drawn, by item type.
    drawn: Mutex<HashMap<usize, ProgressBar>>,
    /// The spinner of a step that has no count.
    step: ProgressBar,
}

impl Bars {
    fn new(names: Vec<Arc<str>>) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let step = ProgressBar::no_length().with_style(
            ProgressStyle::with_template("{spinner} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        Self {
            names,
            all,
            drawn: Mutex::new(HashMap::new()),
            step,
        }
    }
}

impl Progress for Bars {
    fn pass(&self, _pass: usize, _name: &str, item_types: &[usize], estimated_rows: Option<u64>) {
        let widths = self.names.iter().map(|name| name.chars().count());
        let width = widths.max().unwrap_or(0).min(30);
        let template = match estimated_rows {
            Some(_) => "{prefix:<WIDTH} {wide_bar} {human_pos}/{human_len} {rate} {eta} left{msg}",
            None => "{prefix:<WIDTH} {spinner} {human_pos} {rate}{msg}",
        };
        let template = template.replace("WIDTH", &width.to_string());
        let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
            // A bar that cannot be drawn is no failure of the load.
            let _ = out.write_str(&format::rate(state.per_sec(), "item"));
        };
        let style = ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("rate", rate);
        let mut bars = self.drawn.lock();
        for item_type in item_types {
            let name = self.names.get(*item_type).map_or("", AsRef::as_ref);
            let bar = estimated_rows
                .map_or_else(ProgressBar::no_length, ProgressBar::new)
                .with_style(style.clone())
                .with_prefix(format::one_line(name));
            bars.insert(*item_type, self.all.add(bar));
        }
    }

    fn rejected(&self, item_type: usize, rows: u64) {
        self.written(item_type, rows);
    }

    fn written(&self, item_type: usize, items: u64) {
        let bars = self.drawn.lock();
        let Some(bar) = bars.get(&item_type) else {
            return;
        };
        bar.inc(items);
        // There may be more rows than estimated.
        if bar.length().is_some_and(|length| bar.position() > length) {
            bar.set_length(bar.position());
        }
    }

    fn throttled(&self, _items: u64) {
        let bars = self.drawn.lock();
        let quiet = |bar: &&ProgressBar| !bar.is_finished() && bar.message().is_empty();
        for bar in bars.values().filter(quiet) {
            bar.set_message(" throttled");
        }
    }

    fn step(&self, step: RunStep) {
        self.drawn.lock().values().for_each(ProgressBar::abandon);
        let spinner = self.all.add(self.step.clone());
        spinner.set_message(step_text(step));
        spinner.enable_steady_tick(Duration::from_millis(120));
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.drawn.lock().values().for_each(ProgressBar::abandon);
        self.step.finish_and_clear();
    }
}

/// Shows how many of `total` items are `done`, until the result is dropped.
pub(super) fn counted(what: &'static str, total: u64, done: Arc<AtomicU64>) -> impl Drop {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr())
        .with_style(style)
        .with_message(what);
    let has_terminal = std::io::stderr().is_terminal();
    // Its tasks end with it.
    let mut task: JoinSet<()> = JoinSet::new();
    task.spawn(async move {
        let interval = if has_terminal {
            Duration::from_millis(120)
        } else {
            LINE_INTERVAL
        };
        let mut ticks = tokio::time::interval(interval);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let now = done.load(Ordering::Relaxed);
            if has_terminal {
                bar.set_position(now);
            } else {
                let (now, total) = (format::count(now), format::count(total));
                write_to_stderr(&format!("{what}: {now} of {total} items"));
            }
        }
    });
    task
}

/// Plain lines, at most one per [`LINE_INTERVAL`].
struct ProgressLines {
    names: Vec<Arc<str>>,
    state: Mutex<LineProgress>,
}

struct LineProgress {
    /// Items written and rows rejected, by item type.
    counts: Vec<u64>,
    /// Estimated rows, by item type.
    totals: Vec<Option<u64>>,
    started: Instant,
    last_line: Instant,
}

impl ProgressLines {
    fn new(names: Vec<Arc<str>>) -> Self {
        let now = Instant::now();
        let state = Mutex::new(LineProgress {
            counts: vec![0; names.len()],
            totals: vec![None; names.len()],
            started: now,
            last_line: now,
        });
        Self { names, state }
    }
}

impl Progress for ProgressLines {
    fn pass(&self, _pass: usize, _name: &str, item_types: &[usize], estimated_rows: Option<u64>) {
        let mut state = self.state.lock();
        if state.counts.iter().all(|count| *count == 0) {
            // The run may have waited for the table and its indexes.
            state.started = Instant::now();
        }
        for item_type in item_types {
            if let Some(total) = state.totals.get_mut(*item_type) {
                *total = estimated_rows;
            }
        }
    }

    fn rejected(&self, item_type: usize, rows: u64) {
        self.written(item_type, rows);
    }

    fn written(&self, item_type: usize, items: u64) {
        let mut state = self.state.lock();
        if let Some(count) = state.counts.get_mut(item_type) {
            *count += items;
        }
        if state.last_line.elapsed() < LINE_INTERVAL {
            return;
        }
        state.last_line = Instant::now();
        let done: u64 = state.counts.iter().sum();
        let rate = format::float(done) / state.started.elapsed().as_secs_f64();
        let name = self.names.get(item_type).map_or("", AsRef::as_ref);
        let count = state.counts.get(item_type).copied().unwrap_or(0);
        let of = match state.totals.get(item_type).copied().flatten() {
            Some(total) if total >= count => format!(" of about {}", format::count(total)),
            _ => String::new(),
        };
        write_to_stderr(&format!(
            "{name}: {}{of}; {} in all, {}",
            format::count(count),
            format::counted(done, "item"),
            format::rate(rate, "item"),
        ));
    }

    fn step(&self, step: RunStep) {
        write_to_stderr(step_text(step));
    }
}
