//! Human-readable descriptions of operations that an interrupted run left open.

use std::sync::Arc;

use formwork_value::Diagnostic;
use formwork_value::diag::Blame;

use super::{CREATED_OBJECT_EXISTS_REASON, OpenQuestion, UnresolvedOperation, object_id_hint};
use crate::messages;
use crate::state::journal::CallAction;
use crate::state::journal::record::strip_subseconds;
use crate::state::{ObjectState, State};

impl UnresolvedOperation {
    /// The id of the object in an answer that was not taken over, if it has one. A hint for the user, and for
    /// messages only as [`UnresolvedOperation::shown_object_id`].
    #[must_use]
    pub fn guess_object_id(&self) -> Option<String> {
        match &self.doubt {
            OpenQuestion::Destination { object: Some(object) } => object.attributes.id_attribute(),
            _ => self.answer.as_ref().and_then(object_id_hint::find_id_in_answer),
        }
    }

    /// Whether the id of the object is sensitive, so that messages must not show it.
    #[must_use]
    pub fn has_sensitive_id(&self) -> bool {
        let is_in_result = match &self.doubt {
            OpenQuestion::Destination { object: Some(object) } => object.has_sensitive_id(),
            _ => false,
        };
        is_in_result || self.answer.as_ref().is_some_and(|answer| answer.has_sensitive_id)
    }

    /// The id of the object in an answer that was not taken over, for a message: `None` if it has none, or
    /// a sensitive one.
    #[must_use]
    pub fn shown_object_id(&self) -> Option<String> {
        self.guess_object_id().filter(|_| !self.has_sensitive_id())
    }

    /// The object that the state has at the address of this one, and that is certainly a different one: it
    /// keeps the address, so this one cannot be added to the state there.
    #[must_use]
    pub fn other_object_in_place<'s>(&self, state: &'s State) -> Option<&'s Arc<ObjectState>> {
        let existing = state.find_object(&self.addr, self.deposed.as_ref())?;
        let makes_room = self
            .deposes
            .as_ref()
            .is_some_and(|key| state.find_object(&self.addr, Some(key)).is_none());
        let is_other = match &self.doubt {
            _ if makes_room => false,
            OpenQuestion::Destination { object: Some(object) } => {
                object.is_other_real_object(existing)
            }
            OpenQuestion::Destination { object: None } => false,
            // The address was free when the call was made. An object that may be the created one settles it.
            OpenQuestion::Effect => {
                self.action == CallAction::Create
                    && self.deposes.is_none()
                    && !self.may_have_created(existing)
            }
        };
        is_other.then_some(existing)
    }

    /// Describes the call in flight for the user, and the command that settles it.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let detail = self.describe_operation("`formwork recover list` shows how");
        Diagnostic::warning(messages::AN_OPERATION_WAS_INTERRUPTED, detail)
            .blamed_on(Blame::Environment)
            .about(self.addr.to_string())
    }

    /// Describes the call in flight for the user. `decision` names the source of the next
    /// step.
    #[must_use]
    pub fn describe_operation(&self, decision: &str) -> String {
        let (addr, when) = (&self.addr, strip_subseconds(&self.when));
        let doing = match self.action {
            CallAction::Create => "created",
            CallAction::Update => "updated",
            CallAction::Delete => "destroyed",
        };
        let object = match &self.deposed {
            Some(key) => format!("The deposed object {key} of {addr}"),
            None => addr.to_string(),
        };
        let object = match &self.moved {
            Some(moved) => format!("{object}, which is now {moved},"),
            None => object,
        };
        let answer = self.answer.as_ref().filter(|answer| !answer.state.is_empty());
        let is_known = matches!(self.doubt, OpenQuestion::Destination { .. });
        let answer = match self.shown_object_id() {
            Some(id) => format!(
                "the answer had arrived but was not taken over; the object in it has the id {id:?}"
            ),
            None if is_known || answer.is_some() => {
                "the answer had arrived but was not taken over".to_owned()
            }
            None => "no usable answer had arrived".to_owned(),
        };
        let remedy = match (self.action, &self.doubt) {
            (CallAction::Create, OpenQuestion::Effect)
                if self.decided.as_deref() == Some(CREATED_OBJECT_EXISTS_REASON) =>
            {
                "Since then an object has appeared at its address, which is assumed to be the one that \
                 was being created. If it was recreated by other means, look for the new object."
            }
            (_, OpenQuestion::Destination { .. }) => {
                "It was completed, but another program has changed the state since, so the result was \
                 not stored. Compare the real object with the state."
            }
            (CallAction::Create, OpenQuestion::Effect) => &format!(
                "The object may exist although it is not in the state. Look for it, and settle \
                     the operation: {decision}. Until then it is not created a second time."
            ),
            (CallAction::Update | CallAction::Delete, OpenQuestion::Effect) => {
                "The state has the object as it was before; the next refresh shows the \
                 outcome."
            }
        };
        format!(
            "{object} was being {doing} (requested at {when}) when the run was interrupted; {answer}. \
             {remedy}"
        )
    }
}
