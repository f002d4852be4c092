//! Data sources. This file has the trait that an author implements.

use std::future::Future;

use crate::call::Call;
use crate::context::{Deferral, ProviderMeta};
use crate::model::NoneWriteOnly;
use crate::resource::Validate;
use crate::resource::calls::deref_to_call;
use crate::{Answer, Computed, Input, Model};

/// A data source.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{read_data, wait};
/// use formwork_sdk::value::Value;
///
/// /// A user.
/// #[derive(Model)]
/// struct User {
///     /// The name.
///     #[attr(required)]
///     name: String,
///     /// The mail address.
///     #[attr(computed)]
///     mail: String,
/// }
///
/// struct Users;
///
/// impl DataSource for Users {
///     type Model = User;
///
///     async fn read(&self, call: ReadData<User>) -> Answer<UserComputed> {
///         Ok(UserComputed { mail: format!("{}@example.com", call.config.name) })
///     }
/// }
///
/// let provider =
///     ProviderDef::new("registry.terraform.io/acme/users").data_source("users_user", Users);
/// let config = [("name", Value::string("ana"))];
/// let found = wait(read_data(provider, "users_user", config)).unwrap();
/// let mail = Path::root().attribute("mail");
/// assert_eq!(mail.find(&found), Some(&Value::string("ana@example.com")));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a data source",
    note = "write `impl DataSource for {Self}`"
)]
pub trait DataSource: Send + Sync + 'static {
    /// Arguments and result. It has no write-only attributes, because no object is written.
    type Model: Model<WriteOnly = NoneWriteOnly>;

    /// Validates the configuration beyond the schema. Values may be unknown.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Reads the data, and returns the computed attributes.
    ///
    /// # Errors
    /// When the data does not exist or cannot be read.
    fn read(
        &self,
        call: ReadData<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send;
}

/// A request to read data.
///
/// See [`DataSource`] for an example.
#[non_exhaustive]
pub struct ReadData<M: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// The `provider_meta` of the module.
    pub meta: ProviderMeta,
    /// Deferral of the answer.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

deref_to_call!(ReadData);
