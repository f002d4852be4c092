//! Every deferrable call of a provider whose configuration is deferred.

use bytes::Bytes;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::action::ActionRequest;
use formwork_plugin_protocol::message::configure::ConfigureRequest;
use formwork_plugin_protocol::message::ephemeral::OpenRequest;
use formwork_plugin_protocol::message::read_data::ReadDataRequest;
use formwork_plugin_protocol::message::resource::{ImportRequest, PlanRequest, ReadRequest};
use formwork_plugin_protocol::{Payload, ProviderExt as _};
use formwork_value::{Plain, Type, Value};

use crate::prelude::*;
use crate::server::Server;
use crate::testing::CLIENT_CAPABILITIES;

/// A desk in some office.
#[derive(Model)]
struct Desk {
    /// Room of the desk.
    #[attr(optional, identity(optional))]
    room: Option<String>,
    /// The number of the object.
    #[attr(computed)]
    number: i64,
}

/// Office that the provider manages.
#[derive(Model)]
struct Office {
    /// The address of the object.
    #[attr(optional)]
    address: Option<String>,
}

/// Use of a desk.
#[derive(Model)]
struct Use {
    #[attr(optional)]
    room: Option<String>,
}

/// An office whose desks cannot be requested before the office is known.
struct Desks;

const NOBODY_ASKS: &str = "nobody asks while the office is not known";

impl Configure for Desks {
    type Model = Office;

    async fn configure(&self, call: Setup<Office>) -> Answer<()> {
        match call.unknown.is_empty() {
            true => Ok(()),
            false => call.deferral.request(DeferredReason::ProviderConfigUnknown),
        }
    }
}

impl Resource for Desks {
    type Model = Desk;

    async fn modify_plan(&self, _: &mut ModifyPlan<Desk>) -> Answer<()> {
        panic!("{NOBODY_ASKS}")
    }

    async fn create(&self, _: Create<Desk>) -> Answer<DeskComputed> {
        panic!("{NOBODY_ASKS}")
    }

    async fn read(&self, _: Read<Desk>) -> Answer<Option<Desk>> {
        panic!("{NOBODY_ASKS}")
    }

    async fn import(&self, call: Import<Desk>) -> Answer<DeskDraft> {
        // Reported and not returned: the request below then comes in a call that has already
        // failed.
        if call.id.is_empty() {
            call.report(Problem::from_detail("an id is no empty text"));
        }
        // An office that is known may still have to be built.
        call.deferral.request(DeferredReason::AbsentPrerequisite)?;
        Err(Problem::from_detail("there is no such desk"))
    }
}

impl DataSource for Desks {
    type Model = Desk;

    async fn read(&self, _: ReadData<Desk>) -> Answer<DeskComputed> {
        panic!("{NOBODY_ASKS}")
    }
}

impl Ephemeral for Desks {
    type Model = Desk;

    async fn open(&self, _: Open<Desk>) -> Answer<DeskComputed> {
        panic!("{NOBODY_ASKS}")
    }
}

impl Action for Desks {
    type Model = Use;

    async fn plan(&self, _: PlanAction<Use>) -> Answer<()> {
        panic!("{NOBODY_ASKS}")
    }

    async fn invoke(&self, _: Invoke<Use>) -> Answer<()> {
        panic!("{NOBODY_ASKS}")
    }
}

const PATIENT: ClientCapabilities =
    ClientCapabilities { deferral_allowed: true, ..CLIENT_CAPABILITIES };
const REASON: Option<DeferredReason> = Some(DeferredReason::ProviderConfigUnknown);
const DESK: &str = "office_desk";

async fn server(address: Value, client: ClientCapabilities) -> Server {
    let provider = ProviderDef::new("registry.terraform.io/acme/office").with_configuration(Desks);
    let provider = provider.resource(DESK, Desks).data_source(DESK, Desks);
    let server = Server::new(provider.ephemeral(DESK, Desks).action("office_use", Desks));
    let config = plain(Value::object([("address", address)]));
    let request = ConfigureRequest {
        terraform_version: "1.11.4".to_owned(),
        config: Payload::Value(config, Office::shape().ty().clone()),
        client,
    };
    // Terraform ends the run at an error of `ConfigureProvider`, so a deferral must be none.
    assert!(server.configure(request).await.unwrap().diagnostics.is_empty());
    server
}

fn plain(value: Value) -> Plain {
    value.split_marks().0
}

fn desk(room: &str, number: Value) -> Payload {
    let desk = Value::object([("room", Value::string(room)), ("number", number)]);
    Payload::Value(plain(desk), Desk::shape().ty().clone())
}

fn number_of(payload: &Payload) -> Value {
    let object = payload.decode(Desk::shape().ty()).unwrap();
    Path::root().attribute("number").find(object.value()).unwrap().clone()
}

fn unset() -> Value {
    Value::null(Type::Number)
}

