//! Actions and list resources of all models behind one face.

use async_trait::async_trait;
use formwork_value::{Diagnostics, Value};

use super::input;
use crate::action::{Action, Invoke, Progress};
use crate::list::{List, Listed, Search};
use crate::schema::Shape;
use crate::stop::Stop;
use crate::{Answer, Model, View as _, model};

/// An action of any model.
#[async_trait]
pub(crate) trait AnyAction: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    async fn plan(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    async fn invoke(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        progress: Progress,
        stop: Stop,
    ) -> Answer<()>;
}

/// An action of one model.
pub(crate) struct TypedAction<A> {
    action: A,
    shape: Shape,
}

impl<A: Action> TypedAction<A> {
    pub(crate) fn new(action: A) -> Self {
        Self { action, shape: A::Config::shape() }
    }
}

#[async_trait]
impl<A: Action> AnyAction for TypedAction<A> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()> {
        let config = model::read(diags, config)?;
        self.action.validate(diags, &config)
    }

    async fn plan(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()> {
        let config = model::read(diags, config)?;
        self.action.plan(diags, config).await
    }

    async fn invoke(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        progress: Progress,
        stop: Stop,
    ) -> Answer<()> {
        let config = input::<A::Config>(diags, &self.shape, config, config)?;
        self.action.invoke(diags, Invoke { config, progress, stop }).await
    }
}

/// What is looked for, and how much of it.
pub(crate) struct Wanted {
    pub(crate) config: Value,
    pub(crate) limit: usize,
    pub(crate) whole: bool,
    pub(crate) stop: Stop,
}

/// A list resource of any model.
#[async_trait]
pub(crate) trait AnyList: Send + Sync {
    fn shape(&self) -> &Shape;
    /// The shape of the objects.
    fn objects(&self) -> &Shape;
    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()>;
    /// Returns the objects with their names.
    async fn list(&self, diags: &mut Diagnostics, wanted: Wanted) -> Answer<Vec<(String, Value)>>;
}

/// A list resource of one model.
pub(crate) struct TypedList<L> {
    list: L,
    shape: Shape,
    objects: Shape,
}

impl<L: List> TypedList<L> {
    pub(crate) fn new(list: L) -> Self {
        Self { list, shape: L::Config::shape(), objects: L::Object::shape() }
    }
}

#[async_trait]
impl<L: List> AnyList for TypedList<L> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn objects(&self) -> &Shape {
        &self.objects
    }

    fn validate(&self, diags: &mut Diagnostics, config: &Value) -> Answer<()> {
        let config = model::read(diags, config)?;
        self.list.validate(diags, &config)
    }

    async fn list(&self, diags: &mut Diagnostics, wanted: Wanted) -> Answer<Vec<(String, Value)>> {
        let Wanted { config, limit, whole, stop } = wanted;
        let config = input::<L::Config>(diags, &self.shape, &config, &config)?;
        let found = self.list.list(diags, Search { config, limit, whole, stop }).await?;
        let pair = |Listed { name, object }: Listed<L::Object>| (name, object.to_value());
        Ok(found.into_iter().take(limit).map(pair).collect())
    }
}
