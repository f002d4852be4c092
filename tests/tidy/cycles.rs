//! Cycles of modules: modules of one directory do not use each other in a cycle if one of them is a
//! directory itself, and commands never do.

use std::collections::{BTreeMap, BTreeSet};

use super::layers::{crate_paths, module_in, product_text, split_group};
use super::{assert_no_violations, product, words};

/// For each module of a directory the others that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The modules next to the one of a file that its text uses. The file is so many directories below them.
fn sibling_modules(text: &str, depth: usize) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for (position, _) in text.match_indices("super::") {
        let is_first =
            !text[..position].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
        let rest = text[position..].trim_start_matches("super::");
        let n_up = (text.len() - position - rest.len()) / "super::".len();
        if !is_first || n_up != depth {
            continue;
        }
        let names = match rest.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap_or_default(),
            None => rest,
        };
        let names = split_group(names.split([';', '(']).next().unwrap_or_default());
        modules.extend(names.filter_map(|name| words(&name).next().map(str::to_owned)));
    }
    modules
}

/// The uses between the modules of a directory, which ends in a slash.
fn uses_within(directory: &str) -> Uses {
    let module_path = directory.split_once("/src/").map_or("", |(_, path)| path).replace('/', "::");
    let mut uses = Uses::new();
    for file in product() {
        let Some(module) = module_in(directory, file) else { continue };
        let text = product_text(file);
        let depth = file.path[directory.len()..].matches('/').count() + 1;
        let used = uses.entry(module.to_owned()).or_default();
        used.extend(sibling_modules(&text, depth));
        let paths = crate_paths(&text).into_iter().filter_map(|(_, path)| {
            Some(path.strip_prefix(&module_path)?.split("::").next()?.to_owned())
        });
        used.extend(paths);
        used.remove(module);
    }
    let modules: BTreeSet<String> = uses.keys().cloned().collect();
    uses.values_mut().for_each(|used| used.retain(|name| modules.contains(name)));
    uses
}

/// The modules that a module uses, directly or through others.
fn reached(uses: &Uses, module: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    let mut queue: Vec<&String> = uses[module].iter().collect();
    while let Some(name) = queue.pop() {
        if modules.insert(name.clone()) {
            queue.extend(&uses[name]);
        }
    }
    modules
}

/// The cycles: groups of modules of which each uses all others, directly or through others.
fn modules_in_cycles(uses: &Uses) -> BTreeSet<BTreeSet<String>> {
    let reached: Uses = uses.keys().map(|name| (name.clone(), reached(uses, name))).collect();
    let within = |(name, all): (&String, &BTreeSet<String>)| {
        let is_mutual = |other: &&String| reached[*other].contains(name);
        all.contains(name).then(|| all.iter().filter(is_mutual).cloned().collect())
    };
    reached.iter().filter_map(within).collect()
}

/// A line for each module of a circle.
fn lines(directory: &str, uses: &Uses, circle: &BTreeSet<String>) -> Vec<String> {
    let line = |module: &String| {
        let used: Vec<&str> = uses[module].intersection(circle).map(String::as_str).collect();
        format!("{directory}{module}: uses {}", used.join(", "))
    };
    circle.iter().map(line).collect()
}

#[test]
fn commands_do_not_import_each_other_in_a_cycle() {
    let uses = uses_within("cli/src/command/");
    assert!(uses["apply"].contains("operation"), "the paths are found: {:?}", uses["apply"]);
    let cycles = modules_in_cycles(&uses);
    let violations: Vec<_> = cycles.iter().flat_map(|circle| lines("", &uses, circle)).collect();
    assert_no_violations(&violations, "move what two commands share into a file of its own");
}

#[test]
fn no_directory_is_in_a_cycle_with_its_siblings() {
    let mut directories = BTreeSet::new();
    for file in product().filter(|file| !file.path.starts_with("tests/")) {
        let Some(root) = file.path.find("/src/").map(|position| position + "/src/".len()) else {
            continue;
        };
        let ends = file.path[root..].match_indices('/').map(|(position, _)| root + position + 1);
        directories.extend(ends.chain([root]).map(|end| &file.path[..end]));
    }
    assert!(directories.len() > 100, "{} directories were found", directories.len());
    let mut violations = Vec::new();
    for directory in &directories {
        let uses = uses_within(directory);
        let is_dir =
            |module: &String| directories.contains(format!("{directory}{module}/").as_str());
        for circle in modules_in_cycles(&uses).iter().filter(|circle| circle.iter().any(is_dir)) {
            violations.extend(lines(directory, &uses, circle));
        }
    }
    assert_no_violations(
        &violations,
        "move what the modules share into a module that uses none of them",
    );
}

#[test]
fn a_cycle_is_found_without_the_modules_that_lead_to_it() {
    let uses = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("d", ""), ("e", "e")];
    let mut all = Uses::new();
    for (module, used) in uses {
        let to = all.entry(module.to_owned()).or_default();
        to.extend((!used.is_empty() && used != module).then(|| used.to_owned()));
    }
    let circle = ["b", "c"].map(str::to_owned).into();
    assert_eq!(modules_in_cycles(&all), [circle].into());
}
