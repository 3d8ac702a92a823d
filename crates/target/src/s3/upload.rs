//! An object that is written piece by piece: small ones by one request, others by a multipart upload.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::bucket::{PIECE, S3Request, read, refusal};
use super::{Bucket, S3Object};
use crate::{ErrorClass, Result};

/// Pieces of one object that are on their way while the next is made.
const IN_FLIGHT: usize = 2;
/// How long a process that ends waits for the end of an upload.
const ABORT: Duration = Duration::from_secs(15);

/// An object that is being written. It appears under its name when it is finished; one that is dropped before is
/// aborted. Its methods block, so it is for threads that run no requests.
#[derive(Debug)]
pub(crate) struct Upload {
    bucket: Bucket,
    key: Arc<str>,
    /// Bytes of the object so far.
    bytes: u64,
    /// The bytes that are not sent yet, at most a piece.
    unsent: Vec<u8>,
    /// The id of the multipart upload, once there is one.
    id: Option<Arc<str>>,
    in_flight: Vec<JoinHandle<Result<UploadedPiece>>>,
    uploaded: Vec<UploadedPiece>,
    /// The number of the last piece that was sent, from 1; 0 before the first.
    last_number: u32,
}

/// A piece that S3 has.
#[derive(Debug)]
struct UploadedPiece {
    number: u32,
    etag: String,
    checksum: String,
}

impl Upload {
    /// Begins an object; sends nothing yet.
    pub(crate) fn begin(bucket: &Bucket, name: &str) -> Self {
        Self {
            key: bucket.location().key(name).into(),
            bucket: bucket.clone(),
            bytes: 0,
            unsent: Vec::new(),
            id: None,
            in_flight: Vec::new(),
            uploaded: Vec::new(),
            last_number: 0,
        }
    }

    /// Sends what is left, and gives the object's `ETag`.
    pub(crate) fn finish(mut self) -> Result<String> {
        let Some(id) = self.id.clone() else {
            let body = std::mem::take(&mut self.unsent);
            return self.bucket.wait(self.bucket.put_object(&self.key, body));
        };
        if !self.unsent.is_empty() {
            self.send_piece()?;
        }
        self.wait_until_in_flight(0)?;
        self.uploaded.sort_unstable_by_key(|piece| piece.number);
        let etag = self.bucket.wait(complete(
            &self.bucket,
            &self.key,
            &id,
            &self.uploaded,
            self.bytes,
        ))?;
        self.id = None;
        Ok(etag)
    }

    /// Begins to send what is unsent as the next piece; the first one begins the multipart upload.
    fn send_piece(&mut self) -> Result<()> {
        let id = match &self.id {
            Some(id) => id.clone(),
            None => {
                let id = self.bucket.wait(create(&self.bucket, &self.key))?;
                self.id.insert(id).clone()
            }
        };
        self.wait_until_in_flight(IN_FLIGHT - 1)?;
        self.last_number += 1;
        let (bucket, key, number) = (self.bucket.clone(), self.key.clone(), self.last_number);
        let body = Bytes::from(std::mem::take(&mut self.unsent));
        let sending = async move { upload_part(&bucket, &key, &id, number, body).await };
        self.in_flight.push(self.bucket.runtime().spawn(sending));
        Ok(())
    }

    /// Waits until at most so many pieces are in flight.
    fn wait_until_in_flight(&mut self, most: usize) -> Result<()> {
        while self.in_flight.len() > most {
            let first = self.in_flight.remove(0);
            let attempt = self.bucket.attempt("UploadPart", Some(&self.key));
            let piece = self.bucket.wait(first);
            self.uploaded.push(
                piece.map_err(|error| {
                    attempt.unsent("the upload was ended").with_cause(error, 0)
                })??,
            );
        }
        Ok(())
    }
}

impl io::Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unsent.len() >= PIECE {
            self.send_piece().map_err(io::Error::other)?;
        }
        // An object that had one piece may fill another; a small object has just what it needs.
        if self.unsent.capacity() == 0 && self.last_number > 0 {
            self.unsent.reserve_exact(PIECE);
        }
        let (taken, _) = bytes.split_at(bytes.len().min(PIECE - self.unsent.len()));
        self.unsent.extend_from_slice(taken);
        self.bytes += u64::try_from(taken.len()).unwrap_or_default();
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let in_flight = std::mem::take(&mut self.in_flight);
        let (bucket, key) = (self.bucket.clone(), self.key.clone());
        let abort = async move {
            // A piece that arrives after the abort would stay.
            for piece in in_flight {
                piece.abort();
                let _ = piece.await;
            }
            let aborted = tokio::time::timeout(ABORT, bucket.abort(&key, &id)).await;
            if !matches!(aborted, Ok(Ok(()))) {
                tracing::warn!(
                    "an upload could not be aborted: the next run aborts it, or a lifecycle rule does"
                );
            }
        };
        // A thread that runs requests cannot wait for one.
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(abort)),
            Err(_) => self.bucket.wait(abort),
        }
    }
}

