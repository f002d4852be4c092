//! Allowed dependencies: crates along the arrows, modules of the engine downwards.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, TREE, assert_no_violations, product, words};

/// Allowed dependencies of each package of ours, in tests too. Anything not listed is forbidden.
const ARROWS: [(&str, &[&str]); 22] = [
    ("formwork-value", &[]),
    ("formwork-lang", &["formwork-value"]),
    ("formwork-lang-fuzz", &["formwork-value", "formwork-lang"]),
    ("formwork-core-fuzz", &["formwork-value", "formwork-lang", "formwork-core"]),
    ("formwork-plugin-protocol-fuzz", &["formwork-plugin-protocol"]),
    ("formwork-backend-fuzz", &["formwork-backend"]),
    ("formwork-fuzz", &["formwork", "formwork-provisioners"]),
    ("formwork-plugin-codegen", &[]),
    ("formwork-plugin-protocol", &["formwork-value"]),
    ("formwork-core", &["formwork-value", "formwork-lang", "formwork-plugin-protocol"]),
    ("formwork-backend", &["formwork-value", "formwork-core", "formwork-plugin-protocol"]),
    (
        "formwork-operation",
        &[
            "formwork-value",
            "formwork-lang",
            "formwork-plugin-protocol",
            "formwork-core",
            "formwork-backend",
        ],
    ),
    ("formwork-sdk-macros", &[]),
    ("formwork-sdk", &["formwork-value", "formwork-plugin-protocol", "formwork-sdk-macros"]),
    (
        "formwork-sdk-testing",
        &[
            "formwork-value",
            "formwork-plugin-protocol",
            "formwork-core",
            "formwork-backend",
            "formwork-operation",
            "formwork-sdk",
        ],
    ),
    ("formwork-conformance", &["formwork-value", "formwork-plugin-protocol"]),
    (
        "formwork-providers",
        &["formwork-value", "formwork-plugin-protocol", "formwork-sdk", "formwork-sdk-testing"],
    ),
    ("formwork-xtask", &[]),
    ("formwork-provisioners", &["formwork-value", "formwork-core", "formwork-plugin-protocol"]),
    (
        "formwork",
        &[
            "formwork-value",
            "formwork-lang",
            "formwork-core",
            "formwork-backend",
            "formwork-operation",
            "formwork-plugin-protocol",
            "formwork-provisioners",
            "formwork-providers",
            "formwork-conformance",
        ],
    ),
    (
        "formwork-tests",
        &[
            "formwork-value",
            "formwork-lang",
            "formwork-core",
            "formwork-plugin-protocol",
            "formwork-plugin-codegen",
            "formwork-sdk",
            "formwork-sdk-testing",
            "formwork-providers",
            "formwork-conformance",
            "formwork",
        ],
    ),
    // No package of ours may be called this: it would hide the standard library's `core`.
    ("core", &[]),
];

/// Packages that speak to plugins or encrypt those connections. Only one directory knows them.
const WIRE: [&str; 14] = [
    "h2",
    "hyper",
    "hyper-util",
    "prost",
    "prost-types",
    "protox",
    "rcgen",
    "rustls",
    "tokio-rustls",
    "tokio-stream",
    "tonic",
    "tonic-prost",
    "tonic-prost-build",
    "tower",
];

/// Packages whose purpose is to wait, to ask the system, or to log.
const IMPURE: [&str; 9] = [
    "async-trait",
    "futures-util",
    "nix",
    "rand",
    "tempfile",
    "tokio",
    "tracing",
    "tracing-subscriber",
    "zip",
];

/// The modules of the engine. Each may use itself and those on lines above its own.
const LAYERS: [&[&str]; 13] = [
    &["messages"],
    &["addr", "version", "small_map", "disk"],
    &["config", "state", "change", "graph"],
    &["eval", "provider", "provisioner", "event"],
    &["moved"],
    &["session"],
    &["progress"],
    &["instance_steps"],
    &["ephemeral"],
    &["shared_graph"],
    &["plan"],
    &["apply"],
    &["lib"],
];

