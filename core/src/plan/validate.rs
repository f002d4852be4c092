//! Checks a configuration with the schemas of its providers, without state and without values:
//! variables and everything that is only known later are unknown.

use std::cell::RefCell;
use std::collections::BTreeMap;

use formwork_lang::decode::decode;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Value};

use super::mention::{self, add_problems};
use super::vertex::{ResourceVertex, Vertex};
use super::{Options, build};
use crate::addr::{ConfigResourceAddr, InstanceAddr, InstanceKey, Mode};
use crate::config::Repetition;
use crate::config::inputs::{self, Input};
use crate::eval::conditions::try_out;
use crate::eval::import::expand_import;
use crate::eval::vertex::Givens;
use crate::eval::{Expansion, RepetitionData, expand};
use crate::graph::VertexId;
use crate::graph::walk::{Next, Pace, walk};
use crate::phase::{
    Frame, PhaseLog, ProviderVertex, check_ignored, check_provisioners, evaluate, point_at_parts,
};
use crate::provider::{About, unsupported_type};
use crate::session::{Ground, Session};
use crate::state::State;

/// Configurations that providers accepted without a word, by resource: the very same need not be
/// shown to them again.
#[derive(Debug, Default)]
pub(crate) struct Accepted(RefCell<BTreeMap<ConfigResourceAddr, Value>>);

impl Accepted {
    /// Whether the provider of a resource accepted this configuration of an instance. It is forgotten
    /// with that, unless there may be other instances: else all of them were kept twice in the end.
    pub(crate) fn take(&self, addr: &InstanceAddr, config: &Value) -> bool {
        let (resource, mut accepted) = (addr.of().config(), self.0.borrow_mut());
        let is_alone = addr.key == InstanceKey::None && addr.module.is_root();
        match is_alone {
            true => accepted.remove(&resource).as_ref() == Some(config),
            false => accepted.get(&resource) == Some(config),
        }
    }
}

