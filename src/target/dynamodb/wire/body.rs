//! A request's body: three parts, the middle one shared with the batch that it comes from.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::hash::{push_hex, sha256};

/// The parts of a body that are still to be sent. Cloning it copies none of them.
#[derive(Debug, Clone)]
pub(in crate::target::dynamodb) struct Body {
    parts: [Bytes; 3],
    hash: OnceLock<String>,
}

impl Body {
    /// Puts a body together: what stands before, the requests, what stands after.
    pub(in crate::target::dynamodb) fn new(
        before: String,
        middle: Bytes,
        after: &'static str,
    ) -> Self {
        Self {
            parts: [
                Bytes::from(before),
                middle,
                Bytes::from_static(after.as_bytes()),
            ],
            hash: OnceLock::new(),
        }
    }

    /// Its hash as hexadecimal digits; computed once, before anything is sent.
    pub(super) fn hash(&self) -> &str {
        self.hash.get_or_init(|| {
            let mut text = String::with_capacity(64);
            push_hex(&mut text, &sha256(self.parts.iter().map(AsRef::as_ref)));
            text
        })
    }

    fn left(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.parts.iter_mut().find(|part| !part.is_empty());
        Poll::Ready(next.map(|part| Ok(Frame::data(std::mem::take(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.left()).unwrap_or(u64::MAX))
    }
}
