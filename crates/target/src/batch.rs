//! A batch: requests in BatchWriteItem's own JSON, serialised once into one buffer.
//!
//! The buffer that the fold wrote into is the buffer that goes to the socket. Sending a batch again
//! takes a reference to it, not a copy; only a part of a batch is copied, since what is left after
//! an answer is small.

use std::mem;
use std::ops::Range;

use bytes::Bytes;

/// What is to be done with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Action {
    /// Put it, whole.
    #[default]
    Put,
    /// Delete what has its key.
    Delete,
}

/// A request of a batch, apart from its JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchEntry {
    /// What is to be done.
    pub action: Action,
    /// Bytes that DynamoDB counts for the item.
    pub size: usize,
    /// Write units that it is expected to take, those of index entries included.
    pub units: u64,
    /// Index of its item type in the model.
    pub item_type: usize,
    /// 128 bits that stand for its key (see [`dynafold_dynamodb::fingerprint`]).
    pub fingerprint: u128,
    /// 64 bits that stand for its partition key.
    pub partition: u64,
    /// 128 bits that stand for all that it holds, where the load keeps a journal; otherwise 0.
    pub digest: u128,
}

/// Requests that go together: within the target's [`super::BatchLimit`], no two with one key.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    text: BatchText,
    entries: Vec<BatchEntry>,
    /// Where in the text the JSON of each item or key stands.
    spans: Vec<Range<usize>>,
}

/// The requests with commas in between: written into, or ready to be sent and shared.
#[derive(Debug, Clone, Default)]
struct BatchText {
    open: String,
    /// Holds something only while `open` holds nothing.
    sealed: Bytes,
}

impl Action {
    fn frame(self) -> (&'static str, &'static str) {
        match self {
            Self::Put => ("{\"PutRequest\":{\"Item\":", "}}"),
            Self::Delete => ("{\"DeleteRequest\":{\"Key\":", "}}"),
        }
    }
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with room for so many bytes and requests.
    pub fn with_capacity(bytes: usize, entries: usize) -> Self {
        Self {
            text: BatchText {
                open: String::with_capacity(bytes),
                sealed: Bytes::new(),
            },
            entries: Vec::with_capacity(entries),
            spans: Vec::with_capacity(entries),
        }
    }

    /// Adds a request. `write` appends the DynamoDB JSON of the item, or of the key where the item
    /// is to be deleted.
    pub fn push(&mut self, entry: BatchEntry, write: impl FnOnce(&mut String)) {
        let first = self.entries.is_empty();
        let (before, after) = entry.action.frame();
        let text = self.text.open();
        if !first {
            text.push(',');
        }
        text.push_str(before);
        let start = text.len();
        write(text);
        let end = text.len();
        text.push_str(after);
        self.entries.push(entry);
        self.spans.push(start..end);
    }

    /// The requests, in the order they were pushed.
    pub fn entries(&self) -> &[BatchEntry] {
        &self.entries
    }

    /// The DynamoDB JSON of one request's item or key; nothing where there is no such request.
    pub fn json(&self, index: usize) -> &str {
        std::str::from_utf8(self.json_bytes(index)).unwrap_or_default()
    }

    /// The same as bytes, which are not looked at once more.
    pub(super) fn json_bytes(&self, index: usize) -> &[u8] {
        let span = self.spans.get(index).cloned();
        let bytes = span.and_then(|span| self.text.bytes().get(span));
        bytes.unwrap_or_default()
    }

    /// A batch of some of the requests, in the order of the indices.
    pub fn part(&self, indices: &[usize]) -> Self {
        let known = |index: &usize| Some((*self.entries.get(*index)?, *index));
        let bytes = indices.iter().map(|index| self.json(*index).len() + 32);
        let mut part = Self::with_capacity(bytes.sum(), indices.len());
        for (entry, index) in indices.iter().filter_map(known) {
            part.push(entry, |text| text.push_str(self.json(index)));
        }
        part.seal();
        part
    }

    /// Bytes of the requests on the wire, with the commas; the table's name and the rest of the
    /// body come to it.
    pub fn bytes(&self) -> usize {
        self.text.bytes().len()
    }

    /// How many requests it holds.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Makes the buffer one that can be shared. Pushing afterwards copies it.
    pub fn seal(&mut self) {
        if !self.text.open.is_empty() {
            self.text.sealed = Bytes::from(mem::take(&mut self.text.open));
        }
    }

    /// The requests with commas in between, as they go into a body.
    pub(super) fn wire(&self) -> Bytes {
        if self.text.sealed.is_empty() {
            Bytes::copy_from_slice(self.text.open.as_bytes())
        } else {
            self.text.sealed.clone()
        }
    }

