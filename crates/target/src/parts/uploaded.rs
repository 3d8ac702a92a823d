//! The parts that are in a bucket already, so that an export that was interrupted does not upload them again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{Part, failed};
use crate::Result;
use crate::private::{self, if_there};
use crate::s3::S3Object;

/// A part that was uploaded, and what S3 tells its object by.
#[derive(Serialize, Deserialize)]
struct UploadedPart {
    part: Part,
    etag: String,
}

/// The file that keeps them: one on each line.
pub(super) struct UploadedParts {
    path: PathBuf,
    file: Mutex<File>,
    /// Those whose objects are there as they were written.
    known: BTreeMap<String, Part>,
}

impl UploadedParts {
    /// Reads the file, and leaves out what is not among the objects.
    pub(super) fn open(path: &Path, objects: &[S3Object]) -> Result<Self> {
        let text = if_there(fs::read_to_string(path));
        let text = text.map_err(|error| failed(path, "read", error))?;
        let text = text.unwrap_or_default();
        let objects: BTreeMap<&str, &S3Object> = objects
            .iter()
            .map(|object| (object.name.as_str(), object))
            .collect();
        let is_there = |one: &UploadedPart| {
            let object = objects.get(one.part.file.as_str());
            object.is_some_and(|object| object.size == one.part.bytes && object.etag == one.etag)
        };
        // A last line that is not whole was being written when the process was killed: its part is made again.
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<UploadedPart>(line).ok());
        let known = lines
            .filter(is_there)
            .map(|one| (one.part.file.clone(), one.part))
            .collect();
        let file = private::options().append(true).create(true).open(path);
        let mut file = file.map_err(|error| failed(path, "write", error))?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")
                .map_err(|error| failed(path, "write", error))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            known,
        })
    }

    /// The part of a name, where its object is there.
    pub(super) fn get(&self, name: &str) -> Option<&Part> {
        self.known.get(name)
    }

    /// Enters a part whose object is there.
    pub(super) fn add(&self, part: &Part, etag: &str) -> Result<()> {
        let line = UploadedPart {
            part: part.clone(),
            etag: etag.to_owned(),
        };
        let put = || -> std::io::Result<()> {
            let mut line = serde_json::to_vec(&line)?;
            line.push(b'\n');
            let mut file = self.file.lock();
            file.write_all(&line)?;
            file.sync_data()
        };
        put().map_err(|error| failed(&self.path, "write", error))
    }
}
