//! Calls of the provider service: their paths in both versions and the fields of diagnostics in
//! their answers.

use bytes::Bytes;

use formwork_plugin_protocol::handshake::Protocol;

use crate::message::Msg;

/// A call, by its name in protocol 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of the protocol's description")]
pub enum Rpc {
    GetMetadata,
    GetProviderSchema,
    GetResourceIdentitySchemas,
    GetFunctions,
    ValidateProviderConfig,
    ConfigureProvider,
    StopProvider,
    ValidateResourceConfig,
    UpgradeResourceState,
    UpgradeResourceIdentity,
    ReadResource,
    PlanResourceChange,
    ApplyResourceChange,
    ImportResourceState,
    MoveResourceState,
    GenerateResourceConfig,
    ValidateDataResourceConfig,
    ReadDataSource,
    ValidateEphemeralResourceConfig,
    OpenEphemeralResource,
    RenewEphemeralResource,
    CloseEphemeralResource,
    ValidateListResourceConfig,
    ListResource,
    CallFunction,
    ValidateActionConfig,
    PlanAction,
    InvokeAction,
    ValidateStateStoreConfig,
    ConfigureStateStore,
    ReadStateBytes,
    WriteStateBytes,
    LockState,
    UnlockState,
    GetStates,
    DeleteState,
}

impl Rpc {
    /// All calls.
    pub const ALL: [Self; 36] = [
        Self::GetMetadata,
        Self::GetProviderSchema,
        Self::GetResourceIdentitySchemas,
        Self::GetFunctions,
        Self::ValidateProviderConfig,
        Self::ConfigureProvider,
        Self::StopProvider,
        Self::ValidateResourceConfig,
        Self::UpgradeResourceState,
        Self::UpgradeResourceIdentity,
        Self::ReadResource,
        Self::PlanResourceChange,
        Self::ApplyResourceChange,
        Self::ImportResourceState,
        Self::MoveResourceState,
        Self::GenerateResourceConfig,
        Self::ValidateDataResourceConfig,
        Self::ReadDataSource,
        Self::ValidateEphemeralResourceConfig,
        Self::OpenEphemeralResource,
        Self::RenewEphemeralResource,
        Self::CloseEphemeralResource,
        Self::ValidateListResourceConfig,
        Self::ListResource,
        Self::CallFunction,
        Self::ValidateActionConfig,
        Self::PlanAction,
        Self::InvokeAction,
        Self::ValidateStateStoreConfig,
        Self::ConfigureStateStore,
        Self::ReadStateBytes,
        Self::WriteStateBytes,
        Self::LockState,
        Self::UnlockState,
        Self::GetStates,
        Self::DeleteState,
    ];

    /// Returns the name in protocol 6.
    #[must_use]
    pub fn name(self) -> String {
        // The variants have the names of protocol 6.
        format!("{self:?}")
    }

