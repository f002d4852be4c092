//! Looks for an object that an interrupted run may have made, where what the run was about to make
//! says how it can be found. What it finds belongs to the instance only if it is as it was to be.

use formwork_plugin_protocol::contract::conform::assert_object_compatible;
use formwork_value::{Diagnostic, Diagnostics, Value};

use super::View;
use super::import::{Found, find_at};
use super::prior::{Owner, Prior};
use crate::config::{Resource, When};
use crate::phase::plain;
use crate::plan::outcome::Refreshed;
use crate::provider::{About, clue};
use crate::state::Status;

/// What became of an object that may have been made.
pub(super) enum Search {
    /// It is there.
    Found(Box<Prior>),
    /// There is none, so it was never made.
    NeverMade,
    /// Nobody can tell.
    InDoubt,
}

/// Looks for the object that was to be made as `planned`.
pub(super) async fn look_for(
    view: View<'_>,
    diags: &mut Diagnostics,
    owner: Owner<'_>,
    (planned, config): (&Value, &Resource),
) -> Search {
    let Owner { ty, addr, .. } = owner;
    if !planned.ty().conforms_to(&ty.ty) {
        return Search::InDoubt;
    }
    let Some(clue) = clue(ty, planned) else { return Search::InDoubt };
    let in_doubt = |diags: &mut Diagnostics, why: &str| {
        let detail = format!(
            "{addr} was being created when a run was interrupted. The provider was asked for the \
             object by {clue}, {why}. So nobody knows whether the object in question exists."
        );
        let summary = "An interrupted operation could not be resolved";
        diags.warn(Diagnostic::warning(summary, detail).about(addr.to_string()));
        Search::InDoubt
    };
    // That a provider does not find an object is no error of this run.
    let mut said = Diagnostics::new();
    let found = find_at(view, &mut said, owner, (&clue, config.span)).await;
    let mut prior = match found {
        Ok(Found::There(prior)) => prior,
        Ok(Found::Nothing) => return Search::NeverMade,
        Err(_) => {
            let summary = said.iter().find(|problem| problem.is_error());
            let summary = summary.map_or("", |problem| problem.summary.as_str());
            return in_doubt(diags, &format!("and answered: {summary}"));
        }
    };
    let about = About { addr, block: Some(config.span) };
    let differences = assert_object_compatible(ty.block(), &plain(planned), &plain(&prior.current));
    if let Some(difference) = differences.first() {
        let about = about.addr;
        let why = format!("and there is one, but it is not as {about} was to be: {difference}");
        return in_doubt(diags, &why);
    }
    if config.provisioners.iter().any(|provisioner| provisioner.when == When::Create) {
        // Nobody knows how much of that was done, so the object is half made.
        let mut object = (*prior.object).clone();
        object.status = Status::Tainted;
        prior.object = object.into();
    }
    prior.refreshed = Refreshed::Found(prior.object.clone());
    Search::Found(Box::new(prior))
}