/// The modules of the library of operations, likewise.
const OPERATION_LAYERS: [&[&str]; 10] = [
    &["messages"],
    &[
        "errored_state_report",
        "generated_config",
        "journal_checks",
        "observer",
        "plan_options",
        "saved_plan",
        "schema_cache",
        "unmatched_options",
    ],
    &["launcher", "state_session"],
    &["claims"],
    &["operation"],
    &["loaded_config", "plan"],
    &["apply", "import"],
    &["recover", "test"],
    &["prelude"],
    &["lib"],
];

/// The modules of the command line, likewise: the process, terminal and views, fetching and registries,
/// the workspace, the commands.
const CLI_LAYERS: [&[&str]; 13] = [
    &["messages"],
    &["clock", "exit", "normalize", "platform", "redact"],
    &["env"],
    &["data_dir", "settings", "view"],
    &["log", "signals"],
    &["command_line"],
    &["fetch"],
    &["install"],
    &["launcher", "modules"],
    &["workspace"],
    &["command"],
    &["fuzz_targets"],
    &["lib", "main"],
];

/// Uses within one line of [`LAYERS`] that are meant.
const WITHIN_A_LINE: [(&str, &str); 0] = [];

/// Name and dependencies of every package of the workspace.
fn packages() -> BTreeMap<String, (&'static File, BTreeSet<String>)> {
    let manifests = TREE.iter().filter(|file| file.name() == "Cargo.toml");
    let mut packages = BTreeMap::new();
    for manifest in manifests.filter(|file| file.text.contains("[package]")) {
        let (mut section, mut name, mut dependencies) = ("", None, BTreeSet::new());
        for line in manifest.text.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line;
            } else if let Some((key, value)) = line.split_once('=') {
                let key = key.trim().trim_end_matches(".workspace");
                if section == "[package]" && key == "name" {
                    name = Some(value.trim().trim_matches('"').to_owned());
                } else if section.ends_with("dependencies]") {
                    dependencies.insert(key.to_owned());
                }
            }
        }
        let name = name.unwrap_or_else(|| panic!("{} names its package", manifest.path));
        packages.insert(name, (manifest, dependencies));
    }
    packages
}

#[test]
fn crates_depend_only_on_the_listed_crates() {
    let packages = packages();
    let allowed: BTreeMap<_, _> = ARROWS.into_iter().collect();
    let mut violations = Vec::new();
    for (name, (manifest, dependencies)) in
        packages.iter().filter(|(name, _)| !name.starts_with("example-"))
    {
        let Some(allowed) = allowed.get(name.as_str()).filter(|_| name != "core") else {
            violations.push(format!("{}: no arrows are listed for {name}", manifest.path));
            continue;
        };
        let ours = dependencies.iter().filter(|dependency| packages.contains_key(*dependency));
        violations.extend(
            ours.filter(|dependency| !allowed.contains(&dependency.as_str()))
                .map(|dependency| format!("{}: {name} depends on {dependency}", manifest.path)),
        );
    }
    assert_no_violations(&violations, "a crate may depend only on what ARROWS lists for it");
}

#[test]
fn only_the_plugin_protocol_uses_grpc_and_tls() {
    let packages = packages();
    let outside = packages.values().filter(|(file, _)| !file.path.starts_with("plugin-protocol/"));
    let violations: Vec<_> = outside
        .filter(|(file, _)| !file.path.starts_with("tests/"))
        // Providers and backends talk to servers of their own, some of them encrypted.
        .filter(|(file, _)| !file.path.starts_with("providers/"))
        .filter(|(file, _)| !file.path.starts_with("core/backend/"))
        // The conformance suite has a proxy between a provider and its services.
        .filter(|(file, _)| !file.path.starts_with("sdk/conformance/"))
        .flat_map(|(file, dependencies)| {
            let wire = dependencies.iter().filter(|dependency| WIRE.contains(&dependency.as_str()));
            wire.map(|dependency| format!("{}: {dependency}", file.path))
        })
        .collect();
    assert_no_violations(&violations, "gRPC and TLS are plugin-protocol's business");
    assert!(packages["formwork-plugin-protocol"].1.contains("tonic"), "the list of names is old");
}