    /// Returns the call with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rpc| rpc.name() == name)
    }

    /// Returns the path of the method; `None` if the version lacks it.
    #[must_use]
    pub fn method_path(self, protocol: Protocol) -> Option<String> {
        let older = protocol.number() == 5;
        let name = match self {
            Self::GetProviderSchema if older => "GetSchema".to_owned(),
            Self::ValidateProviderConfig if older => "PrepareProviderConfig".to_owned(),
            Self::ConfigureProvider if older => "Configure".to_owned(),
            Self::StopProvider if older => "Stop".to_owned(),
            Self::ValidateResourceConfig if older => "ValidateResourceTypeConfig".to_owned(),
            Self::ValidateDataResourceConfig if older => "ValidateDataSourceConfig".to_owned(),
            Self::ValidateStateStoreConfig
            | Self::ConfigureStateStore
            | Self::ReadStateBytes
            | Self::WriteStateBytes
            | Self::LockState
            | Self::UnlockState
            | Self::GetStates
            | Self::DeleteState
                if older =>
            {
                return None;
            }
            other => other.name(),
        };
        Some(format!("/tfplugin{protocol}.Provider/{name}"))
    }

    /// Returns the path of a method with the name of protocol 6, for the record of a call that cannot be
    /// sent.
    #[must_use]
    pub(crate) fn path_of_name(self, protocol: Protocol) -> String {
        format!("/tfplugin{protocol}.Provider/{}", self.name())
    }

    /// The number of the field of the answer that holds diagnostics, if it has any.
    #[must_use]
    pub fn diagnostics_field(self) -> Option<u32> {
        match self {
            Self::GetMetadata
            | Self::GetResourceIdentitySchemas
            | Self::GetFunctions
            | Self::ValidateProviderConfig
            | Self::UpgradeResourceState
            | Self::UpgradeResourceIdentity
            | Self::ReadResource
            | Self::ImportResourceState
            | Self::MoveResourceState
            | Self::GenerateResourceConfig
            | Self::ReadDataSource
            | Self::LockState
            | Self::GetStates => Some(2),
            Self::PlanResourceChange
            | Self::GetProviderSchema
            | Self::ListResource
            | Self::ReadStateBytes => Some(4),
            Self::ApplyResourceChange => Some(3),
            // `StopProvider` has a string, `CallFunction` an error of its own, and events of
            // actions have theirs inside.
            Self::StopProvider | Self::CallFunction | Self::InvokeAction => None,
            _ => Some(1),
        }
    }
}

/// A diagnostic of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// The severity's number: 1 is an error, 2 a warning.
    pub severity: u64,
    /// The summary.
    pub summary: String,
    /// The detail.
    pub detail: String,
    /// The raw path, if there is one.
    pub path: Option<Msg>,
    /// Whether summary and detail are valid UTF-8.
    pub is_text: bool,
}

impl Diag {
    /// Reads a diagnostic.
    #[must_use]
    pub fn decode(message: &Msg) -> Self {
        // Strings of protobuf are UTF-8, and `get_text` would hide what is not.
        let is_text = [2, 3].iter().all(|n| std::str::from_utf8(&message.get_bytes(*n)).is_ok());
        Self {
            severity: message.get_int(1),
            summary: message.get_text(2),
            detail: message.get_text(3),
            path: message.get_msg(4),
            is_text,
        }
    }

    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        // `ERROR` in the protocol.
        self.severity == 1
    }

    /// Summary and detail in one line.
    #[must_use]
    pub fn one_line(&self) -> String {
        let text = format!("{}: {}", self.summary, self.detail);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the diagnostic without control characters that only repeat the type name or the
    /// import id of the request.
    #[must_use]
    pub(crate) fn without_echoed_control_chars(mut self, request: Option<&Bytes>) -> Self {
        let request = request.and_then(Msg::parse).unwrap_or_default();
        // Field 1 is the type name in nearly all requests, field 2 the id in imports.
        for (field, echo) in [(1, "(the type name of the request)"), (2, "(the id of the request)")]
        {
            let sent = request.get_text(field);
            // Only then could the echo be mistaken for a control character of the provider.
            if sent.chars().any(char::is_control) {
                for text in [&mut self.summary, &mut self.detail] {
                    *text = text.replace(&sent, echo);
                }
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_of_the_request_is_not_attributed_to_the_provider() {
        let answer = Msg::new()
            .with_nonzero_int(1, 1)
            .with_text(2, "No type a\u{1f}b")
            .with_text(3, "\u{2}");
        let request = Msg::new().with_text(1, "a\u{1f}b").encode();
        let read = Diag::decode(&answer).without_echoed_control_chars(Some(&request));
        assert_eq!(read.summary, "No type (the type name of the request)");
        assert_eq!(read.detail, "\u{2}");
        let import = Msg::new().with_text(1, "a").with_text(2, "\u{1f}b").encode();
        let read = Diag::decode(&answer).without_echoed_control_chars(Some(&import));
        assert_eq!(read.summary, "No type a(the id of the request)");
        let other_message = Msg::new().with_text(1, "a").encode();
        assert_eq!(
            Diag::decode(&answer).without_echoed_control_chars(Some(&other_message)),
            Diag::decode(&answer)
        );
    }
}
