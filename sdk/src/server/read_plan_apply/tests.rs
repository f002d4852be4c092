//! Data of calls besides values: `provider_meta`, and deferral.

use bytes::Bytes;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_plugin_protocol::message::resource::{ApplyRequest, PlanRequest, ReadRequest};
use formwork_plugin_protocol::{Payload, Provider, ProviderExt as _, Request};
use formwork_value::{Plain, Type, Value};

use crate::prelude::*;
use crate::server::Server;
use crate::testing::{CLIENT_CAPABILITIES, TestObject};

/// The `provider_meta` of a module.
#[derive(Model)]
struct Module {
    /// Contact for problems.
    #[attr(optional)]
    owner: Option<String>,
}

/// A thing with an owner.
#[derive(Model)]
struct Thing {
    /// Whether it can be created; may be known only later.
    #[attr(optional)]
    ready: Option<bool>,
    /// Owner of the thing.
    #[attr(computed)]
    owner: String,
}

struct Things;

fn owner(module: Option<ModuleDraft>) -> String {
    module.map_or_else(|| "nobody".to_owned(), |module| module.owner.or_default())
}

impl Resource for Things {
    type Model = Thing;

    async fn modify_plan(&self, change: &mut ModifyPlan<Thing>) -> Answer<()> {
        if change.config.ready.is_unknown() {
            change.deferral.request(DeferredReason::ResourceConfigUnknown)?;
            // Only a host that allows no deferral gets here.
            return Err(Problem::new("Not ready", ""));
        }
        let owner = owner(change.meta.to_draft::<Module>()?);
        change.fill_early_values(ThingComputed { owner });
        Ok(())
    }

    async fn create(&self, call: Create<Thing>) -> Answer<ThingComputed> {
        Ok(ThingComputed { owner: owner(call.meta.to_draft::<Module>()?) })
    }

    async fn read(&self, call: Read<Thing>) -> Answer<Option<Thing>> {
        if call.current.ready.is_none() {
            call.deferral.request(DeferredReason::AbsentPrerequisite)?;
        }
        let owner = owner(call.meta.to_draft::<Module>()?);
        Ok(Some(Thing { owner, ..call.current }))
    }
}

/// A rack of slots.
#[derive(Model)]
struct Rack {
    /// Slots of the rack.
    #[block(fills)]
    slots: Vec<Slot>,
}

#[derive(Clone, Debug, Nested)]
struct Slot {
    #[attr(required)]
    size: i64,
    #[attr(computed)]
    serial: String,
}

/// A resource type that returns no slots.
struct Racks;

impl Resource for Racks {
    type Model = Rack;

    async fn create(&self, _: Create<Rack>) -> Answer<RackComputed> {
        Ok(RackComputed { slots: Vec::new() })
    }
}

fn server() -> Server {
    let address = "registry.terraform.io/acme/test";
    Server::new(ProviderDef::new(address).with_meta::<Module>().resource("test_thing", Things))
}

fn plain(value: Value) -> Plain {
    value.split_marks().0
}

fn thing(ready: Value, owner: Value) -> Plain {
    plain(Value::object([("ready", ready), ("owner", owner)]))
}

fn payload(value: &Plain) -> Payload {
    Payload::Value(value.clone(), Thing::shape().ty().clone())
}

fn meta(owner: Option<&str>) -> Payload {
    let ty = Module::shape().ty().clone();
    let meta = match owner {
        Some(owner) => Value::object([("owner", Value::string(owner))]),
        None => Value::null(ty.clone()),
    };
    Payload::Value(plain(meta), ty)
}

fn plan(ready: Value, owner: Option<&str>, client: ClientCapabilities) -> PlanRequest {
    let shape = Thing::shape();
    let prior = plain(Value::null(shape.ty().clone()));
    let config = thing(ready, Value::null(Type::String));
    PlanRequest {
        type_name: "test_thing".to_owned(),
        // By the rules of a host, so that the tests have no proposal that no host would send.
        proposed: payload(&proposed_new(&shape.block, &prior, &config)),
        prior: payload(&prior),
        config: payload(&config),
        prior_private: Bytes::new(),
        provider_meta: meta(owner),
        client,
        prior_identity: None,
        planned_private: Bytes::new(),
    }
}

fn owner_of(payload: &Payload) -> Value {
    let object = payload.decode(Thing::shape().ty()).unwrap();
    Path::root().attribute("owner").find(object.value()).unwrap().clone()
}

#[tokio::test]
async fn provider_meta_reaches_every_call_of_a_resource() {
    let server = server();
    let yes = || Value::Bool(true);
    // A module without `provider_meta` sends a null.
    for (module_region, expected) in [(Some("us"), "us"), (None, "nobody")] {
        let planned = server.plan(plan(yes(), module_region, CLIENT_CAPABILITIES)).await.unwrap();
        assert_eq!(owner_of(&planned.planned), Value::string(expected));
        // Unknown, so that what is compared below comes from `create` and not from the plan.
        let planned = payload(&thing(yes(), Value::unknown(Type::String)));
        let request = plan(yes(), module_region, CLIENT_CAPABILITIES);
        let apply = ApplyRequest {
            type_name: request.type_name.clone(),
            prior: request.prior,
            planned,
            config: request.config,
            planned_private: Bytes::new(),
            provider_meta: meta(module_region),
            planned_identity: None,
        };
        let applied = server.apply(apply).await.unwrap();
        assert_eq!(owner_of(&applied.state), Value::string(expected));
        let read = ReadRequest {
            type_name: request.type_name,
            current: applied.state,
            private: Bytes::new(),
            provider_meta: meta(module_region),
            client: CLIENT_CAPABILITIES,
            identity: None,
        };
        assert_eq!(owner_of(&server.read(read).await.unwrap().state), Value::string(expected));
    }
}

