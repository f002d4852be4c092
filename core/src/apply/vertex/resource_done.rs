//! The vertex after all instances of a resource.

use std::fmt::{self, Display};

use super::{ApplyVertexKind, ApplyVisit};
use crate::addr::ConfigResourceAddr;
use crate::config::{Config, ModuleNode};
use crate::shared_graph::VertexKind;

/// All instances of a resource are as planned: vertices that refer to the resource wait for this,
/// so that there is one edge and not one for each pair of instances.
#[derive(Debug)]
pub(crate) struct ResourceDoneVertex {
    pub(crate) addr: ConfigResourceAddr,
}

impl<'c> VertexKind<'c> for ResourceDoneVertex {
    fn enclosing_module(&self, config: &'c Config) -> Option<&'c ModuleNode> {
        // Whatever is made of a resource in the module ends here.
        config.find_node(&self.addr.module)
    }

    fn resource_for_references(&self) -> Option<&ConfigResourceAddr> {
        Some(&self.addr)
    }
}

impl ApplyVertexKind<'_> for ResourceDoneVertex {
    fn done_resource(&self) -> Option<&ConfigResourceAddr> {
        Some(&self.addr)
    }
}

impl ApplyVisit<'_> for ResourceDoneVertex {
    type Outcome = ();
}

impl Display for ResourceDoneVertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (done)", self.addr)
    }
}
