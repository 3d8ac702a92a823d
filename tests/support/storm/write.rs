//! Writes: checked as a whole, then taken one by one as far as the limits let them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use dynoxide::actions::batch_write_item::{
    BatchWriteItemRequest, DeleteRequest, PutRequest, WriteRequest,
};
use dynoxide::types::Item;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::ServiceAnswer;
use super::consumed::Consumed;
use super::counts::WriteOutcome;
use super::engine;
use super::fault::StrikingFault;
use super::gauge::Reason;
use super::image::{Charge, Image};
use super::schema::Schema;
use super::service::{Service, State};
use super::settings::Store;
use super::table::{Row, RowKey};
use super::validate;

const MOST: usize = 25;

#[derive(Deserialize)]
struct BatchWrite<'b> {
    #[serde(rename = "RequestItems", borrow)]
    items: BTreeMap<String, Vec<&'b RawValue>>,
    #[serde(rename = "ReturnConsumedCapacity")]
    consumed: Option<String>,
}

#[derive(Deserialize)]
struct Request<'b> {
    #[serde(rename = "PutRequest", borrow)]
    put: Option<Put<'b>>,
    #[serde(rename = "DeleteRequest", borrow)]
    delete: Option<Delete<'b>>,
}

#[derive(Deserialize)]
struct Put<'b> {
    #[serde(rename = "Item", borrow)]
    item: &'b RawValue,
}

#[derive(Deserialize)]
struct Delete<'b> {
    #[serde(rename = "Key", borrow)]
    key: &'b RawValue,
}

#[derive(Deserialize)]
struct Single<'b> {
    #[serde(rename = "TableName")]
    table: String,
    #[serde(rename = "Item", borrow)]
    item: Option<&'b RawValue>,
    #[serde(rename = "Key", borrow)]
    key: Option<&'b RawValue>,
    #[serde(rename = "ReturnConsumedCapacity")]
    consumed: Option<String>,
}

/// One item's write, read and checked.
struct Write<'b> {
    schema: Arc<Schema>,
    /// The request as it came.
    raw: &'b RawValue,
    json: &'b str,
    /// The item, or the key of the one to delete.
    item: Item,
    key: RowKey,
    /// None deletes.
    image: Option<Image>,
}

/// A write that has been taken, and what it costs.
struct TakenWrite<'b> {
    write: Write<'b>,
    charge: Charge,
    done: WriteOutcome,
}

impl<'b> Write<'b> {
    fn read(
        schema: Arc<Schema>,
        raw: &'b RawValue,
        json: &'b RawValue,
        puts: bool,
    ) -> Result<Self, ServiceAnswer> {
        let item: Item = serde_json::from_str(json.get())?;
        if puts {
            validate::item(&schema, &item)?;
        } else {
            validate::keys(&schema, &item)?;
        }
        let key = RowKey::of(&schema, &item);
        let key =
            key.ok_or_else(|| ServiceAnswer::invalid("The provided key element is missing"))?;
        Ok(Self {
            image: puts.then(|| Image::of(&schema, &item)),
            schema,
            raw,
            json: json.get(),
            item,
            key,
        })
    }
}

impl Service {
    pub(crate) fn batch_write(
        &self,
        body: &[u8],
        struck: Option<&StrikingFault>,
    ) -> Result<ServiceAnswer, ServiceAnswer> {
        let request: BatchWrite<'_> = serde_json::from_slice(body)?;
        let number: usize = request.items.values().map(Vec::len).sum();
        if number == 0 || number > MOST {
            return Err(ServiceAnswer::invalid(&format!(
                "1 validation error detected: {number} items at 'requestItems' failed to satisfy \
                 constraint: Member must have length less than or equal to 25, Member must have \
                 length greater than or equal to 1"
            )));
        }
        let mut writes = Vec::with_capacity(number);
        for (table, requests) in &request.items {
            let schema = self.schema(table)?;
            for raw in requests {
                let parsed: Request<'_> = serde_json::from_str(raw.get())?;
                let (json, puts) = match (parsed.put, parsed.delete) {
                    (Some(put), None) => (put.item, true),
                    (None, Some(delete)) => (delete.key, false),
                    _ => return Err(ServiceAnswer::invalid("a request puts or deletes")),
                };
                writes.push(Write::read(Arc::clone(&schema), raw, json, puts)?);
            }
        }
        let keys = writes
            .iter()
            .map(|write| (write.schema.name.as_str(), &write.key));
        validate::unique(keys)?;
        self.take_batch(writes, request.consumed.as_deref(), struck)
    }

