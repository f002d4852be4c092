//! Retries of a request to a busy or failing server, with increasing pauses.

use std::time::{Duration, Instant};

use tracing::warn;

/// The number of retries, and the pauses between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RetryPolicy {
    /// Maximum number of attempts after the first one.
    pub(crate) most: u32,
    /// The first pause.
    pub(crate) shortest: Duration,
    /// Maximum pause.
    pub(crate) longest: Duration,
}

/// The attempts of one request.
pub(crate) struct RequestAttempts {
    retries: RetryPolicy,
    /// The request, for the log.
    request: &'static str,
    began: Instant,
    n_made: u32,
}

impl RetryPolicy {
    /// Begins with the first attempt.
    pub(crate) fn begin_attempts(self, request: &'static str) -> RequestAttempts {
        RequestAttempts { retries: self, request, began: Instant::now(), n_made: 1 }
    }

    /// Returns the pause after a number of failed attempts.
    fn pause_after(&self, n_failed: u32) -> Duration {
        // Saturating, because a user may allow any number of attempts.
        let factor = 2_u32.saturating_pow(n_failed.saturating_sub(1));
        self.shortest.saturating_mul(factor).min(self.longest)
    }
}

impl RequestAttempts {
    /// The number of attempts so far.
    pub(crate) fn attempt_count(&self) -> u32 {
        self.n_made
    }

    /// Waits for the next attempt, as long as the server requests or otherwise as the policy
    /// defines. Returns whether there is another attempt.
    pub(crate) async fn wait_for_next_attempt(&mut self, server_pause: Option<Duration>) -> bool {
        if self.n_made > self.retries.most {
            return false;
        }
        let pause = server_pause.unwrap_or_else(|| self.retries.pause_after(self.n_made));
        // A server may request any time, even hours.
        let pause = pause.min(self.retries.longest);
        let (n_made, elapsed) = (self.n_made, self.began.elapsed().as_secs());
        warn!(what = self.request, n_made, elapsed, pause = pause.as_secs_f32(), "trying again");
        tokio::time::sleep(pause).await;
        self.n_made += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_double_up_to_the_maximum_and_attempts_are_limited() {
        let second = Duration::from_secs(1);
        let mut attempts =
            RetryPolicy { most: 4, shortest: second, longest: second * 5 }.begin_attempts("test");
        let began = tokio::time::Instant::now();
        while attempts.wait_for_next_attempt(None).await {}
        // 1 + 2 + 4 + 5
        assert_eq!((attempts.attempt_count(), began.elapsed().as_secs()), (5, 12));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_specifies_the_pause_up_to_the_maximum() {
        let second = Duration::from_secs(1);
        let mut attempts =
            RetryPolicy { most: 2, shortest: second, longest: second * 30 }.begin_attempts("test");
        let began = tokio::time::Instant::now();
        assert!(attempts.wait_for_next_attempt(Some(second * 7)).await);
        assert!(attempts.wait_for_next_attempt(Some(second * 70)).await);
        assert_eq!(began.elapsed().as_secs(), 37);
    }
}
