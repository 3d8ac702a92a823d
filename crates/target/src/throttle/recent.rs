//! What was accepted and refused of late.

/// Seconds, or answers where that is longer, in which what is remembered fades to a third.
const SECONDS: f64 = 1.0;
const ANSWERS: f64 = 48.0;

/// Sums over answers. An answer counts with the share of it that was refused, so that a request of
/// which all is refused is one event, and not 25.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct RecentAnswers {
    pub(super) answers: f64,
    /// Answers, each counted by the share of it that was refused.
    pub(super) refused: f64,
    /// Units.
    pub(super) accepted: f64,
    pub(super) seconds: f64,
    at: f64,
}

impl RecentAnswers {
    pub(super) fn since(now: f64) -> Self {
        Self {
            at: now,
            ..Self::default()
        }
    }

    /// An answer that took and refused so many units.
    pub(super) fn enter(&mut self, now: f64, accepted: f64, refused: f64) {
        let elapsed = (now - self.at).max(0.0);
        self.fade((-elapsed / SECONDS).exp().max((-1.0 / ANSWERS).exp()));
        self.at = self.at.max(now);
        self.seconds += elapsed;
        self.answers += 1.0;
        self.accepted += accepted;
        if refused > 0.0 {
            self.refused += refused / (accepted + refused);
        }
    }

    /// Makes all that is remembered worth less.
    pub(super) fn fade(&mut self, kept: f64) {
        self.answers *= kept;
        self.refused *= kept;
        self.accepted *= kept;
        self.seconds *= kept;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.refused += other.refused;
    }

    /// The mean share of an answer that was refused.
    pub(super) fn share(&self) -> f64 {
        self.refused / self.answers.max(1.0)
    }

    /// The deviation of a share that so many answers show.
    pub(super) fn deviation(&self, share: f64) -> f64 {
        (share * (1.0 - share) / self.answers.max(1.0)).sqrt()
    }
}
