//! DynamoDB Local, which `DYNAFOLD_TEST_DYNAMODB` names.

use aws_sdk_dynamodb::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::embedded::config;
use super::servers;

pub(crate) fn endpoint() -> String {
    servers::url("dynamodb")
}

/// A client of it.
pub(crate) fn client() -> Client {
    let http = aws_smithy_http_client::Builder::new().build_http();
    let config = config().endpoint_url(endpoint()).http_client(http);
    Client::from_conf(config.build())
}

/// Deletes a table, which Dynafold itself never does.
pub(crate) async fn delete_table(name: &str) {
    call("DeleteTable", &json!({ "TableName": name })).await;
}

/// Calls an operation. DynamoDB Local keeps tables apart by access key and region, does not look at
/// the signature, and these are those that Dynafold makes up.
pub(crate) async fn call(operation: &str, arguments: &Value) {
    let url: url::Url = endpoint().parse().unwrap();
    let address = url.socket_addrs(|| None).unwrap();
    let body = arguments.to_string();
    let request = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=local/20200101/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host, Signature=0\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address.as_slice()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200"),
        "{operation} {arguments}: {answer}"
    );
}