/// Begins a multipart upload, and gives its id.
async fn create(bucket: &Bucket, key: &str) -> Result<Arc<str>> {
    let mut request = S3Request::new("CreateMultipartUpload", "POST", Some(key));
    request.query.push(("uploads", String::new()));
    request
        .headers
        .push(("x-amz-checksum-algorithm", "SHA256".to_owned()));
    let answer = bucket.send(&request).await?;
    let attempt = bucket.attempt(request.operation, Some(key));
    let answer = read(&attempt, &answer.body, "", &["UploadId"])?;
    match answer.text("UploadId") {
        "" => Err(attempt.garbled("an upload without an id")),
        id => Ok(id.into()),
    }
}

async fn upload_part(
    bucket: &Bucket,
    key: &str,
    id: &str,
    number: u32,
    body: Bytes,
) -> Result<UploadedPiece> {
    let mut request = S3Request::new("UploadPart", "PUT", Some(key));
    request.query.push(("partNumber", number.to_string()));
    request.query.push(("uploadId", id.to_owned()));
    let request = request.with_body(body).with_checksum();
    let checksum = request.checksum();
    let etag = bucket.send(&request).await?.etag;
    if etag.is_empty() {
        let attempt = bucket.attempt(request.operation, Some(key));
        return Err(attempt.garbled("a piece without an ETag"));
    }
    Ok(UploadedPiece {
        number,
        etag,
        checksum,
    })
}

/// Puts the pieces together, and gives the object's `ETag`.
async fn complete(
    bucket: &Bucket,
    key: &str,
    id: &str,
    pieces: &[UploadedPiece],
    bytes: u64,
) -> Result<String> {
    let parts = pieces.iter().map(|piece| {
        format!(
            "<Part><PartNumber>{}</PartNumber><ETag>{}</ETag><ChecksumSHA256>{}</ChecksumSHA256></Part>",
            piece.number,
            piece.etag.replace('"', "&quot;"),
            piece.checksum
        )
    });
    let parts: String = parts.collect();
    let body = format!(
        "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{parts}</CompleteMultipartUpload>"
    );
    let mut request = S3Request::new("CompleteMultipartUpload", "POST", Some(key));
    request.query.push(("uploadId", id.to_owned()));
    let request = request.with_body(Bytes::from(body));
    let attempt = bucket.attempt(request.operation, Some(key));
    let mut error = attempt.unsent("S3 did not put the pieces together");
    // Five times at the most; seconds before the next time.
    for pause in 0..5 {
        match bucket.send(&request).await {
            Ok(answer) => {
                // It may begin its answer well and end it with an error. Servers name the root of a good one differently.
                let document = read(&attempt, &answer.body, "", &["ETag"])?;
                let etag = document.text("ETag");
                if document.root != "Error" && !etag.is_empty() {
                    return Ok(etag.to_owned());
                }
                error = refusal(&attempt, 200, &answer.body);
            }
            // The answer to an earlier request was lost: the upload is complete if the object is there.
            Err(lost) if lost.code == "NoSuchUpload" => {
                return etag_of(bucket, key, bytes).await?.ok_or(lost);
            }
            Err(refused) => return Err(refused),
        }
        if error.class != ErrorClass::Transient {
            break;
        }
        sleep(Duration::from_secs(pause)).await;
    }
    Err(error)
}

/// The `ETag` of an object; `None` where there is none of this key and size.
async fn etag_of(bucket: &Bucket, key: &str, bytes: u64) -> Result<Option<String>> {
    let prefix = bucket.location().key("");
    let name = key.strip_prefix(prefix.as_str()).unwrap_or(key);
    let found = bucket.list(name, 1).await?;
    let is_it = |one: &S3Object| one.name == name && one.size == bytes;
    Ok(found.into_iter().find(is_it).map(|object| object.etag))
}