/// Validates the configuration of a session before anything is done with it. What is only worth a
/// warning is not told where planning comes upon it again.
///
/// # Errors
/// When it is not valid.
pub(super) async fn validate_first(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<Accepted, Reported> {
    let mut found = Diagnostics::new();
    match check_unknown(session, &mut found).await {
        Ok(Checked { accepted, deprecated }) => {
            deprecated.into_iter().for_each(|warning| diags.warn(warning));
            Ok(accepted)
        }
        Err(reported) => diags.append(found).and(Err(reported)),
    }
}

/// Validates the configuration of a session. Its state, its results and the values of its variables
/// do not count, and it is not watched.
///
/// # Errors
/// When it is not valid. Everything that can be found at once is reported.
pub async fn validate(session: &Session<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let phase = PhaseLog::begin("validate", session.config.nodes.len());
    let checked = check_unknown(session, diags).await;
    phase.end(0);
    let valid = checked.map(|checked| {
        checked.deprecated.into_iter().for_each(|warning| diags.warn(warning));
    });
    session.pool.tell(diags);
    valid
}

/// Checks a configuration as if nothing existed and no variable had a value yet.
async fn check_unknown(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<Checked, Reported> {
    let variables = session.config.root.variables.iter();
    let variables = variables
        .map(|(name, variable)| (name.clone(), Input::of(inputs::unknown(variable))))
        .collect();
    let (state, results) = (State::default(), session.results.beside(session.config));
    let ground = Ground { state: &state, results: &results, variables: &variables, ..**session };
    check(&session.on(ground), diags).await
}

/// What was found out about a vertex.
enum Found {
    Nothing,
    Values(Vec<Value>),
    Called(Vec<Expansion>),
    Accepted(Value),
}

/// A configuration that is valid.
struct Checked {
    accepted: Accepted,
    /// Warnings of what is mentioned, which nothing but a check looks for.
    deprecated: Vec<Diagnostic>,
}

async fn check(session: &Session<'_>, diags: &mut Diagnostics) -> Result<Checked, Reported> {
    let options = Options::default();
    let graph = build::graph(diags, session, &options).await?;
    let givens = Givens { checking: true, ..session.givens() };
    // By vertex, so that their order does not depend on timing.
    let mut problems: BTreeMap<VertexId, Diagnostics> = BTreeMap::new();
    let mut deprecated: BTreeMap<VertexId, Vec<Diagnostic>> = BTreeMap::new();
    let mut accepted = Accepted::default();
    let stop = || session.stopped();
    let finishing = session.finishing;
    let pace = Pace { stop: &stop, finishing, ..Pace::at_most(session.parallelism) };
    let walk = walk(
        &graph,
        pace,
        async |_, vertex| add_problems(session, vertex, visit(session, givens, vertex).await),
        |id, vertex, (said, found)| {
            // What stands on something invalid would only repeat its errors.
            let next = if found.is_err() { Next::SkipDependents } else { Next::Go };
            match (vertex, found) {
                (Vertex::Frame(Frame::Value(value)), Ok(Found::Values(found))) => {
                    value.record(session.results, found);
                }
                (Vertex::Frame(Frame::Call(call)), Ok(Found::Called(found))) => {
                    call.record(givens, found);
                }
                (Vertex::Resource(resource), Ok(Found::Accepted(config))) => {
                    accepted.0.get_mut().insert(resource.addr.clone(), config);
                }
                _ => {}
            }
            problems.insert(id, said);
            let warnings = mention::deprecated(session, vertex);
            if !warnings.is_empty() {
                deprecated.insert(id, warnings);
            }
            next
        },
    );
    session.pool.tidying(walk).await;
    for said in graph.order().iter().filter_map(|id| problems.remove(id)) {
        let _ = diags.append(said);
    }
    diags.check()?;
    let deprecated = graph.order().iter().filter_map(|id| deprecated.remove(id)).flatten();
    Ok(Checked { accepted, deprecated: deprecated.collect() })
}

async fn visit(
    session: &Session<'_>,
    givens: Givens<'_>,
    vertex: &Vertex<'_>,
) -> (Diagnostics, Result<Found, Reported>) {
    let mut diags = Diagnostics::new();
    let found = match vertex {
        Vertex::Frame(Frame::Value(value)) => {
            let find = |diags: &mut Diagnostics| value.visit(diags, givens);
            session.settled(&mut diags, find).await.map(Found::Values)
        }
        Vertex::Frame(Frame::Call(call)) => {
            let find = |diags: &mut Diagnostics| call.visit(diags, givens);
            session.settled(&mut diags, find).await.map(Found::Called)
        }
        Vertex::Frame(Frame::Provider(provider)) => {
            validate_provider(session, &mut diags, provider).await.map(|()| Found::Nothing)
        }
        Vertex::Resource(resource) => validate_resource(session, &mut diags, resource).await,
        Vertex::Frame(_) | Vertex::Read(_) | Vertex::Orphan(_) => Ok(Found::Nothing),
    };
    (diags, found)
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
) -> Result<Found, Reported> {
    let (name, config) = (&vertex.addr.resource, vertex.config);
    let handle = session.pool.unconfigured(diags, &vertex.provider.provider).await?;
    let Some(handle) = handle else { return Ok(Found::Nothing) };
    let Some(ty) = handle.loaded().find(name.mode(), name.kind()) else {
        return Err(diags.error(unsupported_type(handle.loaded(), name, config.type_span)));
    };
    // Every call stands for one instance while nobody knows how many there will be.
    let modules = session.results.instances(&vertex.node.path);
    let Some(&module) = modules.first() else { return Ok(Found::Nothing) };
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
    // The block of one that is generated is made only when the object was found.
    if vertex.generated {
        return Ok(Found::Nothing);
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
    let is_accepted = said.is_empty() && value.is_wholly_known();
    point_at_parts(&mut said, &config.body, config.span);
    diags.append(said).and(verdict)?;
    Ok(if is_accepted { Found::Accepted(value) } else { Found::Nothing })
}

/// Marks what stands for something of this kind while nobody knows more about it.
fn mark_of(mode: Mode, value: Value) -> Value {
    match mode {
        Mode::Ephemeral => value.mark(Marks::EPHEMERAL),
        Mode::Managed | Mode::Data => value,
    }
}
