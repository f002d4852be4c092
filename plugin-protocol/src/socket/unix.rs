//! Sockets with a path on disk.

use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::unistd::{Group, chown};
use tempfile::NamedTempFile;
use tokio::net::{UnixListener, UnixStream};

use crate::tls::ByteStream;

/// A bound socket. It is removed from disk with it.
#[derive(Debug)]
pub(crate) struct Listener(NamedTempFile<UnixListener>);

impl Listener {
    /// Binds in a directory. The members of a group may connect, too.
    pub(super) fn bind(directory: &Path, group: Option<&str>) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        // Bound directly under a fresh name. go-plugin first creates and removes a file, which is a
        // race with other processes.
        let socket =
            builder.prefix("plugin").make_in(directory, |path| UnixListener::bind(path))?;
        if let Some(group) = group {
            share_with_group(socket.path(), group)?;
        }
        Ok(Self(socket))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) async fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(Box::new(self.0.as_file().accept().await?.0))
    }
}

pub(super) async fn connect(path: &Path) -> io::Result<Box<dyn ByteStream>> {
    Ok(Box::new(UnixStream::connect(path).await?))
}

/// Lets a group use the socket, by its name or number.
fn share_with_group(path: &Path, group: &str) -> io::Result<()> {
    let id = match group.parse::<u32>() {
        Ok(number) => number.into(),
        Err(_) => Group::from_name(group)?
            .map(|group| group.gid)
            .ok_or_else(|| io::Error::other(format!("the group `{group}` does not exist")))?,
    };
    // The group first, or the previous one could use the socket for a moment.
    chown(path, None, Some(id))?;
    set_permissions(path, Permissions::from_mode(0o660))
}
