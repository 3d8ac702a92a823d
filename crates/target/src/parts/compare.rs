//! Holds the parts of an export against the items of a spool.
//!
//! Both are in the order of the items' hashes, so that they are read side by side. What is in one alone is kept, by its
//! key, and put together at the end: an item that differs is in both, under one key.

use std::cmp::Ordering as Order;
use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dynafold_dynamodb::Table;
use dynafold_format::{counted_as, whole};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::encode::{digest, reader};
use super::lines::LineFrame;
use super::manifest::MANIFEST;
use super::place::LocalFile;
use super::plan::PartsPlan;
use super::sort::FileSorter;
use super::spool::{BUCKETS, BlockWriter, Spool, bucket};
use super::write::{PartsJob, PartsOf, side_by_side};
use super::{Compression, ExportPlace, Manifest, Part, damaged, failed};
use crate::Result;
use crate::private::if_there;

/// Items in one alone that are kept to be put together; more are only counted.
const KEPT: usize = 100_000;
/// Bytes that a line may have: an item of 400 KB, each of whose bytes is escaped.
const LINE: u64 = 8 << 20;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PartsComparison {
    /// Items that are the same in both, byte for byte.
    pub equal: u64,
    /// Items that the source makes and no part holds.
    pub missing: u64,
    /// Items of which a part holds another version.
    pub different: u64,
    /// Items of parts that the source does not make, and lines that are none.
    pub unexpected: u64,
    /// The first of them, by their keys.
    pub examples: Vec<PartsDifference>,
    /// Parts that are not the files that the manifest describes: by size, digest or number of items.
    pub changed_parts: Vec<String>,
}

/// An item that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PartsDifference {
    /// In which way.
    pub kind: PartsDifferenceKind,
    /// Its key in DynamoDB JSON.
    pub key: String,
    /// The part that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// In which way an item is not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartsDifferenceKind {
    /// It is in no part.
    Missing,
    /// A part holds another version.
    Different,
    /// The source does not make it.
    Unexpected,
}

impl PartsComparison {
    /// Whether the parts hold exactly the items, and are the files of the manifest.
    pub fn is_equal(&self) -> bool {
        let amiss = self.missing + self.different + self.unexpected;
        amiss == 0 && self.changed_parts.is_empty()
    }
}

/// What there is under one key: the hash of what the source makes; that of what a part holds, with the part's name.
#[derive(Default)]
struct Versions {
    made: Option<u128>,
    held: Option<(u128, String)>,
}

/// Items that are in one alone.
#[derive(Default)]
struct Alone {
    /// By key.
    kept: BTreeMap<String, Versions>,
    /// Different items count as missing and as unexpected until both versions are known.
    found: PartsComparison,
}

