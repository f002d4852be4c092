//! The report as one line.

use super::Report;
use crate::rules::Severity;

impl Report {
    /// Returns the line for a badge: tool version, level, musts and shoulds held, seed and the hash of
    /// the program.
    #[must_use]
    pub fn badge_line(&self) -> String {
        let (must, should) = (self.score(Severity::Must), self.score(Severity::Should));
        // A provider that runs already has no hash.
        let hash = &self.hash[..self.hash.len().min(12)];
        format!(
            "conformance {}, level {}, must {}/{}, should {}/{}, seed {}, sha256 {hash}",
            env!("CARGO_PKG_VERSION"),
            self.level,
            must.held,
            must.examined,
            should.held,
            should.examined,
            self.seed
        )
    }
}
