//! The names of the user and of the machine on Unix.

use nix::unistd::{User, gethostname, getuid};

pub(super) fn user_name() -> String {
    let uid = getuid();
    let user = User::from_uid(uid).ok().flatten();
    user.map_or_else(|| uid.to_string(), |user| user.name)
}

pub(super) fn host_name() -> String {
    gethostname().unwrap_or_default().to_string_lossy().into_owned()
}
