//! The vertex of the end of an ephemeral resource. `close_ephemeral` adds it.

use std::fmt::{self, Display};

use formwork_value::Diagnostics;

use super::{SharedContext, SharedVisit, VertexKind};
use crate::addr::ConfigResourceAddr;

/// The end of an ephemeral resource, when everything that needs it is done.
#[derive(Debug)]
pub(crate) struct EphemeralCloseVertex {
    pub(crate) addr: ConfigResourceAddr,
}

impl VertexKind<'_> for EphemeralCloseVertex {
    fn closed_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        Some(&self.addr)
    }
}

impl SharedVisit<'_> for EphemeralCloseVertex {
    type Outcome = ();

    async fn visit(
        &self,
        context: SharedContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        context.ephemeral_resources.close_resource(diags, &self.addr).await;
        None
    }
}

impl Display for EphemeralCloseVertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (close)", self.addr)
    }
}
