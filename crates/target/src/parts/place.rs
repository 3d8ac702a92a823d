//! Where the files of an export are: in a folder, or under a prefix in S3.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use dynafold_dynamodb::Table;
use serde::Serialize;
use serde_json::Value;

use super::encode::{DigestWriter, PartFile, digest};
use super::manifest::{IMPORT_TABLE, MANIFEST, Manifest, import_table};
use super::{Part, WrittenPart, damaged, failed};
use crate::Result;
use crate::private::{self, if_there};
use crate::s3::{Bucket, S3Object, Upload};

/// Where the files of an export are.
#[derive(Debug, Clone)]
pub enum ExportPlace {
    /// A folder.
    Folder(PathBuf),
    /// A prefix in S3.
    Bucket(Bucket),
}

/// What an export that is not complete has in its folder besides parts. A file that ends in `.tmp` is one that was being written.
const IN_FOLDER: [&str; 7] = [
    "data",
    "unfinished",
    "rejects.ndjson",
    "archive.ndjson",
    "archive.ndjson.part",
    "import-table.tmp",
    "manifest.tmp",
];

/// What is in the place of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceContents {
    /// Nothing.
    Nothing,
    /// An export that is complete.
    Export,
    /// Only parts and other files of an export, which may be of one that was interrupted.
    Parts,
    /// Something else; the name of the first.
    Others(String),
}

impl ExportPlace {
    /// What is there.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it cannot be looked at.
    pub async fn contents(&self) -> Result<PlaceContents> {
        let names: Vec<String> = match self {
            Self::Folder(folder) => {
                let mut names = names_in(folder, "")?;
                if folder.join("data").is_dir() {
                    names.extend(names_in(folder, "data/")?);
                }
                names
            }
            Self::Bucket(bucket) => {
                let first = bucket.list(MANIFEST, 1).await?;
                if first.iter().any(|one| one.name == MANIFEST) {
                    return Ok(PlaceContents::Export);
                }
                let all = bucket.list("", usize::MAX).await?;
                all.into_iter().map(|object| object.name).collect()
            }
        };
        if names.iter().any(|name| name == MANIFEST) {
            return Ok(PlaceContents::Export);
        }
        let further: &[&str] = match self {
            Self::Folder(_) => &IN_FOLDER,
            Self::Bucket(_) => &[],
        };
        // The last file before the manifest is of an export, too.
        let is_own = |name: &str| is_part(name) || name == IMPORT_TABLE || further.contains(&name);
        let other = names.iter().find(|name| !is_own(name));
        Ok(match other {
            Some(other) => PlaceContents::Others(other.clone()),
            None if names.is_empty() => PlaceContents::Nothing,
            None => PlaceContents::Parts,
        })
    }

    /// Refuses a place whose export is complete: an import would read what comes into it now, too.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it is, or cannot be looked at.
    pub async fn check_unclosed(&self) -> Result<()> {
        if self.contents().await? != PlaceContents::Export {
            return Ok(());
        }
        let what = "holds an export that is complete, and nothing more was written to it";
        Err(damaged(self.to_string().as_ref(), what)
            .with_help("if it is not the export of this plan, make a new plan for another place"))
    }

    /// What is not as the manifest has it: files in `data/` that are no parts of it, which an import would read too,
    /// parts that are gone or of another size, and where it does not agree with itself. Contents are not looked at.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it cannot be looked at.
    pub async fn changes(&self, manifest: &Manifest) -> Result<Vec<String>> {
        let found = self.data().await?;
        let mut changes = changed_files(&found, manifest.parts.iter());
        changes.extend(manifest.contradictions());
        Ok(changes)
    }

