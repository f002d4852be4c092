//! The minimum transfer rate. Without it, a server that sends single bytes could keep a download running
//! until its total time limit.

use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The minimum transfer rate of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinimumPace {
    /// The period in which bytes are counted.
    pub(super) window: Duration,
    /// Minimum number of bytes in a period.
    pub(super) min_bytes: u64,
}

impl MinimumPace {
    /// One kibibyte per second, averaged over one minute.
    pub(super) const SLOWEST: Self = Self { window: Duration::from_secs(60), min_bytes: 60 << 10 };
}

/// A reader that fails if the transfer rate is too low.
pub(super) struct SteadyReader<R> {
    from: R,
    pace: MinimumPace,
    /// The time spent waiting for the server in the current period. The time for writing is not counted.
    waited: Duration,
    n_bytes: u64,
}

impl<R> SteadyReader<R> {
    pub(super) fn new(from: R, pace: MinimumPace) -> Self {
        Self { from, pace, waited: Duration::ZERO, n_bytes: 0 }
    }
}

impl<R: Read> Read for SteadyReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let began = Instant::now();
        let n = self.from.read(buffer)?;
        self.waited += began.elapsed();
        self.n_bytes += n as u64;
        if self.waited >= self.pace.window {
            // The last period may contain fewer bytes.
            if n > 0 && self.n_bytes < self.pace.min_bytes {
                let reason = format!(
                    "the transfer is too slow: the server sent {} bytes in {} seconds",
                    self.n_bytes,
                    self.pace.window.as_secs()
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            (self.waited, self.n_bytes) = (Duration::ZERO, 0);
        }
        Ok(n)
    }
}
