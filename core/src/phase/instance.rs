//! What both phases do with one instance: evaluate its block, hide its marks from the provider, make
//! its object fit for the state, read it if it is a data source. What to ask the provider, and what
//! the answer means, is each phase's own business.

use std::sync::Arc;

use bytes::Bytes;
use formwork_lang::decode::decode;
use formwork_lang::refs::{Traversal, TraversalStep};
use formwork_plugin_protocol::contract::ignore::Ignore;
use formwork_value::codec::json;
use formwork_value::schema::Block;
use formwork_value::{
    Diagnostic, Diagnostics, Known, Marks, Path, Plain, Reported, Span, Step, Value,
};

use super::{place_in, watched};
use crate::addr::{InstanceAddr, Mode};
use crate::change::Action;
use crate::config::{IgnoreChanges, Resource};
use crate::eval::ModuleScope;
use crate::event::Event;
use crate::provider::{About, Handle, ResourceType, remark};
use crate::session::Session;
use crate::state::{Object, Status};

/// Evaluates the block of an instance. Ephemeral values are accepted only where the schema says
/// that they are not stored.
pub(crate) fn evaluate(
    diags: &mut Diagnostics,
    resource: &Resource,
    block: &Block,
    scope: &ModuleScope<'_>,
) -> Result<Value, Reported> {
    let config = decode(diags, &resource.body, block, scope)?;
    let is_stored = resource.name.mode() != Mode::Ephemeral;
    if is_stored && config.all_marks().contains(Marks::EPHEMERAL) {
        let (_, marks) = config.clone().split_marks();
        for path in marks.paths_with(Marks::EPHEMERAL) {
            let attribute = block.attribute_at(path);
            if !attribute.is_some_and(|(attribute, _)| attribute.write_only) {
                let detail = format!(
                    "Ephemeral values are not valid for {path}, because it is not a write-only attribute and must be persisted to the state."
                );
                let in_argument = place_of_argument(resource, block, path);
                let place = in_argument.unwrap_or(resource.span);
                return Err(diags
                    .error(Diagnostic::error("Invalid use of ephemeral value", detail).at(place)));
            }
        }
    }
    Ok(config)
}

/// Where an argument is written. Of what stands in a nested block the reference points at the resource.
fn place_of_argument(resource: &Resource, block: &Block, path: &Path) -> Option<Span> {
    match path.0.first() {
        Some(Step::Attribute(name)) if block.blocks.contains_key(name) => None,
        _ => place_in(&resource.body, path),
    }
}

/// The paths at which a configuration is sensitive.
pub(crate) fn sensitive_paths(config: &Value) -> Vec<Path> {
    if !config.all_marks().contains(Marks::SENSITIVE) {
        return Vec::new();
    }
    let (_, marks) = config.clone().split_marks();
    marks.paths_with(Marks::SENSITIVE).cloned().collect()
}

/// A value without its marks, for asking a provider.
pub(crate) fn plain(value: &Value) -> Plain {
    value.clone().split_marks().0
}

/// What of the configuration is not looked at, if anything.
pub(crate) fn ignored(ignored: &IgnoreChanges) -> Option<Ignore> {
    match ignored {
        IgnoreChanges::Nothing => None,
        IgnoreChanges::All => Some(Ignore::All),
        IgnoreChanges::These(paths) => {
            Some(Ignore::Paths(paths.iter().filter_map(relative_path).collect()))
        }
    }
}

/// Checks that what `ignore_changes` names is there to be ignored.
///
/// # Errors
/// When it names something that the schema does not have.
pub(crate) fn check_ignored(
    diags: &mut Diagnostics,
    ignored: &IgnoreChanges,
    block: &Block,
) -> Result<(), Reported> {
    let IgnoreChanges::These(paths) = ignored else { return Ok(()) };
    let mut result = Ok(());
    for path in paths {
        let name = &path.root;
        if block.attributes.contains_key(&name.name) || block.blocks.contains_key(&name.name) {
            continue;
        }
        let detail = format!(
            "`ignore_changes` names {:?}, but this object has no argument, nested block, or exported attribute of that name.",
            name.name.as_str()
        );
        result = Err(diags.error(Diagnostic::error("Unsupported attribute", detail).at(name.span)));
    }
    result
}

