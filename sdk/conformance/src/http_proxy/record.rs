//! The recorded calls, and the faults that the proxy commits.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Notify;

/// The most calls that are kept between two looks at them.
const MAX_KEPT_CALLS: usize = 10_000;

/// A request of the provider to a service.
#[derive(Clone, Debug)]
pub(crate) struct RemoteCall {
    /// The method.
    pub(crate) method: String,
    /// The URL without its query, which may hold secrets.
    pub(crate) url: String,
    /// The operation that some services name in a header.
    pub(crate) target: String,
    /// The content.
    pub(crate) body: Bytes,
    /// Whether a header makes it safe to send the request twice.
    pub(crate) is_idempotent: bool,
    /// The status that the provider received; 0 without an answer.
    pub(crate) status: u16,
    /// Whether the service carried it out: it was forwarded, and the answer was a success.
    pub(crate) is_carried_out: bool,
}

impl RemoteCall {
    /// Whether the call may change objects at the service.
    pub(crate) fn may_change_something(&self) -> bool {
        match self.method.as_str() {
            // By HTTP and WebDAV, these are safe methods.
            "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" | "REPORT" => false,
            "POST" => !self.is_known_read_only(),
            _ => true,
        }
    }

    /// Whether it is a POST that only queries the service: operations with a read-only name,
    /// searches, queries and logins.
    fn is_known_read_only(&self) -> bool {
        const READ_ONLY_VERBS: [&str; 7] =
            ["Describe", "Get", "List", "Query", "Scan", "BatchGet", "Head"];
        const READ_ONLY_POST_PATHS: [&str; 9] = [
            "token",
            "login",
            "authorize",
            "search",
            "_search",
            "query",
            "introspect",
            "authenticate",
            "session",
        ];
        // AWS names the operation after a dot: `DynamoDB_20120810.GetItem`.
        let operation = self.target.rsplit('.').next().unwrap_or_default();
        if READ_ONLY_VERBS.iter().any(|verb| operation.starts_with(verb)) {
            return true;
        }
        let form = std::str::from_utf8(&self.body).unwrap_or_default();
        // Older services of AWS have it in a form: `Action=DescribeInstances`.
        let action = form.split('&').find_map(|pair| pair.strip_prefix("Action="));
        if action.is_some_and(|it| READ_ONLY_VERBS.iter().any(|verb| it.starts_with(verb))) {
            return true;
        }
        let last = self.url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        // GraphQL sends everything by POST.
        if last == "graphql" {
            return form.contains("query") && !form.contains("mutation");
        }
        READ_ONLY_POST_PATHS.contains(&last)
    }

    /// The call as a finding shows it.
    pub(crate) fn display_text(&self) -> String {
        format!("{} {} ({})", self.method, self.url, self.status)
    }

    /// Whether this is the same request again.
    pub(crate) fn is_same_request(&self, other: &Self) -> bool {
        self.method == other.method && self.url == other.url && self.body == other.body
    }
}

/// A fault of the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RemoteFault {
    /// None: everything is forwarded.
    #[default]
    None,
    /// The call of this number is carried out, and its answer replaced by one with the status 500.
    FailAt(usize),
    /// Changing calls are answered with the status 500 and not carried out; all of them, or the first.
    RefuseChanges {
        /// Whether only the first request is affected.
        only_first: bool,
    },
    /// After the first change that is carried out, this many reads are answered with the status 404.
    NotFound(usize),
    /// This many calls are answered with the status 503, and not carried out.
    Busy(usize),
    /// The first changing call is carried out, and its answer is held back.
    HoldAnswer,
    /// Changing calls are neither carried out nor answered.
    HoldChanges,
}

/// The handling of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallHandling {
    /// The request is forwarded.
    Forward,
    /// The request is answered with this status.
    Answer(u16),
    /// The request gets no answer.
    Hold,
}

/// The calls since the start of the recording.
#[derive(Debug, Default)]
pub(super) struct ProxyRecord {
    pub(super) calls: Vec<RemoteCall>,
    pub(super) n_tunnels: usize,
    fault: RemoteFault,
    /// The number of faults committed.
    n_faults: usize,
    has_changed: bool,
    /// Notified when a call is held.
    pub(super) held: Arc<Notify>,
}

impl ProxyRecord {
    pub(super) fn new(fault: RemoteFault) -> Self {
        Self { fault, ..Self::default() }
    }

