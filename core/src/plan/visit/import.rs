//! Finds an object that is there already and belongs to an instance from now on.

use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use super::View;
use super::prior::{Owner, Prior};
use crate::event::Event;
use crate::phase::{encode, shown_id};
use crate::plan::outcome::Refreshed;
use crate::provider::{About, remark};
use crate::state::{Object, Status};

/// Finds an object by the id that its provider knows it by. It counts as the prior object from then
/// on, and is not read again.
///
/// # Errors
/// When the provider finds none.
pub(super) async fn find(
    view: View<'_>,
    diags: &mut Diagnostics,
    owner: Owner<'_>,
    (id, block): (&Str, Span),
) -> Result<Prior, Reported> {
    let Owner { handle, ty, addr, .. } = owner;
    let about = About { addr, block: Some(block) };
    let watch = view.session.watch;
    watch.see(&Event::ImportStart { addr, id, applying: false });
    let imported = handle.import(diags, ty, id, about).await?;
    let found = remark(ty, imported.value, &[]);
    // Even where nothing else is read: an import need not tell more than the id.
    watch.see(&Event::RefreshStart { addr, id: shown_id(&found) });
    let read = handle.read(diags, ty, (&found, &imported.private), about).await?;
    if read.value.value().is_null() {
        return Err(diags.error(not_there(id, about)));
    }
    let current = remark(ty, read.value, &[]);
    watch.see(&Event::RefreshDone { addr, id: shown_id(&current) });
    let (attributes, sensitive) = encode(diags, ty, addr, &current)?;
    let object = Arc::new(Object {
        status: Status::Ready,
        schema_version: ty.schema.version,
        attributes,
        sensitive,
        private: read.private,
        dependencies: Arc::default(),
        create_before_destroy: false,
        identity: None,
    });
    let refreshed = Refreshed::Now(object.clone());
    Ok(Prior { stored: current.clone(), current, object, refreshed })
}

fn not_there(id: &str, about: About<'_>) -> Diagnostic {
    let detail = format!(
        "The provider found nothing when it read the object {id:?}, which is to be imported to {}. \
         Only objects that are there can be imported: check that the id is right and that the \
         provider's configuration leads to where the object is.",
        about.addr
    );
    let summary = "Cannot import non-existent remote object";
    Diagnostic::error(summary, detail).at_opt(about.block).about(about.addr.to_string())
}