/// Reads a relative traversal, as `ignore_changes` has it, as a path.
fn relative_path(traversal: &Traversal) -> Option<Path> {
    let mut steps = vec![Step::Attribute(traversal.root.name.clone())];
    for step in &traversal.steps {
        steps.push(match step {
            TraversalStep::Attribute(name) => Step::Attribute(name.name.clone()),
            TraversalStep::Key(key, _) => Step::Key(key.clone()),
            TraversalStep::Index(index, _) => Step::Index(index.clone()),
            TraversalStep::Splat(_) => return None,
        });
    }
    Some(Path(steps))
}

/// The value of an object's `id`, if it may be shown.
pub(crate) fn shown_id(value: &Value) -> Option<String> {
    let Value::Object(object) = value else { return None };
    match object.get("id")? {
        Value::String(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Encodes a value that must be fit for the state.
///
/// # Errors
/// When it is not: only a provider that breaks the contract, or a mistake of ours, brings that about.
pub(crate) fn encode(
    diags: &mut Diagnostics,
    ty: &ResourceType,
    addr: &InstanceAddr,
    value: &Value,
) -> Result<(Bytes, Arc<Vec<Path>>), Reported> {
    let unfit = |diags: &mut Diagnostics, why: String| {
        let detail = format!("The object {addr} cannot be written to the state: {why}.");
        diags.error(Diagnostic::error("Object cannot be stored", detail).about(addr.to_string()))
    };
    let known = Known::new(value.clone())
        .map_err(|path| unfit(diags, format!("its part {path} is unknown or ephemeral")))?;
    Object::encode(&known, &ty.ty).map_err(|error| unfit(diags, error.to_string()))
}

/// The value of an object as the state has it, without asking the provider: `None` if it was stored
/// in a form that only the provider can read.
pub(crate) fn stored_value(ty: &ResourceType, object: &Object) -> Option<Value> {
    let stripped = json::strip_removed(&object.attributes, &ty.ty).ok()?;
    let text = stripped.as_deref().unwrap_or(&object.attributes);
    let value = json::decode(text, &ty.ty).ok()?;
    Some(remark(ty, value.split_marks().0, &object.sensitive))
}

/// Reads a data source whose configuration is known, and tells whoever watches. The marks of the configuration come back on
/// the result.
///
/// # Errors
/// When the provider cannot read it, or breaks the contract.
pub(crate) async fn read_data(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    (handle, ty): (&Handle, &ResourceType),
    config: &Value,
    (addr, block): (&InstanceAddr, Span),
) -> Result<Value, Reported> {
    let (about, action) = (About { addr, block: Some(block) }, Action::Read);
    session.watch.see(&Event::Start { addr, deposed: None, action, id: None });
    let reading = handle.read_data(diags, ty, config, about);
    let (value, elapsed) = watched(session, (addr, action, None), reading).await;
    let value = value.inspect_err(|_| {
        session.watch.see(&Event::Failed { addr, action, elapsed });
    })?;
    let value = remark(ty, value, &sensitive_paths(config));
    let id = shown_id(&value);
    session.watch.see(&Event::Done { addr, deposed: None, action, id, elapsed });
    Ok(value)
}

/// A data source's object as the state holds it.
pub(crate) fn stored_data(
    diags: &mut Diagnostics,
    ty: &ResourceType,
    addr: &InstanceAddr,
    value: &Value,
) -> Result<Object, Reported> {
    let (attributes, sensitive) = encode(diags, ty, addr, value)?;
    Ok(Object {
        status: Status::Ready,
        schema_version: ty.schema.version,
        attributes,
        sensitive,
        private: Bytes::new(),
        dependencies: Arc::default(),
        create_before_destroy: false,
        identity: None,
    })
}
