//! An answer of a provider, with the values that the rules of the contract compare it with.

use formwork_value::codec::DecodeError;
use formwork_value::schema::Block;
use formwork_value::{Path, Plain, Type};

use super::Violation;
use crate::Payload;

/// The schemas of the type that a call is about.
#[derive(Clone, Copy, Debug)]
pub struct TypeSchemas<'a> {
    /// The schema of its objects.
    pub object: &'a Block,
    /// The type of its identities, if it has any.
    pub identity: Option<&'a Type>,
}

/// A call, with the values that its answer is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// Any call, of whose answer only the deferral or the identity is judged.
    Any,
    /// A stored object was brought to the newest schema.
    Upgrade,
    /// A real object was read.
    Read,
    /// An object of another type was taken over.
    Move,
    /// A data source was read.
    ReadData,
    /// A change was planned.
    Plan {
        /// The object before; null to create.
        prior: &'a Plain,
        /// The configuration as the provider got it.
        config: &'a Plain,
        /// The paths that force replacement, as the provider named them.
        requires_replace: &'a [Path],
        /// Whether the answer declares the legacy SDK. Its plans are not compared with the
        /// configuration.
        legacy: bool,
    },
    /// The new object of a replacement was planned. Terraform judges only its form.
    PlanReplacement,
    /// The paths that force replacement were named.
    Replace {
        /// The object before.
        prior: &'a Plain,
        /// The paths, as the provider named them.
        paths: &'a [Path],
    },
    /// The end of an object was planned.
    PlanDestroy,
    /// A change that was shown was planned again while applying.
    FinalPlan {
        /// The plan that was shown.
        shown: &'a Plain,
        /// The paths that force replacement now.
        replaced: &'a [Path],
    },
    /// A plan was applied.
    Apply {
        /// The planned object; null to destroy.
        planned: &'a Plain,
        /// Whether the answer declares the legacy SDK. Its objects are not compared with the plan.
        legacy: bool,
    },
    /// An object was imported.
    Import {
        /// The requested resource type.
        asked: &'a str,
        /// The resource type of the object that was found.
        found: &'a str,
    },
    /// An ephemeral resource was opened.
    Open {
        /// Its configuration.
        config: &'a Plain,
    },
}

/// An answer, with the values that it is compared with.
#[derive(Clone, Copy, Debug)]
pub struct AnswerToCheck<'a> {
    pub(super) call: Call<'a>,
    pub(super) deferred: bool,
    pub(super) object: Option<AnsweredObject<'a>>,
    pub(super) identity: Option<&'a Payload>,
}

/// The object in an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnsweredObject<'a> {
    pub(super) value: &'a Plain,
    pub(super) is_absent: bool,
    /// Whether it was decoded by the schema, and so has its type.
    pub(super) is_decoded: bool,
}

impl<'a> AnswerToCheck<'a> {
    /// The answer to a call, still empty.
    #[must_use]
    pub fn for_call(call: Call<'a>) -> Self {
        Self { call, deferred: false, object: None, identity: None }
    }

    /// Adds whether the call was deferred, where the host did not allow it.
    #[must_use]
    pub fn with_disallowed_deferral(self, deferred: bool) -> Self {
        Self { deferred, ..self }
    }

    /// Adds the object: as it came, and decoded by the schema.
    #[must_use]
    pub fn with_answered_object(self, came: &Payload, value: &'a Plain) -> Self {
        // A value from a provider in this process was never decoded, so its type is still
        // unchecked.
        let is_decoded = !matches!(came, Payload::Value(..));
        let object = AnsweredObject { value, is_absent: *came == Payload::Absent, is_decoded };
        Self { object: Some(object), ..self }
    }

    /// Adds an object that no schema has decoded.
    #[must_use]
    pub fn with_object_of_unchecked_type(self, value: &'a Plain) -> Self {
        let object = AnsweredObject { value, is_absent: false, is_decoded: false };
        Self { object: Some(object), ..self }
    }

    /// Adds the identity, as it came.
    #[must_use]
    pub fn with_answered_identity(self, identity: Option<&'a Payload>) -> Self {
        Self { identity, ..self }
    }
}

/// An answer as a rule with a file of its own judges it.
pub(super) struct JudgedAnswer<'a> {
    /// The answer. It has no object if a rule about the form of objects is broken.
    pub(super) answer: AnswerToCheck<'a>,
    /// The schemas of the type.
    pub(super) schemas: &'a TypeSchemas<'a>,
    /// The decoded identity, if the answer has one and the type has identities.
    pub(super) identity: Option<Result<Plain, DecodeError>>,
}

impl<'a> JudgedAnswer<'a> {
    /// Decodes the identity of the answer.
    pub(super) fn new(answer: &AnswerToCheck<'a>, schemas: &'a TypeSchemas<'a>) -> Self {
        // Providers without identities leave the field out.
        let identity = answer.identity.filter(|identity| **identity != Payload::Absent);
        let answer = AnswerToCheck { identity, ..*answer };
        let identity = identity.zip(schemas.identity).map(|(identity, ty)| identity.decode(ty));
        Self { answer, schemas, identity }
    }
}

/// The check of a rule with a file of its own.
pub(super) type RuleCheck = fn(&JudgedAnswer<'_>) -> Option<Violation>;