    /// The JSON of one request's item or key, as it goes into a body.
    pub(super) fn wire_json(&self, index: usize) -> Bytes {
        let text = self.wire();
        match self.spans.get(index) {
            Some(span) if span.end <= text.len() => text.slice(span.clone()),
            _ => Bytes::new(),
        }
    }

    /// Takes the last request out, as a batch of its own with room for so many bytes.
    pub fn take_last(&mut self, room: usize) -> Self {
        let mut last = Self::with_capacity(room, self.entries.capacity());
        if let (Some(entry), Some(Range { start, .. })) = (self.entries.pop(), self.spans.pop()) {
            let text = self.text.open();
            let json = text.get(start..).unwrap_or_default();
            let (before, after) = entry.action.frame();
            let json = json.strip_suffix(after).unwrap_or(json);
            last.push(entry, |out| out.push_str(json));
            let comma = usize::from(!self.entries.is_empty());
            text.truncate(start.saturating_sub(before.len() + comma));
        }
        last
    }
}

impl PartialEq for Batch {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries && self.text.bytes() == other.text.bytes()
    }
}

impl Eq for Batch {}

impl BatchText {
    fn bytes(&self) -> &[u8] {
        if self.sealed.is_empty() {
            self.open.as_bytes()
        } else {
            &self.sealed
        }
    }

    /// The text to write into.
    fn open(&mut self) -> &mut String {
        if !self.sealed.is_empty() {
            let sealed = mem::take(&mut self.sealed);
            self.open = String::from_utf8_lossy(&sealed).into_owned();
        }
        &mut self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(action: Action, fingerprint: u128) -> BatchEntry {
        BatchEntry {
            action,
            fingerprint,
            ..BatchEntry::default()
        }
    }

    fn three() -> Batch {
        let mut batch = Batch::new();
        batch.push(entry(Action::Put, 1), |out| out.push_str("{\"a\":1}"));
        batch.push(entry(Action::Delete, 2), |out| out.push_str("{\"b\":2}"));
        batch.push(entry(Action::Put, 3), |out| out.push_str("{\"c\":3}"));
        batch
    }

    fn text(batch: &Batch) -> String {
        String::from_utf8(batch.wire().to_vec()).unwrap()
    }

    #[test]
    fn requests_stand_in_one_text_with_commas_in_between() {
        let mut batch = three();
        let expected = "{\"PutRequest\":{\"Item\":{\"a\":1}}},\
            {\"DeleteRequest\":{\"Key\":{\"b\":2}}},{\"PutRequest\":{\"Item\":{\"c\":3}}}";
        for _ in 0..2 {
            assert_eq!(text(&batch), expected);
            assert_eq!(batch.bytes(), expected.len());
            assert_eq!(batch.json(1), "{\"b\":2}");
            assert_eq!(batch.wire_json(2), "{\"c\":3}");
            assert_eq!((batch.json(3), batch.len()), ("", 3));
            batch.seal();
        }
    }

    #[test]
    fn a_sealed_batch_is_shared_and_can_still_grow() {
        let mut batch = three();
        batch.seal();
        assert_eq!(batch.wire().as_ptr(), batch.clone().wire().as_ptr());
        batch.push(entry(Action::Delete, 4), |out| out.push_str("{}"));
        assert!(text(&batch).ends_with(",{\"DeleteRequest\":{\"Key\":{}}}"));
        assert_eq!(batch.json(0), "{\"a\":1}");
    }

    #[test]
    fn parts_hold_what_they_are_made_of() {
        let part = three().part(&[2, 0, 9]);
        let prints: Vec<u128> = part.entries().iter().map(|e| e.fingerprint).collect();
        assert_eq!(prints, [3, 1]);
        assert_eq!(
            text(&part),
            "{\"PutRequest\":{\"Item\":{\"c\":3}}},{\"PutRequest\":{\"Item\":{\"a\":1}}}"
        );
        assert!(three().part(&[]).is_empty());
    }

    #[test]
    fn the_last_request_can_be_taken_out() {
        let mut batch = three();
        let last = batch.take_last(0);
        assert_eq!((last.json(0), last.len()), ("{\"c\":3}", 1));
        assert_eq!(batch, three().part(&[0, 1]));
        drop(batch.take_last(0));
        let first = batch.take_last(0);
        assert_eq!((first.json(0), batch.bytes()), ("{\"a\":1}", 0));
        assert!(batch.is_empty() && batch.take_last(0).is_empty());
    }
}
