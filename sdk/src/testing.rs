//! Runs a resource through its lifecycle in this process, as a host would: proposes, plans, checks
//! every answer against the contract, applies. It uses no child process, no configuration language
//! and no state file.

use std::fmt;

use bytes::Bytes;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_plugin_protocol::contract::requires_replace::{is_unchanged, paths_requiring_replace};
use formwork_plugin_protocol::contract::{AnswerToCheck, Call, TypeSchemas};
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::read_data::ReadDataRequest;
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ImportRequest, PlanRequest, RawState, ReadRequest, UpgradeRequest,
};
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_plugin_protocol::{Failure, Payload, ProviderExt as _};
use formwork_value::codec::json;
use formwork_value::schema::Block;
use formwork_value::{Path, Plain, Str, Type, Value};

mod check_answers;
mod ephemeral_list_function;
mod state_store;

use self::check_answers::{
    check_contract, check_no_errors, check_not_deferred, checked_imported_object,
    checked_upgraded_object, decode_payload, identity_type,
};
use crate::ProviderDef;
use crate::server::Server;

pub use ephemeral_list_function::{ListedObject, TestEphemeral, call_function, list_objects};
pub use state_store::StateStoreUnderTest;

/// The object of a resource type, or none yet.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{PlannedAction, TestObject, wait};
/// use formwork_sdk::value::Value;
///
/// # /// A note.
/// # #[derive(Model)]
/// # struct Note {
/// #     #[attr(required)]
/// #     title: String,
/// #     #[attr(computed, keep)]
/// #     id: String,
/// # }
/// #
/// # struct Notes;
/// #
/// # impl Resource for Notes {
/// #     type Model = Note;
/// #
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
/// # }
/// #
/// let provider =
///     ProviderDef::new("registry.terraform.io/acme/notes").resource("notes_note", Notes);
/// wait(async {
///     let mut note = TestObject::new(provider, "notes_note").await?;
///     let config = || [("title", Value::string("a"))];
///     assert_eq!(note.apply(config()).await?, PlannedAction::Create);
///     assert_eq!(note.get("id"), &Value::string("n-1"));
///     assert_eq!(note.apply(config()).await?, PlannedAction::Nothing);
///     note.destroy().await
/// })
/// .unwrap();
/// ```
pub struct TestObject {
    server: Server,
    type_name: String,
    version: u64,
    block: Block,
    /// The type of its identities, if it has any.
    identity: Option<Type>,
    object: Plain,
    private: Bytes,
}

/// Outcome of a plan.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{PlannedAction, TestObject, wait};
/// use formwork_sdk::value::Value;
///
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] text: String, #[attr(optional, replace)] color: Option<String> }
/// # struct Notes;
/// # impl Resource for Notes {
/// #     type Model = Note;
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> { Ok(NoteComputed {}) }
/// # }
/// let provider = ProviderDef::new("acme/notes").resource("notes_note", Notes);
/// let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// let text = || ("text", Value::string("a"));
/// assert_eq!(wait(note.apply([text()])), Ok(PlannedAction::Create));
/// assert_eq!(wait(note.apply([text()])), Ok(PlannedAction::Nothing));
/// // A change of the color forces replacement.
/// let color = ("color", Value::string("red"));
/// assert_eq!(wait(note.apply([text(), color])), Ok(PlannedAction::Replace));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedAction {
    /// No object exists yet.
    Create,
    /// Nothing changes.
    Nothing,
    /// The object changes in place.
    Update,
    /// The object is destroyed and another created.
    Replace,
}

/// A plan that was not applied yet.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{PlannedAction, TestObject, wait};
/// use formwork_sdk::value::Value;
///
/// # /// A note.
/// # #[derive(Model)]
/// # struct Note {
/// #     #[attr(required)]
/// #     title: String,
/// #     #[attr(computed, keep)]
/// #     id: String,
/// # }
/// #
/// # struct Notes;
/// #
/// # impl Resource for Notes {
/// #     type Model = Note;
/// #
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
/// # }
/// #
/// let provider =
///     ProviderDef::new("registry.terraform.io/acme/notes").resource("notes_note", Notes);
/// let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// let planned = wait(note.plan([("title", Value::string("a"))])).unwrap();
/// assert_eq!(planned.action, PlannedAction::Create);
/// let id = Path::root().attribute("id").find(&planned.object).unwrap();
/// assert!(id.is_unknown());
/// ```
#[derive(Clone, Debug)]
pub struct PlannedChange {
    /// Outcome.
    pub action: PlannedAction,
    /// The planned object.
    pub object: Value,
    private: Bytes,
}

