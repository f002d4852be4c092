//! The cause of a failure of a place where states are kept.

use std::error::Error;

/// The cause of a failure.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;