impl Spool {
    /// Compares the parts of an export with what the spool holds. Blocks. `stop`: the caller's way to end it;
    /// `done` counts compared items. `None` where it was stopped. `examples`: how many are named.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when files cannot be read.
    pub fn compare(
        &self,
        place: &ExportPlace,
        manifest: &Manifest,
        table: &Table,
        examples: usize,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> Result<Option<PartsComparison>> {
        if manifest.by_chunk {
            return self.compare_chunks(place, manifest, table, examples, stop, done);
        }
        let frame = manifest.lines.frame().ok_or_else(|| {
            damaged(
                &place.named(MANIFEST),
                "is of an export as plain JSON, which does not hold the types of values",
            )
            .with_help("compare an export without --lines plain")
        })?;
        let plan = PartsPlan::of(manifest.items, manifest.item_bytes);
        let groups = plan.groups();
        let keys: Vec<&str> = table.key().map(|key| &*key.name).collect();
        let mut by_name = manifest.readable_parts();
        let mut all = Alone::default();
        let is_planned = manifest.planned_parts();
        let unplanned: Vec<&Part> = by_name
            .extract_if(.., |name, _| !is_planned(name))
            .map(|(_, part)| part)
            .collect();
        // An import reads them too.
        let mut lines = Lines::of((place, self.folder()), manifest, &frame, unplanned)?;
        while let Some(line) = lines.next()? {
            all.unexpected(&line, &keys);
        }
        all.found.changed_parts.append(&mut lines.changed);
        let all = Mutex::new(all);
        let group_of = |part: usize| (part * groups.len()) >> plan.bits();
        let parts_of = |group: &std::ops::Range<usize>| {
            let index = group.start / group.len().max(1);
            (0..1_usize << plan.bits()).filter(move |part| group_of(*part) == index)
        };
        side_by_side(&groups, &|group| {
            let found: Vec<&Part> = parts_of(&group)
                .filter_map(|part| {
                    by_name
                        .get(manifest.planned_name(whole(part)).as_str())
                        .copied()
                })
                .collect();
            let mut lines = Lines::of((place, self.folder()), manifest, &frame, found)?;
            let mut alone = Alone::default();
            let mut held = lines.next()?;
            let mut sorter = FileSorter::default();
            for bucket in group {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                sorter.sorted(&self.path(bucket), u8::BITS, &mut |hash, json| {
                    done.fetch_add(1, Ordering::Relaxed);
                    while let Some(line) = &held {
                        match line.order(hash, json) {
                            Order::Greater => break,
                            Order::Equal => alone.found.equal += 1,
                            Order::Less => alone.unexpected(line, &keys),
                        }
                        let is_equal = line.order(hash, json) == Order::Equal;
                        held = lines.next()?;
                        if is_equal {
                            return Ok(());
                        }
                    }
                    alone.missing(hash, json, &keys);
                    Ok(())
                })?;
            }
            while let Some(line) = held {
                alone.unexpected(&line, &keys);
                held = lines.next()?;
            }
            alone.found.changed_parts = lines.changed;
            all.lock().take(alone);
            Ok(())
        })?;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut comparison = all.into_inner().together(examples);
        comparison.changed_parts.sort_unstable();
        Ok(Some(comparison))
    }

    /// The same for parts that are each of one chunk: their items are sorted anew, so that they are in one order.
    fn compare_chunks(
        &self,
        place: &ExportPlace,
        manifest: &Manifest,
        table: &Table,
        examples: usize,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> Result<Option<PartsComparison>> {
        let frame = manifest.lines.frame().unwrap_or_default();
        let scratch = |name: &str| self.folder().join(name);
        let held = Self::create_in(&scratch("held"), &place.named(MANIFEST))?;
        let parts = manifest.readable_parts().into_values().collect();
        let mut lines = Lines::of((place, self.folder()), manifest, &frame, parts)?;
        let (mut items, mut strays) = (0, 0);
        let paths = (0..BUCKETS).map(|bucket| held.path(bucket));
        let mut blocks = BlockWriter::new(held.folder(), paths);
        let mut next = lines.ahead.take();
        while let Some(line) = next {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if line.is_stray {
                strays += 1;
            } else {
                items += 1;
                blocks.put(bucket(line.hash), &line.json)?;
            }
            next = lines.read()?;
        }
        blocks.finish()?;
        let job = PartsJob {
            place: ExportPlace::Folder(scratch("sorted")),
            plan: PartsPlan::of(manifest.items, manifest.item_bytes),
            lines: manifest.lines.clone(),
            compression: Compression::None,
            items,
            of: PartsOf::Export(scratch("uploaded")),
        };
        let Some(parts) = held.sorted_parts(&job, stop, &AtomicU64::new(0))? else {
            return Ok(None);
        };
        held.delete()?;
        let parts: Vec<Part> = parts.into_iter().map(|one| one.part).collect();
        let twice = items - parts.iter().map(|part| part.items).sum::<u64>();
        let sorted = Manifest {
            by_chunk: false,
            compression: job.compression,
            parts,
            ..manifest.clone()
        };
        let compared = self.compare(&job.place, &sorted, table, examples, stop, done)?;
        Ok(compared.map(|mut comparison| {
            comparison.unexpected += strays + twice;
            for example in &mut comparison.examples {
                // It would be the name of a part that was sorted here.
                example.part = None;
            }
            comparison.changed_parts.append(&mut lines.changed);
            if twice > 0 {
                let twice = counted_as(twice, "item is", "items are");
                comparison
                    .changed_parts
                    .push(format!("{twice} in the parts more than once"));
            }
            if strays > 0 {
                let strays = counted_as(strays, "line", "lines");
                comparison
                    .changed_parts
                    .push(format!("{strays} of the parts hold no item"));
            }
            comparison.changed_parts.sort_unstable();
            comparison
        }))
    }
}

impl Alone {
    fn missing(&mut self, hash: u128, json: &[u8], keys: &[&str]) {
        self.found.missing += 1;
        let made = Some(hash);
        self.keep(key(json, keys), Versions { made, held: None });
    }

    fn unexpected(&mut self, line: &Line, keys: &[&str]) {
        self.found.unexpected += 1;
        let held = Some((line.hash, line.part.clone()));
        self.keep(key(&line.json, keys), Versions { made: None, held });
    }

    fn keep(&mut self, key: String, found: Versions) {
        if self.kept.len() < KEPT || self.kept.contains_key(&key) {
            let versions = self.kept.entry(key).or_default();
            versions.made = versions.made.or(found.made);
            versions.held = versions.held.take().or(found.held);
        }
    }

    fn take(&mut self, other: Self) {
        self.found.equal += other.found.equal;
        self.found.missing += other.found.missing;
        self.found.unexpected += other.found.unexpected;
        (self.found.changed_parts).extend(other.found.changed_parts);
        for (key, versions) in other.kept {
            self.keep(key, versions);
        }
    }

    /// Puts together what has one key.
    fn together(self, examples: usize) -> PartsComparison {
        let mut found = self.found;
        for (key, versions) in self.kept {
            let kind = match (versions.made, &versions.held) {
                (Some(made), Some((held, _))) => {
                    found.missing -= 1;
                    found.unexpected -= 1;
                    if made == *held {
                        // It was only out of order.
                        found.equal += 1;
                        continue;
                    }
                    found.different += 1;
                    PartsDifferenceKind::Different
                }
                (Some(_), None) => PartsDifferenceKind::Missing,
                (None, _) => PartsDifferenceKind::Unexpected,
            };
            if found.examples.len() < examples {
                let part = versions.held.map(|(_, part)| part);
                found.examples.push(PartsDifference { kind, key, part });
            }
        }
        found
    }
}

/// The key of an item, as DynamoDB JSON; of what is none, a note that says so.
fn key(json: &[u8], keys: &[&str]) -> String {
    let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(json) else {
        return "a line that is no item".to_owned();
    };
    let own = keys
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), members.get(*key)?.clone())));
    Value::Object(own.collect()).to_string()
}

