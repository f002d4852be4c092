//! Lifecycles of models with blocks and nested attributes of every kind.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;
use formwork_sdk::schema::Role;
use formwork_sdk::testing::{PlannedAction, TestObject};
use formwork_sdk::value::schema::{AttributeKind, Nesting};
use formwork_sdk::value::{Number, Type, Value};

/// A machine in a network.
#[derive(Model)]
#[attr(conflicts(image, disks), at_least_one_of(image, disks, ports))]
struct Machine {
    /// Name of the machine.
    #[attr(required, length = 1..=8, identity)]
    name: String,
    /// Size of the machine.
    #[attr(default = "small", one_of = ["small", "large"])]
    size: String,
    /// Number of cores.
    #[attr(default = 2, range = 1..=64)]
    cores: u8,
    #[attr(optional, check = not_empty)]
    image: Option<String>,
    /// Every number there is.
    #[attr(optional)]
    numbers: Option<Vec<Number>>,
    /// The address in the network.
    #[attr(required, fills)]
    network: Network,
    /// Connected machines.
    #[attr(optional)]
    peers: Option<BTreeMap<String, Peer>>,
    /// Open ports.
    #[block(max = 3)]
    ports: Vec<Port>,
    /// Attached disks; a change needs another machine.
    #[block(fills)]
    disks: Set<Disk>,
    /// Login data.
    #[block]
    login: Option<Login>,
    /// Id of the machine.
    #[attr(computed, keep, import)]
    id: String,
    #[attr(computed)]
    state: Vec<Status>,
}

#[derive(Clone, Debug, Nested)]
struct Network {
    /// Zone of the network.
    #[attr(required, replace)]
    zone: String,
    #[attr(optional_computed, keep)]
    address: String,
    #[attr(computed)]
    gateway: String,
}

#[derive(Clone, Debug, PartialEq, Nested)]
struct Peer {
    #[attr(default = 80)]
    port: u16,
    #[attr(optional, sensitive)]
    password: Option<String>,
}

#[derive(Clone, Debug, Nested)]
struct Port {
    #[attr(required, range = 1..=65_535)]
    from: u16,
    #[attr(default = "tcp")]
    protocol: String,
    #[block]
    rules: Vec<PortRule>,
}

#[derive(Clone, Debug, Nested)]
struct PortRule {
    #[attr(required)]
    allow: bool,
}

#[derive(Clone, Debug, Nested)]
struct Disk {
    #[attr(required, replace)]
    size: i64,
    #[attr(default = "ssd")]
    kind: String,
    #[attr(computed)]
    serial: String,
}

#[derive(Clone, Debug, Nested)]
struct Login {
    #[attr(required)]
    user: String,
    #[attr(optional, write_only)]
    password: Option<String>,
}

#[derive(Clone, Debug, Nested)]
struct Status {
    #[attr(computed)]
    what: String,
}

fn not_empty(text: &str) -> Result<(), String> {
    if text.is_empty() { Err("must not be empty.".to_owned()) } else { Ok(()) }
}

struct Machines;

fn computed_machine(planned: MachineInput) -> MachineComputed {
    let login = planned.login.map(|login| login.password.unwrap_or_default());
    let disks = planned.disks.into_iter().map(|disk| Disk {
        serial: format!("{}-{}", disk.kind, disk.size),
        size: disk.size,
        kind: disk.kind,
    });
    MachineComputed {
        id: format!("{}/{}", planned.network.zone, planned.name),
        network: Network {
            address: planned.network.address.unwrap_or_else(|| "10.0.0.1".to_owned()),
            gateway: format!("gw.{}", planned.network.zone),
            // Not computed, so the planned zone stays, regardless of the handler.
            zone: "whatever".to_owned(),
        },
        disks: disks.collect(),
        state: vec![Status { what: format!("{} {}", planned.size, login.unwrap_or_default()) }],
    }
}

impl Resource for Machines {
    type Model = Machine;

