//! Tests of failing handlers, sensitive values, stored objects, and attributes that must not be
//! set.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest};
use formwork_plugin_protocol::message::read_data::ReadDataRequest;
use formwork_plugin_protocol::message::resource::PlanRequest;
use formwork_plugin_protocol::{Payload, ProviderExt as _};
use formwork_value::{Type, Value};

use super::Server;
use crate::prelude::*;
use crate::testing::{PlannedAction, TestEphemeral, TestObject, call_function};

mod deferral;

/// An object whose name selects the handler's action.
#[derive(Model)]
struct Thing {
    /// Action of the test handler.
    #[attr(required)]
    name: String,
    #[attr(optional)]
    tags: Option<BTreeMap<String, String>>,
    #[attr(optional, write_only)]
    secret: Option<String>,
    #[attr(computed)]
    seen: i64,
    #[attr(computed, keep)]
    id: String,
}

struct Things;

impl Resource for Things {
    type Model = Thing;

    const VERSION: u64 = 1;

    async fn create(&self, call: Create<Thing>) -> Answer<ThingComputed> {
        match call.planned.name.as_str() {
            "panics" => panic!("out of luck"),
            "fails" => return Err(Problem::new("Not today", "Try tomorrow.")),
            "half" => {
                call.report(Problem::new("Half done", ""));
            }
            "breaks off" => {
                // The object exists, so its id must survive the panic.
                call.keep(ThingDraft { id: "2".into(), ..ThingDraft::default() });
                panic!("the line was cut");
            }
            _ => (),
        }
        call.private.set("etag", "first");
        // The length proves that the secret arrived, and keeps it out of the state.
        let secret = call.planned.secret.unwrap_or_default();
        Ok(ThingComputed { seen: i64::try_from(secret.len()).unwrap_or_default(), id: "1".into() })
    }

    async fn read(&self, call: Read<Thing>) -> Answer<Option<Thing>> {
        Ok((call.current.name != "gone").then_some(call.current))
    }

    async fn update(&self, call: Update<Thing>) -> Answer<ThingComputed> {
        assert_ne!(call.planned.name, "panics", "out of luck");
        if call.planned.name == "half" {
            // Attributes that are not kept here stay as before the call.
            call.keep(ThingDraft { name: "half".into(), ..ThingDraft::default() });
            return Err(Problem::new("Renamed only", ""));
        }
        assert_eq!(call.private.get("etag").as_deref(), Some("first"));
        // The planned id must win over this.
        Ok(ThingComputed { seen: 0, id: "another".to_owned() })
    }

    async fn upgrade(&self, call: Upgrade) -> Answer<ThingDraft> {
        let old: Thing = call.stored.to_model()?;
        Ok(Thing { seen: 7, ..old }.into())
    }
}

/// A lease.
#[derive(Model)]
struct Lease {
    /// The leased object.
    #[attr(required)]
    on: String,
    #[attr(computed)]
    key: String,
}

struct Leases;

impl Ephemeral for Leases {
    type Model = Lease;

    async fn open(&self, call: Open<Lease>) -> Answer<LeaseComputed> {
        call.private.set("state", "opened");
        Ok(LeaseComputed { key: format!("the key of {}", call.config.on) })
    }

    async fn renew(&self, call: Renew) -> Answer<()> {
        assert_ne!(call.private.get("state").as_deref(), Some("renewed"), "renewed twice");
        call.private.set("state", "renewed");
        Ok(())
    }

    async fn close(&self, call: Close) -> Answer<()> {
        match call.private.get("state").as_deref() {
            // Terraform closes with the private data of the opening, not with those of a renewal.
            Some("opened") => Ok(()),
            _ => Err(Problem::new("Not the key that was given", "")),
        }
    }
}

/// Halves numbers.
#[derive(Arguments)]
struct Halved {
    of: i64,
    #[attr(variadic)]
    more: Vec<i64>,
}

impl Function for Halved {
    type Result = i64;

    fn call(self) -> Answer<i64> {
        let sum = self.of + self.more.iter().sum::<i64>();
        assert_ne!(sum, 13, "out of luck");
        match sum % 2 {
            0 => Ok(sum / 2),
            _ => Err(Problem::from_detail(format!("{sum} is odd."))),
        }
    }
}

fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/test")
        .resource("test_thing", Things)
        .ephemeral("test_lease", Leases)
        .function::<Halved>("halved")
}

