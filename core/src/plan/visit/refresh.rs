//! The current value of an object in the state: upgraded to the newest schema, and refreshed.

use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Value};

use super::PlanContext;
use crate::addr::{DeposedKey, InstanceAddr};
use crate::event::Event;
use crate::instance_steps::{encode_for_state, object_label, sensitive_paths};
use crate::plan::prior_state::{PriorState, RefreshResult};
use crate::provider::{
    CallContext, MoveSource, ObjectToRead, ProviderClient, ResourceType, add_marks,
};
use crate::state::{ObjectAttributes, ObjectState};

/// The instance whose objects are read.
#[derive(Clone, Copy)]
pub(in crate::plan) struct ObjectOwner<'a> {
    pub(in crate::plan) client: &'a ProviderClient,
    pub(in crate::plan) ty: &'a ResourceType,
    pub(in crate::plan) addr: &'a InstanceAddr,
    /// Set if it is a deposed object.
    pub(in crate::plan) deposed: Option<&'a DeposedKey>,
    /// The block that configures it, if there is one.
    pub(in crate::plan) block: Option<Span>,
}

impl<'a> ObjectOwner<'a> {
    /// Returns the subject of a call about the object.
    pub(super) fn call_context(&self) -> CallContext<'a> {
        CallContext { addr: self.addr, block: self.block }
    }
}

/// Takes an object as it was stored, in the form of the newest schema.
///
/// # Errors
/// When the provider cannot upgrade it.
pub(super) async fn upgrade_stored_object(
    diags: &mut Diagnostics,
    owner: ObjectOwner<'_>,
    object: &Arc<ObjectState>,
) -> Result<PriorState, Reported> {
    let stored = owner.client.upgrade_object(diags, owner.ty, object, owner.call_context()).await?;
    let (object, current) = (object.clone(), stored.clone());
    Ok(PriorState { stored, current, object, refreshed: RefreshResult::Unchanged })
}

/// Brings an object up to date, or takes the result of the read ahead.
///
/// # Errors
/// When the provider cannot upgrade or read it.
pub(super) async fn refresh_object(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    owner: ObjectOwner<'_>,
    object: &Arc<ObjectState>,
) -> Result<PriorState, Reported> {
    let Some((read_diags, prior)) = view.prefetched.find_object(owner.addr, owner.deposed) else {
        return read_object(view, diags, owner, object).await;
    };
    for diagnostic in read_diags {
        // The early read had no information that the block no longer has this instance.
        let subject = diagnostic.subject.filter(|_| owner.block.is_some());
        // The receipt is in the result.
        let _ = diags.push(Diagnostic { subject, ..diagnostic });
    }
    prior
}

