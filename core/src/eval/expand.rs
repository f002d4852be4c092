//! From `count` and `for_each` to instance keys.
//!
//! Evaluates the expression once; what the instances are is for others.

use formwork_value::value::Map;
use formwork_value::{Diagnostics, Reported, Str, Value};

use super::ModuleScope;
use crate::addr::InstanceKey;
use crate::config::Repetition;

/// Which instances a resource or module call has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// One, without a key.
    Single,
    /// As many, with keys from 0.
    Count(usize),
    /// One for each element, under its key. For a set, keys and values are equal.
    ForEach(Map),
}

/// What `count` and `each` mean within one instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepetitionData {
    /// `count.index`
    pub count_index: Option<Value>,
    /// `each.key`
    pub each_key: Option<Value>,
    /// `each.value`
    pub each_value: Option<Value>,
}

impl Expansion {
    /// How many instances there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Single => 1,
            Self::Count(n) => *n,
            Self::ForEach(each) => each.keys().len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys of the instances, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = InstanceKey> {
        (0..self.len()).map(|at| match self {
            Self::Single => InstanceKey::None,
            Self::Count(_) => InstanceKey::Int(at as u64),
            Self::ForEach(each) => InstanceKey::Str(each.keys()[at].clone()),
        })
    }

    /// Where in the order a key stands; `None` if there is no such instance.
    #[must_use]
    pub fn position(&self, key: &InstanceKey) -> Option<usize> {
        match (self, key) {
            (Self::Single, InstanceKey::None) => Some(0),
            (Self::Count(n), InstanceKey::Int(at)) => usize::try_from(*at).ok().filter(|at| at < n),
            (Self::ForEach(each), InstanceKey::Str(key)) => each.keys().binary_search(key).ok(),
            _ => None,
        }
    }

    /// Whether there is an instance with this key.
    #[must_use]
    pub fn contains(&self, key: &InstanceKey) -> bool {
        self.position(key).is_some()
    }

    /// What `count` and `each` mean within an instance.
    #[must_use]
    pub fn data(&self, key: &InstanceKey) -> RepetitionData {
        match (self, key) {
            (Self::Count(_), InstanceKey::Int(at)) => RepetitionData::count(*at),
            (Self::ForEach(each), InstanceKey::Str(key)) => {
                RepetitionData::each(key, each.get(key).cloned().unwrap_or_else(Value::dynamic))
            }
            _ => RepetitionData::default(),
        }
    }
}

impl RepetitionData {
    fn count(at: u64) -> Self {
        Self { count_index: Some(Value::Number(at.into())), ..Self::default() }
    }

    fn each(key: &Str, value: Value) -> Self {
        Self {
            each_key: Some(Value::String(key.clone())),
            each_value: Some(value),
            ..Self::default()
        }
    }

    /// What `count` and `each` mean while it is not known which instances there will be.
    #[must_use]
    pub fn unknown(repetition: &Repetition) -> Self {
        use formwork_value::Type;
        match repetition {
            Repetition::Single => Self::default(),
            Repetition::Count(_) => {
                Self { count_index: Some(Value::unknown(Type::Number)), ..Self::default() }
            }
            Repetition::ForEach(_) => Self {
                each_key: Some(Value::unknown(Type::String)),
                each_value: Some(Value::dynamic()),
                ..Self::default()
            },
        }
    }
}

/// Evaluates `count` or `for_each`.
///
/// # Errors
/// When the value does not say which instances there are: unknown, null, sensitive, of a wrong type,
/// negative, not whole.
pub fn expand(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    repetition: &Repetition,
) -> Result<Expansion, Reported> {
    let _ = (diags, scope, repetition);
    todo!()
}

/// Checks `count` or `for_each` while values may not be known yet. Returns the expansion if it is
/// known already.
///
/// # Errors
/// When the value can never say which instances there are.
pub fn check(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    repetition: &Repetition,
) -> Result<Option<Expansion>, Reported> {
    let _ = (diags, scope, repetition);
    todo!()
}
