//! A prefix of an S3 bucket: objects under names, written whole or not at all, read in ranges.
//!
//! Requests are ours, sent as those for items are (`dynamodb::wire`): endpoint, region, profile and credentials are found by
//! the SDK's own chain, the signature and the eight calls are made here. Why not `aws-sdk-s3`: docs/adr/0030.
//!
//! Every body is signed by its SHA-256, and S3 keeps that checksum with the object. Requests are sent again while
//! their failure is one that passes. An [`Upload`] that does not come to its end is aborted; what a killed process
//! leaves, [`Bucket::abort_uploads`] finds.

mod answer;
mod bucket;
mod failure;
mod location;
mod upload;

pub use bucket::{Bucket, S3Object};
pub use location::{LocationError, S3Location};
pub(crate) use upload::Upload;
