//! Reports a long wait for the place of a state on stderr.

use formwork_backend::store::StoreOperation;

use crate::view::{self, sanitize};

/// Reports one wait.
pub(super) fn report(location: &str, operation: StoreOperation) {
    let location = sanitize::line(location);
    view::err(&format!("Waiting to {operation} {location}...\n"));
}
