//! Configuration of the SDK: region, credentials, endpoint, timeouts, retries.
//!
//! The region comes from the option, the environment or the profile, never from an instance's
//! metadata service, so that its absence is told at once. Credentials come from the AWS default
//! chain. An endpoint on the loopback interface gets made-up credentials and a made-up region
//! where the environment and the profile have none: DynamoDB Local takes any.

use std::net::IpAddr;
use std::time::Duration;

use aws_config::default_provider::credentials::DefaultCredentialsChain;
use aws_config::environment::{
    EnvironmentVariableCredentialsProvider, EnvironmentVariableRegionProvider,
};
use aws_config::meta::credentials::CredentialsProviderChain;
use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::{ProfileFileCredentialsProvider, ProfileFileRegionProvider};
use aws_config::provider_config::ProviderConfig;
use aws_config::retry::RetryConfig;
use aws_config::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig, imds};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{
    Builder as ConfigBuilder, Credentials, IdentityCache, SharedCredentialsProvider,
    SharedHttpClient,
};
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::{Builder as HttpBuilder, Connector};
use aws_smithy_runtime_api::client::http::HttpConnectorSettings;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_types::sdk_config::SharedAsyncSleep;
use aws_types::service_config::ServiceConfigKey;

use super::answers::ending;
use super::{Clock, Dynamodb, ServiceLocation, Vault, Wire};
use crate::spec::check_endpoint;
use crate::{ErrorClass, Result, ServiceOptions, TargetError, TargetErrorKind};

const CONNECT: Duration = Duration::from_secs(5);
/// From the request's first byte to the answer's first.
const FIRST_BYTE: Duration = Duration::from_secs(30);
/// One attempt, with its whole answer. It also ends a stalled stream, which is why the SDK's own
/// protection, at some cost per request, is off.
const ATTEMPT: Duration = Duration::from_mins(1);
/// All attempts that the SDK makes by itself: nobody waits longer without a word.
const OPERATION: Duration = Duration::from_secs(90);
/// An instance's metadata service answers in milliseconds or not at all.
const METADATA: Duration = Duration::from_secs(1);
/// What signs requests where nobody checks the signature.
const ANY_REGION: &str = "us-east-1";

/// Makes what sends requests to an endpoint. The vault keeps the credentials, so that the SDK need not.
pub(crate) fn service(config: &ConfigBuilder, vault: Vault) -> Wire {
    let clock = Clock::default();
    let config = config
        .clone()
        .time_source(clock.clone())
        .credentials_provider(vault.clone())
        .identity_cache(IdentityCache::no_cache())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .retry_config(RetryConfig::disabled());
    Wire::new(Client::from_conf(config.build()), vault, clock)
}

/// A service as the options, the environment and the profile name it; nothing has been sent.
pub(crate) struct FoundService {
    pub(crate) shared: SdkConfig,
    pub(crate) region: Region,
    /// Another endpoint than the region's own.
    pub(crate) endpoint: Option<url::Url>,
    /// Whether the endpoint is on the loopback interface, so that no proxy leads to it.
    pub(crate) loopback: bool,
    /// Whether it is AWS, where things cost money.
    pub(crate) billed: bool,
    pub(crate) credentials: SharedCredentialsProvider,
}

/// Finds a service, such as `DynamoDB` or `S3`: where it is, and as whom it is asked.
pub(crate) async fn find(service: &str, options: &ServiceOptions) -> Result<FoundService> {
    let profile = options.profile.as_deref();
    let region = find_region(profile, options.region.as_deref()).await;
    // A loopback endpoint may be configured in the environment or the profile, where only the
    // loader finds it; until then the proxy is the environment's.
    let mut shared = load(profile, region.clone(), http_client(true)).await;
    let unusable = |error| {
        let message = "the endpoint's address is not usable".to_owned();
        failure(TargetErrorKind::Connection, "Connection", message).with_cause(error, 0)
    };
    let named = options.endpoint_url.clone();
    let endpoint = named
        .or_else(|| configured_endpoint(&shared, service))
        .map(|text| check_endpoint(&text).map_err(unusable))
        .transpose()?;
    let host = endpoint.as_ref().map(url::Url::host_str);
    let loopback = host.is_some_and(|host| host.is_some_and(is_loopback));
    let billed = host.is_none_or(|host| host.is_some_and(is_amazon));
    if loopback {
        shared = shared
            .into_builder()
            .http_client(http_client(false))
            .build();
    }
    let region = match region {
        Some(region) => region,
        None if billed => return Err(no_region(profile)),
        None => Region::from_static(ANY_REGION),
    };
    let http = shared.http_client();
    Ok(FoundService {
        credentials: credentials(profile, &region, http, loopback).await,
        shared,
        region,
        endpoint,
        loopback,
        billed,
    })
}

/// Opens DynamoDB, or what speaks its protocol at an endpoint. Sends nothing yet.
pub(crate) async fn open(options: &ServiceOptions) -> Result<Dynamodb> {
    let FoundService {
        shared,
        region,
        endpoint,
        billed,
        credentials,
        ..
    } = find("DynamoDB", options).await?;
    let name = match &endpoint {
        Some(url) => shown(url),
        None => format!("dynamodb in {region}"),
    };
    let billed_in = billed.then(|| region.to_string());
    let mut config = ConfigBuilder::from(&shared).region(region).timeout_config(
        TimeoutConfig::builder()
            .connect_timeout(CONNECT)
            .read_timeout(FIRST_BYTE)
            .operation_attempt_timeout(ATTEMPT)
            .operation_timeout(OPERATION)
            .build(),
    );
    config.set_endpoint_url(endpoint.map(String::from));
    let place = ServiceLocation {
        name,
        billed_in,
        profile: options.profile.clone(),
    };
    let wire = service(&config, Vault::new(credentials));
    Ok(Dynamodb::new(wire, place, None))
}