    /// What is not as the parts were written, as [`Self::changes`], and then by contents. An object with another `ETag` than its
    /// writer was told may hold the same, as a second attempt at a chunk writes it: its bytes are read.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it cannot be looked at.
    pub async fn changes_of(&self, written: &[WrittenPart]) -> Result<Vec<String>> {
        let found = self.data().await?;
        let mut changes = changed_files(&found, written.iter().map(|one| &one.part));
        if !changes.is_empty() {
            return Ok(changes);
        }
        let is_there = WrittenPart::is_among(&found);
        for one in written {
            let name = one.part.file.as_str();
            if !is_there(one) && self.digest(name).await? != Some(one.part.sha256.clone()) {
                changes.push(format!("{name} does not hold what was written"));
            }
        }
        Ok(changes)
    }

    /// What is in `data/`. Files have no `ETag`.
    async fn data(&self) -> Result<Vec<S3Object>> {
        match self {
            Self::Folder(folder) => {
                each_in(&folder.join("data"), |entry| {
                    // Of a link, what it leads to: that is what is read, and what `aws s3 cp` uploads.
                    let metadata = entry.path().metadata().or_else(|_| entry.metadata())?;
                    Ok(S3Object {
                        name: format!("data/{}", entry.file_name().to_string_lossy()),
                        size: metadata.len(),
                        etag: String::new(),
                    })
                })
            }
            Self::Bucket(bucket) => bucket.list("data/", usize::MAX).await,
        }
    }

    /// The SHA-256 of a file; `None` where there is none.
    async fn digest(&self, name: &str) -> Result<Option<String>> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                if_there(digest(&path)).map_err(|error| failed(&path, "read", error))
            }
            Self::Bucket(bucket) => {
                let mut digest = DigestWriter::default();
                let is_there = bucket.read(name, &mut digest).await?;
                Ok(is_there.then(|| digest.finish()))
            }
        }
    }

    /// Whether the file that an import is asked with is the one that the mapping says.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it cannot be read.
    pub async fn asks_for(&self, table: &Table, manifest: &Manifest) -> Result<bool> {
        let (wanted, _) = import_table(table, manifest.compression);
        let text = self.read(IMPORT_TABLE).await?.unwrap_or_default();
        Ok(serde_json::from_slice::<Value>(&text).is_ok_and(|found| found == wanted))
    }

    /// Makes it empty of parts, but for those that are `kept`. Blocks.
    pub(super) fn clear(&self, kept: &dyn Fn(&str) -> bool) -> Result<()> {
        match self {
            Self::Folder(folder) => {
                let data = folder.join("data");
                std::fs::create_dir_all(&data)
                    .map_err(|error| failed(&data, "make the folder", error))?;
                let parts = names_in(folder, "data/")?.into_iter();
                for part in parts.filter(|name| is_part(name)) {
                    let part = folder.join(part);
                    std::fs::remove_file(&part).map_err(|error| failed(&part, "delete", error))?;
                }
                Ok(())
            }
            Self::Bucket(bucket) => bucket.wait(async {
                bucket.abort_uploads(is_of_export).await?;
                for object in bucket.list("data/part-", usize::MAX).await? {
                    if is_part(&object.name) && !kept(&object.name) {
                        bucket.delete(&object.name).await?;
                    }
                }
                Ok(())
            }),
        }
    }

    /// Aborts uploads that workers which were killed have left.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when that fails.
    pub async fn abort_uploads(&self) -> Result<()> {
        match self {
            Self::Folder(_) => Ok(()),
            Self::Bucket(bucket) => bucket.abort_uploads(is_of_export).await.map(drop),
        }
    }

    /// The objects of parts that are there; a folder has none. Blocks.
    pub(super) fn objects(&self) -> Result<Vec<S3Object>> {
        match self {
            Self::Folder(_) => Ok(Vec::new()),
            Self::Bucket(bucket) => bucket.wait(bucket.list("data/part-", usize::MAX)),
        }
    }

    /// Begins a file.
    pub(super) fn create(&self, name: &str) -> io::Result<PartFile> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                let file = private::options().write(true).create_new(true).open(path)?;
                Ok(PartFile::File(file))
            }
            Self::Bucket(bucket) => Ok(PartFile::Object(Box::new(Upload::begin(bucket, name)))),
        }
    }

    /// Writes a small file: whole, or not at all.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it cannot be written.
    pub async fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let text = self.json(name, value)?;
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                private::write_whole(&path, &text).map_err(|error| failed(&path, "write", error))
            }
            Self::Bucket(bucket) => bucket.put(name, text).await,
        }
    }

    /// The text of a small file.
    fn json(&self, name: &str, value: &impl Serialize) -> Result<Vec<u8>> {
        let shown = self.named(name);
        let text = serde_json::to_vec_pretty(value);
        let mut text =
            text.map_err(|error| damaged(&shown, "cannot be made").with_cause(error, 0))?;
        text.push(b'\n');
        Ok(text)
    }

    /// Reads a small file; `None` where there is none.
    pub(super) async fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                if_there(std::fs::read(&path)).map_err(|error| failed(&path, "read", error))
            }
            Self::Bucket(bucket) => {
                let mut text = Vec::new();
                Ok(bucket.read(name, &mut text).await?.then_some(text))
            }
        }
    }

    /// A file of the disk with what a file of the export holds; an object is copied into the folder `scratch`. Blocks.
    pub(super) fn local(&self, name: &str, scratch: &Path) -> Result<LocalFile> {
        match self {
            Self::Folder(folder) => Ok(LocalFile {
                path: folder.join(name),
                is_copy: false,
            }),
            Self::Bucket(bucket) => {
                let path = scratch.join(name.replace('/', "-"));
                let failed = |error| failed(&path, "write", error);
                let file = private::options()
                    .write(true)
                    .create(true)
                    .truncate(true)
                    .open(&path);
                let mut file = file.map_err(failed)?;
                let copy = LocalFile {
                    path: path.clone(),
                    is_copy: true,
                };
                if !bucket.wait(bucket.read(name, &mut file))? {
                    drop(file);
                    std::fs::remove_file(&path).map_err(failed)?;
                }
                Ok(copy)
            }
        }
    }

    /// What a file is called in messages.
    pub(super) fn named(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(name),
            Self::Bucket(bucket) => format!("{}/{name}", bucket.location()).into(),
        }
    }
}

