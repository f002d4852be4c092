//! Cost of a command, and the median of several such samples.

use std::error::Error;
use std::fmt;

/// Cost of one run of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Seconds from start to end.
    pub(crate) wall: f64,
    /// Seconds of processor time, plugins included.
    pub(crate) cpu: f64,
    /// Bytes of memory at the peak, of the largest process.
    pub(crate) peak: f64,
    /// Whether the command was stopped because it took too long.
    pub(crate) capped: bool,
}

impl Sample {
    /// Reads what [`fmt::Display`] writes.
    pub(crate) fn parse(text: &str) -> Result<Self, Box<dyn Error>> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [wall, cpu, peak, capped] = fields[..] else {
            return Err(format!("{text:?} is not a sample").into());
        };
        Ok(Self {
            wall: wall.parse()?,
            cpu: cpu.parse()?,
            peak: peak.parse()?,
            capped: capped.parse()?,
        })
    }

    /// The median of each number; capped if any of the samples was.
    pub(crate) fn median(samples: &[Self]) -> Option<Self> {
        let middle = |number: fn(&Self) -> f64| {
            let mut numbers: Vec<f64> = samples.iter().map(number).collect();
            numbers.sort_by(f64::total_cmp);
            numbers.get(numbers.len() / 2).copied()
        };
        Some(Self {
            wall: middle(|sample| sample.wall)?,
            cpu: middle(|sample| sample.cpu)?,
            peak: middle(|sample| sample.peak)?,
            capped: samples.iter().any(|sample| sample.capped),
        })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.wall, self.cpu, self.peak, self.capped)
    }
}