async fn find_region(profile: Option<&str>, region: Option<&str>) -> Option<Region> {
    let mut in_profile = ProfileFileRegionProvider::builder();
    if let Some(name) = profile {
        in_profile = in_profile.profile_name(name);
    }
    RegionProviderChain::first_try(region.map(|name| Region::new(name.to_owned())))
        .or_else(EnvironmentVariableRegionProvider::new())
        .or_else(in_profile.build())
        .region()
        .await
}

async fn load(profile: Option<&str>, region: Option<Region>, http: SharedHttpClient) -> SdkConfig {
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .region(region.unwrap_or(Region::from_static(ANY_REGION)))
        .no_credentials();
    if let Some(name) = profile {
        loader = loader.profile_name(name);
    }
    loader.load().await
}

/// `AWS_ENDPOINT_URL_DYNAMODB` or `AWS_ENDPOINT_URL_S3`, the profile's services section, then `AWS_ENDPOINT_URL`.
fn configured_endpoint(shared: &SdkConfig, service: &str) -> Option<String> {
    let key = ServiceConfigKey::builder()
        .service_id(service)
        .env("AWS_ENDPOINT_URL")
        .profile("endpoint_url")
        .build()
        .ok()?;
    shared
        .service_config()
        .and_then(|services| services.load_config(key))
        .or_else(|| shared.endpoint_url().map(str::to_owned))
}

async fn credentials(
    profile: Option<&str>,
    region: &Region,
    http: Option<SharedHttpClient>,
    loopback: bool,
) -> SharedCredentialsProvider {
    let mut provider = ProviderConfig::without_region().with_region(Some(region.clone()));
    if let Some(http) = http {
        provider = provider.with_http_client(http);
    }
    if loopback {
        let mut in_profile = ProfileFileCredentialsProvider::builder().configure(&provider);
        if let Some(name) = profile {
            in_profile = in_profile.profile_name(name);
        }
        let chain = CredentialsProviderChain::first_try(
            "Environment",
            EnvironmentVariableCredentialsProvider::new(),
        )
        .or_else("Profile", in_profile.build())
        .or_else("Loopback", made_up_credentials());
        return SharedCredentialsProvider::new(chain);
    }
    let metadata = imds::Client::builder()
        .configure(&provider)
        .connect_timeout(METADATA)
        .read_timeout(METADATA)
        .max_attempts(2)
        .build();
    let mut chain = DefaultCredentialsChain::builder()
        .configure(provider)
        .region(region.clone())
        .imds_client(metadata);
    if let Some(name) = profile {
        chain = chain.profile_name(name);
    }
    SharedCredentialsProvider::new(chain.build().await)
}

/// Credentials for those who check none. Alphanumeric: DynamoDB Local 2.0 insists on it.
pub(crate) fn made_up_credentials() -> Credentials {
    Credentials::new("local", "local", None, None, "Dynafold")
}

fn http_client(proxy: bool) -> SharedHttpClient {
    ending(
        HttpBuilder::new().build_with_connector_fn(move |settings, components| {
            let sleep = components.and_then(RuntimeComponents::sleep_impl);
            connector(settings.cloned(), sleep, proxy)
        }),
    )
}

/// What carries requests. `proxy`: whether the environment's leads there.
pub(crate) fn connector(
    settings: Option<HttpConnectorSettings>,
    sleep: Option<SharedAsyncSleep>,
    proxy: bool,
) -> Connector {
    let mut connector = Connector::builder();
    connector.set_connector_settings(settings);
    connector.set_sleep_impl(sleep);
    if proxy {
        connector = connector.proxy_config(ProxyConfig::from_env());
    }
    connector
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .build()
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether the host is AWS under another name: a VPC endpoint, FIPS, dual stack.
fn is_amazon(host: &str) -> bool {
    [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"]
        .iter()
        .any(|suffix| host.ends_with(suffix))
}

pub(crate) fn shown(url: &url::Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

fn no_region(profile: Option<&str>) -> TargetError {
    let place = match profile {
        Some(name) => format!("neither from the environment nor in the profile `{name}`"),
        None => "neither from the environment nor from the AWS configuration".to_owned(),
    };
    let message = format!("no AWS region is known, {place}");
    failure(TargetErrorKind::Region, "Region", message)
        .with_help("use `--region eu-west-1`, or set AWS_REGION")
}

fn failure(kind: TargetErrorKind, code: &str, message: String) -> TargetError {
    TargetError::new(kind, ErrorClass::Fatal, code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_hosts_are_told_from_others() {
        for host in [
            "localhost",
            "127.0.0.1",
            "127.8.0.1",
            "[::1]",
            "db.localhost",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["dynamodb", "10.0.0.1", "localhost.example", "[2001:db8::1]"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn amazon_is_amazon_behind_any_endpoint() {
        assert!(is_amazon("vpce-1-2.dynamodb.eu-west-1.vpce.amazonaws.com"));
        assert!(is_amazon("dynamodb.eu-west-1.api.aws"));
        assert!(!is_amazon("amazonaws.com.example"));
    }
}
