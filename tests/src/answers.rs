//! Answers of providers for the comparison of verdicts with Terraform: schemas, configurations, stored
//! objects and answers, valid and invalid, all derived from numbers, so that the test and its provider
//! make the same.

mod answer;
mod input;
mod schema;

pub use answer::{answer, filled, planned, replace_paths};
pub use input::{config, stored};
pub use schema::{NAME, TYPES, schema, type_name};

/// The call whose answers are judged in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The plan of a new object.
    Create,
    /// The plan of a change, or of a replacement.
    Update,
    /// The plan of an end.
    Destroy,
    /// The object after its creation.
    ApplyCreate,
    /// The object after a change.
    ApplyUpdate,
    /// The object after its end.
    ApplyDestroy,
    /// A refreshed object.
    Read,
    /// The data of a data source.
    Data,
}

impl Judged {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::Update,
        Self::Destroy,
        Self::ApplyCreate,
        Self::ApplyUpdate,
        Self::ApplyDestroy,
        Self::Read,
        Self::Data,
    ];

    /// The name in an environment variable.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Destroy => "destroy",
            Self::ApplyCreate => "apply-create",
            Self::ApplyUpdate => "apply-update",
            Self::ApplyDestroy => "apply-destroy",
            Self::Read => "read",
            Self::Data => "data",
        }
    }

    /// The call of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|judged| judged.name() == name)
    }

    /// Whether the objects are stored before the run.
    #[must_use]
    pub fn has_state(self) -> bool {
        !matches!(self, Self::Create | Self::ApplyCreate | Self::Data)
    }

    /// Whether the run applies.
    #[must_use]
    pub fn applies(self) -> bool {
        matches!(self, Self::ApplyCreate | Self::ApplyUpdate | Self::ApplyDestroy)
    }

    /// Whether the objects are to be destroyed.
    #[must_use]
    pub fn destroys(self) -> bool {
        matches!(self, Self::Destroy | Self::ApplyDestroy)
    }
}