/// The errors of a failed step, one for each line. They include violations of the contract.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{TestObject, wait};
/// use formwork_sdk::value::Value;
///
/// # /// A note.
/// # #[derive(Model)]
/// # struct Note {
/// #     #[attr(required)]
/// #     title: String,
/// #     #[attr(computed, keep)]
/// #     id: String,
/// # }
/// #
/// # struct Notes;
/// #
/// # impl Resource for Notes {
/// #     type Model = Note;
/// #
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
/// # }
/// #
/// let provider =
///     ProviderDef::new("registry.terraform.io/acme/notes").resource("notes_note", Notes);
/// let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// let refusal = wait(note.apply([("id", Value::string("n-2"))])).unwrap_err();
/// assert!(refusal.0.contains("`id` is set only by the provider. Remove it."));
/// assert!(refusal.0.contains("`title` must have a value."));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

/// Prints the problems unchanged, so that a failing test is readable.
impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TestObject {
    /// The lifecycle of an object of type `type_name`, before its creation.
    ///
    /// # Errors
    /// When the provider has no such resource type, or its schema violates a rule.
    pub async fn new(provider: ProviderDef, type_name: &str) -> Result<Self, Refusal> {
        let server = Server::new(provider);
        let mut offered = provider_schema(&server).await?;
        let Some(schema) = offered.resources.remove(type_name) else {
            return Err(Refusal(format!("there is no resource type {type_name}")));
        };
        // A host would refuse the provider for it, so no test may pass.
        if let Some(problem) = schema.validate().first() {
            return Err(Refusal(format!("the schema is not valid: {problem:?}")));
        }
        let identity = identity_type(&server, type_name).await?;
        let object = without_marks(Value::null(schema.block.implied_type()));
        Ok(Self {
            server,
            type_name: type_name.to_owned(),
            version: schema.version,
            block: schema.block,
            identity,
            object,
            private: Bytes::new(),
        })
    }

    /// The stored object; null without one.
    #[must_use]
    pub fn object(&self) -> &Value {
        self.object.value()
    }

    /// An attribute of the stored object.
    ///
    /// # Panics
    /// When there is no such attribute: the test is wrong.
    #[must_use]
    pub fn get(&self, name: &str) -> &Value {
        let part = Path::root().attribute(name).find(self.object.value());
        part.expect("the object has the requested attribute")
    }

    /// Reads, and plans a configuration. Omitted attributes are null.
    ///
    /// # Errors
    /// When the provider returns an error, or violates the contract.
    pub async fn plan<'n>(
        &mut self,
        config: impl IntoIterator<Item = (&'n str, Value)>,
    ) -> Result<PlannedChange, Refusal> {
        // A host refreshes before it plans.
        self.read().await?;
        let config = complete_config(&self.block, config)?;
        self.plan_config(&config).await
    }

    /// Reads, plans and applies a configuration. Omitted attributes are null.
    ///
    /// # Errors
    /// When the provider returns an error, or violates the contract. The resulting object is kept.
    pub async fn apply<'n>(
        &mut self,
        config: impl IntoIterator<Item = (&'n str, Value)>,
    ) -> Result<PlannedAction, Refusal> {
        self.read().await?;
        let config = complete_config(&self.block, config)?;
        let mut planned = self.plan_config(&config).await?;
        let action = planned.action;
        match action {
            PlannedAction::Nothing => return Ok(action),
            PlannedAction::Replace => {
                // Planned again without a prior, as by a host: the first plan was for an object
                // that no longer exists.
                self.destroy().await?;
                planned = self.plan_config(&config).await?;
            }
            PlannedAction::Create | PlannedAction::Update => {}
        }
        let target = without_marks(planned.object);
        self.apply_planned(&target, &config, planned.private).await?;
        Ok(action)
    }

    /// Refreshes the stored object. It is removed if the real one does not exist.
    ///
    /// # Errors
    /// When the provider returns an error, or an object that is not wholly known.
    pub async fn read(&mut self) -> Result<(), Refusal> {
        if self.object.value().is_null() {
            return Ok(());
        }
        let request = ReadRequest {
            type_name: self.type_name.clone(),
            current: self.encode_payload(&self.object),
            private: self.private.clone(),
            provider_meta: Payload::Absent,
            client: CLIENT_CAPABILITIES,
            identity: None,
        };
        let answer = self.server.read(request).await?;
        check_no_errors(&answer.diagnostics)?;
        check_not_deferred("read", self.schemas(), answer.deferred)?;
        let object = self.decode_payload(&answer.state)?;
        let exchange = AnswerToCheck::for_call(Call::Read)
            .with_answered_object(&answer.state, &object)
            .with_answered_identity(answer.identity.as_ref());
        check_contract("read", self.schemas(), exchange)?;
        // Only now, so that an answer that breaks a rule does not change the stored object.
        (self.object, self.private) = (object, answer.private);
        Ok(())
    }

    /// Destroys the object, if it exists.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn destroy(&mut self) -> Result<(), Refusal> {
        if self.object.value().is_null() {
            return Ok(());
        }
        // To destroy, a host plans null, and there is no configuration.
        let null_object = without_marks(Value::null(self.block.implied_type()));
        // A destruction is not planned here, so the stored private data are used as the planned.
        self.apply_planned(&null_object, &null_object, self.private.clone()).await
    }

    /// Imports an object instead of the stored one, and reads it.
    ///
    /// # Errors
    /// When the provider returns an error or violates the contract, or the object does not exist.
    pub async fn import(&mut self, id: &str) -> Result<(), Refusal> {
        let request = ImportRequest {
            type_name: self.type_name.clone(),
            id: id.to_owned(),
            client: CLIENT_CAPABILITIES,
            identity: None,
        };
        let answer = self.server.import(request).await?;
        check_no_errors(&answer.diagnostics)?;
        check_not_deferred("import", self.schemas(), answer.deferred)?;
        let [imported] = answer.resources.as_slice() else {
            return Err(Refusal("the import did not find one object".to_owned()));
        };
        self.object = checked_imported_object(&self.type_name, self.schemas(), imported)?;
        self.private = imported.private.clone();
        // A host reads an imported object before it plans.
        self.read().await?;
        match self.object.value().is_null() {
            true => Err(Refusal("there is no such object to import".to_owned())),
            false => Ok(()),
        }
    }

    /// Upgrades an object that an older version of the provider stored, as JSON.
    ///
    /// # Errors
    /// When the provider returns an error, or violates the contract.
    pub async fn upgrade(&mut self, version: u64, json: &str) -> Result<(), Refusal> {
        let request = UpgradeRequest {
            type_name: self.type_name.clone(),
            version,
            state: RawState::Json(Bytes::copy_from_slice(json.as_bytes())),
        };
        let answer = self.server.upgrade_state(request).await?;
        check_no_errors(&answer.diagnostics)?;
        self.object = checked_upgraded_object(self.schemas(), &answer.state)?;
        Ok(())
    }

    /// Requests a stop of all pending and future calls.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn stop(&self) -> Result<(), Refusal> {
        let complaint = self.server.stop().await?;
        if complaint.is_empty() { Ok(()) } else { Err(Refusal(complaint)) }
    }

    /// Encodes the object and upgrades it, as the host does between two runs.
    ///
    /// # Errors
    /// When the provider does not accept its own object.
    pub async fn upgrade_stored(&mut self) -> Result<(), Refusal> {
        let text = json::encode(self.object.value(), &self.block.implied_type())
            .map_err(|error| Refusal(error.to_string()))?;
        // A host upgrades each stored object, also one of the newest version.
        self.upgrade(self.version, &text).await
    }

    async fn plan_config(&self, config: &Plain) -> Result<PlannedChange, Refusal> {
        let validate = ValidateRequest {
            type_name: self.type_name.clone(),
            config: self.encode_payload(config),
            client: CLIENT_CAPABILITIES,
        };
        check_no_errors(&self.server.validate_resource_config(validate).await?.diagnostics)?;
        let prior = &self.object;
        let proposed = proposed_new(&self.block, prior, config);
        let request = PlanRequest {
            type_name: self.type_name.clone(),
            prior: self.encode_payload(prior),
            proposed: self.encode_payload(&proposed),
            config: self.encode_payload(config),
            prior_private: self.private.clone(),
            provider_meta: Payload::Absent,
            client: CLIENT_CAPABILITIES,
            prior_identity: None,
            planned_private: Bytes::new(),
        };
        let answer = self.server.plan(request).await?;
        check_no_errors(&answer.diagnostics)?;
        check_not_deferred("plan", self.schemas(), answer.deferred)?;
        let planned = self.decode_payload(&answer.planned)?;
        let paths = &answer.requires_replace;
        let call = Call::Plan { prior, config, requires_replace: paths, legacy: false };
        // Without the identity, parts of which may be unknown until the object exists.
        check_contract(
            "plan",
            self.schemas(),
            AnswerToCheck::for_call(call).with_answered_object(&answer.planned, &planned),
        )?;
        let forcing = paths_requiring_replace(&self.block, prior, &planned, paths);
        // In Terraform's order: the first condition that holds decides.
        let action = match () {
            () if prior.value().is_null() => PlannedAction::Create,
            () if !forcing.is_empty() => PlannedAction::Replace,
            () if is_unchanged(prior, &planned) => PlannedAction::Nothing,
            () => PlannedAction::Update,
        };
        let private = answer.planned_private;
        Ok(PlannedChange { action, object: planned.into_value(), private })
    }

    async fn apply_planned(
        &mut self,
        planned: &Plain,
        config: &Plain,
        private: Bytes,
    ) -> Result<(), Refusal> {
        let request = ApplyRequest {
            type_name: self.type_name.clone(),
            prior: self.encode_payload(&self.object),
            planned: self.encode_payload(planned),
            config: self.encode_payload(config),
            planned_private: private,
            provider_meta: Payload::Absent,
            planned_identity: None,
        };
        let answer = self.server.apply(request).await?;
        let object = self.decode_payload(&answer.state)?;
        // Stored before errors count, as by a host: a failed change may have left an object.
        (self.object, self.private) = (object, answer.private);
        check_no_errors(&answer.diagnostics)?;
        let call = Call::Apply { planned, legacy: false };
        let exchange = AnswerToCheck::for_call(call)
            .with_answered_object(&answer.state, &self.object)
            .with_answered_identity(answer.identity.as_ref());
        check_contract("apply", self.schemas(), exchange)
    }

    fn schemas(&self) -> TypeSchemas<'_> {
        TypeSchemas { object: &self.block, identity: self.identity.as_ref() }
    }

    fn encode_payload(&self, value: &Plain) -> Payload {
        Payload::Value(value.clone(), self.block.implied_type())
    }

    fn decode_payload(&self, payload: &Payload) -> Result<Plain, Refusal> {
        decode_payload(&self.block, payload)
    }
}

