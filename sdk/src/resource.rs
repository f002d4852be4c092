//! A managed resource as its author writes it. Planning is done from the model's rules; the hooks are
//! for what rules cannot say.

pub mod calls;

use std::future::{Future, ready};

use crate::{Answer, Computed, Draft, IdentityUpgrades, Model, Problem, Upgrades, plan};

pub use calls::{
    Change, Create, Delete, Foreign, Import, ImportByIdentity, Read, Stored, Update, Upgrade,
    Validate,
};

/// A resource type. Only [`create`](Self::create) must be written: what is left out suits a resource
/// that exists in the state alone and whose computed attributes stay when it is changed.
///
/// Handlers are written as `async fn`, and return what they found out and nothing else: what the author
/// of the configuration wrote, and what the plan promised, is carried over by the server. `?` turns any
/// error into a [`Problem`].
///
/// A handler that fails after it kept something with `call.keep(…)` leaves that behind; and one that
/// says with `call.report(…)` what went wrong and returns an object all the same has done its work in
/// part. A created object is stored as tainted then.
///
/// Where each handler is little more than a call of a service, `#[resource(…)]` on the model writes the
/// implementation; [`Model`](derive@crate::prelude::Model) has all of its words.
///
/// ```
/// use std::time::Duration;
/// use formwork_sdk::prelude::*;
///
/// mod client {
///     use std::io::Error;
///
///     pub struct Client;
///
///     pub struct Machine {
///         pub name: String,
///         pub address: String,
///         pub is_up: bool,
///     }
///
///     impl Client {
///         pub async fn start(&self, name: &str) -> Result<u64, Error> {
/// #           let _ = name; Ok(1)
///             // …
///         }
/// #
/// #       pub async fn machine(&self, _: u64) -> Result<Option<Machine>, Error> {
/// #           let (name, address) = ("a".to_owned(), "10.0.0.1".to_owned());
/// #           Ok(Some(Machine { name, address, is_up: true }))
/// #       }
/// #
/// #       pub async fn stop(&self, _: u64) -> Result<(), Error> { Ok(()) }
///     }
/// }
///
/// /// A machine.
/// #[derive(Model)]
/// #[attr(from = client::Machine)]
/// #[resource(
///     Machines(client: client::Client),
///     create = client.start(&name),
///     read = client.machine(number),
///     delete = client.stop(number),
///     ready(found.is_up, every = Duration::from_secs(5)),
/// )]
/// struct Machine {
///     /// What it is called.
///     #[attr(required, replace)]
///     name: String,
///     /// Where it is.
///     #[attr(computed)]
///     address: String,
///     /// Its number.
///     #[attr(computed, keep, import, local)]
///     number: u64,
/// }
///
/// let provider = ProviderDef::new("registry.terraform.io/acme/machines")
///     .resource("machines_machine", Machines(client::Client));
/// # use formwork_sdk::testing::{Action, Life, wait};
/// # use formwork_sdk::value::Value;
/// # wait(async {
/// #     let mut life = Life::new(provider, "machines_machine").await?;
/// #     assert_eq!(life.apply([("name", Value::string("a"))]).await?, Action::Create);
/// #     assert_eq!(life.get("address"), &Value::string("10.0.0.1"));
/// #     life.destroy().await
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no resource type",
    note = "write `impl Resource for {Self}`"
)]
pub trait Resource: Send + Sync + Sized + 'static {
    /// The objects.
    type Model: Model;

    /// Version of the stored form. To be raised when objects that are stored already no longer fit;
    /// [`upgrades`](Self::upgrades) has something to do then.
    const VERSION: u64 = 0;

    /// The older versions of the stored form, and the way from each.
    #[must_use]
    fn upgrades() -> Upgrades<Self> {
        Upgrades::none()
    }

    /// Version of the identity, to be raised when it consists of other attributes than before;
    /// [`identity_upgrades`](Self::identity_upgrades) has something to do then.
    const IDENTITY_VERSION: u64 = 0;

    /// The older versions of the identity, and the way from each.
    #[must_use]
    fn identity_upgrades() -> IdentityUpgrades<Self> {
        IdentityUpgrades::none()
    }

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. `call.report(…)` says so too, and goes on.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Says more about a plan to create or change an object than the rules do.
    ///
    /// # Errors
    /// When what the author wrote cannot be done.
    fn modify_plan(
        &self,
        _change: &mut Change<Self::Model>,
    ) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }

    /// Creates an object and returns what was computed.
    ///
    /// # Errors
    /// When there is no object, or only half of one: see [`Create::keep`].
    fn create(
        &self,
        call: Create<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send;

    /// Reads the real object; `None` when it is gone.
    ///
    /// # Errors
    /// When that cannot be found out. The object stays what it was.
    fn read(
        &self,
        call: Read<Self::Model>,
    ) -> impl Future<Output = Answer<Option<Self::Model>>> + Send {
        ready(Ok(Some(call.current)))
    }

    /// Changes an object in place and returns what was computed. Only what the plan left unknown
    /// counts.
    ///
    /// # Errors
    /// When it is not changed, or only in part: see [`Update::keep`].
    fn update(
        &self,
        call: Update<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send {
        ready(Ok(call.prior.into()))
    }

    /// Destroys an object. That it is gone already is no error.
    ///
    /// # Errors
    /// When it is still there.
    fn delete(&self, _call: Delete<Self::Model>) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }

    /// Finds an existing object by what the user calls it. A read follows, so the id alone may do: if
    /// this is left out, it becomes the attribute that says `import`.
    ///
    /// # Errors
    /// When the id is nothing that an object could be called. Always, if this is left out and no
    /// attribute says `import`.
    fn import(
        &self,
        call: Import<Self::Model>,
    ) -> impl Future<Output = Answer<Draft<Self::Model>>> + Send {
        ready(call.by_id())
    }

    /// Finds an existing object by its identity: the attributes that are marked so. A read follows, so
    /// they alone may do.
    ///
    /// # Errors
    /// When it is nothing that an object could have.
    fn import_by_identity(
        &self,
        call: ImportByIdentity<Self::Model>,
    ) -> impl Future<Output = Answer<Draft<Self::Model>>> + Send {
        ready(Ok(call.identity.into()))
    }

    /// Upgrades an object stored by an older version, if [`upgrades`](Self::upgrades) has no way
    /// for it: by calls to the service, say, or from the stored JSON.
    ///
    /// # Errors
    /// When there is no way from its version, or the object is not of that version.
    fn upgrade(&self, call: Upgrade) -> impl Future<Output = Answer<Draft<Self::Model>>> + Send {
        ready(Self::upgrades().upgrade(&call.stored).map(Into::into))
    }

    /// Takes over an object of another resource type; `None` when there is no way from that type.
    ///
    /// # Errors
    /// When there is a way, but not for this object.
    fn take_over(
        &self,
        _from: Foreign,
    ) -> impl Future<Output = Answer<Option<Draft<Self::Model>>>> + Send {
        ready(Ok(None))
    }
}

impl<M: Model> Import<M> {
    /// An object of which only that attribute is known that says `import`.
    fn by_id(&self) -> Answer<Draft<M>> {
        let shape = M::shape();
        match plan::of_id(&shape, &self.id) {
            Some(Ok(object)) => crate::model::read(&object),
            Some(Err(why)) => {
                let detail =
                    format!("{:?} is nothing that an object could be called: {why}.", self.id);
                Err(Problem::new("Invalid import id", detail))
            }
            None => Err(Problem::new(
                "Resource import not supported",
                "Objects of this resource type cannot be imported; create a new one.",
            )),
        }
    }
}
