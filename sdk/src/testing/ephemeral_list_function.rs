//! Functions, ephemeral resources and lists, called as by a host.

use std::time::SystemTime;

use bytes::Bytes;
use formwork_plugin_protocol::contract::{AnswerToCheck, Call, TypeSchemas, check_function_result};
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::ephemeral::{OpenRequest, RenewOrCloseRequest};
use formwork_plugin_protocol::message::function::CallRequest;
use formwork_plugin_protocol::message::list::{ListRequest, ValidateListRequest};
use formwork_plugin_protocol::{Payload, ProviderExt as _};
use formwork_value::schema::Block;
use formwork_value::{Plain, Value};
use futures_util::StreamExt as _;

use super::check_answers::contract_refusal;
use super::{
    CLIENT_CAPABILITIES, Refusal, check_contract, check_no_errors, check_not_deferred,
    complete_config, decode_payload, identity_type, provider_schema, without_marks,
};
use crate::ProviderDef;
use crate::server::Server;

/// One ephemeral resource, from open to close.
///
/// See [`Ephemeral`](crate::Ephemeral) for an example.
pub struct TestEphemeral {
    server: Server,
    type_name: String,
    block: Block,
    opened: Bytes,
    private: Bytes,
}

impl TestEphemeral {
    /// An ephemeral resource of type `type_name`, not open yet.
    ///
    /// # Errors
    /// When the provider has no such type.
    pub async fn new(provider: ProviderDef, type_name: &str) -> Result<Self, Refusal> {
        let server = Server::new(provider);
        let Some(schema) = provider_schema(&server).await?.ephemeral_resources.remove(type_name)
        else {
            return Err(Refusal(format!("there is no ephemeral resource type {type_name}")));
        };
        Ok(Self {
            server,
            type_name: type_name.to_owned(),
            block: schema.block,
            opened: Bytes::new(),
            private: Bytes::new(),
        })
    }

    /// Opens the resource. Omitted attributes are null.
    ///
    /// # Errors
    /// When the provider returns an error, or violates the contract.
    pub async fn open(&mut self, config: &[(&str, Value)]) -> Result<Value, Refusal> {
        let config = complete_config(&self.block, config.iter().cloned())?;
        let payload = Payload::Value(config.clone(), self.block.implied_type());
        let type_name = self.type_name.clone();
        let validate = ValidateRequest {
            type_name: type_name.clone(),
            config: payload.clone(),
            client: CLIENT_CAPABILITIES,
        };
        check_no_errors(&self.server.validate_ephemeral_config(validate).await?.diagnostics)?;
        let request = OpenRequest { type_name, config: payload, client: CLIENT_CAPABILITIES };
        let answer = self.server.open_ephemeral(request).await?;
        check_no_errors(&answer.diagnostics)?;
        let schemas = TypeSchemas { object: &self.block, identity: None };
        check_not_deferred("open", schemas, answer.deferred)?;
        let result = decode_payload(&self.block, &answer.result)?;
        let exchange = AnswerToCheck::for_call(Call::Open { config: &config })
            .with_answered_object(&answer.result, &result);
        check_contract("open", schemas, exchange)?;
        (self.opened, self.private) = (answer.private.clone(), answer.private);
        Ok(result.into_value())
    }

    /// Renews the resource, and returns its next expiry.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn renew(&mut self) -> Result<Option<SystemTime>, Refusal> {
        let answer =
            self.server.renew_ephemeral(self.renew_or_close_request(&self.private)).await?;
        check_no_errors(&answer.diagnostics)?;
        self.private = answer.private;
        Ok(answer.renew_at)
    }

    /// Closes the resource.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn close(self) -> Result<(), Refusal> {
        // Protocol: `CloseEphemeralResource` gets the private data of the opening, not that of the
        // last renewal.
        let answer = self.server.close_ephemeral(self.renew_or_close_request(&self.opened)).await?;
        check_no_errors(&answer.diagnostics)
    }

    fn renew_or_close_request(&self, private: &Bytes) -> RenewOrCloseRequest {
        RenewOrCloseRequest { type_name: self.type_name.clone(), private: private.clone() }
    }
}

