//! Changes by address, each on the same small state.

use expect_test::{Expect, expect};
use formwork_value::Diagnostics;

use super::*;
use crate::addr::Target;
use crate::state::file::StateFile;
use crate::state::{ObjectStatus, State};

/// A state with objects at these addresses. After an arrow: the dependencies of the object.
fn state_from_lines(lines: &str) -> State {
    let mut resources = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (addr, after) = line.split_once(" <- ").unwrap_or((line, ""));
        let addr: InstanceAddr = addr.parse().unwrap();
        let dependencies: Vec<&str> = after.split(' ').filter(|name| !name.is_empty()).collect();
        let key = serde_json::from_str::<serde_json::Value>(
            addr.key.to_string().trim_matches(['[', ']']),
        );
        let mut instance = serde_json::json!({
            "schema_version": 0, "attributes": {"id": line}, "dependencies": dependencies,
        });
        if let Ok(key) = key {
            instance["index_key"] = key;
        }
        let mode = if addr.resource.mode() == crate::addr::ResourceMode::Data {
            "data"
        } else {
            "managed"
        };
        resources.push(serde_json::json!({
            "module": addr.module.to_string(), "mode": mode,
            "type": addr.resource.resource_type().as_str(), "name": addr.resource.name().as_str(),
            "provider": "provider[\"registry.terraform.io/hashicorp/t\"]",
            "instances": [instance],
        }));
    }
    let mut merged: Vec<serde_json::Value> = Vec::new();
    for resource in resources {
        let same = |other: &&mut serde_json::Value| {
            ["module", "mode", "type", "name"].iter().all(|part| other[part] == resource[part])
        };
        match merged.iter_mut().find(same) {
            Some(there) => {
                let more = resource["instances"][0].clone();
                there["instances"].as_array_mut().unwrap().push(more);
            }
            None => merged.push(resource),
        }
    }
    let file = serde_json::json!({
        "version": 4, "serial": 1, "lineage": "l", "outputs": {}, "resources": merged,
    });
    StateFile::parse(file.to_string().as_bytes()).unwrap().state
}

