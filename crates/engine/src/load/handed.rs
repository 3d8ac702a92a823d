//! A chunk that is loaded without the others, and what it leaves beside the table: files that are called by what they hold.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use dynafold_mapping::model::Model;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::failure::{Failure, OutputFile};
use super::plan::{ChunkPart, ChunkPlan};
use crate::proof::Proof;

/// Bytes of a key in a file: its fingerprint, the highest byte first.
pub(super) const KEY: usize = 16;

/// A chunk that is loaded without the others.
#[derive(Debug, Clone)]
pub struct HandedChunk {
    pass: usize,
    part: ChunkPart,
    /// Where its files go.
    pub(super) folder: PathBuf,
    /// How their names begin.
    pub(super) name: String,
}

/// The keys of a chunk's items: their fingerprints in order, 16 bytes each, the highest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFile {
    /// Its name in the folder of the chunks' files.
    pub file: String,
    /// How many keys there are.
    pub keys: u64,
}

impl HandedChunk {
    pub(super) fn new(number: usize, pass: usize, part: ChunkPart, folder: &Path) -> Self {
        Self {
            pass,
            part,
            folder: folder.to_owned(),
            name: format!("chunk-{number:05}"),
        }
    }

    /// The plan of a load that reads it alone.
    pub(super) fn plan(&self, model: &Model) -> ChunkPlan {
        let passes = (0..model.passes.len()).map(|pass| {
            let part = (pass == self.pass).then(|| self.part.clone());
            part.into_iter().collect()
        });
        ChunkPlan {
            passes: passes.collect(),
        }
    }

    /// The item types that it may make items of.
    pub(super) fn item_types<'m>(&self, model: &'m Model) -> &'m [usize] {
        let pass = model.passes.get(self.pass);
        pass.map_or(&[], |pass| &pass.item_types)
    }

    /// Writes the keys into a file, those of attempts left out that were forgotten.
    pub(super) fn write_keys(
        &self,
        keys: Proof,
        forgotten: &HashSet<u64>,
    ) -> Result<KeyFile, Failure> {
        let mut sorted = keys.finish()?;
        let failed = |cause| self.failed(OutputFile::Keys, cause);
        let written = tempfile::NamedTempFile::new_in(&self.folder).map_err(failed)?;
        let mut out = BufWriter::new(written);
        let mut count = 0;
        while let Some((key, attempt)) = sorted.next_key()? {
            if !forgotten.contains(&attempt) {
                count += 1;
                out.write_all(&key.to_be_bytes()).map_err(failed)?;
            }
        }
        let written = out
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        let file = self.seal(written.path(), "keys").map_err(failed)?;
        // It has another name by now.
        let _ = written.keep();
        Ok(KeyFile { file, keys: count })
    }

    /// Gives a file the name that says what it holds: another attempt at the chunk writes the same file.
    pub(super) fn seal(&self, written: &Path, kind: &str) -> io::Result<String> {
        let file = File::open(written)?;
        let digest = digest(&file)?;
        file.sync_all()?;
        let name = format!("{}-{digest}.{kind}", self.name);
        fs::rename(written, self.folder.join(&name))?;
        Ok(name)
    }

    pub(super) fn failed(&self, which: OutputFile, cause: io::Error) -> Failure {
        which.unwritable(&self.folder.join(&self.name), cause)
    }
}

/// What a file holds, as a part of its name.
pub(super) fn digest(file: &File) -> io::Result<String> {
    let mut hash = Xxh3::new();
    let mut reader = BufReader::new(file);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            return Ok(format!("{:032x}", hash.digest128()));
        }
        hash.update(buffer.get(..read).unwrap_or_default());
    }
}