/// Reads a data source. Omitted attributes are null.
///
/// # Errors
/// When the provider returns an error, or data that is not wholly known.
pub async fn read_data<'n>(
    provider: ProviderDef,
    type_name: &str,
    config: impl IntoIterator<Item = (&'n str, Value)>,
) -> Result<Value, Refusal> {
    let server = Server::new(provider);
    let mut offered = provider_schema(&server).await?;
    let Some(schema) = offered.data_sources.remove(type_name) else {
        return Err(Refusal(format!("there is no data source {type_name}")));
    };
    let config = complete_config(&schema.block, config)?;
    let config = Payload::Value(config, schema.block.implied_type());
    let validate = ValidateRequest {
        type_name: type_name.to_owned(),
        config: config.clone(),
        client: CLIENT_CAPABILITIES,
    };
    check_no_errors(&server.validate_data_config(validate).await?.diagnostics)?;
    let request = ReadDataRequest {
        type_name: type_name.to_owned(),
        config,
        provider_meta: Payload::Absent,
        client: CLIENT_CAPABILITIES,
        address: String::new(),
    };
    let answer = server.read_data(request).await?;
    check_no_errors(&answer.diagnostics)?;
    let schemas = TypeSchemas { object: &schema.block, identity: None };
    check_not_deferred("read", schemas, answer.deferred)?;
    let object = decode_payload(&schema.block, &answer.state)?;
    let exchange =
        AnswerToCheck::for_call(Call::ReadData).with_answered_object(&answer.state, &object);
    check_contract("read", schemas, exchange)?;
    Ok(object.into_value())
}

