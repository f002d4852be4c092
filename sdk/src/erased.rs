//! Resources, data sources and ephemeral resources with their model types erased: values in, values
//! out. Details of a value that the model cannot express are kept.

mod action_and_list;
mod config_data_and_ephemeral;
mod state_store;

use std::any::TypeId;
use std::marker::PhantomData;

use async_trait::async_trait;
use formwork_value::{Path, Value};

use crate::call::Call;
use crate::context::CallContext;
use crate::resource::{
    Create, Delete, ForeignObject, Import, ImportByIdentity, ModifyPlan, Read, Resource,
    StoredValue, Update, Upgrade, Validate,
};
use crate::schema::Shape;
use crate::{Answer, Model, ObjectConversion, model, plan};

pub(crate) use action_and_list::{AnyAction, AnyList, ListQuery, TypedAction, TypedList};
pub(crate) use config_data_and_ephemeral::{
    AnyDataSource, AnyEphemeral, AnyProviderConfig, TypedDataSource, TypedEphemeral,
    TypedProviderConfig,
};
pub(crate) use state_store::{AnyStateStore, StateCall, TypedStateStore};

/// The values of a change.
pub(crate) struct ChangeValues {
    /// The prior object; null to create one.
    pub(crate) prior: Value,
    pub(crate) config: Value,
    pub(crate) planned: Value,
}

/// A resource of any model.
#[async_trait]
pub(crate) trait AnyResource: Send + Sync {
    fn shape(&self) -> &Shape;
    /// The type of its handler.
    fn handler_type_id(&self) -> TypeId;
    fn version(&self) -> u64;
    fn identity_version(&self) -> u64;
    fn validate(&self, config: &Value, call: Call) -> Answer<()>;
    /// Returns the planned object, and the paths that require replacement.
    async fn modify_plan(
        &self,
        lives: &ChangeValues,
        context: CallContext,
    ) -> Answer<(Value, Vec<Path>)>;
    /// Returns the computed attributes.
    async fn create(&self, lives: ChangeValues, context: CallContext) -> Answer<Value>;
    /// Returns the computed attributes.
    async fn update(&self, lives: ChangeValues, context: CallContext) -> Answer<Value>;
    async fn read(&self, current: &Value, context: CallContext) -> Answer<Option<Value>>;
    async fn delete(&self, prior: &Value, context: CallContext) -> Answer<()>;
    async fn import(&self, id: String, context: CallContext) -> Answer<Value>;
    async fn import_by_identity(&self, identity: &Value, context: CallContext) -> Answer<Value>;
    async fn upgrade(&self, stored: StoredValue, call: Call) -> Answer<Value>;
    fn upgrade_identity(&self, stored: &StoredValue) -> Answer<Value>;
    async fn take_over(&self, from: ForeignObject) -> Answer<Option<Value>>;
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

    /// Reads a stored object.
    fn decode_stored(&self, object: &Value) -> Answer<R::Model> {
        model::struct_from_object(&plan::zero_values_where_not_nullable(&self.shape, object))
    }

    /// Reads the attributes that the author may set.
    fn decode_input(&self, lives: &ChangeValues) -> Answer<<R::Model as Model>::Input> {
        decode_input::<R::Model>(&self.shape, &lives.planned, &lives.config)
    }
}

