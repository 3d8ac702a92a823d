//! Answers that end: no more of one is read than DynamoDB ever sends.
//!
//! This holds for everything that is asked over HTTP, credentials too. An answer that stops or trickles is ended by the time
//! that an attempt has, and is taken for a cut in the network; what is refused here is no DynamoDB.

use aws_smithy_runtime_api::client::http::{
    HttpClient as _, HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector,
    http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use http_body_util::Limited;

/// `BatchGetItem` answers with items of 16 MB at most. As JSON that is up to seven times as much: `{"BOOL":true},` is two
/// bytes of an item.
const MOST_BYTES: usize = 128 << 20;

/// Why an answer that is longer is not read.
pub(super) const TOO_LONG: &str = "its answer is longer than any of DynamoDB's: over 128 MiB";

/// A client whose answers end.
pub(super) fn ending(client: SharedHttpClient) -> SharedHttpClient {
    http_client_fn(move |settings, components| {
        SharedHttpConnector::new(LimitedConnector(
            client.http_connector(settings, components),
        ))
    })
}

#[derive(Debug)]
struct LimitedConnector(SharedHttpConnector);

impl HttpConnector for LimitedConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let answer = self.0.call(request);
        HttpConnectorFuture::new(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| SdkBody::from_body_1_x(Limited::new(body, MOST_BYTES))))
        })
    }
}
