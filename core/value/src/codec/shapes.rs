//! The attribute names of object types, shared by all objects that one run of a decoder makes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Str;
use crate::ty::ObjectType;

/// Names by object type.
#[derive(Default)]
pub(super) struct Shapes {
    /// The one that was asked for last: objects of one type come one after the other.
    last: Option<Shape>,
    /// The others. Only looked up, never gone through, so its order is of no effect.
    others: HashMap<*const ObjectType, Shape>,
}

struct Shape {
    names: Arc<[Str]>,
    // Keeps the type alive, so that its address stays its own. A type read from a dynamic wrapper
    // would otherwise go away while the decoder is still at work.
    ty: Arc<ObjectType>,
}

impl Shapes {
    /// The names of the attributes of `ty`, sorted bytewise.
    pub(super) fn names(&mut self, ty: &Arc<ObjectType>) -> Arc<[Str]> {
        match &self.last {
            Some(last) if Arc::ptr_eq(&last.ty, ty) => return Arc::clone(&last.names),
            _ => {}
        }
        let found = self.others.remove(&Arc::as_ptr(ty));
        let shape = found.unwrap_or_else(|| Shape {
            names: ty.attributes.keys().cloned().collect(),
            ty: Arc::clone(ty),
        });
        let names = Arc::clone(&shape.names);
        if let Some(before) = self.last.replace(shape) {
            self.others.insert(Arc::as_ptr(&before.ty), before);
        }
        names
    }
}
