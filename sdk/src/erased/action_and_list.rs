//! Type-erased actions and list resources of all models.

use std::marker::PhantomData;

use async_trait::async_trait;
use formwork_value::Value;
use tokio::sync::mpsc::Sender;

use super::decode_input;
use crate::action::{Action, Invoke, PlanAction, Progress};
use crate::call::Call;
use crate::context::CallContext;
use crate::list::{FoundObject, List, Search};
use crate::resource::Validate;
use crate::schema::Shape;
use crate::{Answer, Model, model};

/// An action of any model.
#[async_trait]
pub(crate) trait AnyAction: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, config: &Value, call: Call) -> Answer<()>;
    async fn plan(&self, config: &Value, context: CallContext) -> Answer<()>;
    async fn invoke(&self, config: &Value, progress: Progress, call: Call) -> Answer<()>;
}

/// An action of one model.
pub(crate) struct TypedAction<A> {
    action: A,
    shape: Shape,
}

impl<A: Action> TypedAction<A> {
    pub(crate) fn new(action: A) -> Self {
        Self { action, shape: A::Model::shape() }
    }
}

#[async_trait]
impl<A: Action> AnyAction for TypedAction<A> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, config: &Value, call: Call) -> Answer<()> {
        self.action.validate(Validate { config: model::struct_from_object(config)?, call })
    }

    async fn plan(&self, config: &Value, context: CallContext) -> Answer<()> {
        // A draft, because values may be unknown during planning.
        let config = model::struct_from_object(config)?;
        let CallContext { deferral, call, .. } = context;
        self.action.plan(PlanAction { config, deferral, call }).await
    }

    async fn invoke(&self, config: &Value, progress: Progress, call: Call) -> Answer<()> {
        // An action has no plan, so its configuration is used instead.
        let config = decode_input::<A::Model>(&self.shape, config, config)?;
        self.action.invoke(Invoke { config, progress, call }).await
    }
}

/// Query of a list call, with its limit.
pub(crate) struct ListQuery {
    pub(crate) config: Value,
    pub(crate) limit: Option<usize>,
    pub(crate) include_object: bool,
}

/// A list resource of any model.
#[async_trait]
pub(crate) trait AnyList: Send + Sync {
    fn shape(&self) -> &Shape;
    /// The shape of the objects.
    fn object_shape(&self) -> &Shape;
    fn validate(&self, config: &Value, call: Call) -> Answer<()>;
    /// Sends the objects with their names.
    async fn list(&self, query: ListQuery, finds: Sender<FoundObject>, call: Call) -> Answer<()>;
}

/// A list resource of one model.
pub(crate) struct TypedList<L> {
    list: L,
    shape: Shape,
    objects: Shape,
}

impl<L: List> TypedList<L> {
    pub(crate) fn new(list: L) -> Self {
        Self { list, shape: L::Model::shape(), objects: L::Object::shape() }
    }
}

#[async_trait]
impl<L: List> AnyList for TypedList<L> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn object_shape(&self) -> &Shape {
        &self.objects
    }

    fn validate(&self, config: &Value, call: Call) -> Answer<()> {
        self.list.validate(Validate { config: model::struct_from_object(config)?, call })
    }

    async fn list(&self, query: ListQuery, finds: Sender<FoundObject>, call: Call) -> Answer<()> {
        let ListQuery { config, limit, include_object: whole } = query;
        let config = decode_input::<L::Model>(&self.shape, &config, &config)?;
        self.list.list(Search { config, limit, whole, finds, object: PhantomData, call }).await
    }
}