const ALL_ADDRESSES: &str = "
    t.a
    t.b <- t.a
    t.c[0]
    t.c[1]
    t.f[\"x\"]
    data.t.d
    module.m[0].t.i
    module.m[1].t.i
    module.n.t.i
    module.n.module.o.t.i
    t.last <- module.m.t.i module.n.module.o.t.i
";

/// Contents of a state, in the format of [`state_from_lines`].
fn state_to_lines(state: &State) -> String {
    let mut text = String::new();
    for (addr, held) in &state.resources {
        for (key, instance) in &held.instances {
            text.push_str(&addr.instance_addr(key.clone()).to_string());
            let object = instance.current.as_ref().unwrap();
            let after: Vec<_> = object.dependencies.iter().map(ToString::to_string).collect();
            if !after.is_empty() {
                text.push_str(&format!(" <- {}", after.join(" ")));
            }
            text.push('\n');
        }
    }
    text
}

fn diagnostic_texts(diags: &Diagnostics) -> String {
    diags
        .iter()
        .map(|diagnostic| format!("{}: {}\n", diagnostic.summary, diagnostic.detail))
        .collect()
}

/// Messages and changes of a move within one state: only lines that differ are shown.
fn describe_move(from: &str, to: &str) -> String {
    let mut state = state_from_lines(ALL_ADDRESSES);
    let mut diags = Diagnostics::new();
    let (from, to): (Target, Target) = (from.parse().unwrap(), to.parse().unwrap());
    let before = state_to_lines(&state);
    let states = StatesOfMove { source: &state, destination: &state };
    match plan_moves(&mut diags, states, &from, &to) {
        Ok(moves) => {
            let listing: String = moves.iter().map(|entry| format!("{entry}\n")).collect();
            let moved = take_objects(&mut state, &moves);
            put_objects(&mut state, moved);
            let after = state_to_lines(&state);
            let removed = before.lines().filter(|line| !after.lines().any(|other| other == *line));
            let come = after.lines().filter(|line| !before.lines().any(|other| other == *line));
            let removed: String = removed.map(|line| format!("- {line}\n")).collect();
            let come: String = come.map(|line| format!("+ {line}\n")).collect();
            format!("{listing}{removed}{come}")
        }
        Err(_) => diagnostic_texts(&diags),
    }
}

fn check_move(from: &str, to: &str, expected: &Expect) {
    expected.assert_eq(&describe_move(from, to));
}

#[test]
fn naming_every_instance_of_a_resource_takes_linear_time() {
    let lines: String = (0..20_000).map(|index| format!("t.c[{index}]\n")).collect();
    let state = state_from_lines(&lines);
    let targets: Vec<Target> = lines.lines().map(|line| line.parse().unwrap()).collect();
    let start = std::time::Instant::now();
    let n_found: usize =
        targets.iter().map(|target| matching_instances(&state, target).len()).sum();
    assert_eq!(n_found, targets.len());
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn moving_an_instance_removes_it_from_dependencies_of_others() {
    check_move(
        "t.a",
        "t.z",
        &expect![[r#"
            "t.a" to "t.z"
            - t.a
            - t.b <- t.a
            + t.b
            + t.z
        "#]],
    );
}

#[test]
fn instances_move_between_keys_resources_and_modules() {
    check_move(
        "t.c[0]",
        "t.d",
        &expect![[r#"
        "t.c[0]" to "t.d"
        - t.c[0]
        + t.d
    "#]],
    );
    check_move(
        "t.a",
        "t.c[7]",
        &expect![[r#"
        "t.a" to "t.c[7]"
        - t.a
        - t.b <- t.a
        + t.b
        + t.c[7]
    "#]],
    );
    check_move(
        "module.m[0].t.i",
        "module.q[\"k\"].t.j",
        &expect![[r#"
        "module.m[0].t.i" to "module.q[\"k\"].t.j"
        - t.last <- module.m.t.i module.n.module.o.t.i
        - module.m[0].t.i
        + t.last
        + module.q["k"].t.j
    "#]],
    );
}

#[test]
fn a_repeated_resource_moves_as_a_whole() {
    check_move(
        "t.c",
        "module.x.t.c",
        &expect![[r#"
        "t.c" to "module.x.t.c"
        - t.c[0]
        - t.c[1]
        + module.x.t.c[0]
        + module.x.t.c[1]
    "#]],
    );
}

#[test]
fn a_module_moves_with_all_below_it_even_into_itself() {
    check_move(
        "module.n",
        "module.n.module.o",
        &expect![[r#"
        Error moving state: Cannot move module.n to module.n.module.o: destination module already exists. Move its resources one by one, or choose another name. No state was changed.
    "#]],
    );
    check_move(
        "module.n",
        "module.n.module.p",
        &expect![[r#"
        "module.n" to "module.n.module.p"
        "module.n.module.o" to "module.n.module.p.module.o"
        - t.last <- module.m.t.i module.n.module.o.t.i
        - module.n.t.i
        - module.n.module.o.t.i
        + t.last
        + module.n.module.p.t.i
        + module.n.module.p.module.o.t.i
    "#]],
    );
    check_move(
        "module.m[1]",
        "module.k",
        &expect![[r#"
        "module.m[1]" to "module.k"
        - module.m[1].t.i
        + module.k.t.i
    "#]],
    );
}

#[test]
fn refused_move_has_a_reason() {
    // `module.m` has two instances, and none without a key.
    let refused: String = [
        ("t.zz", "t.b"),
        ("t.a[2]", "t.z"),
        ("module.zz", "module.y"),
        ("module.m", "module.y"),
        ("module.n", "t.z"),
        ("t.a", "module.y"),
        ("t.a", "t.c[0]"),
        ("t.c", "t.f"),
        ("t.c", "t.z[0]"),
        ("t.a", "u.a"),
        ("t.a", "data.u.a"),
        ("data.t.d", "t.d"),
    ]
    .iter()
    .map(|(from, to)| describe_move(from, to))
    .collect();
    expect![[r#"
        Invalid source address: Cannot move t.zz: does not match anything in the current state.
        Invalid source address: The current state does not contain t.a[2].
        Invalid source address: Cannot move module.zz: does not match anything in the current state.
        Invalid source address: Cannot move module.m: does not match anything in the current state.
        Invalid target address: Cannot move module.n to t.z: the target must also be a module.
        Invalid target address: Cannot move t.a to module.y: the target must also be a resource instance.
        Invalid target address: Cannot move to t.c[0]: there is already a resource instance at that address in the current state.
        Invalid target address: Cannot move to t.f: there is already a resource at that address in the current state.
        Invalid target address: Cannot move t.c to t.z[0]: the source is a whole resource (not a resource instance) so the target must also be a whole resource.
        Invalid state move request: Cannot move t.a to u.a: resource types don't match.
        Invalid state move request: Cannot move t.a to data.u.a: a managed resource can be moved only to another managed resource address.
        Invalid state move request: Cannot move t.a to data.u.a: resource types don't match.
        Invalid state move request: Cannot move data.t.d to t.d: a data resource can be moved only to another data resource address.
    "#]]
    .assert_eq(&refused);
}

#[test]
fn moved_objects_leave_one_state_and_enter_the_other() {
    let (mut from, mut to) =
        (state_from_lines(ALL_ADDRESSES), state_from_lines("t.x <- module.n.t.i"));
    let target = |text: &str| text.parse::<Target>().unwrap();
    let mut diags = Diagnostics::new();
    let module = target("module.n");
    let states = StatesOfMove { source: &from, destination: &to };
    let moves = plan_moves(&mut diags, states, &module, &module).unwrap();
    let moved = take_objects(&mut from, &moves);
    put_objects(&mut to, moved);
    assert_eq!(state_to_lines(&to), "t.x\nmodule.n.t.i\nmodule.n.module.o.t.i\n");
    assert!(!state_to_lines(&from).contains("\nmodule.n"), "{}", state_to_lines(&from));
}

#[test]
fn a_target_selects_everything_below_it_or_reports_no_match() {
    let state = state_from_lines(ALL_ADDRESSES);
    let mut text = String::new();
    for target in
        ["t.c", "t.c[1]", "module.m", "module.n", "t.c[2]", "t.zz", "t.zz[0]", "module.zz"]
    {
        let mut diags = Diagnostics::new();
        let addrs = require_matching_instances(&mut diags, &state, &target.parse().unwrap())
            .unwrap_or_default();
        let names: Vec<_> = addrs.iter().map(ToString::to_string).collect();
        let summaries: Vec<_> = diags.iter().map(|diagnostic| diagnostic.summary.clone()).collect();
        text.push_str(&format!("{target}: {}{}\n", names.join(" "), summaries.join(" ")));
    }
    expect![[r#"
        t.c: t.c[0] t.c[1]
        t.c[1]: t.c[1]
        module.m: module.m[0].t.i module.m[1].t.i
        module.n: module.n.t.i module.n.module.o.t.i
        t.c[2]: Unknown resource instance
        t.zz: Unknown resource
        t.zz[0]: Unknown resource
        module.zz: Unknown module
    "#]]
    .assert_eq(&text);
}

#[test]
fn forgetting_the_last_instance_forgets_the_resource() {
    let mut state = state_from_lines("t.c[0]\nt.c[1]");
    remove_instance(&mut state, &"t.c[0]".parse().unwrap());
    assert_eq!(state_to_lines(&state), "t.c[1]\n");
    remove_instance(&mut state, &"t.c[1]".parse().unwrap());
    assert!(state.resources.is_empty());
}

#[test]
fn all_resources_of_a_provider_are_reassigned() {
    let mut state = state_from_lines(ALL_ADDRESSES);
    let (from, to) = ("hashicorp/t".parse().unwrap(), "example.com/our/t".parse().unwrap());
    assert_eq!(resources_of_provider(&state, &from).len(), state.resources.len());
    replace_provider(&mut state, &from, &to);
    assert!(resources_of_provider(&state, &from).is_empty());
    assert_eq!(resources_of_provider(&state, &to).len(), state.resources.len());
}

#[test]
fn only_a_tainted_instance_can_be_untainted() {
    let mut state = state_from_lines("t.a");
    let addr: InstanceAddr = "t.a".parse().unwrap();
    let mut set = |addr: &InstanceAddr, status| {
        let mut diags = Diagnostics::new();
        let result = set_object_status(&mut diags, &mut state, addr, status);
        result.err().map(|_| diags.iter().next().unwrap().summary.clone())
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(set(&addr, ObjectStatus::Ready), some("Resource instance is not tainted"));
    assert_eq!(set(&addr, ObjectStatus::Tainted), None);
    assert_eq!(set(&addr, ObjectStatus::Tainted), None);
    assert_eq!(set(&addr, ObjectStatus::Ready), None);
    let other = "t.b".parse().unwrap();
    assert_eq!(set(&other, ObjectStatus::Tainted), some("No such resource instance"));
}

#[test]
fn a_state_may_replace_its_ancestor() {
    let file = |serial, lineage: &str, lines| StateFile {
        serial,
        lineage: lineage.to_owned(),
        state: state_from_lines(lines),
        ..StateFile::new_empty()
    };
    let check = |new: &StateFile, stored: &StateFile| {
        check_push(new, stored).err().map_or("fine".into(), |error| error.to_string())
    };
    let stored = file(3, "l", "t.a");
    assert_eq!(check(&file(4, "l", "t.b"), &stored), "fine");
    // The same state again is not a conflict.
    assert_eq!(check(&file(3, "l", "t.a"), &stored), "fine");
    // As in Terraform, any state may replace an empty one.
    assert_eq!(check(&file(1, "k", "t.b"), &file(3, "l", "")), "fine");
    assert_eq!(
        check(&file(4, "k", "t.a"), &stored),
        "cannot import state with lineage \"k\" over unrelated state with lineage \"l\""
    );
    assert_eq!(
        check(&file(2, "l", "t.a"), &stored),
        "cannot import state with serial 2 over newer state with serial 3"
    );
    assert_eq!(
        check(&file(3, "l", "t.b"), &stored),
        "cannot overwrite existing state with serial 3 with a different state that has the same serial"
    );
}