/// The names in a folder of an export, or in one of its own folders, which they begin with then.
fn names_in(folder: &Path, under: &str) -> Result<Vec<String>> {
    each_in(&folder.join(under), |entry| {
        // No part is a folder.
        let is_folder = !under.is_empty() && entry.path().is_dir();
        let end = if is_folder { "/" } else { "" };
        let name = entry.file_name();
        Ok(format!("{under}{}{end}", name.to_string_lossy()))
    })
}

/// What is made of each entry of a folder, which may not be there.
fn each_in<T>(folder: &Path, make: impl Fn(DirEntry) -> io::Result<T>) -> Result<Vec<T>> {
    let all = || -> io::Result<_> {
        let entries = if_there(std::fs::read_dir(folder))?.into_iter().flatten();
        entries.map(|entry| make(entry?)).collect()
    };
    all().map_err(|error| failed(folder, "read", error))
}

/// What is there and no part, and which parts are gone or of another size.
fn changed_files<'p>(found: &[S3Object], parts: impl Iterator<Item = &'p Part>) -> Vec<String> {
    let mut parts: BTreeMap<&str, u64> =
        parts.map(|part| (part.file.as_str(), part.bytes)).collect();
    let mut changes: Vec<String> = Vec::new();
    for S3Object { name, size, .. } in found {
        match parts.remove(name.as_str()) {
            None => changes.push(format!("{name} is not in the manifest")),
            Some(bytes) if bytes != *size => {
                changes.push(format!(
                    "{name} has {size} bytes, but the manifest says {bytes}"
                ));
            }
            Some(_) => {}
        }
    }
    changes.extend(parts.keys().map(|name| format!("{name} is not there")));
    changes
}

