//! Parameters of functions: each has a name and a type of its own. A tuple hides two behind one.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, assert_no_violations, sources};

/// The parameters in a source that begins after the name of a function. `None` if it has no list of
/// parameters.
fn parameters(text: &str) -> Option<Vec<&str>> {
    let (mut depth, mut begin, mut list) = (0_usize, None, Vec::new());
    let mut before = ' ';
    for (position, c) in text.char_indices() {
        match c {
            '(' if depth == 0 => (begin, depth) = (Some(position + 1), 1),
            '(' | '[' | '{' | '<' => depth += 1,
            // An arrow closes no bracket.
            '>' if matches!(before, '-' | '=') => {}
            ')' | ']' | '}' | '>' => depth = depth.checked_sub(1)?,
            ',' if depth == 1
                && let Some(from) = begin =>
            {
                list.push(text[from..position].trim());
                begin = Some(position + 1);
            }
            // Behind the name there are only generics, in brackets.
            _ if depth == 0 && !c.is_whitespace() => return None,
            _ => {}
        }
        if c == ')' && depth == 0 {
            list.push(text[begin?..position].trim());
            return Some(list);
        }
        before = c;
    }
    None
}

/// The name of the alias of a tuple that a line declares. Aliases in traits belong to their type.
fn tuple_alias(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = rest.trim_start();
        rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(rest, |(_, rest)| rest)
    });
    let (name, ty) = line.strip_prefix("type ")?.split_once(" = ")?;
    let is_tuple = ty.starts_with('(') && !ty.starts_with("()");
    is_tuple.then(|| name.split('<').next().unwrap_or(name))
}

/// The crate of a file: its path up to the sources.
fn crate_of(file: &File) -> &str {
    file.path.split("/src/").next().unwrap_or(&file.path)
}

/// Whether a parameter is a tuple: its pattern, or its type, which may be borrowed or an alias.
fn is_tuple(parameter: &str, aliases: &BTreeSet<&str>) -> bool {
    let Some((pattern, ty)) = parameter.split_once(": ") else { return false };
    let ty = ty.trim_start_matches('&');
    // A lifetime stands in front of the type.
    let ty = ty.strip_prefix('\'').and_then(|rest| rest.split_once(' ')).map_or(ty, |(_, ty)| ty);
    let ty = ty.trim_start_matches("mut ");
    let name = ty.split('<').next().unwrap_or(ty).rsplit("::").next().unwrap_or(ty);
    if aliases.contains(name) {
        return true;
    }
    let inside = ty.strip_prefix('(').filter(|inside| {
        // Brackets around one type, and the type of no value, stand for no two things.
        !["dyn ", "impl ", ")"].iter().any(|start| inside.starts_with(start))
    });
    // A property names its generator after `in`, which may generate several values together.
    let is_drawn = pattern.contains(" in ");
    !is_drawn && (inside.is_some() || pattern.starts_with('(') && ty != "()")
}

/// The names of the functions in a source with a tuple among their parameters.
fn functions_with_tuples<'t>(text: &'t str, aliases: &BTreeSet<&str>) -> Vec<&'t str> {
    let mut functions = Vec::new();
    for (position, _) in text.match_indices("fn ") {
        let rest = &text[position + "fn ".len()..];
        let is_word = text[..position].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, rest_of_function) = rest.split_at(end);
        let is_named = !is_word && !name.is_empty();
        let parameters =
            is_named.then(|| parameters(rest_of_function)).flatten().unwrap_or_default();
        let has_tuple = parameters.into_iter().any(|parameter| is_tuple(parameter, aliases));
        functions.extend(has_tuple.then_some(name));
    }
    functions
}

#[test]
fn no_parameter_is_a_tuple() {
    // By crate: an alias of one is not a type of another.
    let mut aliases: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    // The tables of tests have tuples as rows.
    for file in sources().filter(|file| !file.path.starts_with("tests/")) {
        let of_crate = aliases.entry(crate_of(file)).or_default();
        of_crate.extend(file.text.lines().filter_map(tuple_alias));
    }
    let none_of_them = BTreeSet::new();
    let mut violations = Vec::new();
    for file in sources() {
        let aliases = aliases.get(crate_of(file)).unwrap_or(&none_of_them);
        // A type of this file may have the name of an alias elsewhere.
        let is_own_type = |name: &&str| {
            ["struct", "enum"].iter().any(|kind| file.text.contains(&format!("{kind} {name} ")))
        };
        let aliases: BTreeSet<&str> =
            aliases.iter().copied().filter(|name| !is_own_type(name)).collect();
        let code = |line: &&str| !line.trim_start().starts_with("//");
        let text = file.text.lines().filter(code).collect::<Vec<_>>().join("\n");
        let names = functions_with_tuples(&text, &aliases).into_iter();
        violations.extend(names.map(|name| format!("{}: {name}", file.path)));
    }
    assert_no_violations(
        &violations,
        "two parameters, or a struct whose fields have names, in place of a tuple",
    );
}

#[test]
fn tuples_are_found_in_patterns_and_types() {
    // With another keyword, because this file is searched, too.
    let text = "
        func flat<F: Fn(u8, u8) -> (u8, u8)>(a: (u8, u8), f: F) {}
        func pattern((a, b): Pair) {}
        func ty(&self, pair: &(u8, u8), more: u8) -> u8 {}
        func second<'a, T>(
            a: Vec<(u8, u8)>,
            b: &mut (T, T),
        ) {}
        func fine(a: &(dyn Any + Send), b: [u8; 2], c: Option<(u8, u8)>, f: impl Fn((u8, u8))) {}
        func unit((): ()) {}
        func alias(a: &'a mut Pair<'a>, b: Option<Pair>) {}
        func other(a: Vec<Pair>, b: &Pairs) {}
        func drawn((a, b) in pairs(), c in 0..1_u8) {}
        type Callback = func (u8, u8);
    "
    .replace("func ", "fn ");
    let aliases = ["pub(super) type Pair<'a> = (u8, &'a u8);", "type Pairs = Vec<(u8, u8)>;"];
    let aliases: BTreeSet<&str> = aliases.into_iter().filter_map(tuple_alias).collect();
    assert_eq!(aliases, BTreeSet::from(["Pair"]));
    let functions = functions_with_tuples(&text, &aliases);
    assert_eq!(functions, ["flat", "pattern", "ty", "second", "alias"]);
}
