//! Checks a configuration with the schemas of its providers, without state and without values:
//! variables and everything that is only known later are unknown.

use formwork_lang::decode::decode;
use formwork_value::{Diagnostics, Marks, Reported, Value};

use super::vertex::{ResourceVertex, Vertex};
use super::{Options, build};
use crate::addr::Mode;
use crate::config::Repetition;
use crate::eval::conditions::try_out;
use crate::eval::import::expand_import;
use crate::eval::vertex::Givens;
use crate::eval::{RepetitionData, expand};
use crate::phase::{
    Frame, ProviderVertex, check_ignored, check_provisioners, evaluate, point_at_parts,
};
use crate::provider::{About, unsupported_type};
use crate::session::Session;

/// Validates the configuration of a session, whose state must be empty and whose variables unknown.
///
/// # Errors
/// When it is not valid. Everything that can be found at once is reported.
pub async fn validate(session: &Session<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let options = Options::default();
    let graph = build::graph(diags, session, &options).await?;
    let givens = Givens { checking: true, ..session.givens() };
    let mut failed = vec![false; graph.len()];
    for &id in graph.order() {
        // What stands on something invalid would only repeat its errors.
        let skipped = graph.dependencies(id).iter().any(|on| failed[on.index()]);
        let result = match (&graph[id], skipped) {
            (_, true) => Err(()),
            (Vertex::Frame(Frame::Value(value)), false) => {
                let found = session.settled(diags, |diags| value.visit(diags, givens)).await;
                found.map(|found| value.record(session.results, found)).map_err(|_| ())
            }
            (Vertex::Frame(Frame::Call(call)), false) => {
                let found = session.settled(diags, |diags| call.visit(diags, givens)).await;
                found.map(|found| call.record(givens, found)).map_err(|_| ())
            }
            (Vertex::Frame(Frame::Provider(provider)), false) => {
                validate_provider(session, diags, provider).await.map_err(|_| ())
            }
            (Vertex::Resource(resource), false) => {
                validate_resource(session, diags, resource).await.map_err(|_| ())
            }
            (Vertex::Frame(_) | Vertex::Read(_) | Vertex::Orphan(_), false) => Ok(()),
        };
        failed[id.index()] = result.is_err();
    }
    diags.check()
}

async fn validate_provider(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    vertex: &ProviderVertex<'_>,
) -> Result<(), Reported> {
    let Some((node, block)) = vertex.written else { return Ok(()) };
    let handle = session.pool.unconfigured(diags, &vertex.addr.provider).await?;
    let Some(handle) = handle else { return Ok(()) };
    let schema = handle.loaded().config().block();
    let Some(&module) = session.results.instances(&node.path).first() else { return Ok(()) };
    let scope = session.scope(module);
    let config = |diags: &mut Diagnostics| decode(diags, &block.body, schema, &scope);
    let config = session.settled(diags, config).await?;
    // A block without arguments is not shown to the provider: it may only be there for its alias.
    if block.body.is_empty() {
        return Ok(());
    }
    let about = About { addr: &vertex.addr, block: Some(block.span) };
    let mut said = Diagnostics::new();
    let verdict = handle.validate_config(&mut said, &config, about).await;
    point_at_parts(&mut said, &block.body, block.span);
    diags.append(said).and(verdict)
}

async fn validate_resource(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
) -> Result<(), Reported> {
    let (name, config) = (&vertex.addr.resource, vertex.config);
    let handle = session.pool.unconfigured(diags, &vertex.provider.provider).await?;
    let Some(handle) = handle else { return Ok(()) };
    let Some(ty) = handle.loaded().find(name.mode(), name.kind()) else {
        return Err(diags.error(unsupported_type(handle.loaded(), name, config.type_span)));
    };
    // Every call stands for one instance while nobody knows how many there will be.
    let Some(&module) = session.results.instances(&vertex.node.path).first() else { return Ok(()) };
    let placeholder = mark_of(
        name.mode(),
        match config.repetition {
            Repetition::Single => Value::unknown(ty.ty.clone()),
            Repetition::Count(_) | Repetition::ForEach(_) => Value::dynamic(),
        },
    );
    if let Some(results) = module.resource(name) {
        results.set_placeholder(placeholder.clone());
    }
    let outer = session.scope(module);
    let repetition = |diags: &mut Diagnostics| expand::check(diags, &outer, &config.repetition);
    let repetition = session.settled(diags, repetition).await;
    let unknown = RepetitionData::unknown(&config.repetition);
    let scope = session.scope(module).repeated(unknown);
    let ignored = check_ignored(diags, &config.lifecycle.ignore_changes, ty.block());
    let provisioners =
        check_provisioners(session, diags, (config, &ty.ty), &session.scope(module)).await;
    let root = session.scope(session.results.root());
    let imports = |diags: &mut Diagnostics| {
        let imports = vertex.imports.iter();
        let imports: Vec<Result<(), Reported>> =
            imports.map(|import| expand_import(diags, &root, import).map(drop)).collect();
        imports.into_iter().collect::<Result<(), Reported>>()
    };
    let imports = session.settled(diags, imports).await;
    let conditions = |diags: &mut Diagnostics| {
        let lifecycle = &config.lifecycle;
        let before = try_out(diags, &scope, &lifecycle.preconditions);
        let scope = scope.clone().with_self(placeholder.clone());
        try_out(diags, &scope, &lifecycle.postconditions).and(before)
    };
    let conditions = session.settled(diags, conditions).await;
    let value = |diags: &mut Diagnostics| evaluate(diags, config, ty.block(), &scope);
    let value = session.settled(diags, value).await?;
    imports?;
    conditions?;
    repetition?;
    ignored?;
    provisioners?;
    let about = About { addr: &vertex.addr, block: Some(config.span) };
    let mut said = Diagnostics::new();
    let verdict = handle.validate(&mut said, &ty, &value, about).await;
    point_at_parts(&mut said, &config.body, config.span);
    diags.append(said).and(verdict)
}

/// Marks what stands for something of this kind while nobody knows more about it.
fn mark_of(mode: Mode, value: Value) -> Value {
    match mode {
        Mode::Ephemeral => value.mark(Marks::EPHEMERAL),
        Mode::Managed | Mode::Data => value,
    }
}
