//! SSH connections to remote hosts: authentication, commands and file transfer.
//!
//! The provisioners decide which commands run and which files are sent.

mod agent;
mod dial;
mod host_key;
mod identity;
mod known_hosts;
mod login;
mod proxy;
mod quote;
mod scp;
mod session;
mod target;

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use formwork_core::provisioner::OutputSink;

#[cfg(any(test, fuzzing))]
pub(crate) use self::known_hosts::fuzz_known_hosts;
#[cfg(any(test, fuzzing))]
pub(crate) use self::scp::fuzz_scp;
pub(crate) use self::session::{CommandResult, Session};
pub(crate) use self::target::SshTarget;

/// First pause between two attempts. Each subsequent pause is twice as long.
const FIRST_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Maximum pause between two attempts.
const LONGEST_RETRY_PAUSE: Duration = Duration::from_secs(20);

/// Parses the input as each kind of key. The part after the first empty line is a certificate.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_ssh_keys(text: &str) {
    let (key, certificate) = text.split_once("\n\n").unwrap_or((text, ""));
    drop(identity::LoginIdentity::parse(key, Some(certificate)));
    drop(host_key::HostKey::parse(text));
}

/// Connects and authenticates, and retries until an attempt succeeds or the target's timeout
/// expires: a newly created host does not accept logins immediately. Each attempt is printed.
///
/// # Errors
/// The timeout has expired. The message contains the error of the last attempt.
pub(crate) async fn connect_with_retries(
    target: &SshTarget,
    sink: Option<OutputSink<'_>>,
) -> Result<Session, String> {
    let last = RefCell::new(format!("no response within {:?}", target.timeout));
    let attempts = async {
        let mut pause = FIRST_RETRY_PAUSE;
        loop {
            if let Some(sink) = sink {
                sink(&target.announcement_line());
            }
            match Session::open(target).await {
                Ok(session) => return session,
                Err(reason) => last.replace(reason),
            };
            tokio::time::sleep(pause).await;
            pause = LONGEST_RETRY_PAUSE.min(pause * 2);
        }
    };
    match tokio::time::timeout(target.timeout, attempts).await {
        Ok(session) => {
            if let Some(sink) = sink {
                sink("Connected!");
            }
            Ok(session)
        }
        Err(_) => Err(format!("timeout - last error: {}", last.into_inner())),
    }
}

/// Describes a system error in Terraform's words.
pub(crate) fn describe_io_error(error: &io::Error) -> String {
    let text = error.to_string();
    let Some(code) = error.raw_os_error() else { return text };
    let text = text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text);
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests;
