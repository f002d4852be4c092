//! Another machine, over SSH: logging in, running commands, putting files there.
//!
//! What is to be run and put there is for the provisioners to say.

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

use formwork_core::provisioner::Tell;
use nix::errno::Errno;

#[cfg(any(test, fuzzing))]
pub(crate) use self::known_hosts::hostile as hostile_known_hosts;
#[cfg(any(test, fuzzing))]
pub(crate) use self::scp::hostile as hostile_scp;
pub(crate) use self::session::{Ended, Session};
pub(crate) use self::target::Target;

/// How long the first pause between two attempts is; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// No pause between two attempts is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Reads text as each kind of key. The second part, behind an empty line, is a certificate.
#[cfg(any(test, fuzzing))]
pub(crate) fn hostile_key(text: &str) {
    let (key, certificate) = text.split_once("\n\n").unwrap_or((text, ""));
    drop(identity::Identity::read(key, Some(certificate)));
    drop(host_key::HostKey::read(text));
}

/// Logs in, again and again until it works or the target's time is over: a machine that was just made
/// needs a while until it lets anyone in. Each attempt is told.
///
/// # Errors
/// When the time is over; with what was wrong with the last attempt.
pub(crate) async fn connect(target: &Target, tell: Option<Tell<'_>>) -> Result<Session, String> {
    let last = RefCell::new(format!("no answer within {:?}", target.timeout));
    let attempts = async {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(tell) = tell {
                tell(&target.announcement());
            }
            match Session::open(target).await {
                Ok(session) => return session,
                Err(why) => last.replace(why),
            };
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
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

/// Why the system did not do what it was asked to do, in the reference's words.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(errno) => {
            let text = errno.desc();
            let mut letters = text.chars();
            let first = letters.next().map(|first| first.to_lowercase().to_string());
            format!("{}{}", first.unwrap_or_default(), letters.as_str())
        }
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
