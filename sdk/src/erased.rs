//! Resources, data sources and ephemeral resources of all models behind one face: values in, values out. What a model
//! cannot say about a value is kept as it was.

use async_trait::async_trait;
use bytes::Bytes;
use formwork_value::{Diagnostics, Value};

use crate::data_source::DataSource;
use crate::ephemeral::{Ephemeral, Keep, Opened};
use crate::provider::Configure;
use crate::resource::{Change, Create, Delete, Read, Resource, Stored, Update};
use crate::schema::Shape;
use crate::{Answer, Model, model};

/// A resource of any model.
#[async_trait]
pub(crate) trait AnyResource: Send + Sync {
    fn shape(&self) -> &Shape;
    fn version(&self) -> u64;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    async fn modify_plan(&self, diags: &mut Diagnostics, change: &mut Change<Value>) -> Answer<()>;
    async fn create(&self, diags: &mut Diagnostics, call: Create<Value>) -> Answer<Value>;
    async fn read(&self, diags: &mut Diagnostics, call: Read<Value>) -> Answer<Option<Value>>;
    async fn update(&self, diags: &mut Diagnostics, call: Update<Value>) -> Answer<Value>;
    async fn delete(&self, diags: &mut Diagnostics, call: Delete<Value>) -> Answer<()>;
    async fn import(&self, diags: &mut Diagnostics, id: &str) -> Answer<Value>;
    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Value>;
}

/// A resource of one model.
pub(crate) struct TypedResource<R> {
    resource: R,
    shape: Shape,
}

impl<R: Resource> TypedResource<R> {
    pub(crate) fn new(resource: R) -> Self {
        Self { resource, shape: R::Model::shape() }
    }
}

#[async_trait]
impl<R: Resource> AnyResource for TypedResource<R> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn version(&self) -> u64 {
        R::VERSION
    }

    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()> {
        let config = model::read(diags, config)?;
        self.resource.validate(diags, &config)
    }

    async fn modify_plan(&self, diags: &mut Diagnostics, change: &mut Change<Value>) -> Answer<()> {
        let prior = change.prior.as_ref().map(|prior| model::read(diags, prior)).transpose()?;
        let config = model::read(diags, &change.config)?;
        let planned: R::Model = model::read(diags, &change.planned)?;
        let before = planned.to_value();
        let mut typed = Change { prior, config, planned, replace: Vec::new() };
        self.resource.modify_plan(diags, &mut typed).await?;
        change.planned = changed(&change.planned, &before, &typed.planned.to_value());
        change.replace.append(&mut typed.replace);
        Ok(())
    }

    async fn create(&self, diags: &mut Diagnostics, call: Create<Value>) -> Answer<Value> {
        let config = model::read(diags, &call.config)?;
        let planned = model::read(diags, &call.planned)?;
        let created = self.resource.create(diags, Create { config, planned, stop: call.stop });
        Ok(created.await?.to_value())
    }

    async fn read(&self, diags: &mut Diagnostics, call: Read<Value>) -> Answer<Option<Value>> {
        let current = model::read(diags, &call.current)?;
        let read = self.resource.read(diags, Read { current, stop: call.stop }).await?;
        Ok(read.map(|object| object.to_value()))
    }

    async fn update(&self, diags: &mut Diagnostics, call: Update<Value>) -> Answer<Value> {
        let config = model::read(diags, &call.config)?;
        let prior = model::read(diags, &call.prior)?;
        let planned = model::read(diags, &call.planned)?;
        let updated =
            self.resource.update(diags, Update { config, prior, planned, stop: call.stop });
        Ok(updated.await?.to_value())
    }

    async fn delete(&self, diags: &mut Diagnostics, call: Delete<Value>) -> Answer<()> {
        let prior = model::read(diags, &call.prior)?;
        self.resource.delete(diags, Delete { prior, stop: call.stop }).await
    }

    async fn import(&self, diags: &mut Diagnostics, id: &str) -> Answer<Value> {
        Ok(self.resource.import(diags, id).await?.to_value())
    }

    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Value> {
        Ok(self.resource.upgrade(diags, stored).await?.to_value())
    }
}

/// The object with those attributes replaced that differ between `before` and `after`. All others stay
/// as they are, also where a model knows less about them than the value says: a list known in part is
/// unknown to a model, and must not become so to the host.
fn changed(object: &Value, before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return object.clone();
    };
    let Value::Object(current) = object else { return object.clone() };
    let pairs = current.iter().map(|(name, value)| match (before.get(name), after.get(name)) {
        (Some(before), Some(after)) if before != after => (name.clone(), after.clone()),
        _ => (name.clone(), value.clone()),
    });
    Value::object(pairs)
}

/// A data source of any model.
#[async_trait]
pub(crate) trait AnyDataSource: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    async fn read(&self, diags: &mut Diagnostics, config: &Value) -> Answer<Value>;
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

    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()> {
        let config = model::read(diags, config)?;
        self.data_source.validate(diags, &config)
    }

    async fn read(&self, diags: &mut Diagnostics, config: &Value) -> Answer<Value> {
        let config = model::read(diags, config)?;
        Ok(self.data_source.read(diags, config).await?.to_value())
    }
}

/// An ephemeral resource of any model.
#[async_trait]
pub(crate) trait AnyEphemeral: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    async fn open(&self, diags: &mut Diagnostics, config: &Value) -> Answer<Opened<Value>>;
    async fn renew(&self, diags: &mut Diagnostics, private: Bytes) -> Answer<Keep>;
    async fn close(&self, diags: &mut Diagnostics, private: Bytes) -> Answer<()>;
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

    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()> {
        let config = model::read(diags, config)?;
        self.ephemeral.validate(diags, &config)
    }

    async fn open(&self, diags: &mut Diagnostics, config: &Value) -> Answer<Opened<Value>> {
        let config = model::read(diags, config)?;
        let Opened { value, keep } = self.ephemeral.open(diags, config).await?;
        Ok(Opened { value: value.to_value(), keep })
    }

    async fn renew(&self, diags: &mut Diagnostics, private: Bytes) -> Answer<Keep> {
        self.ephemeral.renew(diags, private).await
    }

    async fn close(&self, diags: &mut Diagnostics, private: Bytes) -> Answer<()> {
        self.ephemeral.close(diags, private).await
    }
}

/// A configuration of any model.
#[async_trait]
pub(crate) trait AnyConfigure: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    async fn configure(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
}

/// A configuration of one model.
pub(crate) struct TypedConfigure<C> {
    configure: C,
    shape: Shape,
}

impl<C: Configure> TypedConfigure<C> {
    pub(crate) fn new(configure: C) -> Self {
        Self { configure, shape: C::Config::shape() }
    }
}

#[async_trait]
impl<C: Configure> AnyConfigure for TypedConfigure<C> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()> {
        let config = model::read(diags, config)?;
        self.configure.validate(diags, &config)
    }

    async fn configure(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()> {
        let config = model::read(diags, config)?;
        self.configure.configure(diags, config).await
    }
}