    /// Notes a call. Returns its number and its handling.
    pub(super) fn record_request(&mut self, call: RemoteCall) -> (usize, CallHandling) {
        let handling = match self.fault {
            RemoteFault::Busy(times) if self.n_faults < times => CallHandling::Answer(503),
            RemoteFault::RefuseChanges { only_first } if call.may_change_something() => {
                match only_first && self.n_faults > 0 {
                    true => CallHandling::Forward,
                    false => CallHandling::Answer(500),
                }
            }
            // Like an eventually consistent service.
            RemoteFault::NotFound(times)
                if self.has_changed && !call.may_change_something() && self.n_faults < times =>
            {
                CallHandling::Answer(404)
            }
            RemoteFault::HoldChanges if call.may_change_something() => CallHandling::Hold,
            _ => CallHandling::Forward,
        };
        self.n_faults += usize::from(handling != CallHandling::Forward);
        let status = match handling {
            CallHandling::Answer(status) => status,
            CallHandling::Forward | CallHandling::Hold => 0,
        };
        let number = self.calls.len();
        if number < MAX_KEPT_CALLS {
            self.calls.push(RemoteCall { status, ..call });
        }
        (number, handling)
    }

    /// Records the answer of the service. Returns the status that the provider receives, if any.
    pub(super) fn record_response(&mut self, number: usize, status: u16) -> CallHandling {
        // A redirect is a good answer too.
        let is_good = (200..400).contains(&status);
        // A call beyond the limit is not recorded, and its answer passes as it is.
        let Some(call) = self.calls.get_mut(number) else { return CallHandling::Answer(status) };
        let changes = is_good && call.may_change_something();
        call.is_carried_out = is_good;
        self.has_changed |= changes;
        if changes && self.fault == RemoteFault::HoldAnswer && self.n_faults == 0 {
            self.n_faults += 1;
            return CallHandling::Hold;
        }
        // The service has already carried out the request: only the answer reports a failure.
        call.status = if self.fault == RemoteFault::FailAt(number) { 500 } else { status };
        CallHandling::Answer(call.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, url: &str) -> RemoteCall {
        RemoteCall {
            method: method.to_owned(),
            url: url.to_owned(),
            target: String::new(),
            body: Bytes::new(),
            is_idempotent: false,
            status: 0,
            is_carried_out: false,
        }
    }

    #[test]
    fn read_only_calls_are_recognized_with_every_method() {
        assert!(!call("GET", "http://h/a").may_change_something());
        assert!(call("POST", "http://h/items").may_change_something());
        // A name like `token` marks only a `POST` as harmless, and no other method.
        assert!(call("DELETE", "http://h/token").may_change_something());
        assert!(!call("POST", "https://h/oauth2/token").may_change_something());
        let target = "DynamoDB_20120810.DescribeTable".to_owned();
        assert!(!RemoteCall { target, ..call("POST", "https://h/") }.may_change_something());
        let body =
            |text: &'static str| RemoteCall { body: text.into(), ..call("POST", "https://h/") };
        assert!(!body("Version=1&Action=DescribeInstances").may_change_something());
        assert!(body("Version=1&Action=RunInstances").may_change_something());
    }

    #[test]
    fn each_fault_is_applied_to_its_call() {
        let run = |fault, calls: &[&str]| -> Vec<u16> {
            let mut record = ProxyRecord::new(fault);
            let status = |handling| match handling {
                CallHandling::Answer(status) => status,
                CallHandling::Forward | CallHandling::Hold => 0,
            };
            let status = |method: &&str| match record.record_request(call(method, "http://h/a")) {
                (number, CallHandling::Forward) => status(record.record_response(number, 200)),
                (_, handling) => status(handling),
            };
            calls.iter().map(status).collect()
        };
        let calls = ["GET", "POST", "GET", "GET", "PUT"];
        assert_eq!(run(RemoteFault::None, &calls), [200; 5]);
        assert_eq!(run(RemoteFault::FailAt(2), &calls), [200, 200, 500, 200, 200]);
        let refusal = RemoteFault::RefuseChanges { only_first: false };
        assert_eq!(run(refusal, &calls), [200, 500, 200, 200, 500]);
        let refusal = RemoteFault::RefuseChanges { only_first: true };
        assert_eq!(run(refusal, &calls), [200, 500, 200, 200, 200]);
        assert_eq!(run(RemoteFault::NotFound(1), &calls), [200, 200, 404, 200, 200]);
        assert_eq!(run(RemoteFault::Busy(2), &calls), [503, 503, 200, 200, 200]);
        assert_eq!(run(RemoteFault::HoldAnswer, &calls), [200, 0, 200, 200, 200]);
        assert_eq!(run(RemoteFault::HoldChanges, &calls), [200, 0, 200, 200, 0]);
    }
}
