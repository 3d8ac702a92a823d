//! What the endpoint does with a request: events, identity, faults, and then what is asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use dynoxide::Database;
use serde_json::{Value, json};

use super::answer::ServiceAnswer;
use super::counts::{Counts, Recorder};
use super::engine;
use super::fault::{ActiveSettings, StrikingFault};
use super::http::Request;
use super::identity::{self, Identities};
use super::schema::Schema;
use super::settings::{Event, FaultKind, Latency, Settings, Store};
use super::table::Table;

/// The endpoint behind its connections.
pub(crate) struct Service {
    pub(crate) store: Store,
    pub(crate) engine: Database,
    pub(crate) stopped: AtomicBool,
    pub(crate) in_flight: AtomicU64,
    begun: Instant,
    active: RwLock<Arc<ActiveSettings>>,
    state: Mutex<State>,
    identities: Mutex<Identities>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) tables: HashMap<String, Table>,
    /// Until when the index of a table that was added last is being made.
    making: HashMap<String, (String, Duration)>,
    /// What is told of a table that was deleted last, and until when.
    deleting: HashMap<String, (Value, Duration)>,
    pub(crate) recorder: Recorder,
}

impl State {
    /// What is told of a table that is being deleted.
    fn deleting(&self, request: &Value, now: Duration) -> Option<&Value> {
        let name = request.get("TableName")?.as_str()?;
        let (reported, until) = self.deleting.get(name)?;
        (now < *until).then_some(reported)
    }
}

/// How a request is answered.
#[derive(Debug)]
pub(crate) struct Reply {
    /// So long after it came.
    pub(crate) wait: Duration,
    pub(crate) how: ReplyKind,
    /// Items that were put or deleted.
    pub(crate) written: u64,
}

#[derive(Debug)]
pub(crate) enum ReplyKind {
    Answer(ServiceAnswer),
    Half(ServiceAnswer),
    Garbage,
    Reset,
    Close,
}

impl Service {
    pub(crate) fn new(settings: Settings) -> Result<Self, String> {
        Ok(Self {
            store: settings.store,
            engine: Database::memory().map_err(|error| error.to_string())?,
            stopped: AtomicBool::new(false),
            in_flight: AtomicU64::new(0),
            begun: Instant::now(),
            active: RwLock::new(Arc::new(ActiveSettings::new(settings))),
            state: Mutex::default(),
            identities: Mutex::default(),
        })
    }

