//! Inputs of `provider check` in the Terraform language: examples in the layout of the registry, and the
//! provider configuration. References evaluate to unknown values.

use std::fs;
use std::path::{Path, PathBuf};

use formwork_conformance::Example;
use formwork_conformance::offer::Kind;
use formwork_core::disk::{MAX_CONFIG_FILE_LEN, read_file};
use formwork_lang::eval::evaluate;
use formwork_lang::functions::Function;
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{Block, Body, Ident, add_source, parse_file};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str, Value};

use crate::messages;

/// Maximum search depth in the examples directory.
const MAX_EXAMPLES_DEPTH: usize = 8;

/// Reads all examples below a directory.
pub(super) fn read_examples(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    directory: &Path,
) -> Result<Vec<Example>, Reported> {
    if !directory.is_dir() {
        let detail = format!("{} is not a directory.", directory.display());
        return Err(diags.error(Diagnostic::error(messages::NO_SUCH_DIR_EXAMPLES, detail)));
    }
    let mut files = Vec::new();
    find_example_files(directory, MAX_EXAMPLES_DEPTH, &mut files);
    files.sort();
    let mut examples = Vec::new();
    for file in files {
        let body = parse_body(diags, sources, &file)?;
        let name = file.strip_prefix(directory).unwrap_or(&file).display().to_string();
        for block in &body.blocks {
            let Some(kind) = kind_of_example_block(block) else { continue };
            let label = block.labels.first().map(|it| it.name.as_str().to_owned());
            // The label of a provider block is the provider name.
            let type_name =
                if kind == Kind::Provider { String::new() } else { label.unwrap_or_default() };
            let value = body_to_object(&block.body, kind);
            examples.push(Example { kind, name: type_name, file: name.clone(), value });
        }
    }
    Ok(examples)
}

/// Reads a file with the content of a provider block.
pub(super) fn read_provider_config(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    file: &Path,
) -> Result<Value, Reported> {
    let body = parse_body(diags, sources, file)?;
    Ok(body_to_object(&body, Kind::Provider))
}

fn find_example_files(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() && depth > 0 {
            find_example_files(&path, depth - 1, files);
        } else if path.extension().is_some_and(|extension| extension == "tf") {
            files.push(path);
        }
    }
}

fn parse_body(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    file: &Path,
) -> Result<Body, Reported> {
    let text = read_file(file, MAX_CONFIG_FILE_LEN).map_err(|error| {
        let detail = format!("{} cannot be read: {error}.", file.display());
        diags.error(Diagnostic::error(messages::FILE_CANNOT_BE_READ, detail))
    })?;
    let mut body_diags = Diagnostics::new();
    let source = add_source(&mut body_diags, sources, file.display().to_string(), text);
    let body = parse_file(&mut body_diags, sources, source);
    match diags.append(body_diags) {
        Ok(()) => Ok(body),
        Err(Reported { .. }) => {
            let detail = format!(
                "{} cannot be parsed. Correct the file, or remove the option.",
                file.display()
            );
            Err(diags.error(Diagnostic::error(messages::FILE_DOES_NOT_PARSE, detail)))
        }
    }
}

fn kind_of_example_block(block: &Block) -> Option<Kind> {
    match block.kind.name.as_str() {
        "provider" => Some(Kind::Provider),
        "resource" => Some(Kind::Resource),
        "data" => Some(Kind::DataSource),
        "ephemeral" => Some(Kind::Ephemeral),
        "list" => Some(Kind::List),
        "action" => Some(Kind::Action),
        _ => None,
    }
}

/// Meta-arguments of the language, which are not part of the schema.
const META_ARGUMENTS: [&str; 9] = [
    "count",
    "for_each",
    "depends_on",
    "provider",
    "lifecycle",
    "provisioner",
    "connection",
    "alias",
    "version",
];

/// Attributes and blocks as one object. Blocks of the same name are a list.
fn body_to_object(body: &Body, kind: Kind) -> Value {
    let is_meta = |name: &str| {
        META_ARGUMENTS.contains(&name) && !(kind == Kind::Provider && name == "provider")
    };
    let body = match (kind, body.blocks.iter().find(|it| it.kind.name == "config")) {
        // The arguments of lists and actions are in a nested `config` block.
        (Kind::List | Kind::Action, Some(config)) => &config.body,
        _ => body,
    };
    let mut pairs: Vec<(Str, Value)> = Vec::new();
    for attribute in body.written_attributes() {
        if is_meta(attribute.name.name.as_str()) {
            continue;
        }
        let mut quiet = Diagnostics::new();
        let value = evaluate(&mut quiet, &attribute.expr, &UnknownNamesScope);
        let value =
            value.map_or_else(|_| Value::dynamic(), |value| value.split_marks().0.into_value());
        pairs.push((attribute.name.name.clone(), value));
    }
    let mut groups: Vec<(Str, Vec<Value>)> = Vec::new();
    for block in body.blocks.iter().filter(|it| !is_meta(it.kind.name.as_str())) {
        let value = body_to_object(&block.body, Kind::Resource);
        match groups.iter_mut().find(|(name, _)| *name == block.kind.name) {
            Some((_, values)) => values.push(value),
            None => groups.push((block.kind.name.clone(), vec![value])),
        }
    }
    let tuples = groups.into_iter().map(|(name, values)| (name, Value::tuple(values)));
    pairs.extend(tuples);
    Value::object(pairs)
}

/// A scope in which every name is an unknown value.
struct UnknownNamesScope;

impl Scope for UnknownNamesScope {
    fn resolve(
        &self,
        _: &mut Diagnostics,
        _: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        Ok((Value::dynamic(), steps.len()))
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        formwork_lang::functions::find_builtin(name)
    }

    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }
}
