//! What one command works with: configuration, state, providers, results.

use std::cell::Cell;
use std::collections::BTreeMap;

use formwork_value::diag::Sources;
use formwork_value::{Str, Value};
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::eval::vertex::Givens;
use crate::eval::{ModuleResults, ModuleScope, Results, World};
use crate::event::Watch;
use crate::graph::walk::Finishing;
use crate::provider::Pool;
use crate::state::State;

/// What one phase of one command works with. Everything is shared and read; only the results, which
/// are written once each, and the stop flag change.
pub struct Session<'a> {
    /// What the author wrote.
    pub config: &'a Config,
    /// The texts it was written in.
    pub sources: &'a Sources,
    /// What we believe exists, as it was when the command began.
    pub state: &'a State,
    /// The providers.
    pub pool: &'a Pool<'a>,
    /// What has been found out so far.
    pub results: &'a Results,
    /// What expressions can learn of the world outside.
    pub world: &'a World,
    /// Values of the root variables, converted.
    pub variables: &'a BTreeMap<Str, Value>,
    /// Who watches.
    pub watch: &'a dyn Watch,
    /// How many operations may be under way at once.
    pub parallelism: usize,
    /// Counts the operations under way.
    pub permits: Semaphore,
    /// In which order the results of visits are recorded: as they come, except in tests that nothing
    /// depends on it.
    pub finishing: Finishing,
    /// Set when the user wants no new operations to start.
    pub stop: &'a Cell<bool>,
}

impl Session<'_> {
    /// What values are found from.
    #[must_use]
    pub fn givens(&self) -> Givens<'_> {
        let Self { config, results, world, variables, .. } = self;
        Givens { config, results, world, variables, checking: false }
    }

    /// What names mean in an instance of a module.
    #[must_use]
    pub fn scope<'m>(&'m self, module: &'m ModuleResults) -> ModuleScope<'m> {
        ModuleScope::new(module, self.world)
    }

    /// The same session with another state.
    pub(crate) fn with_state<'s>(&'s self, state: &'s State) -> Session<'s> {
        let Self { config, sources, pool, results, world, variables, watch, .. } = *self;
        let Self { parallelism, finishing, stop, .. } = *self;
        let permits = Semaphore::new(parallelism);
        Session {
            config,
            sources,
            state,
            pool,
            results,
            world,
            variables,
            watch,
            parallelism,
            permits,
            finishing,
            stop,
        }
    }

    /// Whether the user wants no new operations to start.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.get()
    }
}
