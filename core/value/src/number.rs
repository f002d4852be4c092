//! Arbitrary-precision numbers as the language has them.

/// A number: an integer in a machine word, or a binary float of any size with its own precision.
#[derive(Clone, Debug)]
pub struct Number(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Int(i64),
}

impl Number {
    /// The number as an index, if it is a whole number that fits.
    #[must_use]
    pub fn to_usize(&self) -> Option<usize> {
        self.to_i64().and_then(|number| usize::try_from(number).ok())
    }

    /// The number as an `i64`, if it is exactly one.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(number) => Some(number),
        }
    }

    /// The nearest `f64`.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        todo!()
    }

    /// The number as an `f64`, if it is exactly one (infinities are).
    #[must_use]
    pub fn to_f64_exact(&self) -> Option<f64> {
        todo!()
    }

    /// Makes a number from a float; `None` for NaN. Precision 53.
    #[must_use]
    pub fn from_f64(number: f64) -> Option<Self> {
        let _ = number;
        todo!()
    }

    /// Reads decimal text as the language's number parser does, at 512 bits: digits, fraction,
    /// exponent, `Inf`. `None` when it is not a number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let _ = text;
        todo!()
    }

    /// Whether it is a whole number.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        todo!()
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(Repr::Int(number))
    }
}

impl From<usize> for Number {
    fn from(number: usize) -> Self {
        let _ = number;
        todo!()
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        let _ = number;
        todo!()
    }
}

/// Equality as the language has it: whole numbers by value, others by their shortest decimal text.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.to_i64() == other.to_i64()
    }
}

impl Eq for Number {}

impl std::hash::Hash for Number {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.to_i64().hash(state);
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_i64().cmp(&other.to_i64())
    }
}

/// Prints all digits, never an exponent, with the fewest digits that read back to the same number at
/// its precision.
impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let _ = f;
        todo!()
    }
}
