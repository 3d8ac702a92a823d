//! Which requests a fault strikes: a pure function of the seed, the fault, and the request's number
//! among those that the fault looks at.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::answer::ServiceAnswer;
use super::settings::{Fault, FaultKind, Settings};

/// Settings, and how far each fault has counted.
#[derive(Debug)]
pub(crate) struct ActiveSettings {
    pub(crate) settings: Settings,
    counted: Vec<(AtomicU64, AtomicU64)>,
    pub(crate) received: AtomicU64,
}

/// A fault that strikes.
#[derive(Debug, Clone)]
pub(crate) struct StrikingFault {
    pub(crate) fault: Fault,
    /// A number that is this request's own.
    pub(crate) chance: u64,
}

impl ActiveSettings {
    pub(crate) fn new(settings: Settings) -> Self {
        let counted = settings.faults.iter().map(|_| Default::default());
        Self {
            counted: counted.collect(),
            settings,
            received: AtomicU64::new(0),
        }
    }

    /// The first fault that strikes the next request of an operation. All of them count it.
    pub(crate) fn strike(&self, operation: &str) -> Option<StrikingFault> {
        let mut struck = None;
        let mut seed = self.settings.seed;
        for (fault, (seen, fired)) in self.settings.faults.iter().zip(&self.counted) {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let all = fault.operations.is_empty();
            if !all && !fault.operations.iter().any(|one| one == operation) {
                continue;
            }
            let number = seen.fetch_add(1, Ordering::Relaxed);
            let chance = xxh3_64_with_seed(&number.to_le_bytes(), seed);
            if struck.is_some() || !strikes(fault, number, chance) {
                continue;
            }
            let before = fired.fetch_add(1, Ordering::Relaxed);
            if fault.most.is_none_or(|most| before < most) {
                let fault = fault.clone();
                struck = Some(StrikingFault { fault, chance });
            }
        }
        struck
    }

    /// A number between 0 and 1 that follows from the seed and a number.
    pub(crate) fn share(&self, number: u64) -> f64 {
        unit(xxh3_64_with_seed(&number.to_le_bytes(), self.settings.seed))
    }
}

fn strikes(fault: &Fault, number: u64, chance: u64) -> bool {
    number >= fault.after
        && fault.until.is_none_or(|until| number < until)
        && fault
            .every
            .is_none_or(|every| (number - fault.after + 1).is_multiple_of(every))
        && fault.chance.is_none_or(|share| unit(chance) < share)
}

/// A hash as a number from 0 to 1, without 1.
pub(crate) fn unit(hash: u64) -> f64 {
    f64::from(u32::try_from(hash >> 32).unwrap_or_default()) / (f64::from(u32::MAX) + 1.0)
}

impl StrikingFault {
    /// Whether what is asked is done all the same.
    pub(crate) fn is_applied(&self) -> bool {
        self.fault.applied
            || matches!(
                self.fault.kind,
                FaultKind::LostAnswer | FaultKind::Half | FaultKind::Slow | FaultKind::Leave
            )
    }

    pub(crate) fn wait(&self) -> Duration {
        let seconds = match self.fault.kind {
            FaultKind::Stall => self.fault.seconds.unwrap_or(3_600.0),
            FaultKind::Slow => self.fault.seconds.unwrap_or(1.0),
            _ => 0.0,
        };
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }

    /// Whether it leaves one of a batch's items.
    pub(crate) fn leaves(&self, index: usize) -> bool {
        let index = u64::try_from(index).unwrap_or_default();
        let chance = xxh3_64_with_seed(&index.to_le_bytes(), self.chance);
        self.fault.kind == FaultKind::Leave && unit(chance) < self.fault.share.unwrap_or(0.5)
    }

    /// The error that the fault answers with, if it does.
    pub(crate) fn error(&self, operation: &str) -> Option<ServiceAnswer> {
        let (status, code, message) = match self.fault.kind {
            FaultKind::Error => (
                500,
                "InternalServerError",
                "Internal server error".to_owned(),
            ),
            FaultKind::Unavailable => (
                503,
                "ServiceUnavailable",
                "Service is currently unavailable".to_owned(),
            ),
            FaultKind::Throttle => (
                400,
                "ThrottlingException",
                "Rate of requests exceeds the allowed throughput.".to_owned(),
            ),
            FaultKind::RequestLimit => (
                400,
                "RequestLimitExceeded",
                "Throughput exceeds the current throughput limit for your account.".to_owned(),
            ),
            FaultKind::NotFound => return Some(ServiceAnswer::not_found()),
            FaultKind::AccessDenied => (
                400,
                "AccessDeniedException",
                format!(
                    "User: arn:aws:iam::000000000000:user/rehearsal is not authorized to perform: \
                     dynamodb:{operation} because no identity-based policy allows it"
                ),
            ),
            _ => return None,
        };
        let code = self.fault.code.as_deref().unwrap_or(code);
        Some(ServiceAnswer::error(
            self.fault.status.unwrap_or(status),
            code,
            &message,
        ))
    }

    /// The kind's name, as it is written in settings.
    pub(crate) fn name(&self) -> String {
        let name = serde_json::to_value(self.fault.kind).unwrap_or_default();
        name.as_str().unwrap_or_default().to_owned()
    }
}
