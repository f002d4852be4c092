//! The user and the operation that locks and journals name.

#[cfg_attr(unix, path = "operator/unix.rs")]
#[cfg_attr(not(unix), path = "operator/windows.rs")]
mod system;

/// Returns the user and host of this process, as locks name them: `root@host`.
#[must_use]
pub fn user_and_host() -> String {
    format!("{}@{}", system::user_name(), system::host_name())
}

/// Returns the display name of an operation. Lock files and journals contain Terraform's name
/// for it, such as `OperationTypeApply`.
#[must_use]
pub fn operation_display_name(operation: &str) -> String {
    let name = operation.strip_prefix("OperationType").unwrap_or(operation);
    if name == "Invalid" { "unknown".to_owned() } else { name.to_lowercase() }
}