    async fn create(&self, call: Create<Machine>) -> Answer<MachineComputed> {
        Ok(computed_machine(call.planned))
    }

    async fn update(&self, call: Update<Machine>) -> Answer<MachineComputed> {
        Ok(computed_machine(call.planned))
    }
}

fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/test").resource("test_machine", Machines)
}

async fn test_object() -> TestObject {
    TestObject::new(provider(), "test_machine").await.unwrap()
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn network(zone: &str) -> (&'static str, Value) {
    let parts = [
        ("zone", text(zone)),
        ("address", Value::null(Type::String)),
        ("gateway", Value::null(Type::String)),
    ];
    ("network", Value::object(parts))
}

fn disks(sizes: &[i64]) -> (&'static str, Value) {
    let disk = |size: &i64| {
        // All attributes, as a host sends them: what is not set is null.
        Value::object([
            ("size", Value::int(*size)),
            ("kind", Value::null(Type::String)),
            ("serial", Value::null(Type::String)),
        ])
    };
    ("disks", Value::tuple(sizes.iter().map(disk).collect()))
}

fn ports(from: &[i64]) -> (&'static str, Value) {
    let port = |from: &i64| {
        let rules = Value::tuple(vec![Value::object([("allow", Value::Bool(true))])]);
        Value::object([
            ("from", Value::int(*from)),
            ("protocol", Value::null(Type::String)),
            ("rules", rules),
        ])
    };
    ("ports", Value::tuple(from.iter().map(port).collect()))
}

fn find(value: &Value, path: &Path) -> Value {
    path.find(value).unwrap_or_else(|| panic!("nothing at {path}: {value:?}")).clone()
}

fn value_at(object: &TestObject, path: &Path) -> Value {
    find(object.object(), path)
}

fn name(name: &str) -> (&'static str, Value) {
    ("name", text(name))
}

#[test]
fn structs_are_blocks_and_nested_attributes() {
    let block = Machine::shape().block;
    let AttributeKind::Nested(network) = &block.attributes["network"].kind else { panic!() };
    assert_eq!(network.nesting, Nesting::Single);
    assert_eq!(network.attributes["zone"].docs.description, "Zone of the network.");
    assert_eq!(network.attributes["address"].role, Role::OptionalComputed);
    let AttributeKind::Nested(peers) = &block.attributes["peers"].kind else { panic!() };
    assert_eq!(peers.nesting, Nesting::Map);
    assert!(peers.attributes["password"].sensitive);
    // 0 means no limit in the protocol.
    let nestings = ["ports", "disks", "login"]
        .map(|name| (block.blocks[name].nesting, block.blocks[name].max_items));
    assert_eq!(nestings, [(Nesting::List, 3), (Nesting::Set, 0), (Nesting::Single, 0)]);
    assert_eq!(block.blocks["ports"].block.docs.description, "Open ports.");
    assert_eq!(block.blocks["ports"].block.blocks["rules"].nesting, Nesting::List);
    // The protocol has no defaults: for a host, the provider computes the value.
    assert_eq!(block.attributes["cores"].role, Role::OptionalComputed);
}

#[tokio::test]
async fn nested_parts_have_defaults_and_computed_attributes() {
    let mut object = test_object().await;
    let peers = Value::object([(
        "b",
        Value::object([("port", Value::null(Type::Number)), ("password", text("p"))]),
    )]);
    let config = [name("m"), network("z"), ports(&[22]), ("peers", peers)];
    assert_eq!(object.apply(config.clone()).await, Ok(PlannedAction::Create));
    let root = Path::root();
    let table = [
        (root.attribute("id"), text("z/m")),
        (root.attribute("cores"), Value::int(2)),
        (root.attribute("network").attribute("zone"), text("z")),
        (root.attribute("network").attribute("address"), text("10.0.0.1")),
        (root.attribute("network").attribute("gateway"), text("gw.z")),
        (root.attribute("ports").index(0).attribute("protocol"), text("tcp")),
        (root.attribute("peers").key("b").attribute("port"), Value::int(80)),
        (root.attribute("peers").key("b").attribute("password"), text("p")),
        (root.attribute("state").index(0).attribute("what"), text("small ")),
    ];
    for (path, expected) in table {
        assert_eq!(value_at(&object, &path), expected, "{path}");
    }
    object.upgrade_stored().await.unwrap();
    assert_eq!(object.apply(config).await, Ok(PlannedAction::Nothing));
}

#[tokio::test]
async fn nested_computed_attributes_are_unknown_until_the_apply() {
    let mut object = test_object().await;
    let planned = object.plan([name("m"), network("z"), disks(&[1])]).await.unwrap().object;
    let network_path = Path::root().attribute("network");
    assert_eq!(find(&planned, &network_path.attribute("zone")), text("z"));
    assert!(find(&planned, &network_path.attribute("gateway")).is_unknown());
    object.apply([name("m"), network("z"), disks(&[1])]).await.unwrap();
    let planned = object.plan([name("n"), network("z"), disks(&[1])]).await.unwrap();
    assert_eq!(planned.action, PlannedAction::Update);
    let address = find(&planned.object, &network_path.attribute("address"));
    assert_eq!(address, text("10.0.0.1"), "it is kept");
    assert!(find(&planned.object, &network_path.attribute("gateway")).is_unknown());
}

#[tokio::test]
async fn set_elements_have_defaults_and_keep_computed_attributes() {
    let mut object = test_object().await;
    let config = [name("m"), network("z"), disks(&[1, 2])];
    assert_eq!(object.apply(config.clone()).await, Ok(PlannedAction::Create));
    let disks_of = |object: &TestObject| {
        let Value::Set(set) = value_at(object, &Path::root().attribute("disks")) else { panic!() };
        let serial = |disk: &Value| find(disk, &Path::root().attribute("serial"));
        set.items().iter().map(serial).collect::<Vec<_>>()
    };
    assert_eq!(disks_of(&object), [text("ssd-1"), text("ssd-2")]);
    assert_eq!(object.apply(config).await, Ok(PlannedAction::Nothing));
    // The removed element has an attribute that forces replacement.
    assert_eq!(
        object.apply([name("m"), network("z"), disks(&[2])]).await,
        Ok(PlannedAction::Replace)
    );
    assert_eq!(disks_of(&object), [text("ssd-2")]);
}

#[tokio::test]
async fn nested_changes_force_a_replacement_only_where_declared() {
    let mut object = test_object().await;
    object.apply([name("m"), network("z"), ports(&[22])]).await.unwrap();
    // Every element of the list moves, but no attribute of a port has `replace`.
    let same = object.apply([name("m"), network("z"), ports(&[80, 22])]).await;
    assert_eq!(same, Ok(PlannedAction::Update));
    let moved = object.apply([name("m"), network("y"), ports(&[80, 22])]).await;
    assert_eq!(moved, Ok(PlannedAction::Replace));
    assert_eq!(object.get("id"), &text("y/m"));
}

#[tokio::test]
async fn a_secret_in_a_block_reaches_only_the_handler() {
    let mut object = test_object().await;
    let login = Value::object([("user", text("u")), ("password", text("hidden"))]);
    // `image` is set because one of three must be, and there are no ports.
    object
        .apply([name("m"), network("z"), ports(&[]), ("image", text("i")), ("login", login)])
        .await
        .unwrap();
    let root = Path::root();
    assert_eq!(
        value_at(&object, &root.attribute("state").index(0).attribute("what")),
        text("small hidden")
    );
    // Terraform refuses an answer with a value in a write-only attribute.
    assert!(value_at(&object, &root.attribute("login").attribute("password")).is_null());
}

#[tokio::test]
async fn errors_are_reported_with_their_path() {
    let null = || Value::null(Type::String);
    let table = [
        (vec![name("much too long"), network("z"), ports(&[1])], "`name` must have at least 1 and"),
        (vec![name("m"), network("z"), ports(&[0])], "`ports[0].from` must be at least 1"),
        (vec![name("m"), network("z")], "At least one of `image`, `disks`, `ports`"),
        (
            vec![name("m"), network("z"), disks(&[1]), ("image", text("i"))],
            "Only one of `image`, `disks` can be set; `image` and `disks` are",
        ),
        (vec![name("m"), network("z"), ("image", text(""))], "`image` must not be empty."),
        (
            vec![name("m"), network("z"), ports(&[1]), ("size", text("huge"))],
            "`size` must be one of \"small\", \"large\", and not \"huge\"",
        ),
        (
            vec![
                name("m"),
                ports(&[1]),
                (
                    "network",
                    Value::object([("zone", null()), ("address", null()), ("gateway", text("g"))]),
                ),
            ],
            "`network.gateway` is set only by the provider",
        ),
        (vec![name("m"), network("z"), ports(&[1]), ("cores", Value::int(99))], "and not 99"),
    ];
    for (config, expected) in table {
        let refusal = test_object().await.apply(config).await.unwrap_err();
        assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
    }
}

#[tokio::test]
async fn an_imported_object_requires_only_its_id() {
    let mut object = test_object().await;
    object.import("z/m").await.unwrap();
    assert_eq!(object.get("id"), &text("z/m"));
    // A host reads the object after its import, and that fills in the rest.
    assert!(object.get("network").is_null());
}

#[test]
fn sensitive_attributes_are_not_printed() {
    let peer = PeerDraft { port: 1.into(), password: "p".into() };
    assert_eq!(format!("{peer:?}"), "PeerDraft { port: Known(1), password: (sensitive) }");
}

/// Position of an object.
#[derive(Clone, Model)]
struct Spot {
    #[attr(required, identity)]
    region: String,
}

/// Look of an object.
#[derive(Clone, Model)]
struct Look {
    #[attr(required)]
    color: String,
}

#[derive(Model)]
struct House {
    #[attr(flatten, identity)]
    spot: Spot,
    #[attr(flatten)]
    look: Look,
}

#[derive(Model)]
struct Car {
    #[attr(flatten)]
    look: Look,
}

#[test]
fn a_flattened_model_is_part_of_the_identity_if_it_is_marked() {
    let identity = || SpotIdentity { region: "here".to_owned() };
    let house = HouseDraft::from(HouseIdentity { spot: identity() });
    assert_eq!(house, HouseDraft { spot: identity().into(), look: LookDraft::default() });
    // A car has no identity attributes, so it has no identity type.
    assert_eq!(CarDraft::from(()), CarDraft::default());
    assert_eq!((House::HAS_IDENTITY, Car::HAS_IDENTITY), (true, false));
}

#[test]
fn objects_are_the_same_if_all_parts_are_the_same() {
    let port =
        |from, protocol: &str| Port { from, protocol: protocol.to_owned(), rules: Vec::new() };
    let ports = Gate { name: "a".to_owned(), ports: vec![port(1, "tcp"), port(2, "udp")] };
    let value = ports.to_value();
    assert!(ports.same_as(&value));
    assert!(Gate::from_value(&value).unwrap().same_as(&value));
    let renamed = Gate { name: "b".to_owned(), ..ports.clone() };
    let fewer = Gate { ports: vec![port(1, "tcp")], ..ports.clone() };
    let more_ports = Gate { ports: vec![port(1, "tcp"), port(2, "tcp")], ..ports.clone() };
    for other in [renamed, fewer, more_ports] {
        assert!(!other.same_as(&value), "{other:?}");
    }
    let more = Value::object([
        ("name", Value::string("a")),
        ("ports", Value::int(1)),
        ("x", Value::int(1)),
    ]);
    assert!(!ports.same_as(&more), "another type");
}

/// Access rules.
#[derive(Clone, Debug, Model)]
struct Gate {
    #[attr(required)]
    name: String,
    #[block]
    ports: Vec<Port>,
}