#[async_trait]
impl<R: Resource> AnyResource for TypedResource<R> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn handler_type_id(&self) -> TypeId {
        TypeId::of::<R>()
    }

    fn version(&self) -> u64 {
        R::VERSION
    }

    fn identity_version(&self) -> u64 {
        R::IDENTITY_VERSION
    }

    fn validate(&self, config: &Value, call: Call) -> Answer<()> {
        self.resource.validate(Validate { config: model::struct_from_object(config)?, call })
    }

    async fn modify_plan(
        &self,
        lives: &ChangeValues,
        context: CallContext,
    ) -> Answer<(Value, Vec<Path>)> {
        let prior = match &lives.prior {
            Value::Null(_) => None,
            prior => Some(self.decode_stored(prior)?),
        };
        let config = model::struct_from_object(&lives.config)?;
        let draft = || model::struct_from_object::<<R::Model as Model>::Draft>(&lives.planned);
        let planned = draft()?;
        let CallContext { private, meta, deferral, call, .. } = context;
        let replace = Vec::new();
        let mut change =
            ModifyPlan { prior, config, planned, replace, private, meta, deferral, call };
        self.resource.modify_plan(&mut change).await?;
        // The same value is returned, so that refinements of unknown values, which a draft cannot
        // hold, reach the host unchanged.
        if change.planned.same_as(&lives.planned) {
            return Ok((lives.planned.clone(), change.replace));
        }
        // Converted through the model as well, so that the comparison shows the handler's changes
        // and not those of the conversion.
        let before = draft()?.to_value();
        Ok((
            replace_changed_attributes(&lives.planned, &before, &change.planned.to_value()),
            change.replace,
        ))
    }

    async fn create(&self, lives: ChangeValues, context: CallContext) -> Answer<Value> {
        let planned = self.decode_input(&lives)?;
        let config = model::struct_from_object(&lives.config)?;
        let CallContext { private, meta, partial, call, .. } = context;
        let create = Create { config, planned, private, meta, partial, call };
        Ok(self.resource.create(create).await?.to_value())
    }

    async fn update(&self, lives: ChangeValues, context: CallContext) -> Answer<Value> {
        let planned = self.decode_input(&lives)?;
        let config = model::struct_from_object(&lives.config)?;
        let prior = self.decode_stored(&lives.prior)?;
        let CallContext { private, meta, partial, call, .. } = context;
        let update = Update { config, prior, planned, private, meta, partial, call };
        Ok(self.resource.update(update).await?.to_value())
    }

    async fn read(&self, value: &Value, context: CallContext) -> Answer<Option<Value>> {
        let current = self.decode_stored(value)?;
        let CallContext { private, meta, deferral, call, .. } = context;
        let read = self.resource.read(Read { current, private, meta, deferral, call }).await?;
        match read {
            // Compared without a conversion to a value, since nearly all reads find no change.
            Some(after) if !after.same_as(value) => {
                let before = self.decode_stored(value)?.to_value();
                Ok(Some(replace_changed_attributes(value, &before, &after.to_value())))
            }
            // Most objects are unchanged. Returning the same value keeps details that the model
            // cannot express.
            Some(_) => Ok(Some(value.clone())),
            None => Ok(None),
        }
    }

    async fn delete(&self, prior: &Value, context: CallContext) -> Answer<()> {
        let prior = self.decode_stored(prior)?;
        let CallContext { private, meta, call, .. } = context;
        self.resource.delete(Delete { prior, private, meta, call }).await
    }

    async fn import(&self, id: String, context: CallContext) -> Answer<Value> {
        let CallContext { private, deferral, further_objects, call, .. } = context;
        let import = Import { id, private, deferral, further_objects, model: PhantomData, call };
        // Terraform rejects unknown values in an import. The read that follows fills in what the
        // import left open.
        Ok(plan::replace_unknown_with_null(&self.resource.import(import).await?.to_value()))
    }

    async fn import_by_identity(&self, identity: &Value, context: CallContext) -> Answer<Value> {
        let identity = model::struct_from_object(identity)?;
        let CallContext { private, deferral, call, .. } = context;
        let import = ImportByIdentity { identity, private, deferral, call };
        Ok(plan::replace_unknown_with_null(
            &self.resource.import_by_identity(import).await?.to_value(),
        ))
    }

    async fn upgrade(&self, stored: StoredValue, call: Call) -> Answer<Value> {
        Ok(self.resource.upgrade(Upgrade { stored, call }).await?.to_value())
    }

    fn upgrade_identity(&self, stored: &StoredValue) -> Answer<Value> {
        Ok(R::identity_upgrades().upgrade_to_newest(stored)?.to_value())
    }

    async fn take_over(&self, from: ForeignObject) -> Answer<Option<Value>> {
        Ok(self.resource.take_over(from).await?.map(|object| object.to_value()))
    }
}

/// Reads the attributes that the author may set from the planned object.
fn decode_input<M: Model>(shape: &Shape, planned: &Value, config: &Value) -> Answer<M::Input> {
    let planned = plan::with_write_only_values(shape, planned, config);
    // A field of type `Value` or `Attr` can see that a computed part is unknown. Other models get
    // null for it.
    if M::Input::HOLDS_UNKNOWN {
        return model::struct_from_object(&planned);
    }
    model::struct_from_object(&plan::replace_unknown_with_null(&planned))
}

/// Replaces the attributes that differ between `before` and `after`. All others remain unchanged,
/// even if a model has less information about them than the value: a partly known list is unknown
/// to a model, and must not become unknown to the host.
fn replace_changed_attributes(object: &Value, before: &Value, after: &Value) -> Value {
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