/// A line of a part.
struct Line {
    hash: u128,
    /// The item, without what stands around it; the whole line where nothing does.
    json: Vec<u8>,
    part: String,
    /// Whether it is no item, or not in the order of the others: it was put there by somebody else.
    is_stray: bool,
}

impl Line {
    /// Where it stands beside an item; before each, where it is not in the order.
    fn order(&self, hash: u128, json: &[u8]) -> Order {
        if self.is_stray {
            return Order::Less;
        }
        let by_hash = self.hash.cmp(&hash);
        by_hash.then_with(|| self.json.as_slice().cmp(json))
    }
}

/// The lines of parts, one after the other.
struct Lines<'l> {
    place: &'l ExportPlace,
    /// A folder for what has to be copied to be read.
    scratch: &'l Path,
    frame: &'l LineFrame,
    manifest: &'l Manifest,
    parts: std::vec::IntoIter<&'l Part>,
    open: Option<OpenPart<'l>>,
    /// The line after the one that was given last.
    ahead: Option<Line>,
    /// The greatest hash of a line in order.
    last: u128,
    /// In what parts are not as the manifest says.
    changed: Vec<String>,
}

struct OpenPart<'l> {
    part: &'l Part,
    reader: Box<dyn BufRead + Send>,
    lines: u64,
    bytes: u64,
    /// It is read to its end before it goes.
    file: LocalFile,
}

