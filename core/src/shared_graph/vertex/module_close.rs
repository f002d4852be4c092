//! The vertex of a called module at which everything in it is done.

use std::fmt::{self, Display};

use super::{SharedVisit, VertexKind};
use crate::config::{Config, ModuleNode};

/// A called module, in which everything is done.
#[derive(Debug)]
pub(crate) struct ModuleCloseVertex<'c> {
    pub(crate) node: &'c ModuleNode,
}

impl<'c> VertexKind<'c> for ModuleCloseVertex<'c> {
    fn closed_module(&self) -> Option<&'c ModuleNode> {
        Some(self.node)
    }

    fn required_module(&self) -> Option<&'c ModuleNode> {
        Some(self.node)
    }

    fn enclosing_module(&self, config: &'c Config) -> Option<&'c ModuleNode> {
        // The end of a module belongs to the one around it.
        self.node.caller.map(|caller| &config.nodes[caller])
    }

    fn passes_dependencies_on(&self) -> bool {
        // An object that waits for a module depends on everything in it.
        true
    }
}

impl<'c> SharedVisit<'c> for ModuleCloseVertex<'c> {
    type Outcome = ();
}

impl Display for ModuleCloseVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (close)", self.node.path)
    }
}