async fn test_object() -> TestObject {
    TestObject::new(provider(), "test_thing").await.unwrap()
}

fn tagged(tag: &str) -> (&'static str, Value) {
    ("tags", Value::map(Type::String, [("tag", Value::string(tag))]))
}

fn named(name: &str) -> (&'static str, Value) {
    ("name", Value::string(name))
}

#[tokio::test]
async fn a_secret_reaches_only_the_handler() {
    let mut object = test_object().await;
    let secret = ("secret", Value::string("four"));
    assert_eq!(object.apply([named("a"), secret]).await, Ok(PlannedAction::Create));
    assert_eq!(object.get("seen"), &Value::int(4));
    assert!(object.get("secret").is_null());
}

#[tokio::test]
async fn planned_values_take_precedence_over_the_handlers_result() {
    let mut object = test_object().await;
    object.apply([named("a")]).await.unwrap();
    assert_eq!(object.apply([named("b")]).await, Ok(PlannedAction::Update));
    assert_eq!(object.get("id"), &Value::string("1"));
    assert_eq!(object.get("name"), &Value::string("b"));
    assert_eq!(object.get("seen"), &Value::int(0));
}

#[tokio::test]
async fn an_object_created_before_a_failure_is_kept_and_can_be_deleted() {
    let mut object = test_object().await;
    let refusal = object.apply([named("breaks off")]).await.unwrap_err();
    assert!(refusal.0.contains("the line was cut"), "{refusal:?}");
    assert_eq!(object.get("id"), &Value::string("2"));
    assert!(object.get("seen").is_null());
    object.read().await.unwrap();
    assert!(object.get("seen").is_null(), "what the state lacks is not made up");
    object.destroy().await.unwrap();
    object.apply([named("a")]).await.unwrap();
    assert!(
        object.apply([named("half"), tagged("x")]).await.unwrap_err().0.contains("Renamed only")
    );
    assert_eq!(object.get("name"), &Value::string("half"));
    assert!(object.get("tags").is_null());
}

#[tokio::test]
async fn a_failed_handler_keeps_only_a_partial_result() {
    let mut object = test_object().await;
    let refusal = object.apply([named("fails")]).await.unwrap_err();
    assert_eq!(refusal.0, "Not today: Try tomorrow.");
    assert!(object.object().is_null());
    let refusal = object.apply([named("half")]).await.unwrap_err();
    assert_eq!(refusal.0, "Half done: ");
    assert_eq!(object.get("id"), &Value::string("1"));
}

#[tokio::test]
async fn a_panic_is_an_error_and_the_object_is_unchanged() {
    let mut object = test_object().await;
    let refusal = object.apply([named("panics")]).await.unwrap_err();
    assert!(refusal.0.contains("Provider panicked"), "{refusal:?}");
    assert!(refusal.0.contains("panicked at sdk/src/server/tests.rs:"), "{refusal:?}");
    assert!(refusal.0.contains(": out of luck"), "{refusal:?}");
    assert!(object.object().is_null());
    object.apply([named("a")]).await.unwrap();
    assert!(object.apply([named("panics")]).await.is_err());
    assert_eq!(object.get("name"), &Value::string("a"));
}

#[tokio::test]
async fn a_partly_known_list_remains_partly_known_in_the_plan() {
    let mut object = test_object().await;
    let tags = Value::map(
        Type::String,
        [("a", Value::string("known")), ("b", Value::unknown(Type::String))],
    );
    let planned = object.plan([named("a"), ("tags", tags.clone())]).await.unwrap();
    assert_eq!(Path::root().attribute("tags").find(&planned.object), Some(&tags));
}

#[tokio::test]
async fn a_value_that_the_model_cannot_represent_is_refused_with_its_path() {
    let tags = Value::map(Type::String, [("a", Value::null(Type::String))]);
    let refusal = test_object().await.apply([named("a"), ("tags", tags)]).await.unwrap_err();
    assert!(refusal.0.contains("`tags[\"a\"]`: a string is required"), "{refusal:?}");
}

#[tokio::test]
async fn read_only_and_missing_attributes_are_refused() {
    let refusal = test_object().await.apply([("id", Value::string("mine"))]).await.unwrap_err();
    assert!(refusal.0.contains("Invalid Configuration for Read-Only Attribute"), "{refusal:?}");
    assert!(refusal.0.contains("`name` must have a value"), "{refusal:?}");
}

