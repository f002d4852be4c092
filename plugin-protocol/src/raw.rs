//! Raw access to a plugin: send the bytes of a request, receive the bytes of the answers and the
//! gRPC status. Messages are not decoded here, so methods and services that do not exist can be
//! called, too.
//!
//! A [`Transport`] carries calls: [`Plugin::transport`](crate::client::Plugin::transport) over the
//! connections of a launched or reattached plugin,
//! [`in_process_transport`](crate::server::in_process_transport) to a
//! provider in this process, [`Transcript::replay`](crate::transcript::Transcript::replay) to a
//! recorded one. A layer is a transport that has another one inside:
//! [`Recorder::wrap_transport`](crate::transcript::Recorder::wrap_transport).

use std::borrow::Cow;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Status};

use crate::Failure;
use crate::handshake::Protocol;
use crate::message_limits;

/// A gRPC call as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCall {
    /// The path of the method: `/tfplugin6.Provider/ReadResource`.
    pub path: Cow<'static, str>,
    /// The encoded request: one message, unless the method streams its request.
    pub messages: Vec<Bytes>,
    /// The largest answer message to accept, in bytes. A larger one ends the call with the status
    /// `OutOfRange`.
    pub answer_limit: usize,
}

impl RawCall {
    /// A call of a method of the provider service, by the name that `protocol` has for it. The name
    /// need not exist.
    #[must_use]
    pub fn new(protocol: Protocol, method: &str, message: impl Into<Bytes>) -> Self {
        let service = format!("tfplugin{}.Provider", protocol.number());
        Self::of_service(&service, method, message)
    }

    /// A call of a method of any service, by its full name: `plugin.GRPCBroker`.
    #[must_use]
    pub fn of_service(service: &str, method: &str, message: impl Into<Bytes>) -> Self {
        Self {
            path: format!("/{service}/{method}").into(),
            messages: vec![message.into()],
            answer_limit: message_limits::MAX_REQUEST_BYTES,
        }
    }

    /// Returns the path as HTTP has it.
    ///
    /// # Errors
    /// When it is no path.
    pub(crate) fn http_path(&self) -> Result<PathAndQuery, RawError> {
        let bytes = match &self.path {
            // Most paths are those of the tables, and are not copied.
            Cow::Borrowed(path) => Bytes::from_static(path.as_bytes()),
            Cow::Owned(path) => Bytes::copy_from_slice(path.as_bytes()),
        };
        let path = PathAndQuery::from_maybe_shared(bytes).ok();
        // A URI is built from it, which needs the slash.
        path.filter(|path| path.as_str().starts_with('/')).ok_or_else(|| {
            RawError::Failed(Failure::UnencodableMessage(format!(
                "{:?} is not the path of a method",
                self.path
            )))
        })
    }
}

/// A gRPC status that is not OK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawStatus {
    /// The number of its code.
    pub code: i32,
    /// The message that came with it.
    pub message: String,
    /// The encoded details that came with it; usually empty.
    pub details: Bytes,
}

impl RawStatus {
    /// Returns the code by name: `InvalidArgument`.
    #[must_use]
    pub fn code_name(&self) -> String {
        format!("{:?}", Code::from(self.code))
    }

    pub(crate) fn from_tonic(status: &Status) -> Self {
        Self {
            code: status.code().into(),
            message: status.message().to_owned(),
            details: Bytes::copy_from_slice(status.details()),
        }
    }
}

/// The reason why a call did not end with the status OK.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RawError {
    /// The call ended with another status.
    #[error("{}: {}", .0.code_name(), .0.message)]
    Status(RawStatus),
    /// No status arrived.
    #[error(transparent)]
    Failed(Failure),
}

/// The encoded answers to one call, in their order. An error is the last item; without one the status
/// was OK.
pub type RawAnswers = BoxStream<'static, Result<Bytes, RawError>>;

/// All that came back for one call.
#[derive(Clone, Debug)]
pub struct RawReply {
    /// The encoded answers, in their order.
    pub messages: Vec<Bytes>,
    /// The end of the call.
    pub end: Result<(), RawError>,
}

/// Carries calls to a provider as bytes.
pub trait Transport: Send + Sync {
    /// Sends a call and waits until the answer begins.
    ///
    /// The future fails if the call ended before that; otherwise the stream returns how it ended.
    fn begin_call(&self, call: RawCall) -> BoxFuture<'_, Result<RawAnswers, RawError>>;
}

impl dyn Transport + '_ {
    /// Sends a call and waits for its end.
    pub async fn call_and_collect_reply(&self, call: RawCall) -> RawReply {
        let mut messages = Vec::new();
        let mut answers = match self.begin_call(call).await {
            Ok(answers) => answers,
            Err(error) => return RawReply { messages, end: Err(error) },
        };
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(message) => messages.push(message),
                Err(error) => return RawReply { messages, end: Err(error) },
            }
        }
        RawReply { messages, end: Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_invalid_in_http_is_refused() {
        let call = |path: &'static str| RawCall {
            path: path.into(),
            ..RawCall::new(Protocol::V6, "Any", Bytes::new())
        };
        assert_eq!(RawCall::new(Protocol::V5, "Any", Bytes::new()).path, "/tfplugin5.Provider/Any");
        for valid_path in ["/tfplugin6.Provider/ReadResource", "/no.Such/Thing", "/"] {
            assert_eq!(call(valid_path).http_path().expect("a path").as_str(), valid_path);
        }
        for invalid_path in ["", "tfplugin6.Provider/ReadResource", "*", "/a b", "/\n", "/\0"] {
            let error = call(invalid_path).http_path().expect_err("no path").to_string();
            assert!(error.contains("is not the path of a method"), "{invalid_path:?}: {error}");
        }
    }
}