impl<'l> Lines<'l> {
    fn of(
        (place, scratch): (&'l ExportPlace, &'l Path),
        manifest: &'l Manifest,
        frame: &'l LineFrame,
        parts: Vec<&'l Part>,
    ) -> Result<Self> {
        let mut lines = Self {
            place,
            scratch,
            frame,
            manifest,
            parts: parts.into_iter(),
            open: None,
            ahead: None,
            last: 0,
            changed: Vec::new(),
        };
        lines.ahead = lines.read()?;
        Ok(lines)
    }

    fn next(&mut self) -> Result<Option<Line>> {
        let Some(mut line) = self.ahead.take() else {
            return Ok(None);
        };
        self.ahead = self.read()?;
        let goes_on = |next: &Line| next.hash < line.hash && next.hash >= self.last;
        line.is_stray |= line.hash < self.last || self.ahead.as_ref().is_some_and(goes_on);
        if !line.is_stray {
            self.last = line.hash;
        }
        Ok(Some(line))
    }

    fn read(&mut self) -> Result<Option<Line>> {
        loop {
            let Some(open) = &mut self.open else {
                let Some(part) = self.parts.next() else {
                    return Ok(None);
                };
                self.open(part)?;
                continue;
            };
            let mut line = Vec::new();
            let read = open.reader.by_ref().take(LINE).read_until(b'\n', &mut line);
            let name = &open.part.file;
            if read.is_err() {
                self.changed
                    .push(format!("{name} cannot be read to its end"));
            }
            if read.is_err() || line.is_empty() {
                let (found, wanted) = (open.lines, open.part.items);
                if found != wanted {
                    self.changed.push(format!(
                        "{name} has {found} lines, but the manifest says {wanted} items"
                    ));
                }
                let (found, wanted) = (open.bytes, open.part.uncompressed_bytes);
                if found != wanted {
                    self.changed.push(format!(
                        "{name} has {found} bytes uncompressed, but the manifest says {wanted}"
                    ));
                }
                self.open = None;
                continue;
            }
            if u64::try_from(line.len()).unwrap_or(u64::MAX) >= LINE {
                return Err(damaged(
                    &open.file.path,
                    "has a line that is longer than an item can be",
                ));
            }
            open.lines += 1;
            open.bytes += u64::try_from(line.len()).unwrap_or(u64::MAX);
            let item = line
                .strip_prefix(&self.frame.before[..])
                .and_then(|rest| rest.strip_suffix(&self.frame.after[..]));
            let json = item.unwrap_or(&line);
            return Ok(Some(Line {
                hash: xxh3_128(json),
                is_stray: item.is_none(),
                json: json.to_vec(),
                part: name.clone(),
            }));
        }
    }

    fn open(&mut self, part: &'l Part) -> Result<()> {
        let file = self.place.local(&part.file, self.scratch)?;
        let path = &file.path;
        let unread = |error| failed(path, "read", error);
        let Some(sum) = if_there(digest(path)).map_err(unread)? else {
            self.changed.push(format!("{} is not there", part.file));
            return Ok(());
        };
        if sum != part.sha256 {
            let changed = format!("{} has another digest", part.file);
            self.changed.push(changed);
        }
        let reader = reader(path, self.manifest.compression).map_err(unread)?;
        self.open = Some(OpenPart {
            part,
            reader,
            lines: 0,
            bytes: 0,
            file,
        });
        Ok(())
    }
}
