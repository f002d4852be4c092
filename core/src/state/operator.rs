//! The user and the operation that locks and journals name.

/// Returns the user and host of this process, as locks name them: `root@host`.
#[must_use]
pub fn who() -> String {
    let uid = nix::unistd::getuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    let user = user.map_or_else(|| uid.to_string(), |user| user.name);
    let host = nix::unistd::gethostname().unwrap_or_default();
    format!("{user}@{}", host.to_string_lossy())
}

/// Returns the name of an operation as people know it. Lock files and journals hold Terraform's name
/// for it, such as `OperationTypeApply`.
#[must_use]
pub fn operation_name(operation: &str) -> String {
    let name = operation.strip_prefix("OperationType").unwrap_or(operation);
    if name == "Invalid" { "unknown".to_owned() } else { name.to_lowercase() }
}
