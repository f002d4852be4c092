//! Reports a long wait for a state store on stderr.

use formwork_backend::store::StoreOperation;

use crate::view::{self, sanitize};

/// Reports one wait.
pub(super) fn report_wait(location: &str, operation: StoreOperation) {
    let location = sanitize::sanitize_line(location);
    view::print_err(&format!("Waiting to {operation} {location}...\n"));
}