/// Asks the provider for the current value of an object.
///
/// # Errors
/// When the provider cannot upgrade or read it.
pub(in crate::plan) async fn read_object(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    owner: ObjectOwner<'_>,
    object: &Arc<ObjectState>,
) -> Result<PriorState, Reported> {
    let (ObjectOwner { client, ty, addr, deposed, .. }, about) = (owner, owner.call_context());
    let mut object = object.clone();
    // An upgraded object is written back even if no value changed, or every later run would have to
    // upgrade it again.
    let mut same = object.schema_version == ty.schema.version
        && matches!(object.attributes, ObjectAttributes::Json(_));
    let stored = match view.analysis.moves.former_resource(addr) {
        None => client.upgrade_object(diags, ty, &object, about).await?,
        Some(source) => {
            let former =
                MoveSource { kind: &source.kind, provider: &source.provider, object: &object };
            let about = CallContext { addr, block: source.span };
            let (value, private) = client.move_resource_state(diags, ty, former, about).await?;
            same = false;
            Arc::make_mut(&mut object).private = private;
            value
        }
    };
    // Identities have their own version (protocol, UpgradeResourceIdentity), and are upgraded
    // before the read, which sends them.
    let identity = client.upgrade_identity(diags, ty, &object, about).await?;
    if identity.is_some() && object.identity != identity {
        same = false;
        Arc::make_mut(&mut object).identity = identity;
    }
    let mut current = stored.clone();
    if !view.options.skip_refresh {
        let watch = view.session.watch;
        watch.on_event(&Event::RefreshStart { addr, deposed, label: object_label(&stored) });
        let identity = ty.encode_identity(&object);
        let to_read = ObjectToRead { value: &stored, private: &object.private, identity };
        let read = client.read_object(diags, ty, to_read, about).await?;
        // Null is the only way for a provider to report that the object does not exist. It is no
        // drift of attributes, and marks on it have no meaning.
        current = if read.value.value().is_null() {
            read.value.into_value()
        } else {
            // The refreshed object keeps the marks of the stored one: the configuration that made a
            // value sensitive is not evaluated yet.
            add_marks(ty, read.value, &object.sensitive)
        };
        watch.on_event(&Event::RefreshDone { addr, label: object_label(&current) });
        if object.private != read.private {
            same = false;
            Arc::make_mut(&mut object).private = read.private;
        }
        // A missing identity in an answer is no statement about it, so the stored one is kept.
        if read.identity.is_some() && object.identity != read.identity {
            same = false;
            Arc::make_mut(&mut object).identity = read.identity;
        }
    }
    if current.is_null() {
        return Ok(PriorState { stored, current, object, refreshed: RefreshResult::Gone });
    }
    if stored == current {
        // The two may be kept for a while; one copy is enough.
        current = stored.clone();
    }
    if same && stored == current && are_all_marks_stored(&current, &object) {
        return Ok(PriorState { stored, current, object, refreshed: RefreshResult::Unchanged });
    }
    // Encoded only after a change. In a no-op plan the stored bytes are reused.
    let (attributes, sensitive) = encode_for_state(diags, ty, addr, &current)?;
    let changed = Arc::make_mut(&mut object);
    changed.attributes = attributes;
    changed.sensitive = sensitive;
    changed.schema_version = ty.schema.version;
    let refreshed = RefreshResult::Changed(object.clone());
    Ok(PriorState { stored, current, object, refreshed })
}

/// Whether the state marks all that is sensitive in a value.
fn are_all_marks_stored(value: &Value, object: &ObjectState) -> bool {
    // What only the schema marks is missing in the state of an older program or provider, and would
    // stay readable in a sealed state.
    let paths = sensitive_paths(value);
    if paths == *object.sensitive {
        return true;
    }
    let stored: BTreeSet<_> = object.sensitive.iter().collect();
    paths.iter().all(|path| stored.contains(path))
}

#[cfg(test)]
mod tests {
    use formwork_value::{Marks, Path, Step};

    use super::*;
    use crate::state::ObjectStatus;

    #[test]
    fn a_new_mark_is_detected_as_a_change() {
        let secret = || Value::string("s").mark(Marks::SENSITIVE);
        let value = Value::object([("a", secret()), ("b", Value::string("b")), ("c", secret())]);
        let path = |name: &str| Path(vec![Step::Attribute(name.into())]);
        for (names, expected) in
            [("", false), ("a", false), ("ac", true), ("ca", true), ("abc", true), ("b", false)]
        {
            let sensitive = names.split("").filter(|name| !name.is_empty()).map(path).collect();
            let object = ObjectState { sensitive: Arc::new(sensitive), ..object() };
            assert_eq!(are_all_marks_stored(&value, &object), expected, "{names}");
        }
        assert!(are_all_marks_stored(&Value::object([("a", Value::string("a"))]), &object()));
    }

    fn object() -> ObjectState {
        ObjectState {
            status: ObjectStatus::Ready,
            schema_version: 0,
            attributes: Default::default(),
            sensitive: Arc::default(),
            private: Default::default(),
            dependencies: Arc::default(),
            create_before_destroy: false,
            identity: None,
        }
    }
}
