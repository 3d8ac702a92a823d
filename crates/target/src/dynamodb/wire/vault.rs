//! Credentials: asked of the SDK's provider, kept, and renewed before they expire.
//!
//! Callers share one renewal. While the old credentials still hold, only the caller that renews
//! them waits; and should the renewal fail, the old ones are used until they expire.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{
    ProvideCredentials, Result as Provided, SharedCredentialsProvider, future,
};
use aws_sdk_dynamodb::config::Credentials;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Mutex as AsyncMutex;

use super::hash;

/// How long before they expire credentials are renewed.
const EARLY: Duration = Duration::from_mins(1);
/// How long credentials are kept that name no end, as in the SDK.
const KEPT: Duration = Duration::from_mins(15);
/// How long the provider may take, as in the SDK.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long after a renewal that brought nothing new the next is tried.
const PAUSE: Duration = Duration::from_secs(5);

/// Credentials as they are held.
pub(crate) struct HeldCredentials {
    pub(crate) credentials: Credentials,
    renew: SystemTime,
    /// The day and scope of a signing key, and the key: one a day.
    key: Mutex<Option<(String, [u8; 32])>>,
}

/// The credentials of a target, shared by all that sign.
#[derive(Debug, Clone)]
pub(crate) struct Vault {
    inner: Arc<VaultState>,
}

#[derive(Debug)]
struct VaultState {
    provider: SharedCredentialsProvider,
    held: RwLock<Option<Arc<HeldCredentials>>>,
    renewing: AsyncMutex<()>,
}

/// Without the signing key, which is as good as the secret for a day.
impl fmt::Debug for HeldCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldCredentials")
            .field("renew", &self.renew)
            .finish_non_exhaustive()
    }
}

impl HeldCredentials {
    fn new(credentials: Credentials, now: SystemTime) -> Self {
        let renew = match credentials.expiry() {
            Some(expiry) => (now + PAUSE).max(expiry - EARLY),
            None => now + KEPT,
        };
        Self {
            credentials,
            renew,
            key: Mutex::new(None),
        }
    }

    fn holds(&self, now: SystemTime) -> bool {
        self.credentials.expiry().is_none_or(|expiry| now < expiry)
    }

    /// The key for a day and a scope.
    pub(super) fn signing_key(&self, day: &str, scope: &str) -> [u8; 32] {
        let mut slot = self.key.lock();
        let known = slot.as_ref().filter(|(text, _)| {
            text.strip_prefix(day)
                .is_some_and(|rest| rest.strip_prefix('/') == Some(scope))
        });
        if let Some((_, key)) = known {
            return *key;
        }
        let key = hash::signing_key(self.credentials.secret_access_key(), day, scope);
        *slot = Some((format!("{day}/{scope}"), key));
        key
    }
}

impl Vault {
    /// Holds what a provider gives.
    pub(crate) fn new(provider: impl ProvideCredentials + 'static) -> Self {
        Self {
            inner: Arc::new(VaultState {
                provider: SharedCredentialsProvider::new(provider),
                held: RwLock::default(),
                renewing: AsyncMutex::default(),
            }),
        }
    }

    /// Credentials that hold now.
    pub(crate) async fn valid_at(
        &self,
        now: SystemTime,
    ) -> Result<Arc<HeldCredentials>, CredentialsError> {
        let old = self.inner.current();
        if let Some(held) = old.as_ref().filter(|held| now < held.renew) {
            return Ok(Arc::clone(held));
        }
        let usable = old.filter(|held| held.holds(now));
        let guard = match &usable {
            None => self.inner.renewing.lock().await,
            Some(held) => match self.inner.renewing.try_lock() {
                Ok(guard) => guard,
                Err(_) => return Ok(Arc::clone(held)),
            },
        };
        if let Some(held) = self.inner.current().filter(|held| now < held.renew) {
            return Ok(held);
        }
        let provided = self.inner.ask().await;
        let held = match (provided, usable) {
            (Ok(credentials), _) => HeldCredentials::new(credentials, now),
            (Err(error), Some(old)) => {
                tracing::warn!(%error, "the credentials could not be renewed yet");
                HeldCredentials {
                    renew: now + PAUSE,
                    ..HeldCredentials::new(old.credentials.clone(), now)
                }
            }
            (Err(error), None) => return Err(error),
        };
        let held = self.inner.keep(held);
        drop(guard);
        Ok(held)
    }

    /// What was given last, whether or not it still holds.
    pub(crate) fn last(&self) -> Option<Arc<HeldCredentials>> {
        self.inner.current()
    }

    /// Asks for other credentials, since these were refused as expired. Says whether there are.
    pub(crate) async fn renew(
        &self,
        refused: &HeldCredentials,
        now: SystemTime,
    ) -> Result<bool, CredentialsError> {
        let guard = self.inner.renewing.lock().await;
        let other = |held: &Credentials| !same(held, &refused.credentials);
        if let Some(held) = self.inner.current()
            && other(&held.credentials)
        {
            return Ok(true);
        }
        let provided = self.inner.ask().await;
        let found = provided.map(|credentials| {
            let found = other(&credentials);
            if found {
                self.inner.keep(HeldCredentials::new(credentials, now));
            }
            found
        });
        drop(guard);
        found
    }
}

impl VaultState {
    fn current(&self) -> Option<Arc<HeldCredentials>> {
        let held = self.held.read();
        held.clone()
    }

    fn keep(&self, held: HeldCredentials) -> Arc<HeldCredentials> {
        let held = Arc::new(held);
        let mut slot = self.held.write();
        *slot = Some(Arc::clone(&held));
        held
    }

    async fn ask(&self) -> Provided {
        let provided = tokio::time::timeout(PATIENCE, self.provider.provide_credentials());
        let late = |_| Err(CredentialsError::provider_timed_out(PATIENCE));
        provided.await.unwrap_or_else(late)
    }
}

/// For the SDK's own clients.
impl ProvideCredentials for Vault {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async {
            let held = self.valid_at(SystemTime::now()).await?;
            Ok(held.credentials.clone())
        })
    }
}

/// Whether an error means that the credentials are used up.
pub(crate) fn is_expiry(code: &str) -> bool {
    matches!(code, "ExpiredTokenException" | "ExpiredToken")
}

fn same(a: &Credentials, b: &Credentials) -> bool {
    a.access_key_id() == b.access_key_id() && a.session_token() == b.session_token()
}
