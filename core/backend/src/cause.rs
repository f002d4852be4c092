//! The cause of a failure of a state store.

use std::error::Error;
#[cfg(feature = "limited-objects")]
use std::fmt;

/// The cause of a failure.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// A refused request, because the credentials lack a permission.
#[cfg(feature = "limited-objects")]
#[derive(Debug)]
pub(crate) struct PermissionDenied(pub(crate) String);

#[cfg(feature = "limited-objects")]
impl PermissionDenied {
    /// Whether a failure is such a refusal.
    pub(crate) fn is_cause(cause: &Cause) -> bool {
        cause.is::<Self>()
    }
}

#[cfg(feature = "limited-objects")]
impl fmt::Display for PermissionDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(feature = "limited-objects")]
impl Error for PermissionDenied {}
