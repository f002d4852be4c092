//! Rules of attributes over a lifecycle: the plan has no change that the configuration does not
//! request.

use formwork_sdk::prelude::*;

use super::super::*;

/// A rule of a firewall.
#[derive(Clone, Debug, Nested)]
struct Port {
    #[attr(required)]
    number: i64,
    #[attr(default = "tcp")]
    protocol: String,
}

/// A disk, which cannot be moved.
#[derive(Clone, Debug, Nested)]
struct Disk {
    #[attr(required)]
    size: i64,
    #[attr(optional)]
    place: Option<Place>,
}

#[derive(Clone, Debug, Nested)]
struct Place {
    #[attr(required, replace)]
    rack: String,
}

#[derive(Clone, Model)]
struct Server {
    #[attr(optional)]
    label: Option<String>,
    /// Computed if it is not set.
    #[attr(optional_computed, replace)]
    zone: String,
    /// Computed if none is set.
    #[attr(optional_computed)]
    ports: Vec<Port>,
    /// Computed if none is set, and kept.
    #[attr(optional_computed, keep)]
    kept: Vec<Port>,
    #[attr(optional)]
    distinct: Option<Set<Port>>,
    #[attr(optional)]
    disks: Option<Vec<Disk>>,
    #[attr(optional)]
    spare: Option<Set<Disk>>,
    #[attr(computed, keep)]
    id: String,
}

struct Servers;

impl Servers {
    fn computed(planned: &ServerInput) -> ServerComputed {
        let chosen = || vec![Port { number: 22, protocol: "tcp".to_owned() }];
        ServerComputed {
            zone: planned.zone.clone().unwrap_or_else(|| "z".to_owned()),
            ports: planned.ports.clone().unwrap_or_else(chosen),
            kept: planned.kept.clone().unwrap_or_else(chosen),
            id: "i".to_owned(),
        }
    }
}

impl Resource for Servers {
    type Model = Server;

    async fn create(&self, call: Create<Server>) -> Answer<ServerComputed> {
        Ok(Self::computed(&call.planned))
    }

    async fn update(&self, call: Update<Server>) -> Answer<ServerComputed> {
        Ok(Self::computed(&call.planned))
    }

    async fn modify_plan(&self, change: &mut ModifyPlan<Server>) -> Answer<()> {
        // A plan that no object can satisfy, on request: every object of the model has an `id`.
        if change.config.label.get().is_some_and(|label| label == "nobody") {
            change.planned.id = Attr::Null;
        }
        Ok(())
    }
}

fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/cloud").resource("cloud_server", Servers)
}

fn server(arguments: &str) -> String {
    format!("resource \"cloud_server\" \"a\" {{\n{arguments}\n}}\n")
}

/// Changes that are planned when the second configuration follows on the first.
fn after(first: &str, second: &str) -> String {
    let mut engine = TestEngine::new(provider);
    engine.apply(&server(first)).expect_applied();
    // Otherwise a change below could be a leftover of the first configuration.
    engine.plan(&server(first)).expect_no_changes();
    let text = engine.plan(&server(second)).plan_text();
    engine.apply(&server(second)).expect_applied();
    engine.plan(&server(second)).expect_no_changes();
    text
}

#[test]
fn computed_objects_are_kept_while_nothing_changes() {
    let mut engine = TestEngine::new(provider);
    engine.apply(&server("")).expect_applied();
    // Both have the same elements; from here on only `keep` makes a difference.
    assert_eq!(
        engine.attribute("cloud_server.a", "kept"),
        engine.attribute("cloud_server.a", "ports")
    );
    engine.plan(&server("")).expect_no_changes();
    let text = after("", "label = \"l\"");
    assert!(
        text.contains("ports = [{number = 22, protocol = \"tcp\"}] -> (known after apply)"),
        "{text}"
    );
    assert!(!text.contains("kept"), "{text}");
}

#[test]
fn unset_computed_attributes_force_no_replacement() {
    let text = after("", "label = \"l\"");
    // An unknown `zone` may turn out to be the one of now: to replace the object for it would
    // destroy it at every update.
    assert!(text.starts_with("~ cloud_server.a"), "{text}");
    let text = after("zone = \"a\"", "zone = \"b\"");
    assert!(text.contains("# forces replacement"), "{text}");
}

#[test]
fn an_element_forces_a_replacement_only_through_a_forcing_attribute() {
    let (plain, placed) = ("{ size = 1 }", "{ size = 1, place = { rack = \"r\" } }");
    let list = |elements: &[&str]| format!("disks = [{}]", elements.join(", "));
    let set = |elements: &[&str]| format!("spare = [{}]", elements.join(", "));
    let larger = "{ size = 2 }";
    for elements in [list, set] {
        for (before, new_value, is_forced) in [
            // Without a rack, no attribute with `replace` differs, even if elements come and go.
            (&[plain][..], &[plain, larger][..], false),
            (&[plain, larger], &[plain], false),
            (&[plain], &[larger], false),
            // A rack that comes or goes is a change of `rack`, and one that stays is none.
            (&[plain], &[plain, placed], true),
            (&[placed, larger], &[larger], true),
            (&[placed], &[placed, larger], false),
        ] {
            let (before, new_value) = (elements(before), elements(new_value));
            let text = after(&before, &new_value);
            assert_eq!(text.starts_with("-/+"), is_forced, "{before}, then {new_value}:\n{text}");
        }
    }
}

#[test]
fn elements_that_are_equal_with_defaults_are_refused() {
    let mut engine = TestEngine::new(provider);
    // The default makes both `tcp`. A set would silently lose one of them.
    let same = "distinct = [{ number = 1 }, { number = 1, protocol = \"tcp\" }]";
    engine.plan(&server(same)).expect_error("two elements of `distinct` are the same");
    engine.apply(&server(&same.replace("tcp", "udp"))).expect_applied();
}

#[test]
fn attributes_that_every_object_has_are_not_planned() {
    let mut engine = TestEngine::new(provider);
    let run_result = engine.plan(&server("label = \"nobody\""));
    run_result.expect_error("`modify_plan` planned that there will be no `id`");
}
