//! The slowest speed of a server. Without a limit for it, a server that sends a byte now and then keeps a
//! download for as long as that may take in all.

use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The slowest speed at which a server may send.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinimumPace {
    /// The time over which bytes are counted.
    pub(super) window: Duration,
    /// The fewest bytes in that time.
    pub(super) least: u64,
}

impl MinimumPace {
    /// A kibibyte a second, in the mean of a minute.
    pub(super) const SLOWEST: Self = Self { window: Duration::from_secs(60), least: 60 << 10 };
}

/// A reader that fails when bytes come too slowly.
pub(super) struct SteadyReader<R> {
    from: R,
    pace: MinimumPace,
    /// The time that was spent waiting since bytes are counted. Writing them may take as long as it likes.
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
            // The last bytes before the end may be few.
            if n > 0 && self.n_bytes < self.pace.least {
                let reason = format!(
                    "the server sent {} bytes in {} seconds",
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
