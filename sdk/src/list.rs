//! List resources: they find existing objects, managed or not.

use std::future::Future;
use std::marker::PhantomData;

use formwork_value::Value;
use tokio::sync::mpsc::Sender;

use crate::call::Call;
use crate::resource::Validate;
use crate::{Answer, Draft, Input, Model, ObjectConversion as _};

/// A list resource. It has the name of the resource type whose objects it lists.
///
/// The handler sends objects one by one, and continues when the host requests another one:
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     #[attr(required)]
///     title: String,
///     #[attr(computed, keep, identity)]
///     id: u64,
/// }
///
/// struct Notes;
///
/// impl List for Notes {
///     type Model = ();
///     type Object = Note;
///
///     async fn list(&self, call: Search<(), Note>) -> Answer<()> {
///         for page in 0.. {
///             for id in page * 10..page * 10 + 10 {
///                 call.send_object(format!("note {id}"), NoteIdentity { id }).await;
///             }
///         }
///         Ok(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list resource",
    note = "write `impl List for {Self}`"
)]
pub trait List: Send + Sync + 'static {
    /// Arguments of the query. They have no computed attributes.
    type Model: Model;
    /// The objects: the model of the resource type. It must have an identity.
    type Object: Model;

    /// Validates the configuration beyond the schema. Values may be unknown.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Finds objects: sends each with [`call.send_object(…)`](Search::send_object), and returns
    /// after the last one. When the host has enough objects, the handler ends at that call.
    ///
    /// # Errors
    /// When the objects cannot be listed. Objects sent before are kept.
    fn list(
        &self,
        call: Search<Self::Model, Self::Object>,
    ) -> impl Future<Output = Answer<()>> + Send;
}

/// A request to list objects.
///
/// See [`List`] for an example.
#[non_exhaustive]
pub struct Search<M: Model, O: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// Maximum number of objects; `None` for no limit. Objects beyond it are not requested.
    pub limit: Option<usize>,
    /// Whether the host requests whole objects, or only their identities.
    pub whole: bool,
    pub(crate) finds: Sender<FoundObject>,
    pub(crate) object: PhantomData<fn() -> O>,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A found object.
pub(crate) struct FoundObject {
    pub(crate) display_name: String,
    /// The known attributes.
    pub(crate) object: Value,
}

impl<M: Model, O: Model> Search<M, O> {
    /// Sends an object under a display name: the whole object, or its identity if the host requests
    /// no more. Returns when the host requests another one, which may be never.
    pub fn send_object(
        &self,
        name: impl Into<String>,
        object: impl Into<Draft<O>>,
    ) -> impl Future<Output = ()> + Send {
        let find = FoundObject { display_name: name.into(), object: object.into().to_value() };
        let finds = self.finds.clone();
        async move {
            // The host may have closed the stream already.
            drop(finds.send(find).await);
        }
    }
}

impl<M: Model, O: Model> std::ops::Deref for Search<M, O> {
    type Target = Call;

    fn deref(&self) -> &Call {
        &self.call
    }
}
