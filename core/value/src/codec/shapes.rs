//! The attribute names of object types, shared by all objects that one run of a decoder makes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Str;
use crate::ty::ObjectType;

/// Names by object type. Only looked up, never gone through, so its order is of no effect.
#[derive(Default)]
pub(super) struct Shapes(HashMap<*const ObjectType, Shape>);

struct Shape {
    names: Arc<[Str]>,
    // Keeps the type alive, so that its address stays its own. A type read from a dynamic wrapper
    // would otherwise go away while the decoder is still at work.
    _ty: Arc<ObjectType>,
}

impl Shapes {
    /// The names of the attributes of `ty`, sorted bytewise.
    pub(super) fn names(&mut self, ty: &Arc<ObjectType>) -> Arc<[Str]> {
        let shape = self.0.entry(Arc::as_ptr(ty)).or_insert_with(|| Shape {
            names: ty.attributes.keys().cloned().collect(),
            _ty: Arc::clone(ty),
        });
        Arc::clone(&shape.names)
    }
}