/// An object that a list found.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{list_objects, wait};
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     #[attr(required, identity)]
///     name: String,
/// }
///
/// struct Notes;
///
/// impl List for Notes {
///     type Model = ();
///     type Object = Note;
///
///     async fn list(&self, call: Search<(), Note>) -> Answer<()> {
///         for name in ["a", "b", "c"] {
///             call.send_object(format!("note {name}"), Note { name: name.to_owned() }).await;
///         }
///         Ok(())
///     }
/// }
/// #
/// # impl Resource for Notes {
/// #     type Model = Note;
/// #
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed {})
/// #     }
/// # }
///
/// let provider = ProviderDef::new("registry.terraform.io/acme/notes")
///     .resource("notes_note", Notes)
///     .list("notes_note", Notes);
/// let found = wait(list_objects(provider, "notes_note", [], 2)).unwrap();
/// let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
/// assert_eq!(names, ["note a", "note b"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ListedObject {
    /// Display name.
    pub name: String,
    /// Identity.
    pub identity: Value,
    /// The whole object, as far as the list provides it.
    pub object: Value,
}

/// Requests whole objects from a list, `limit` at most. Omitted attributes of the query are null.
///
/// # Errors
/// When the provider returns an error, or violates the contract.
pub async fn list_objects<'n>(
    provider: ProviderDef,
    type_name: &str,
    config: impl IntoIterator<Item = (&'n str, Value)>,
    limit: usize,
) -> Result<Vec<ListedObject>, Refusal> {
    let server = Server::new(provider);
    let offered = provider_schema(&server).await?;
    let kinds = (offered.list_resources.get(type_name), offered.resources.get(type_name));
    let (Some(query), Some(objects)) = kinds else {
        return Err(Refusal(format!("there is no list with a resource type {type_name}")));
    };
    let identity_type = identity_type(&server, type_name).await?;
    let schemas = TypeSchemas { object: &objects.block, identity: identity_type.as_ref() };
    let config = complete_config(&query.block, config)?;
    let config = Payload::Value(config, query.block.implied_type());
    let type_name = type_name.to_owned();
    let validate = ValidateListRequest {
        type_name: type_name.clone(),
        config: config.clone(),
        include_object: Payload::Absent,
        limit: Payload::Absent,
        client: CLIENT_CAPABILITIES,
    };
    check_no_errors(&server.validate_list_config(validate).await?.diagnostics)?;
    // Protocol 6: zero means no limit.
    let max_objects = i64::try_from(limit).unwrap_or_default();
    let request = ListRequest { type_name, config, include_object: true, limit: max_objects };
    // A host stops at its limit, whatever the provider sends.
    let mut events = server.list(request).await?.take(limit);
    let mut listed = Vec::new();
    while let Some(event) = events.next().await {
        let event = event?;
        check_no_errors(&event.diagnostics)?;
        let answer =
            AnswerToCheck::for_call(Call::Any).with_answered_identity(event.identity.as_ref());
        check_contract("list", schemas, answer)?;
        // An event without an object carries diagnostics only.
        if let (Some(Payload::Value(identity, _)), Some(object)) = (event.identity, event.object) {
            let object = decode_payload(&objects.block, &object)?.into_value();
            let identity = identity.into_value();
            listed.push(ListedObject { name: event.display_name, identity, object });
        }
    }
    Ok(listed)
}

/// Calls a function. The arguments must have the types of its parameters.
///
/// # Errors
/// When the function fails. An error about an argument begins with its number, from 1.
pub async fn call_function(
    provider: ProviderDef,
    name: &str,
    arguments: Vec<Value>,
) -> Result<Value, Refusal> {
    let server = Server::new(provider);
    let Some(signature) = server.functions().await?.functions.remove(name) else {
        return Err(Refusal(format!("there is no function {name}")));
    };
    let has_known_arguments = arguments.iter().all(Value::is_wholly_known);
    let payload = |value: Value| {
        let ty = value.ty();
        Payload::Value(without_marks(value), ty)
    };
    let arguments = arguments.into_iter().map(payload).collect();
    let request = CallRequest { name: name.to_owned(), arguments };
    let result = server.call_function(request).await?.result.map_err(|error| {
        let position = error
            .argument
            .map(|position| format!("argument {}: ", position + 1))
            .unwrap_or_default();
        Refusal(format!("{position}{}", error.text))
    })?;
    // Encoded first: only that compares the value with the type of the signature.
    let result = result.encode().map_err(|error| Refusal(format!("of another type: {error}")))?;
    let value = check_function_result(&result, &signature.returns, has_known_arguments);
    value
        .map(Plain::into_value)
        .map_err(|broken| contract_refusal(&format!("the function {name}"), &[broken]))
}
