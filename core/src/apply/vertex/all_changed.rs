//! The vertex after all changes, for the objects that `check` blocks refer to.

use std::fmt::{self, Display};

use super::{ApplyVertexKind, ApplyVisit};
use crate::shared_graph::VertexKind;

/// Everything that changes has changed: objects that `check` blocks refer to wait for this.
#[derive(Debug)]
pub(crate) struct AllChangedVertex;

impl VertexKind<'_> for AllChangedVertex {}

impl ApplyVertexKind<'_> for AllChangedVertex {}

impl ApplyVisit<'_> for AllChangedVertex {
    type Outcome = ();
}

impl Display for AllChangedVertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(all changes)")
    }
}