/// Whether an export writes an object of this name, by one process or by many.
fn is_of_export(name: &str) -> bool {
    is_part(name) || is_chunk_part(name) || [IMPORT_TABLE, MANIFEST].contains(&name)
}

/// Whether a name is one that parts of chunks have: `data/part-db114823-00000-00000.json.zst`.
fn is_chunk_part(name: &str) -> bool {
    let number = name
        .strip_prefix("data/part-")
        .and_then(|rest| rest.split_once('.'));
    number.is_some_and(|(number, _)| {
        let pieces: Vec<&str> = number.split('-').collect();
        let is_number = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_digit());
        let is_run = |run: &str| run.bytes().all(|byte| byte.is_ascii_hexdigit());
        match *pieces {
            [run, chunk, part] => {
                run.len() == 8
                    && is_run(run)
                    && chunk.len() >= 5
                    && part.len() == 5
                    && is_number(chunk)
                    && is_number(part)
            }
            _ => false,
        }
    })
}

/// Whether a name is one that parts have.
fn is_part(name: &str) -> bool {
    const ENDINGS: [&str; 6] = [
        "json",
        "json.gz",
        "json.zst",
        "ndjson",
        "ndjson.gz",
        "ndjson.zst",
    ];
    let number = name
        .strip_prefix("data/part-")
        .and_then(|rest| rest.split_once('.'));
    number.is_some_and(|(number, ending)| {
        let is_number = number.len() == 5 && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number && ENDINGS.contains(&ending)
    })
}

impl fmt::Display for ExportPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Bucket(bucket) => bucket.location().fmt(f),
        }
    }
}

/// A file on the disk; a copy is deleted when it is no longer needed.
pub(super) struct LocalFile {
    pub(super) path: PathBuf,
    is_copy: bool,
}

impl Drop for LocalFile {
    fn drop(&mut self) {
        if self.is_copy {
            // It is in a folder that goes as a whole.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Manifest {
    /// Reads the manifest of a complete export.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it is not there, not readable, or of another version.
    pub async fn read(place: &ExportPlace) -> Result<Self> {
        let path = place.named(MANIFEST);
        let text = place.read(MANIFEST).await?.ok_or_else(|| {
            damaged(&path, "is not there").with_help("name the place of an export that is complete")
        })?;
        let manifest: Self = serde_json::from_slice(&text).map_err(|error| {
            damaged(&path, "is not the manifest of an export").with_cause(error, 0)
        })?;
        if manifest.version != Self::VERSION {
            let what = format!(
                "is of version {}; this program reads version {}",
                manifest.version,
                Self::VERSION
            );
            return Err(damaged(&path, &what));
        }
        Ok(manifest)
    }

    /// Writes it into the place of the export: whole, or not at all. In S3 never over another.
    ///
    /// # Errors
    ///
    /// [`crate::TargetError`] when it cannot be written, or another is there.
    pub async fn write(&self, place: &ExportPlace) -> Result<()> {
        let ExportPlace::Bucket(bucket) = place else {
            return place.write_json(MANIFEST, self).await;
        };
        let text = place.json(MANIFEST, self)?;
        // The answer to an attempt before may have been lost.
        if bucket.put_new(MANIFEST, text.clone()).await?
            || place.read(MANIFEST).await?.as_ref() == Some(&text)
        {
            return Ok(());
        }
        let what = "exists already: another export was completed in this place";
        Err(damaged(&place.named(MANIFEST), what).with_help("name another place"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_of_parts_are_aborted_and_no_others() {
        for name in [
            "data/part-00001.json.zst",
            "data/part-db114823-00000-00000.json.zst",
            "data/part-db114823-100000-00003.json",
            MANIFEST,
        ] {
            assert!(is_of_export(name), "{name}");
        }
        for name in [
            "mine.bin",
            "data/part-mine.json",
            "data/part-db114823-00000.json",
            "data/part-notes-00000-00000.json",
            "part-00001.json.zst",
        ] {
            assert!(!is_of_export(name), "{name}");
        }
    }
}