#[tokio::test]
async fn a_response_is_deferred_only_if_the_host_supports_deferral() {
    let server = server();
    let open = || Value::unknown(Type::Bool);
    let patient = ClientCapabilities { deferral_allowed: true, ..CLIENT_CAPABILITIES };
    let answer = server.plan(plan(open(), None, patient)).await.unwrap();
    assert!(answer.diagnostics.is_empty());
    assert_eq!(answer.deferred, Some(DeferredReason::ResourceConfigUnknown));
    assert!(owner_of(&answer.planned).is_unknown(), "the planned value is unknown");
    let answer = server.plan(plan(Value::Bool(true), None, patient)).await.unwrap();
    assert_eq!(answer.deferred, None);
    let answer = server.plan(plan(open(), None, CLIENT_CAPABILITIES)).await.unwrap();
    assert_eq!(answer.deferred, None);
    assert_eq!(answer.diagnostics[0].summary, "Not ready");
    let read = |ready, client| ReadRequest {
        type_name: "test_thing".to_owned(),
        current: payload(&thing(ready, Value::string("us"))),
        private: Bytes::new(),
        provider_meta: Payload::Absent,
        client,
        identity: None,
    };
    let never = || Value::null(Type::Bool);
    let answer = server.read(read(never(), patient)).await.unwrap();
    assert_eq!(answer.deferred, Some(DeferredReason::AbsentPrerequisite));
    assert_eq!(owner_of(&answer.state), Value::string("us"), "it stays what it was");
    let answer = server.read(read(never(), CLIENT_CAPABILITIES)).await.unwrap();
    assert_eq!(answer.deferred, None);
    assert_eq!(owner_of(&answer.state), Value::string("nobody"));
}

#[tokio::test]
async fn an_unchanged_object_is_returned_in_its_original_bytes() {
    let server = server();
    let read = async |owner: &str, module_value: Option<&str>| {
        // In bytes, as from a host, to be compared with those of the answer.
        let current = payload(&thing(Value::Bool(true), Value::string(owner))).encode().unwrap();
        let request = ReadRequest {
            type_name: "test_thing".to_owned(),
            current: current.clone(),
            private: Bytes::new(),
            provider_meta: meta(module_value),
            client: CLIENT_CAPABILITIES,
            identity: None,
        };
        (current, server.read(request).await.unwrap().state)
    };
    let (sent, answered) = read("us", Some("us")).await;
    assert_eq!(answered, sent);
    let (_, answered) = read("us", Some("them")).await;
    assert_eq!(owner_of(&answered), Value::string("them"));
}

#[test]
fn futures_of_calls_fit_into_small_allocations() {
    let server: &dyn Provider = &server();
    let PlanRequest { type_name, prior, proposed, config, client, .. } =
        plan(Value::Bool(true), None, CLIENT_CAPABILITIES);
    let read = ReadRequest {
        type_name: type_name.clone(),
        current: prior.clone(),
        private: Bytes::new(),
        provider_meta: Payload::Absent,
        client,
        identity: None,
    };
    let apply = ApplyRequest {
        type_name,
        prior,
        planned: proposed,
        config,
        planned_private: Bytes::new(),
        provider_meta: Payload::Absent,
        planned_identity: None,
    };
    let planned = plan(Value::Bool(true), None, CLIENT_CAPABILITIES);
    let sizes = [
        size_of_val(&*server.call(Request::ReadResource(read))),
        size_of_val(&*server.call(Request::PlanResourceChange(planned))),
        size_of_val(&*server.call(Request::ApplyResourceChange(apply))),
    ];
    // The largest piece that glibc has for each thread.
    assert!(sizes.iter().all(|size| *size <= 1032), "{sizes:?}");
}

#[tokio::test]
async fn a_result_that_differs_from_its_plan_is_an_error_of_its_handler() {
    let racks = ProviderDef::new("registry.terraform.io/acme/test").resource("test_rack", Racks);
    let mut object = TestObject::new(racks, "test_rack").await.unwrap();
    let slot = Value::object([("size", Value::int(1)), ("serial", Value::null(Type::String))]);
    let refusal = object.apply([("slots", Value::tuple(vec![slot]))]).await.unwrap_err();
    let expected = "Provider returned invalid result object: After create the provider returned what \
                    it may not: .slots: ";
    assert!(refusal.0.starts_with(expected), "{refusal:?}");
    assert!(refusal.0.contains("(rule result-elements)"), "{refusal:?}");
    // It may exist, so it is kept together with the error.
    assert!(!object.object().is_null());
}