fn plan(client: ClientCapabilities) -> PlanRequest {
    PlanRequest {
        type_name: DESK.to_owned(),
        prior: Payload::Absent,
        proposed: desk("a", unset()),
        config: desk("a", unset()),
        prior_private: Bytes::new(),
        provider_meta: Payload::Absent,
        client,
        prior_identity: None,
        planned_private: Bytes::new(),
    }
}

fn import(client: ClientCapabilities) -> ImportRequest {
    ImportRequest { type_name: DESK.to_owned(), id: "7".to_owned(), client, identity: None }
}

#[tokio::test]
async fn a_provider_that_defers_everything_is_not_called() {
    let server = server(Value::unknown(Type::String), PATIENT).await;
    let planned = server.plan(plan(PATIENT)).await.unwrap();
    assert_eq!((planned.deferred, planned.diagnostics), (REASON, Vec::new()));
    // A null instead of the unknown would be a promise that is not meant.
    assert!(number_of(&planned.planned).is_unknown());
    let read = ReadRequest {
        type_name: DESK.to_owned(),
        current: desk("a", Value::int(7)),
        private: Bytes::new(),
        provider_meta: Payload::Absent,
        client: PATIENT,
        identity: None,
    };
    let read = server.read(read).await.unwrap();
    // The object stays as it was: a null would mean that it no longer exists.
    assert_eq!((read.deferred, number_of(&read.state)), (REASON, Value::int(7)));
    let imported = server.import(import(PATIENT)).await.unwrap();
    assert_eq!(imported.deferred, REASON);
    let [imported] = imported.resources.as_slice() else {
        panic!("a placeholder was passed instead of the object")
    };
    assert_eq!((imported.type_name.as_str(), &imported.state), (DESK, &Payload::Absent));
    let (type_name, config, client) = (DESK.to_owned(), desk("a", unset()), PATIENT);
    let data = ReadDataRequest {
        type_name: type_name.clone(),
        config: config.clone(),
        provider_meta: Payload::Absent,
        client,
        address: String::new(),
    };
    let data = server.read_data(data).await.unwrap();
    assert_eq!(data.deferred, REASON);
    assert!(number_of(&data.state).is_unknown());
    let opened = server.open_ephemeral(OpenRequest { type_name, config, client }).await.unwrap();
    assert_eq!(opened.deferred, REASON);
    assert!(number_of(&opened.result).is_unknown());
    let config = Payload::Absent;
    let action = ActionRequest { type_name: "office_use".to_owned(), config, client };
    let planned = server.plan_action(action).await.unwrap();
    assert_eq!((planned.deferred, planned.diagnostics), (REASON, Vec::new()));
}

#[tokio::test]
async fn a_deferring_provider_is_called_after_its_configuration_is_known() {
    let server = server(Value::unknown(Type::String), PATIENT).await;
    let config = plain(Value::object([("address", Value::string("here"))]));
    let request = ConfigureRequest {
        terraform_version: "1.11.4".to_owned(),
        config: Payload::Value(config, Office::shape().ty().clone()),
        client: PATIENT,
    };
    server.configure(request).await.unwrap();
    let planned = server.plan(plan(PATIENT)).await.unwrap();
    assert_eq!(planned.deferred, None);
    // The panic proves that the handler was called.
    assert!(planned.diagnostics[0].detail.contains(NOBODY_ASKS));
}

#[tokio::test]
async fn a_host_without_deferral_receives_a_response() {
    let server = server(Value::unknown(Type::String), CLIENT_CAPABILITIES).await;
    let planned = server.plan(plan(CLIENT_CAPABILITIES)).await.unwrap();
    // Only a host that declares deferral may be answered with `deferred`.
    assert_eq!(planned.deferred, None);
    assert!(planned.diagnostics[0].detail.contains(NOBODY_ASKS));
    let imported = server.import(import(CLIENT_CAPABILITIES)).await.unwrap();
    assert_eq!((imported.deferred, imported.resources), (None, Vec::new()));
    assert_eq!(imported.diagnostics[0].detail, "there is no such desk");
}

#[tokio::test]
async fn a_handler_can_defer_an_import() {
    let server = server(Value::string("here"), PATIENT).await;
    let imported = server.import(import(PATIENT)).await.unwrap();
    assert_eq!(imported.deferred, Some(DeferredReason::AbsentPrerequisite));
    assert!(imported.diagnostics.is_empty());
}

#[tokio::test]
async fn errors_are_reported_instead_of_a_deferral() {
    let server = server(Value::string("here"), PATIENT).await;
    let result =
        server.import(ImportRequest { id: String::new(), ..import(PATIENT) }).await.unwrap();
    assert_eq!((result.deferred, result.resources), (None, Vec::new()));
    let details = result.diagnostics.into_iter().map(|problem| problem.detail);
    assert_eq!(details.collect::<Vec<_>>(), ["an id is no empty text"]);
}
