//! Resources, data sources and ephemeral resources of all models behind one face: values in, values
//! out. What a model cannot say about a value is kept as it was.

mod acting;

use async_trait::async_trait;
use bytes::Bytes;
use formwork_value::{Diagnostics, Path, Value};

use crate::context::Context;
use crate::data_source::DataSource;
use crate::ephemeral::{Ephemeral, Keep, Opened};
use crate::provider::Configure;
use crate::resource::{Change, Create, Delete, Foreign, Read, Resource, Stored, Update};
use crate::schema::Shape;
use crate::{Answer, Model, View, model, plan};

pub(crate) use acting::{AnyAction, AnyList, TypedAction, TypedList, Wanted};

/// What a change is about.
pub(crate) struct Lives {
    /// The object as it is; null to create one.
    pub(crate) prior: Value,
    pub(crate) config: Value,
    pub(crate) planned: Value,
}

/// A resource of any model.
#[async_trait]
pub(crate) trait AnyResource: Send + Sync {
    fn shape(&self) -> &Shape;
    fn version(&self) -> u64;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    /// Returns the planned object, and what needs a new one.
    async fn modify_plan(
        &self,
        diags: &mut Diagnostics,
        lives: &Lives,
        context: Context,
    ) -> Answer<(Value, Vec<Path>)>;
    /// Returns what was computed.
    async fn create(
        &self,
        diags: &mut Diagnostics,
        lives: Lives,
        context: Context,
    ) -> Answer<Value>;
    /// Returns what was computed.
    async fn update(
        &self,
        diags: &mut Diagnostics,
        lives: Lives,
        context: Context,
    ) -> Answer<Value>;
    async fn read(
        &self,
        diags: &mut Diagnostics,
        current: &Value,
        context: Context,
    ) -> Answer<Option<Value>>;
    async fn delete(&self, diags: &mut Diagnostics, prior: &Value, context: Context) -> Answer<()>;
    async fn import(&self, diags: &mut Diagnostics, id: &str) -> Answer<Value>;
    async fn import_by_identity(&self, diags: &mut Diagnostics, identity: &Value) -> Answer<Value>;
    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Value>;
    async fn take_over(&self, diags: &mut Diagnostics, from: Foreign) -> Answer<Option<Value>>;
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

    /// Reads an object as it is stored.
    fn stored(&self, diags: &mut Diagnostics, object: &Value) -> Answer<R::Model> {
        model::read(diags, &plan::filled(&self.shape, object))
    }

    /// Reads what the author has a say in.
    fn input(&self, diags: &mut Diagnostics, lives: &Lives) -> Answer<<R::Model as Model>::Input> {
        input::<R::Model>(diags, &self.shape, &lives.planned, &lives.config)
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

    async fn modify_plan(
        &self,
        diags: &mut Diagnostics,
        lives: &Lives,
        context: Context,
    ) -> Answer<(Value, Vec<Path>)> {
        let prior = match &lives.prior {
            Value::Null(_) => None,
            prior => Some(self.stored(diags, prior)?),
        };
        let config = model::read(diags, &lives.config)?;
        let planned: <R::Model as Model>::Draft = model::read(diags, &lives.planned)?;
        let before = planned.to_value();
        let Context { private, meta, deferral, .. } = context;
        let mut change =
            Change { prior, config, planned, replace: Vec::new(), private, meta, deferral };
        self.resource.modify_plan(diags, &mut change).await?;
        Ok((changed(&lives.planned, &before, &change.planned.to_value()), change.replace))
    }

    async fn create(
        &self,
        diags: &mut Diagnostics,
        lives: Lives,
        context: Context,
    ) -> Answer<Value> {
        let planned = self.input(diags, &lives)?;
        let config = model::read(diags, &lives.config)?;
        let partial = context.partial();
        let Context { stop, private, meta, .. } = context;
        let call = Create { config, planned, partial, stop, private, meta };
        Ok(self.resource.create(diags, call).await?.to_value())
    }

    async fn update(
        &self,
        diags: &mut Diagnostics,
        lives: Lives,
        context: Context,
    ) -> Answer<Value> {
        let planned = self.input(diags, &lives)?;
        let config = model::read(diags, &lives.config)?;
        let prior = self.stored(diags, &lives.prior)?;
        let partial = context.partial();
        let Context { stop, private, meta, .. } = context;
        let call = Update { config, prior, planned, partial, stop, private, meta };
        Ok(self.resource.update(diags, call).await?.to_value())
    }

    async fn read(
        &self,
        diags: &mut Diagnostics,
        value: &Value,
        context: Context,
    ) -> Answer<Option<Value>> {
        let current = self.stored(diags, value)?;
        let before = current.to_value();
        let Context { stop, private, meta, deferral, .. } = context;
        let read = Read { current, stop, private, meta, deferral };
        let read = self.resource.read(diags, read).await?;
        Ok(read.map(|object| changed(value, &before, &object.to_value())))
    }

    async fn delete(&self, diags: &mut Diagnostics, prior: &Value, context: Context) -> Answer<()> {
        let prior = self.stored(diags, prior)?;
        let Context { stop, private, meta, .. } = context;
        self.resource.delete(diags, Delete { prior, stop, private, meta }).await
    }

    async fn import(&self, diags: &mut Diagnostics, id: &str) -> Answer<Value> {
        Ok(plan::settled(&self.resource.import(diags, id).await?.to_value()))
    }

    async fn import_by_identity(&self, diags: &mut Diagnostics, identity: &Value) -> Answer<Value> {
        let identity = model::read(diags, identity)?;
        let found = self.resource.import_by_identity(diags, identity).await?;
        Ok(plan::settled(&found.to_value()))
    }

    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Value> {
        Ok(self.resource.upgrade(diags, stored).await?.to_value())
    }

    async fn take_over(&self, diags: &mut Diagnostics, from: Foreign) -> Answer<Option<Value>> {
        Ok(self.resource.take_over(diags, from).await?.map(|object| object.to_value()))
    }
}

/// Reads what the author of a configuration has a say in, out of what was planned.
fn input<M: Model>(
    diags: &mut Diagnostics,
    shape: &Shape,
    planned: &Value,
    config: &Value,
) -> Answer<M::Input> {
    let planned = plan::with_write_only(shape, planned, config);
    if M::Input::HOLDS_UNKNOWN {
        return model::read(diags, &planned);
    }
    model::read(diags, &plan::settled(&planned))
}

/// The object with those attributes replaced that differ between `before` and `after`. All others stay
/// as they are, also where a model knows less about them than the value says: a list known in part is
/// unknown to a model, and must not become so to the host.
fn changed(object: &Value, before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return object.clone();
    };
    let Value::Object(current) = object else { return object.clone() };
    let items = current.iter().map(|(name, value)| match (before.get(name), after.get(name)) {
        (Some(before), Some(after)) if before != after => after.clone(),
        _ => value.clone(),
    });
    object.with_children(items.collect())
}

/// A data source of any model.
#[async_trait]
pub(crate) trait AnyDataSource: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    /// Returns what was found out.
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
        let config = input::<D::Model>(diags, &self.shape, config, config)?;
        Ok(self.data_source.read(diags, config).await?.to_value())
    }
}

/// An ephemeral resource of any model.
#[async_trait]
pub(crate) trait AnyEphemeral: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    /// Returns what was found out.
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
        let config = input::<E::Model>(diags, &self.shape, config, config)?;
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
        let config = model::read(diags, &plan::with_defaults(&self.shape, config))?;
        self.configure.configure(diags, config).await
    }
}