    pub(crate) fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn active(&self) -> Arc<ActiveSettings> {
        let active = self.active.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&active)
    }

    pub(crate) fn schema(&self, table: &str) -> Result<Arc<Schema>, ServiceAnswer> {
        let state = self.state();
        let table = state
            .tables
            .get(table)
            .ok_or_else(ServiceAnswer::not_found)?;
        Ok(Arc::clone(&table.schema))
    }

    /// Answers a request, whatever that means.
    pub(crate) fn handle(&self, request: &Request) -> Reply {
        let active = self.active();
        let operation = request.operation();
        self.state().recorder.received(operation);
        let number = active.received.fetch_add(1, Ordering::Relaxed);
        for event in &active.settings.events {
            if event.after == number {
                self.happen(event);
            }
        }
        if let Err(answer) = self.identify(request, &active.settings) {
            return Reply::now(answer);
        }
        let struck = active.strike(operation);
        if let Some(struck) = &struck {
            self.state().recorder.struck(struck.name());
        }
        let mut reply = self.react(operation, &request.body, struck.as_ref());
        let data = engine::READS.contains(&operation) || is_write(operation);
        if data {
            let share = active.share(number);
            reply.wait += self.latency(&active.settings.latency, share);
        }
        reply
    }

    fn identify(&self, request: &Request, settings: &Settings) -> Result<(), ServiceAnswer> {
        if let Some(seconds) = settings.credentials_seconds {
            let identities = self.identities.lock();
            let mut identities = identities.unwrap_or_else(PoisonError::into_inner);
            identities.check(request, self.now(), seconds)?;
        }
        if settings.clock_skew_seconds != 0 {
            identity::check_clock(request, identity::clock(settings.clock_skew_seconds))?;
        }
        Ok(())
    }

    fn react(&self, operation: &str, body: &[u8], struck: Option<&StrikingFault>) -> Reply {
        let Some(struck) = struck else {
            return Reply::now(self.answer(operation, body, None));
        };
        let done = struck
            .is_applied()
            .then(|| self.answer(operation, body, Some(struck)));
        let written = done.as_ref().map_or(0, |answer| answer.written);
        let how = match (struck.fault.kind, struck.error(operation), done) {
            (_, Some(error), _) => ReplyKind::Answer(error),
            (FaultKind::LostAnswer | FaultKind::Reset, ..) => ReplyKind::Reset,
            (FaultKind::Garbage, ..) => ReplyKind::Garbage,
            (FaultKind::Half, _, Some(answer)) => ReplyKind::Half(answer),
            (FaultKind::Slow | FaultKind::Leave, _, Some(answer)) => ReplyKind::Answer(answer),
            _ => ReplyKind::Close,
        };
        let wait = struck.wait();
        Reply { wait, how, written }
    }

    fn latency(&self, latency: &Latency, share: f64) -> Duration {
        let others = self.in_flight.load(Ordering::Relaxed).saturating_sub(1);
        let steady = latency.milliseconds + latency.crowd_milliseconds * others;
        Duration::from_millis(steady)
            + Duration::from_millis(latency.jitter_milliseconds).mul_f64(share)
    }

    fn answer(
        &self,
        operation: &str,
        body: &[u8],
        struck: Option<&StrikingFault>,
    ) -> ServiceAnswer {
        let answer = match operation {
            "BatchWriteItem" => self.batch_write(body, struck),
            "PutItem" => self.write_one(body, true),
            "DeleteItem" => self.write_one(body, false),
            read if self.store == Store::Map && engine::READS.contains(&read) => {
                self.read(operation, body)
            }
            "UpdateTable" => self.update_table(body),
            "CreateTable" | "DeleteTable" => self.change_table(operation, body),
            "DescribeTable" => self.describe_table(body),
            _ => engine::answer(&self.engine, operation, body),
        };
        answer.unwrap_or_else(|error| error)
    }

    /// Changes a table, unless an index of it is being made.
    fn update_table(&self, body: &[u8]) -> Result<ServiceAnswer, ServiceAnswer> {
        let request: Value = serde_json::from_slice(body)?;
        let table = request.get("TableName").and_then(Value::as_str);
        let table = table.unwrap_or_default();
        if self.making(table).is_some() {
            let message = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table";
            return Err(ServiceAnswer::error(400, "LimitExceededException", message));
        }
        let answer = self.change_table("UpdateTable", body)?;
        let added = request.pointer("/GlobalSecondaryIndexUpdates/0/Create/IndexName");
        let seconds = self.active().settings.index_seconds;
        if let (Some(index), Some(seconds)) = (added.and_then(Value::as_str), seconds) {
            let until = self.now() + Duration::from_secs_f64(seconds);
            let making = (index.to_owned(), until);
            self.state().making.insert(table.to_owned(), making);
        }
        Ok(answer)
    }

    /// The index of a table that is being made.
    fn making(&self, table: &str) -> Option<String> {
        let state = self.state();
        let (index, until) = state.making.get(table)?;
        (self.now() < *until).then(|| index.clone())
    }

    /// What the engine knows of a table, save that an index may still be made, or the table still be deleted.
    fn describe_table(&self, body: &[u8]) -> Result<ServiceAnswer, ServiceAnswer> {
        let request: Value = serde_json::from_slice(body)?;
        if let Some(reported) = self.state().deleting(&request, self.now()) {
            return Ok(ServiceAnswer::good(
                json!({ "Table": reported }).to_string(),
            ));
        }
        let mut answer = engine::answer(&self.engine, "DescribeTable", body)?;
        let mut reported: Value = serde_json::from_str(&answer.body)?;
        let table = reported.pointer("/Table/TableName").and_then(Value::as_str);
        let table = table.unwrap_or_default();
        let Some(making) = self.making(table) else {
            return Ok(answer);
        };
        let indexes = reported.pointer_mut("/Table/GlobalSecondaryIndexes");
        let indexes = indexes.and_then(Value::as_array_mut).into_iter().flatten();
        for index in indexes.filter_map(Value::as_object_mut) {
            if index.get("IndexName").and_then(Value::as_str) == Some(&*making) {
                index.insert("IndexStatus".to_owned(), json!("CREATING"));
                index.insert("Backfilling".to_owned(), json!(true));
            }
        }
        answer.body = reported.to_string();
        Ok(answer)
    }

    /// Changes a table in the engine, and what is known of it here.
    fn change_table(&self, operation: &str, body: &[u8]) -> Result<ServiceAnswer, ServiceAnswer> {
        let mut state = self.state();
        let request: Value = serde_json::from_slice(body)?;
        if state.deleting(&request, self.now()).is_some() {
            let message =
                "Attempt to change a resource which is still in use: Table is being deleted";
            return Err(ServiceAnswer::error(400, "ResourceInUseException", message));
        }
        let answer = engine::answer(&self.engine, operation, body)?;
        let reported: Value = serde_json::from_str(&answer.body)?;
        let description = reported.get("TableDescription");
        let Some(schema) = description.and_then(Schema::read) else {
            return Ok(answer);
        };
        let old = state.tables.remove(&schema.name);
        if operation == "DeleteTable" {
            let seconds = self.active().settings.delete_seconds;
            if let (Some(seconds), Some(description)) = (seconds, description) {
                let until = self.now() + Duration::from_secs_f64(seconds);
                let reported = (description.clone(), until);
                state.deleting.insert(schema.name, reported);
            }
        } else {
            let name = schema.name.clone();
            let mut table = Table::new(schema, &self.active().settings, self.now());
            if let Some(old) = old {
                table.inherit(old);
            }
            state.tables.insert(name, table);
        }
        Ok(answer)
    }

    fn happen(&self, event: &Event) {
        let table = &event.delete_table;
        let (operation, body) = match &event.index {
            None => ("DeleteTable", json!({ "TableName": table })),
            Some(index) => (
                "UpdateTable",
                json!({
                    "TableName": table,
                    "GlobalSecondaryIndexUpdates": [{ "Delete": { "IndexName": index } }],
                }),
            ),
        };
        // What is not there cannot be deleted.
        let _ = self.change_table(operation, body.to_string().as_bytes());
    }

    /// From now on these hold; the port and the store stay as they are.
    pub(crate) fn set(&self, settings: Settings) {
        let new = Arc::new(ActiveSettings::new(settings));
        let old = {
            let mut active = self.active.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *active, Arc::clone(&new))
        };
        let (old, new) = (&old.settings, &new.settings);
        if (&old.limits, old.billing) == (&new.limits, new.billing) {
            return;
        }
        let mut state = self.state();
        let now = self.now();
        for table in state.tables.values_mut() {
            let mut other = Table::new((*table.schema).clone(), new, now);
            std::mem::swap(&mut other.rows, &mut table.rows);
            *table = other;
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        let state = self.state();
        let mut counts = state.recorder.counts(self.now());
        let tables = state.tables.iter();
        counts.tables = tables
            .map(|(name, table)| (name.clone(), table.counts()))
            .collect();
        counts
    }

    pub(crate) fn reset(&self) {
        let mut state = self.state();
        state.recorder = Recorder::new(self.now());
        state.tables.values_mut().for_each(Table::reset_counts);
    }
}

fn is_write(operation: &str) -> bool {
    matches!(operation, "BatchWriteItem" | "PutItem" | "DeleteItem")
}

impl Reply {
    fn now(answer: ServiceAnswer) -> Self {
        Self {
            wait: Duration::ZERO,
            written: answer.written,
            how: ReplyKind::Answer(answer),
        }
    }
}