#[test]
fn values_and_language_are_synchronous_and_do_not_use_the_system() {
    let packages = packages();
    let mut violations = Vec::new();
    for name in ["formwork-value", "formwork-lang"] {
        let (file, dependencies) = &packages[name];
        let impure = dependencies.iter().filter(|dependency| IMPURE.contains(&dependency.as_str()));
        violations.extend(impure.map(|dependency| format!("{}: {dependency}", file.path)));
    }
    for file in product().filter(|file| {
        file.path.starts_with("core/value/src/") || file.path.starts_with("core/lang/src/")
    }) {
        for (number, line) in file.product_lines() {
            let code = line.split("//").next().unwrap_or_default();
            let system_calls = [
                "std::fs",
                "std::env",
                "std::process",
                "std::thread",
                "SystemTime",
                "Instant",
                "TcpStream",
            ];
            if system_calls.iter().any(|call| code.contains(call))
                || words(code).any(|w| w == "async")
            {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(
        &violations,
        "core/value and core/lang are pure; files reach them through a trait",
    );
}

/// The module of the engine that a file belongs to.
fn module_of(file: &File) -> Option<&str> {
    module_in("core/src/", file)
}

/// The module of a directory that a file belongs to.
pub(super) fn module_in<'f>(directory: &str, file: &'f File) -> Option<&'f str> {
    let within = file.path.strip_prefix(directory)?;
    within.split('/').next().map(|first| first.trim_end_matches(".rs"))
}

/// The paths below `crate::` that a string mentions, groups taken apart one level deep.
pub(super) fn crate_paths(text: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    for (position, _) in text.match_indices("crate::") {
        let line = text[..position].lines().count().max(1);
        let rest = &text[position + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => {
                let group = group.split("};").next().unwrap_or_default();
                paths.extend(split_group(group).map(|path| (line, path)));
            }
            None => {
                let end = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
                    .unwrap_or(rest.len());
                let mut path = rest[..end].to_owned();
                if let Some(group) = rest[end..].strip_prefix('{') {
                    let stem = path.clone();
                    let group = group.split('}').next().unwrap_or_default();
                    paths.extend(split_group(group).map(|name| (line, format!("{stem}{name}"))));
                    path.clear();
                }
                paths.extend((!path.is_empty()).then_some((line, path)));
            }
        }
    }
    paths
}

pub(super) fn split_group(group: &str) -> impl Iterator<Item = String> {
    group.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

pub(super) fn product_text(file: &File) -> String {
    let lines = file
        .product_lines()
        .map(|(_, line)| if line.trim_start().starts_with("//") { "" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// The uses in a directory that do not go to a lower layer.
fn upward_uses(directory: &str, layers: &[&[&str]]) -> Vec<String> {
    let level = |module: &str| layers.iter().position(|layer| layer.contains(&module));
    let mut violations = Vec::new();
    for file in product() {
        let Some(from) = module_in(directory, file) else { continue };
        let Some(own_level) = level(from) else {
            violations.push(format!("{}: no layer lists {from}", file.path));
            continue;
        };
        for (line, path) in crate_paths(&product_text(file)) {
            let to = path.split("::").next().unwrap_or_default();
            let is_lower = level(to).is_some_and(|level| level < own_level);
            if to != from && !is_lower && !WITHIN_A_LINE.contains(&(from, to)) {
                violations.push(format!("{}:{line}: {from} uses {path}", file.path));
            }
        }
    }
    violations
}

#[test]
fn modules_of_the_engine_use_only_lower_layers() {
    let mut violations = upward_uses("core/src/", &LAYERS);
    for file in product().filter(|file| module_of(file).is_some()) {
        let is_top = file.path.matches('/').count() == 2;
        for (line, text) in file.product_lines() {
            if text.contains("super::super::") || is_top && text.starts_with("use super::") {
                violations.push(format!("{}:{line}: write the path from `crate::`", file.path));
            }
        }
    }
    assert_no_violations(
        &violations,
        "a module of core may use only modules on lines of LAYERS above its own",
    );
}

#[test]
fn modules_of_the_operations_and_of_the_command_line_use_only_lower_layers() {
    let mut violations = upward_uses("core/operation/src/", &OPERATION_LAYERS);
    violations.extend(upward_uses("cli/src/", &CLI_LAYERS));
    assert_no_violations(&violations, "a module may use only modules on lines above its own");
}

#[test]
fn apply_uses_only_the_plan_of_the_plan_module() {
    let mut violations = Vec::new();
    for file in product().filter(|file| module_of(file) == Some("apply")) {
        for (line, path) in crate_paths(&product_text(file)) {
            let taken = path.strip_prefix("plan").map(|taken| taken.trim_start_matches("::"));
            if taken
                .is_some_and(|taken| !matches!(taken.split("::").next(), Some("Plan" | "PlanMode")))
            {
                violations.push(format!("{}:{line}: {path}", file.path));
            }
        }
    }
    assert_no_violations(
        &violations,
        "apply decides nothing, so all it needs is the plan and its mode",
    );
}

#[test]
fn the_steps_of_the_plan_graph_are_called_in_one_file() {
    const BUILDER: &str = "core/src/plan/transform.rs";
    let text_of = |path: &str| {
        let file = product().find(|file| file.path == path);
        file.map(product_text).unwrap_or_else(|| panic!("{path} is not there"))
    };
    let (builder, caller) = (text_of(BUILDER), text_of("core/src/plan.rs"));
    let mut violations = Vec::new();
    for file in product() {
        let Some(step) = file.path.strip_prefix("core/src/plan/transform/") else { continue };
        let call = format!("{}::", step.trim_end_matches(".rs"));
        if !builder.contains(&call) {
            violations.push(format!("{BUILDER} does not take {step}"));
        }
        if caller.contains(&call) {
            violations.push(format!("core/src/plan.rs takes {step} itself"));
        }
    }
    assert!(builder.contains("connect_references::"), "the steps were not found");
    assert_no_violations(
        &violations,
        "the builder of the plan graph lists all of its steps in order",
    );
}

#[test]
fn the_graph_does_not_depend_on_the_domain() {
    let mut violations = Vec::new();
    for file in product().filter(|file| module_of(file) == Some("graph")) {
        let text = product_text(file);
        let foreign = crate_paths(&text).into_iter().filter(|(_, path)| !path.starts_with("graph"));
        violations.extend(foreign.map(|(line, path)| format!("{}:{line}: {path}", file.path)));
        if text.contains("formwork_") {
            violations.push(format!("{}: uses another crate of ours", file.path));
        }
    }
    assert_no_violations(&violations, "core/src/graph imports nothing of ours");
}

#[test]
fn the_rules_of_the_contract_use_only_values() {
    let mut violations = Vec::new();
    for file in product().filter(|file| file.path.starts_with("plugin-protocol/src/contract")) {
        let text = product_text(file);
        // A payload tells a null object from an absent one, which is a rule of its own.
        let is_known = |path: &str| path.starts_with("contract") || path == "Payload";
        let foreign = crate_paths(&text).into_iter().filter(|(_, path)| !is_known(path));
        violations.extend(foreign.map(|(line, path)| format!("{}:{line}: {path}", file.path)));
        if words(&text).any(|word| word == "async" || word == "tokio" || word == "tonic") {
            violations.push(format!("{}: waits for something", file.path));
        }
    }
    assert_no_violations(&violations, "the contract's rules are pure functions over values");
}

#[test]
fn module_paths_are_found_in_all_forms() {
    let text = "use crate::a::B;\nuse crate::c::{D, e::F};\nuse crate::{g, h::I};\nlet x = crate::j::k(1);";
    let paths: Vec<_> = crate_paths(text).into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["a::B", "c::D", "c::e::F", "g", "h::I", "j::k"]);
}
