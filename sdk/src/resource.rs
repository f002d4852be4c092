//! Managed resources. This file has the trait that an author implements. Planning follows the rules
//! of the model; the hooks add behaviour that rules cannot express.

pub mod calls;
mod stored_value;

use std::future::{Future, ready};

use crate::{Answer, Computed, Draft, IdentityUpgrades, Model, Problem, Upgrades, plan};

pub use calls::{
    Create, Delete, ForeignObject, Import, ImportByIdentity, ModifyPlan, Read, StoredValue, Update,
    Upgrade, Validate,
};

/// A resource type. Only [`create`](Self::create) is required. The defaults suit a resource that exists
/// only in the state and whose computed attributes do not change.
///
/// Handlers are `async fn`s that return only computed attributes. The server carries over the values of
/// the configuration and of the plan. `?` turns any error into a [`Problem`].
///
/// If a handler fails after `call.keep(…)`, the partial result is stored. A handler may also report an
/// error with `call.report(…)` and return an object. In both cases a created object is stored as
/// tainted.
///
/// If each handler is little more than a call of a service, `#[resource(…)]` on the model writes the
/// implementation. [`Model`](derive@crate::prelude::Model) documents all of its arguments.
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
///     /// The name.
///     #[attr(required, replace)]
///     name: String,
///     /// The address.
///     #[attr(computed)]
///     address: String,
///     /// The number.
///     #[attr(computed, keep, import, local)]
///     number: u64,
/// }
///
/// let provider = ProviderDef::new("registry.terraform.io/acme/machines")
///     .resource("machines_machine", Machines(client::Client));
/// # use formwork_sdk::testing::{PlannedAction, TestObject, wait};
/// # use formwork_sdk::value::Value;
/// # wait(async {
/// #     let mut object = TestObject::new(provider, "machines_machine").await?;
/// #     assert_eq!(object.apply([("name", Value::string("a"))]).await?, PlannedAction::Create);
/// #     assert_eq!(object.get("address"), &Value::string("10.0.0.1"));
/// #     object.destroy().await
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource type",
    note = "write `impl Resource for {Self}`"
)]
pub trait Resource: Send + Sync + Sized + 'static {
    /// The objects.
    type Model: Model;

    /// Version of the schema. Increase it when stored objects no longer fit, and define
    /// [`upgrades`](Self::upgrades).
    const VERSION: u64 = 0;

    /// The older versions of the schema, and the upgrade from each.
    #[must_use]
    fn upgrades() -> Upgrades<Self> {
        Upgrades::none()
    }

    /// Version of the identity. Increase it when its attributes change, and define
    /// [`identity_upgrades`](Self::identity_upgrades).
    const IDENTITY_VERSION: u64 = 0;

    /// The older versions of the identity, and the upgrade from each.
    #[must_use]
    fn identity_upgrades() -> IdentityUpgrades<Self> {
        IdentityUpgrades::none()
    }

    /// Validates the configuration beyond the schema. Values may be unknown.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Modifies a plan to create or change an object, beyond the rules of the model.
    ///
    /// # Errors
    /// When the configuration cannot be applied.
    fn modify_plan(
        &self,
        _change: &mut ModifyPlan<Self::Model>,
    ) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }

    /// Creates an object and returns the computed attributes.
    ///
    /// # Errors
    /// When no object was created, or only a part of one: see [`Create::keep`].
    fn create(
        &self,
        call: Create<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send;

    /// Reads the real object; `None` when it does not exist.
    ///
    /// # Errors
    /// When the object cannot be read. The stored object is kept.
    fn read(
        &self,
        call: Read<Self::Model>,
    ) -> impl Future<Output = Answer<Option<Self::Model>>> + Send {
        ready(Ok(Some(call.current)))
    }

    /// Changes an object in place and returns the computed attributes. Only attributes that the
    /// plan left unknown are used.
    ///
    /// # Errors
    /// When the object was not changed, or only in part: see [`Update::keep`].
    fn update(
        &self,
        call: Update<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send {
        ready(Ok(call.prior.into()))
    }

    /// Destroys an object. An absent object is not an error.
    ///
    /// # Errors
    /// When the object still exists.
    fn delete(&self, _call: Delete<Self::Model>) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }

    /// Finds an existing object by an id from the user. A read follows, so only the id is needed:
    /// by default it becomes the attribute with the word `import`.
    ///
    /// # Errors
    /// When the id is invalid. By default, when no attribute has the word `import`, too.
    fn import(
        &self,
        call: Import<Self::Model>,
    ) -> impl Future<Output = Answer<Draft<Self::Model>>> + Send {
        ready(call.draft_from_id())
    }

    /// Finds an existing object by its identity: the attributes with the word `identity`. A read
    /// follows, so only these are needed.
    ///
    /// # Errors
    /// When the identity is invalid.
    fn import_by_identity(
        &self,
        call: ImportByIdentity<Self::Model>,
    ) -> impl Future<Output = Answer<Draft<Self::Model>>> + Send {
        ready(Ok(call.identity.into()))
    }

    /// Upgrades an object stored by an older version that [`upgrades`](Self::upgrades) does not
    /// cover: by calls to the service, for example, or from the stored JSON.
    ///
    /// # Errors
    /// When its version cannot be upgraded, or the object is not of that version.
    fn upgrade(&self, call: Upgrade) -> impl Future<Output = Answer<Draft<Self::Model>>> + Send {
        ready(Self::upgrades().upgrade_to_newest(&call.stored).map(Into::into))
    }

    /// Takes over an object of another resource type; `None` when that type is not supported.
    ///
    /// # Errors
    /// When the type is supported, but this object is not.
    fn take_over(
        &self,
        _from: ForeignObject,
    ) -> impl Future<Output = Answer<Option<Draft<Self::Model>>>> + Send {
        ready(Ok(None))
    }
}

impl<M: Model> Import<M> {
    /// An object in which only the attribute with the word `import` is known.
    fn draft_from_id(&self) -> Answer<Draft<M>> {
        let shape = M::shape();
        match plan::draft_of_import_id(&shape, &self.id) {
            Some(Ok(object)) => crate::model::struct_from_object(&object),
            Some(Err(reason)) => {
                let detail = format!("{:?} is not a valid id of an object: {reason}.", self.id);
                Err(Problem::new("Invalid import id", detail))
            }
            None => Err(Problem::new(
                "Resource import not supported",
                "Objects of this resource type cannot be imported; create a new one.",
            )),
        }
    }
}
