//! Destroys one object.

use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::contract::conform;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::again::{self, Question};
use super::{Came, View, announce, provision};
use crate::addr::InstanceAddr;
use crate::apply::salvage::{self, Asked, Salvaged};
use crate::apply::vertex::DestroyVertex;
use crate::change::Action;
use crate::config::When;
use crate::eval::DestroyedScope;
use crate::event::Event;
use crate::phase::{encode, plain, shown_id, spoken_from, watched};
use crate::provider::{About, Ask, Handle, ResourceType, remark};
use crate::state::journal::{self, Intent, JournalError};
use crate::state::{Object, Status};

/// Visits an object that is to go.
pub(super) async fn visit(
    view: View<'_>,
    object: Option<Arc<Object>>,
    diags: &mut Diagnostics,
    vertex: &DestroyVertex<'_>,
) -> Result<Came, Reported> {
    let change = vertex.change;
    let addr = &change.addr;
    let about = About { addr, block: None };
    let Some(object) = object else {
        // A replacement whose new object could not be made leaves the old one in its place.
        return Ok(Came::Nothing);
    };
    let (handle, ty) = provider(view, diags, vertex)?;
    let null = conform::planned_destroy(ty.block());
    let prior = plain(&change.before);
    let deposed = vertex.deposed.as_ref();
    let intent = Intent {
        addr,
        provider: &change.provider,
        deposed,
        deposes: None,
        action: journal::Action::Delete,
        prior: Some(&object),
        planned: null.value(),
    };
    let id = shown_id(&change.before);
    let action = Action::Delete;
    view.session.watch.see(&Event::Start { addr, deposed, action, id: id.clone() });
    let identity = ty.identity_of(&object);
    let ask = Ask {
        prior: &prior,
        proposed: &null,
        config: &null,
        private: &change.private,
        identity: identity.as_ref(),
    };
    let call = async {
        run_beside(view, diags, vertex, &object).await?;
        let op = announce(view, intent).await;
        let op = op.map_err(|why| salvage::not_durable(diags, &why, about))?;
        Ok::<_, Reported>((op, handle.apply(&ty, ask, addr).await))
    };
    let (sent, elapsed) = watched(view.session, (addr, action, id.as_ref()), call).await;
    let Ok((op, answer)) = sent else {
        view.session.watch.see(&Event::Failed { addr, action, elapsed });
        return Ok(Came::Destroyed { left: Some(object) });
    };
    let kept = view.journal.answer(op, salvage::taken_down(&answer));
    let asked = Asked { prior: &prior, planned: &null };
    let salvaged = salvage::salvage(diags, (&handle, &ty), asked, answer, about);
    let question = Question {
        addr,
        provider: &change.provider,
        handle: &handle,
        ty: &ty,
        object: Some(&object),
        predecessor: null.value(),
    };
    let salvaged = again::resolve(view, diags, question, asked, salvaged).await;
    let left = left(diags, (&ty, addr), object, &salvaged)?;
    let settled = match (salvaged.in_doubt, kept) {
        (true, kept) => kept,
        (false, Ok(())) => view.journal.settle(op, left.as_deref()),
        (false, Err(why)) => Err(why),
    };
    if let Err(why) = settled {
        let _: Reported = not_kept(diags, addr, &why);
    }
    match salvaged.result {
        Ok(()) => view.session.watch.see(&Event::Done { addr, deposed, action, id, elapsed }),
        Err(_) => view.session.watch.see(&Event::Failed { addr, action, elapsed }),
    }
    Ok(Came::Destroyed { left })
}

fn provider(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &DestroyVertex<'_>,
) -> Result<(Rc<Handle>, Rc<ResourceType>), Reported> {
    let change = vertex.change;
    let addr = &change.addr;
    let found = view.session.pool.configured(&change.provider).and_then(|handle| {
        let ty = handle.loaded().find(addr.resource.mode(), addr.resource.kind())?;
        Some((handle, ty))
    });
    let (handle, ty) = found.ok_or_else(|| {
        let detail =
            format!("{} was not configured when {addr} was to be destroyed.", change.provider);
        diags.error(Diagnostic::error("Provider not ready", detail).blame(Blame::Internal))
    })?;
    Ok((spoken_from(view.session, diags, handle, &addr.of().config())?, ty))
}

/// What is left of an object after the call.
fn left(
    diags: &mut Diagnostics,
    (ty, addr): (&ResourceType, &InstanceAddr),
    object: Arc<Object>,
    salvaged: &Salvaged,
) -> Result<Option<Arc<Object>>, Reported> {
    if salvaged.untouched {
        return Ok(Some(object));
    }
    if salvaged.value.value().is_null() {
        return Ok(None);
    }
    let value = remark(ty, salvaged.value.clone(), &object.sensitive);
    let (attributes, sensitive) = encode(diags, ty, addr, &value)?;
    let private = salvaged.private.clone();
    Ok(Some(Arc::new(Object { attributes, sensitive, private, ..(*object).clone() })))
}

fn not_kept(diags: &mut Diagnostics, addr: &InstanceAddr, why: &JournalError) -> Reported {
    let detail = format!(
        "The answer to the destruction of {addr} could not be written to the journal: {why}"
    );
    let problem = Diagnostic::error("Journal cannot be written", detail);
    diags.error(problem.blame(Blame::Environment))
}

/// Runs what is to run before an object is destroyed. Beside one that was only half made, or that has
/// been replaced already, nothing runs.
async fn run_beside(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &DestroyVertex<'_>,
    object: &Object,
) -> Result<(), Reported> {
    let (addr, config) = (&vertex.change.addr, view.session.config);
    let written = config
        .node(&addr.module.path())
        .and_then(|node| Some((node, &node.module.resources.get(&addr.resource)?.provisioners)));
    let removal = || config.removal(&addr.of().config());
    let removed = || removal().map(|(node, block)| (node, &block.provisioners));
    let Some((node, provisioners)) = written.or_else(removed) else { return Ok(()) };
    if vertex.deposed.is_some()
        || object.status == Status::Tainted
        || !provision::any(provisioners, When::Destroy)
    {
        return Ok(());
    }
    let scope = DestroyedScope {
        world: view.session.world,
        folder: (!node.path.is_root()).then_some(node.module.dir.as_path()),
        key: &addr.key,
        object: &vertex.change.before,
    };
    provision::provision(view, diags, addr, (provisioners, When::Destroy), &scope).await
}