    fn take_batch(
        &self,
        writes: Vec<Write<'_>>,
        consumed: Option<&str>,
        struck: Option<&StrikingFault>,
    ) -> Result<ServiceAnswer, ServiceAnswer> {
        let mut state = self.state();
        let now = self.now();
        let mut taken = Vec::with_capacity(writes.len());
        let mut unprocessed: BTreeMap<String, Vec<&RawValue>> = BTreeMap::new();
        let mut refused = Vec::new();
        let mut on_demand = false;
        let mut left = false;
        for (index, write) in writes.into_iter().enumerate() {
            if struck.is_some_and(|struck| struck.leaves(index)) {
                state.recorder.left();
                left = true;
            } else {
                match state.admit(now, &write)? {
                    Admission::Taken(charge, done) => {
                        taken.push(TakenWrite {
                            write,
                            charge,
                            done,
                        });
                        continue;
                    }
                    Admission::Refused(reasons, mode) => {
                        refused.extend(reasons);
                        on_demand |= mode;
                    }
                }
            }
            let table = unprocessed.entry(write.schema.name.clone());
            table.or_default().push(write.raw);
        }
        if taken.is_empty() && !left {
            return Err(ServiceAnswer::throttled(on_demand, &refused));
        }
        if self.store == Store::Engine && !taken.is_empty() {
            let done = self.engine.batch_write_item(engine_request(&mut taken));
            if let Err(error) = done {
                for one in &taken {
                    state.give_back(now, one);
                }
                return Err(error.into());
            }
        }
        let mut used = Consumed::new(self.active().settings.consumed);
        let written = u64::try_from(taken.len()).unwrap_or(u64::MAX);
        for one in taken {
            used.add(&one.write.schema, &one.charge);
            state.commit(now, one, self.store);
        }
        drop(state);
        let unprocessed = serde_json::to_string(&unprocessed)?;
        let used = used.batch(consumed);
        let mut answer =
            ServiceAnswer::good(format!("{{\"UnprocessedItems\":{unprocessed}{used}}}"));
        answer.written = written;
        Ok(answer)
    }

    /// Puts or deletes one item.
    pub(crate) fn write_one(
        &self,
        body: &[u8],
        puts: bool,
    ) -> Result<ServiceAnswer, ServiceAnswer> {
        let request: Single<'_> = serde_json::from_slice(body)?;
        let schema = self.schema(&request.table)?;
        let json = if puts { request.item } else { request.key };
        let json = json.ok_or_else(|| ServiceAnswer::invalid("there is neither Item nor Key"))?;
        let write = Write::read(schema, json, json, puts)?;
        let mut state = self.state();
        let now = self.now();
        let (charge, done) = match state.admit(now, &write)? {
            Admission::Taken(charge, done) => (charge, done),
            Admission::Refused(reasons, on_demand) => {
                return Err(ServiceAnswer::throttled(on_demand, &reasons));
            }
        };
        let one = TakenWrite {
            write,
            charge,
            done,
        };
        let mut answer = match (self.store, puts) {
            // It may have conditions, which only the engine knows.
            (Store::Engine, true) => engine::run(body, |request| self.engine.put_item(request)),
            (Store::Engine, false) => engine::run(body, |request| self.engine.delete_item(request)),
            (Store::Map, _) => {
                let mut used = Consumed::new(self.active().settings.consumed);
                used.add(&one.write.schema, &one.charge);
                Ok(ServiceAnswer::good(
                    used.single(request.consumed.as_deref()),
                ))
            }
        };
        match &mut answer {
            Ok(answer) => {
                answer.written = 1;
                state.commit(now, one, self.store);
            }
            Err(_) => state.give_back(now, &one),
        }
        answer
    }
}

/// What the limits say of a write.
enum Admission {
    Taken(Charge, WriteOutcome),
    /// Why, and whether the table is an on-demand one.
    Refused(Vec<Reason>, bool),
}

impl State {
    fn admit(&mut self, now: Duration, write: &Write<'_>) -> Result<Admission, ServiceAnswer> {
        let table = self.tables.get_mut(&write.schema.name);
        let table = table.ok_or_else(ServiceAnswer::not_found)?;
        let old = table.rows.get(&write.key).map(|row| &row.image);
        let charge = Charge::of(old, write.image.as_ref());
        let done = match (&write.image, old) {
            (None, _) => WriteOutcome::Deleted,
            (Some(_), None) => WriteOutcome::Put,
            (Some(_), Some(_)) => WriteOutcome::Replaced,
        };
        Ok(match table.admit(now, &write.key, &charge) {
            Ok(()) => Admission::Taken(charge, done),
            Err(reasons) => {
                self.recorder.refused(&reasons);
                Admission::Refused(reasons, table.on_demand)
            }
        })
    }

    fn give_back(&mut self, now: Duration, one: &TakenWrite<'_>) {
        if let Some(table) = self.tables.get_mut(&one.write.schema.name) {
            table.give_back(now, &one.write.key, &one.charge);
        }
    }

    fn commit(&mut self, now: Duration, one: TakenWrite<'_>, store: Store) {
        let TakenWrite {
            write,
            charge,
            done,
        } = one;
        self.recorder.done(now, done, &write.schema, &charge);
        let Some(table) = self.tables.get_mut(&write.schema.name) else {
            return;
        };
        let json = (store == Store::Map).then(|| write.json.into());
        match write.image {
            Some(image) => table.rows.insert(write.key, Row { image, json }),
            None => table.rows.remove(&write.key),
        };
    }
}

/// The engine's request for what was taken; the items go into it.
fn engine_request(taken: &mut [TakenWrite<'_>]) -> BatchWriteItemRequest {
    let mut request_items: HashMap<String, Vec<WriteRequest>> = HashMap::new();
    for TakenWrite { write, .. } in taken {
        let item = std::mem::take(&mut write.item);
        let request = if write.image.is_some() {
            WriteRequest {
                put_request: Some(PutRequest { item }),
                delete_request: None,
            }
        } else {
            WriteRequest {
                put_request: None,
                delete_request: Some(DeleteRequest { key: item }),
            }
        };
        let of_table = request_items.entry(write.schema.name.clone());
        of_table.or_default().push(request);
    }
    BatchWriteItemRequest {
        request_items,
        ..BatchWriteItemRequest::default()
    }
}