#[tokio::test]
async fn stored_objects_are_read_leniently_upgraded_or_refused() {
    let mut object = test_object().await;
    object.upgrade(1, r#"{"name":"a","gone":1}"#).await.unwrap();
    assert!(object.get("seen").is_null());
    object.upgrade(0, r#"{"name":"a"}"#).await.unwrap();
    assert_eq!(object.get("seen"), &Value::int(7));
    let refusal = object.upgrade(2, r#"{"name":"a"}"#).await.unwrap_err();
    assert!(refusal.0.contains("managed by newer provider version"), "{refusal:?}");
    let refusal = object.upgrade(1, r#"{"name":{}}"#).await.unwrap_err();
    assert!(refusal.0.contains("Unable to read previously saved state"), "{refusal:?}");
}

/// Position of things.
#[derive(Model)]
struct Place {
    #[attr(required)]
    url: String,
}

struct Remembers(Arc<Mutex<String>>);

impl Configure for Remembers {
    type Model = Place;

    fn validate(&self, call: Validate<Place>) -> Answer<()> {
        match call.config.url.get() {
            Some(url) if url.is_empty() => Err(Problem::new("No URL", "")),
            _ => Ok(()),
        }
    }

    async fn configure(&self, call: Setup<Place>) -> Answer<()> {
        *self.0.lock().unwrap() = call.config.url.or_default();
        Ok(())
    }
}

#[tokio::test]
async fn a_provider_is_validated_and_configured() {
    let url = Arc::new(Mutex::new(String::new()));
    let server = Server::new(provider().with_configuration(Remembers(url.clone())));
    let ty = server.schema().await.unwrap().provider.block.implied_type();
    let config = |url: &str| {
        let object = Value::object([("url", Value::string(url))]);
        Payload::Value(object.split_marks().0, ty.clone())
    };
    let validate = |url| ValidateRequest {
        type_name: String::new(),
        config: config(url),
        client: ClientCapabilities::default(),
    };
    let problems = |url| server.validate_provider_config(validate(url));
    assert_eq!(problems("").await.unwrap().diagnostics[0].summary, "No URL");
    assert!(problems("u").await.unwrap().diagnostics.is_empty());
    let request = ConfigureRequest {
        terraform_version: "1.11.4".to_owned(),
        config: config("u"),
        client: ClientCapabilities::default(),
    };
    assert!(server.configure(request).await.unwrap().diagnostics.is_empty());
    assert_eq!(*url.lock().unwrap(), "u");
}

#[tokio::test]
async fn hosts_without_write_only_attributes_receive_an_error() {
    let server = Server::new(provider());
    let object = Value::object([
        ("name", Value::string("a")),
        ("secret", Value::string("s")),
        ("tags", Value::null(Type::map(Type::String))),
        ("seen", Value::null(Type::Number)),
        ("id", Value::null(Type::String)),
    ]);
    let ty = object.ty();
    let request = ValidateRequest {
        type_name: "test_thing".to_owned(),
        config: Payload::Value(object.split_marks().0, ty),
        // Hosts before Terraform 1.11 do not name the capability, and would store the secret.
        client: ClientCapabilities::default(),
    };
    let verdict = server.validate_resource_config(request).await.unwrap();
    assert_eq!(verdict.diagnostics[0].summary, "Write-only attribute not allowed");
    assert_eq!(verdict.diagnostics[0].path, Path::root().attribute("secret"));
}

#[test]
fn the_struct_is_the_schema() {
    let block = Thing::shape().block;
    assert_eq!(block.docs.description, "An object whose name selects the handler's action.");
    let name = &block.attributes["name"];
    assert_eq!(name.docs.description, "Action of the test handler.");
    assert_eq!(name.role, crate::schema::Role::Required);
    assert!(block.attributes["secret"].write_only);
    let ty = block.attributes["tags"].implied_type();
    assert_eq!(ty, Type::map(Type::String));
}

#[tokio::test]
async fn an_ephemeral_resource_is_closed_with_its_private_data() {
    let mut lease = TestEphemeral::new(provider(), "test_lease").await.unwrap();
    let opened = lease.open(&[("on", Value::string("a"))]).await.unwrap();
    let key = Path::root().attribute("key");
    assert_eq!(key.find(&opened), Some(&Value::string("the key of a")));
    assert_eq!(lease.renew().await, Ok(None));
    // The message of a panic is reported, and the next renewal still has the last good answer.
    assert!(lease.renew().await.unwrap_err().0.contains("renewed twice"));
    assert_eq!(lease.close().await, Ok(()));
}

#[tokio::test]
async fn an_ephemeral_resource_requires_its_attributes() {
    let mut lease = TestEphemeral::new(provider(), "test_lease").await.unwrap();
    assert!(lease.open(&[]).await.unwrap_err().0.contains("`on` must have a value"));
}

#[tokio::test]
async fn a_function_returns_a_result_or_an_error() {
    let of = async |numbers: &[&str]| {
        let numbers = numbers.iter().map(|text| formwork_value::Number::parse(text).unwrap());
        call_function(provider(), "halved", numbers.map(Value::Number).collect()).await
    };
    let refusal = async |numbers: &[&str]| of(numbers).await.unwrap_err().0;
    assert_eq!(of(&["2"]).await, Ok(Value::int(1)));
    assert_eq!(of(&["2", "4", "8"]).await, Ok(Value::int(7)));
    assert_eq!(refusal(&["3"]).await, "3 is odd");
    assert!(refusal(&["2", "0.5"]).await.starts_with("argument 2: a whole number is required"));
    let panicked = "the function panicked at sdk/src/server/tests.rs:";
    assert!(refusal(&["13"]).await.starts_with(panicked));
    assert!(refusal(&[]).await.contains("1 arguments are needed"));
}

/// A store of secrets.
#[derive(Model)]
struct Vault {
    #[attr(optional, sensitive, one_of = ["open", "shut"])]
    word: Option<String>,
    #[attr(optional, range = 1..=9)]
    pin: Option<Secret<u32>>,
    #[attr(optional, write_only, check = no_digits)]
    phrase: Option<String>,
    #[attr(optional)]
    inner: Option<Secret<Inner>>,
}

#[derive(Clone, Debug, Nested)]
struct Inner {
    #[attr(required, length = 1..=3)]
    code: String,
}

fn no_digits(text: &str) -> Result<(), String> {
    match text.contains('7') {
        // A check may put the value into its message, which must not be shown then.
        true => Err(format!("must not be {text:?}")),
        false => Err("must be longer".to_owned()),
    }
}

struct Vaults;

impl Resource for Vaults {
    type Model = Vault;

    async fn create(&self, _: Create<Vault>) -> Answer<VaultComputed> {
        Ok(VaultComputed {})
    }
}

#[tokio::test]
async fn errors_about_a_secret_do_not_contain_it() {
    let provider =
        || ProviderDef::new("registry.terraform.io/acme/test").resource("test_vault", Vaults);
    let inner = Value::object([("code", Value::string("hunter2"))]);
    let table = [
        ("word", Value::string("hunter2"), "`word` must be one of \"open\", \"shut\"."),
        ("pin", Value::int(4711), "`pin` must be at least 1 and at most 9."),
        // Here not a check refuses but the conversion, which must hide the number too.
        ("pin", Value::int(-4711), "`pin`: it is too small; from 0 to 4294967295 can be given."),
        ("phrase", Value::string("hunter7"), "it contains a sensitive value."),
        ("phrase", Value::string("hunter"), "`phrase` must be longer."),
        ("inner", inner, "`inner.code` must have at least 1 and at most 3 characters."),
    ];
    for (name, value, expected) in table {
        let mut object = TestObject::new(provider(), "test_vault").await.unwrap();
        let refusal = object.apply([(name, value)]).await.unwrap_err();
        assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
        assert!(!refusal.0.contains("hunter") && !refusal.0.contains("4711"), "{refusal:?}");
    }
}

/// A resource type that plans what its author did not write.
struct Willful;

impl Resource for Willful {
    type Model = Place;

    fn validate(&self, _: Validate<Place>) -> Answer<()> {
        Err(Problem::new("No place is good enough", ""))
    }

    async fn modify_plan(&self, change: &mut ModifyPlan<Place>) -> Answer<()> {
        change.planned.url = "https://elsewhere".into();
        Ok(())
    }

    async fn create(&self, _: Create<Place>) -> Answer<PlaceComputed> {
        Ok(PlaceComputed {})
    }
}

fn willful() -> Server {
    Server::new(ProviderDef::new("registry.terraform.io/acme/test").resource("test_place", Willful))
}

fn place(url: &str) -> Payload {
    let url = if url.is_empty() { Value::null(Type::String) } else { Value::string(url) };
    let place = Value::object([("url", url)]).split_marks().0;
    Payload::Value(place, Place::shape().ty().clone())
}

#[tokio::test]
async fn a_plan_that_changes_configured_values_is_refused() {
    let request = PlanRequest {
        type_name: "test_place".to_owned(),
        prior: Payload::Absent,
        proposed: place("https://here"),
        config: place("https://here"),
        prior_private: bytes::Bytes::new(),
        planned_private: bytes::Bytes::new(),
        provider_meta: Payload::Absent,
        client: ClientCapabilities::default(),
        prior_identity: None,
    };
    let answer = willful().plan(request).await.unwrap();
    let problem = &answer.diagnostics[0];
    assert_eq!(problem.summary, "Provider produced invalid plan");
    assert!(problem.detail.contains("`modify_plan`"), "{}", problem.detail);
    assert_eq!(problem.path, Path::root().attribute("url"));
}

#[tokio::test]
async fn errors_of_the_schema_and_of_the_handler_are_reported_together() {
    let client = ClientCapabilities::default();
    let type_name = "test_place".to_owned();
    let request = ValidateRequest { type_name, config: place(""), client };
    let diags = willful().validate_resource_config(request).await.unwrap().diagnostics;
    let summaries: Vec<_> = diags.iter().map(|problem| problem.summary.as_str()).collect();
    assert_eq!(
        summaries,
        ["Missing Configuration for Required Attribute", "No place is good enough"]
    );
}

/// A provider that requires its location.
struct Placed;

impl Configure for Placed {
    type Model = Place;

    async fn configure(&self, call: Setup<Place>) -> Answer<()> {
        call.known_config().map(drop)
    }
}

#[tokio::test]
async fn unknown_attributes_of_the_configuration_are_named() {
    let provider = ProviderDef::new("registry.terraform.io/acme/test").with_configuration(Placed);
    let config = Value::object([("url", Value::unknown(Type::String))]).split_marks().0;
    let request = ConfigureRequest {
        terraform_version: "1.11.4".to_owned(),
        config: Payload::Value(config, Place::shape().ty().clone()),
        client: ClientCapabilities::default(),
    };
    let diags = Server::new(provider).configure(request).await.unwrap().diagnostics;
    assert_eq!(diags[0].path, Path::root().attribute("url"));
    assert!(diags[0].detail.starts_with("`url` will be known only when"), "{}", diags[0].detail);
}

#[tokio::test]
async fn duplicate_and_invalid_names_are_reported_in_the_first_response() {
    let provider = ProviderDef::new("registry.terraform.io/acme/test")
        .resource("test_place", Willful)
        .resource("test_place", Willful)
        // Names may have a dash, and no capitals.
        .resource("test-er_place", Willful)
        .resource("Test-Place", Willful);
    let refusal = TestObject::new(provider, "test_place").await.err().unwrap();
    assert!(refusal.0.contains("\"test_place\" is added twice"), "{refusal:?}");
    assert!(refusal.0.contains("\"Test-Place\" is not a valid name"), "{refusal:?}");
    assert_eq!(refusal.0.matches("bug in the provider").count(), 2, "once each: {refusal:?}");
}

/// A data source that never answers.
struct Silent;

impl DataSource for Silent {
    type Model = Nothing;

    async fn read(&self, call: ReadData<Nothing>) -> Answer<NothingComputed> {
        // A warning before the interruption must not be lost.
        call.warn(Problem::new("Asked", ""));
        std::future::pending().await
    }
}

/// Arguments of an unused call.
#[derive(Model)]
struct Nothing {
    #[attr(computed)]
    id: String,
}

#[tokio::test]
async fn a_read_only_call_ends_when_the_host_stops() {
    let provider =
        ProviderDef::new("registry.terraform.io/acme/test").data_source("test_silent", Silent);
    let server = Server::new(provider);
    let config = Value::object([("id", Value::null(Type::String))]).split_marks().0;
    let request = ReadDataRequest {
        type_name: "test_silent".to_owned(),
        config: Payload::Value(config, Nothing::shape().ty().clone()),
        provider_meta: Payload::Absent,
        client: ClientCapabilities::default(),
        address: String::new(),
    };
    // `join!` polls in this order, so the read begins before the stop.
    let (answer, stopped) = tokio::join!(server.read_data(request), server.stop());
    stopped.unwrap();
    let diags = answer.unwrap().diagnostics;
    let summaries: Vec<_> = diags.iter().map(|problem| problem.summary.as_str()).collect();
    assert_eq!(summaries, ["Asked", "Interrupted"]);
}
