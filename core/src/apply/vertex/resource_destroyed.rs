//! The vertex after the destroyed objects of a resource.

use std::fmt::{self, Display};

use super::{ApplyVertexKind, ApplyVisit};
use crate::addr::ConfigResourceAddr;
use crate::shared_graph::VertexKind;

/// Joins all objects of a resource that are destroyed before their successors are created.
#[derive(Debug)]
pub(crate) struct ResourceDestroyedVertex {
    pub(crate) addr: ConfigResourceAddr,
}

impl VertexKind<'_> for ResourceDestroyedVertex {}

impl ApplyVertexKind<'_> for ResourceDestroyedVertex {
    fn destroyed_resource(&self) -> Option<&ConfigResourceAddr> {
        Some(&self.addr)
    }
}

impl ApplyVisit<'_> for ResourceDestroyedVertex {
    type Outcome = ();
}

impl Display for ResourceDestroyedVertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (gone)", self.addr)
    }
}
