//! Data sources, ephemeral resources and the provider's configuration with their model types
//! erased: none of them manages an object.

use async_trait::async_trait;
use formwork_value::Value;

use super::decode_input;
use crate::call::Call;
use crate::configure::{Configure, Setup};
use crate::context::{CallContext, Private};
use crate::data_source::{DataSource, ReadData};
use crate::ephemeral::{Close, Ephemeral, Expiry, Open, Renew};
use crate::resource::Validate;
use crate::schema::Shape;
use crate::{Answer, Model, ObjectConversion as _, model, plan};

/// A data source of any model.
#[async_trait]
pub(crate) trait AnyDataSource: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, config: &Value, call: Call) -> Answer<()>;
    /// Returns the computed attributes.
    async fn read(&self, config: &Value, context: CallContext) -> Answer<Value>;
}

/// A data source of one model.
pub(crate) struct TypedDataSource<D> {
    data_source: D,
    shape: Shape,
}

impl<D: DataSource> TypedDataSource<D> {
    pub(crate) fn new(data_source: D) -> Self {
        Self { data_source, shape: D::Model::shape() }
    }
}

#[async_trait]
impl<D: DataSource> AnyDataSource for TypedDataSource<D> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, config: &Value, call: Call) -> Answer<()> {
        // Without the defaults: a check may test which attributes the author has set.
        self.data_source.validate(Validate { config: model::struct_from_object(config)?, call })
    }

    async fn read(&self, config: &Value, context: CallContext) -> Answer<Value> {
        // A data source has no plan, so its configuration is used instead.
        let config = decode_input::<D::Model>(&self.shape, config, config)?;
        let CallContext { meta, deferral, call, .. } = context;
        let read = ReadData { config, meta, deferral, call };
        Ok(self.data_source.read(read).await?.to_value())
    }
}

/// An ephemeral resource of any model.
#[async_trait]
pub(crate) trait AnyEphemeral: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, config: &Value, call: Call) -> Answer<()>;
    /// Returns the computed attributes.
    async fn open(&self, config: &Value, context: CallContext, lasts: Expiry) -> Answer<Value>;
    async fn renew(&self, private: Private, lasts: Expiry, call: Call) -> Answer<()>;
    async fn close(&self, private: Private, call: Call) -> Answer<()>;
}

/// An ephemeral resource of one model.
pub(crate) struct TypedEphemeral<E> {
    ephemeral: E,
    shape: Shape,
}

impl<E: Ephemeral> TypedEphemeral<E> {
    pub(crate) fn new(ephemeral: E) -> Self {
        Self { ephemeral, shape: E::Model::shape() }
    }
}

#[async_trait]
impl<E: Ephemeral> AnyEphemeral for TypedEphemeral<E> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, config: &Value, call: Call) -> Answer<()> {
        self.ephemeral.validate(Validate { config: model::struct_from_object(config)?, call })
    }

    async fn open(&self, config: &Value, context: CallContext, lasts: Expiry) -> Answer<Value> {
        // An ephemeral resource has no plan either.
        let config = decode_input::<E::Model>(&self.shape, config, config)?;
        let CallContext { private, deferral, call, .. } = context;
        let open = Open { config, private, lasts, deferral, call };
        Ok(self.ephemeral.open(open).await?.to_value())
    }

    async fn renew(&self, private: Private, lasts: Expiry, call: Call) -> Answer<()> {
        self.ephemeral.renew(Renew { private, lasts, call }).await
    }

    async fn close(&self, private: Private, call: Call) -> Answer<()> {
        self.ephemeral.close(Close { private, call }).await
    }
}

/// A configuration of any model.
#[async_trait]
pub(crate) trait AnyProviderConfig: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, config: &Value, call: Call) -> Answer<()>;
    async fn configure(&self, config: &Value, host: String, context: CallContext) -> Answer<()>;
}

/// A configuration of one model.
pub(crate) struct TypedProviderConfig<C> {
    configure: C,
    shape: Shape,
}

impl<C: Configure> TypedProviderConfig<C> {
    pub(crate) fn new(configure: C) -> Self {
        Self { configure, shape: C::Model::shape() }
    }
}

#[async_trait]
impl<C: Configure> AnyProviderConfig for TypedProviderConfig<C> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, config: &Value, call: Call) -> Answer<()> {
        self.configure.validate(Validate { config: model::struct_from_object(config)?, call })
    }

    async fn configure(&self, config: &Value, host: String, context: CallContext) -> Answer<()> {
        // No plan comes before `ConfigureProvider`, in which defaults would be filled in.
        let config = plan::config_with_defaults(&self.shape, config);
        let unknown = match &*config {
            Value::Object(parts) => {
                // A value that is known in part is not known: `known` returns whole ones only.
                let unknown = parts.iter().filter(|(_, part)| !part.is_wholly_known());
                unknown.map(|(name, _)| name.as_str().to_owned()).collect()
            }
            _ => Vec::new(),
        };
        let (config, host_version) = (model::struct_from_object(&config)?, host);
        let CallContext { deferral, call, .. } = context;
        self.configure.configure(Setup { config, unknown, host_version, deferral, call }).await
    }
}
