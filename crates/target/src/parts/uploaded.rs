//! The parts that are in a bucket already, so that an export that was interrupted does not upload them again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use super::{WrittenPart, failed};
use crate::Result;
use crate::private::{self, if_there};
use crate::s3::S3Object;

/// The file that keeps them: one on each line.
pub(super) struct UploadedParts {
    path: PathBuf,
    file: Mutex<File>,
    /// Those whose objects are there as they were written.
    known: BTreeMap<String, WrittenPart>,
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
        let is_there = |one: &WrittenPart| {
            let object = objects.get(one.part.file.as_str());
            object.is_some_and(|object| one.is_object(object))
        };
        // A last line that is not whole was being written when the process was killed: its part is made again.
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<WrittenPart>(line).ok());
        let known = lines
            .filter(is_there)
            .map(|one| (one.part.file.clone(), one))
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
    pub(super) fn get(&self, name: &str) -> Option<&WrittenPart> {
        self.known.get(name)
    }

    /// Enters a part whose object is there.
    pub(super) fn add(&self, part: &WrittenPart) -> Result<()> {
        let put = || -> std::io::Result<()> {
            let mut line = serde_json::to_vec(part)?;
            line.push(b'\n');
            let mut file = self.file.lock();
            file.write_all(&line)?;
            file.sync_data()
        };
        put().map_err(|error| failed(&self.path, "write", error))
    }
}
