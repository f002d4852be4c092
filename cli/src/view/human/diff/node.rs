//! A computed difference: a tree of parts, each with its change.

use formwork_value::{Str, Value};

use super::ChangeSign;

/// A value with its change.
pub(super) struct DiffNode<'v> {
    pub(super) form: NodeForm<'v>,
    pub(super) sign: ChangeSign,
    /// Whether its change forces a replacement.
    pub(super) forces: bool,
}

/// Named parts, sorted by name.
pub(super) type NamedNodes<'v> = Vec<(&'v Str, DiffNode<'v>)>;

/// A value before and after a change, if it exists.
#[derive(Clone, Copy)]
pub(super) struct ValueSides<'v> {
    pub(super) before: Option<&'v Value>,
    pub(super) after: Option<&'v Value>,
}

pub(super) enum NodeForm<'v> {
    /// A value without parts, or null.
    Scalar(ValueSides<'v>),
    /// A list or tuple. With `context`, the elements next to a change are shown.
    List { elements: Vec<DiffNode<'v>>, context: bool },
    /// A set. If it is `nested`, the elements are annotated with `forces replacement`.
    Set { elements: Vec<DiffNode<'v>>, nested: bool },
    /// A map. If it is `nested`, the keys are not aligned, and the elements are annotated with `forces
    /// replacement`.
    Map { elements: NamedNodes<'v>, nested: bool },
    /// An object. If it is `nested`, removed attributes end in `-> null`.
    Object { attributes: NamedNodes<'v>, nested: bool },
    /// A block.
    Block { attributes: NamedNodes<'v>, blocks: Vec<BlockNodes<'v>> },
    /// A value that must not be shown, with the change of its content.
    Sensitive { inner: ChangeSign, before: bool, after: bool },
    /// A block that must not be shown, likewise.
    SensitiveBlock { inner: ChangeSign, before: bool, after: bool },
    /// An unknown value, with the removal of the value before it.
    Unknown(Option<Box<DiffNode<'v>>>),
    /// A value of another type, as a removal and a creation.
    TypeChange(Box<DiffNode<'v>>, Box<DiffNode<'v>>),
    /// An attribute that is not stored.
    WriteOnly { sensitive: bool },
}

/// The nested blocks of one type.
pub(super) struct BlockNodes<'v> {
    pub(super) name: &'v Str,
    /// Whether they force a replacement together.
    pub(super) forces: bool,
    /// Whether all of them were sensitive, and whether they will be.
    pub(super) sensitive: (bool, bool),
    /// Whether their number is unknown.
    pub(super) unknown: bool,
    /// The blocks, each with its label.
    pub(super) blocks: Vec<(Option<&'v Str>, DiffNode<'v>)>,
}

impl ChangeSign {
    /// Combines the change of a value with the change of a part.
    pub(super) fn with_part(self, part: Self) -> Self {
        match part {
            Self::Keep => self,
            part if part == self => self,
            _ => Self::Change,
        }
    }

    /// The change of a value with these parts.
    pub(super) fn with_parts<'n, 'v: 'n>(
        self,
        parts: impl IntoIterator<Item = &'n DiffNode<'v>>,
    ) -> Self {
        parts.into_iter().fold(self, |sign, part| sign.with_part(part.sign))
    }
}
