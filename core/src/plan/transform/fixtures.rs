//! Graphs of plans from text, for the tests of the transforms.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use formwork_plugin_protocol::{Failure, Provider};

use super::*;
use crate::addr::ProviderAddr;
use crate::eval::testing::EvalFixture;
use crate::plan;
use crate::provider::{ProviderLauncher, ProviderPool};
use crate::provisioner::ProvisionerSet;
use crate::session::SessionInputs;
use crate::state::file::StateFile;

/// A state without resources.
pub(super) const EMPTY_STATE: &str =
    r#"{"version": 4, "serial": 1, "lineage": "l", "outputs": {}, "resources": []}"#;

/// A graph is built without asking any provider.
struct NoProviders;

#[async_trait(?Send)]
impl ProviderLauncher for NoProviders {
    async fn launch_provider(&self, _: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        unreachable!("graphs are built before providers start")
    }
}

/// Runs `look` with a session of the configuration and the state.
pub(super) fn with_session<T>(
    config: &str,
    state: &str,
    look: impl FnOnce(&Session<'_>) -> T,
) -> T {
    let bench = EvalFixture::from_fixture(config);
    let state = StateFile::parse(state.as_bytes()).unwrap().state;
    let (pool, variables, stop) =
        (ProviderPool::new(&NoProviders), BTreeMap::new(), Cell::new(false));
    let provisioners = ProvisionerSet::default();
    look(&Session::new(SessionInputs {
        config: &bench.config,
        sources: &bench.sources,
        state: &state,
        pool: &pool,
        results: &bench.results,
        world: &bench.world,
        variables: &variables,
        provisioners: &provisioners,
        stop: &stop,
    }))
}

/// Draws a graph, and has only the lines that contain something.
pub(super) fn dot_lines_containing(
    config: &str,
    state: &str,
    options: &PlanOptions,
    part: &str,
) -> String {
    let dot = with_session(config, state, |session| {
        plan::plan_graph_dot(session, &mut Diagnostics::new(), options, false).unwrap()
    });
    let lines = dot.lines().map(str::trim).filter(|line| line.contains(part));
    lines.collect::<Vec<_>>().join("\n")
}

/// The vertices, and the edges with their reasons, in an order of their own.
fn describe_graph(
    session: &Session<'_>,
    adds: &[AddingTransform],
    connects: &[ConnectingTransform],
) -> Vec<String> {
    let (mut diags, options) = (Diagnostics::new(), PlanOptions::default());
    let inputs = TransformInputs { session, options: &options };
    let steps = TransformSteps { add: adds, connect: connects, ..WHOLE_GRAPH_STEPS };
    let draft = build_draft_by_steps(&mut diags, inputs, steps).unwrap();
    let vertices = draft.vertices().iter().map(ToString::to_string);
    let edges = draft.edges().iter().map(|edge| {
        let (from, to) = (&draft[edge.dependent], &draft[edge.dependency]);
        format!("{from} -> {to}: {:?}", edge.reason)
    });
    let mut lines: Vec<String> = vertices.chain(edges).collect();
    lines.sort();
    lines
}

/// All orders of some things.
fn permutations<T: Copy>(things: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = things.split_first() else { return vec![Vec::new()] };
    let put_in = |order: Vec<T>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, *first);
            order
        })
    };
    permutations(rest).into_iter().flat_map(put_in).collect()
}

/// Builds a graph with the steps that add and those that connect in each order, which must not matter. Returns
/// its vertices, and its edges with their reasons, as lines.
pub(super) fn graph_in_each_order(config: &str, state: &str) -> Vec<String> {
    with_session(config, state, |session| {
        let expected = describe_graph(session, PLAN_GRAPH_STEPS.add, PLAN_GRAPH_STEPS.connect);
        for adds in permutations(PLAN_GRAPH_STEPS.add) {
            for connects in permutations(PLAN_GRAPH_STEPS.connect) {
                assert_eq!(describe_graph(session, &adds, &connects), expected);
            }
        }
        expected
    })
}
