//! The vertex between many objects of a resource and the many that they wait for.

use std::fmt::{self, Display};

use super::{ApplyVertexKind, ApplyVisit};
use crate::addr::ConfigResourceAddr;
use crate::shared_graph::VertexKind;

/// Everything that several objects of a resource wait for, of what comes or goes because of others, so
/// that there is one edge and not one for each pair.
#[derive(Debug)]
pub(crate) struct DestroyJoinVertex {
    pub(crate) addr: ConfigResourceAddr,
}

impl VertexKind<'_> for DestroyJoinVertex {}

impl ApplyVertexKind<'_> for DestroyJoinVertex {
    fn joined_resource(&self) -> Option<&ConfigResourceAddr> {
        Some(&self.addr)
    }
}

impl ApplyVisit<'_> for DestroyJoinVertex {
    type Outcome = ();
}

impl Display for DestroyJoinVertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (free)", self.addr)
    }
}
