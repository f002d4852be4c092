//! A list resource as its author writes it: finds objects that exist, managed or not.

use std::future::Future;
use std::marker::PhantomData;

use formwork_value::Value;
use tokio::sync::mpsc::Sender;

use crate::call::Call;
use crate::resource::Validate;
use crate::{Answer, Draft, Input, Model, View as _};

/// A list resource. Its name is that of the resource type whose objects it finds.
///
/// Objects go to the host one by one, and the handler goes on when the host wants another:
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
///                 call.found(format!("note {id}"), NoteIdentity { id }).await;
///             }
///         }
///         Ok(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list resource",
    note = "write `impl List for {Self}`"
)]
pub trait List: Send + Sync + 'static {
    /// Arguments of the query. They have no computed attributes.
    type Model: Model;
    /// The objects: the model of the resource type. It must have an identity.
    type Object: Model;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. `call.report(…)` says so too, and goes on.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Finds objects: says each with [`call.found(…)`](Search::found), and returns when there are no
    /// more. When the host has as many as it wants, the handler ends where it waits.
    ///
    /// # Errors
    /// When it cannot be found out which there are. Those that were found count.
    fn list(
        &self,
        call: Search<Self::Model, Self::Object>,
    ) -> impl Future<Output = Answer<()>> + Send;
}

/// Asks for objects.
#[non_exhaustive]
pub struct Search<M: Model, O: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// Greatest number of objects; `None` for no limit. Objects beyond it are not requested.
    pub limit: Option<usize>,
    /// Whether whole objects are wanted, or only what identifies them.
    pub whole: bool,
    pub(crate) finds: Sender<Find>,
    pub(crate) object: PhantomData<fn() -> O>,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// Display name of an object, and its known attributes.
pub(crate) type Find = (String, Value);

impl<M: Model, O: Model> Search<M, O> {
    /// Says an object that was found, under a name for people: the whole object, or its identity if no
    /// more is wanted. Returns when the host wants to hear of another, which may be never.
    pub fn found(
        &self,
        name: impl Into<String>,
        object: impl Into<Draft<O>>,
    ) -> impl Future<Output = ()> + Send {
        let find = (name.into(), object.into().to_value());
        let finds = self.finds.clone();
        async move {
            // The receiver may be gone already.
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
