//! Answers that end: no more of one is read than DynamoDB ever sends, and none that trickles in is waited for.
//!
//! This holds for everything that is asked over HTTP, credentials too. An answer that stops altogether is ended by the time
//! that an attempt has, and is taken for a cut in the network; what is refused here is no DynamoDB.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient as _, HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector,
    http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::time::Instant;

/// `BatchGetItem` answers with items of 16 MB at most. As JSON that is up to seven times as much: `{"BOOL":true},` is two
/// bytes of an item.
const MOST_BYTES: usize = 128 << 20;
/// So long an answer may take whatever its speed.
const AT_LEAST: Duration = Duration::from_secs(20);
/// Behind that, bytes a second: a slow telephone line.
const SLOWEST: f64 = 4096.0;

/// Why an answer was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Endless {
    /// It is longer than any answer of DynamoDB's.
    #[error("its answer is longer than any of DynamoDB's: over {} MiB", MOST_BYTES >> 20)]
    Long,
    /// It comes a few bytes at a time.
    #[error("its answer comes more slowly than {SLOWEST} bytes a second")]
    Slow,
}

/// A client whose answers end.
pub(super) fn ending(client: SharedHttpClient) -> SharedHttpClient {
    http_client_fn(move |settings, components| {
        SharedHttpConnector::new(Ending(client.http_connector(settings, components)))
    })
}

#[derive(Debug)]
struct Ending(SharedHttpConnector);

impl HttpConnector for Ending {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let answer = self.0.call(request);
        HttpConnectorFuture::new(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| SdkBody::from_body_1_x(Bounded::new(body))))
        })
    }
}

/// A body that ends.
struct Bounded<B> {
    body: B,
    read: usize,
    began: Instant,
}

impl<B> Bounded<B> {
    fn new(body: B) -> Self {
        Self {
            body,
            read: 0,
            began: Instant::now(),
        }
    }

    fn fault(&mut self, more: usize) -> Option<Endless> {
        self.read = self.read.saturating_add(more);
        if self.read > MOST_BYTES {
            return Some(Endless::Long);
        }
        let late = self.began.elapsed().saturating_sub(AT_LEAST);
        #[expect(
            clippy::as_conversions,
            clippy::cast_precision_loss,
            reason = "a speed"
        )]
        let read = self.read as f64;
        (late.as_secs_f64() * SLOWEST > read).then_some(Endless::Slow)
    }
}

impl<B> Body for Bounded<B>
where
    B: Body<Data = Bytes, Error = aws_smithy_types::body::Error> + Unpin,
{
    type Data = Bytes;
    type Error = aws_smithy_types::body::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        let Some(Ok(frame)) = frame else {
            return Poll::Ready(frame);
        };
        let more = frame.data_ref().map_or(0, Bytes::len);
        Poll::Ready(Some(match self.fault(more) {
            Some(fault) => Err(fault.into()),
            None => Ok(frame),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::{StreamExt as _, stream};
    use http_body_util::{BodyExt as _, StreamBody};

    use super::*;

    /// How a body ends that gives so many bytes again and again, with a pause before each.
    async fn ends(bytes: usize, pause: Duration, count: usize) -> Result<usize, Endless> {
        let frames = stream::iter(0..count).then(move |_| async move {
            tokio::time::sleep(pause).await;
            Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b' '; bytes])))
        });
        let body = Box::pin(StreamBody::new(frames)).map_err(Into::into);
        match Bounded::new(body).collect().await {
            Ok(whole) => Ok(whole.to_bytes().len()),
            Err(error) => Err(*error.downcast::<Endless>().expect("an error of ours")),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_ends_by_its_size_and_by_its_pace() {
        let (now, second) = (Duration::ZERO, Duration::from_secs(1));
        assert_eq!(ends(1 << 20, now, 128).await, Ok(128 << 20));
        assert_eq!(ends(1 << 20, now, usize::MAX).await, Err(Endless::Long));
        let begun = Instant::now();
        assert_eq!(ends(1, second, usize::MAX).await, Err(Endless::Slow));
        assert_eq!(begun.elapsed(), 21 * second);
        // A slow line is no trickle, and neither is a short answer.
        assert_eq!(ends(5_000, second, 100).await, Ok(500_000));
        assert_eq!(ends(1, second, 20).await, Ok(20));
    }
}