pub(crate) const CLIENT_CAPABILITIES: ClientCapabilities = ClientCapabilities {
    // As of Terraform 1.11, the oldest with write-only attributes.
    deferral_allowed: false,
    write_only_attributes_allowed: true,
    store_planned_private: false,
    computed_blocks_allowed: false,
};

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self(failure.to_string())
    }
}

fn complete_config<'n>(
    block: &Block,
    config: impl IntoIterator<Item = (&'n str, Value)>,
) -> Result<Plain, Refusal> {
    let mut attributes: Vec<(Str, Value)> = Vec::new();
    // A host sends all attributes, with null for what the author did not set.
    for (name, attribute) in &block.attributes {
        attributes.push((name.clone(), Value::null(attribute.implied_type())));
    }
    // Later pairs win, so these replace the nulls.
    attributes.extend(config.into_iter().map(|(name, value)| (name.into(), value)));
    let config = block.coerce(&Value::object(attributes));
    config
        .map(without_marks)
        .map_err(|reason| Refusal(format!("{}: {}", reason.path, reason.reason)))
}

fn without_marks(value: Value) -> Plain {
    value.split_marks().0
}

async fn provider_schema(server: &Server) -> Result<ProviderSchema, Refusal> {
    let offered = server.schema().await?;
    check_no_errors(&offered.diagnostics)?;
    Ok(offered)
}

/// Runs a future to completion in a test that is not async.
///
/// # Panics
/// When called from async code.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime on this thread has no requirements").block_on(future)
}

/// A map of strings, as for `keepers` and `triggers`.
#[must_use]
pub fn strings<const N: usize>(pairs: [(&str, &str); N]) -> Value {
    Value::map(Type::String, pairs.map(|(key, value)| (key, Value::string(value))))
}
