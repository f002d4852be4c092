//! SSH connections to another machine: authentication, commands and file transfer.
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

/// First pause between two attempts; each further one is twice as long.
const FIRST_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// No pause between two attempts is longer.
const LONGEST_RETRY_PAUSE: Duration = Duration::from_secs(20);

/// Reads text as each kind of key. The second part, behind an empty line, is a certificate.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_ssh_keys(text: &str) {
    let (key, certificate) = text.split_once("\n\n").unwrap_or((text, ""));
    drop(identity::LoginIdentity::parse(key, Some(certificate)));
    drop(host_key::HostKey::parse(text));
}

/// Logs in, with repeated attempts until one succeeds or the target's timeout is over: a machine
/// that was just created needs a while until it accepts logins. Each attempt is printed.
///
/// # Errors
/// When the timeout is over; with the problem of the last attempt.
pub(crate) async fn connect_with_retries(
    target: &SshTarget,
    tell: Option<OutputSink<'_>>,
) -> Result<Session, String> {
    let last = RefCell::new(format!("no answer within {:?}", target.timeout));
    let attempts = async {
        let mut pause = FIRST_RETRY_PAUSE;
        loop {
            if let Some(tell) = tell {
                tell(&target.announcement_line());
            }
            match Session::open(target).await {
                Ok(session) => return session,
                Err(why) => last.replace(why),
            };
            tokio::time::sleep(pause).await;
            pause = LONGEST_RETRY_PAUSE.min(pause * 2);
        }
    };
    match tokio::time::timeout(target.timeout, attempts).await {
        Ok(session) => {
            if let Some(tell) = tell {
                tell("Connected!");
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
