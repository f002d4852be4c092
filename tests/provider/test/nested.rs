//! `test_nested`, `test_blocks` and `test_strict`: objects with parts in every nesting.

use std::marker::PhantomData;

use formwork_sdk::model::{OwnOrFlattenedNames, SomeWriteOnly};
use formwork_sdk::prelude::*;
use formwork_sdk::schema::{AttributeDefinition, Role, Shape};
use formwork_value::codec::json;
use formwork_value::convert::ConversionError;
use formwork_value::schema::{Attribute, Block, Nesting};
use formwork_value::{Type, Value};

use crate::shape::{block, computed_parts, filled, nested, open_block, parts, with_blocks};

/// The schema of a resource type.
pub(crate) trait Shaped: Send + Sync + 'static {
    fn shape() -> Shape;
}

/// Nested attributes.
pub(crate) struct Nested;

/// Nested blocks.
pub(crate) struct Blocks;

/// Required blocks and attributes.
pub(crate) struct Strict;

/// The resource type whose objects are values of the shape `S`.
pub(crate) struct Objects<S>(pub(crate) S);

/// An object as it is.
pub(crate) struct Object<S>(Value, PhantomData<S>);

impl<S: Shaped> Model for Object<S> {
    type Draft = Self;
    type Input = Self;
    type Computed = Self;
    type Identity = ();
    // Resources may have some.
    type WriteOnly = SomeWriteOnly;

    // Only the shape has the names.
    const NAMES: &'static [OwnOrFlattenedNames] = &[];
    const HAS_SETTABLE: bool = true;
    const HAS_COMPUTED: bool = true;
    const HAS_IDENTITY: bool = false;

    fn shape() -> Shape {
        S::shape()
    }
}

/// An object without any known attribute.
impl<S: Shaped> From<()> for Object<S> {
    fn from((): ()) -> Self {
        Self(S::shape().block.empty_value(), PhantomData)
    }
}

impl<S: Shaped> ObjectConversion for Object<S> {
    const HOLDS_UNKNOWN: bool = true;

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        Ok(Self(value.clone(), PhantomData))
    }

    fn to_value(&self) -> Value {
        self.0.clone()
    }
}

impl<S> Object<S> {
    fn filled(&self) -> Self {
        Self(filled(&self.0), PhantomData)
    }
}

impl<S: Shaped> Resource for Objects<S> {
    type Model = Object<S>;

    async fn modify_plan(&self, change: &mut ModifyPlan<Object<S>>) -> Answer<()> {
        change.planned.0 = open_block(&S::shape().block, &change.planned.0);
        Ok(())
    }

    async fn create(&self, call: Create<Object<S>>) -> Answer<Object<S>> {
        Ok(call.planned.filled())
    }

    async fn update(&self, call: Update<Object<S>>) -> Answer<Object<S>> {
        Ok(call.planned.filled())
    }

    /// Finds an object with the values of the id, if that is JSON, and an empty one otherwise.
    async fn import(&self, call: Import<Object<S>>) -> Answer<Object<S>> {
        let id = call.id.as_str();
        let block = S::shape().block;
        let empty = json::decode(id.as_bytes(), &block.implied_type());
        let empty = with_blocks(&block, &empty.unwrap_or_else(|_| block.empty_value()));
        let object = empty.replace_at(&Path::root().attribute("id"), |_| Value::string(id));
        Ok(Object(object.unwrap_or(empty), PhantomData))
    }
}

const NESTINGS: [(&str, Nesting); 4] = [
    ("single", Nesting::Single),
    ("list", Nesting::List),
    ("set", Nesting::Set),
    ("map", Nesting::Map),
];

fn with_id() -> Shape {
    let id = AttributeDefinition::new(Type::String, Role::Computed).keep_prior_value();
    let text = AttributeDefinition::new(Type::String, Role::Optional);
    Shape::new("An object with parts.")
        .attribute("id", id)
        .attribute("name", text.clone())
        .attribute("forced", text.force_replacement())
}

impl Shaped for Nested {
    fn shape() -> Shape {
        let mut shape = with_id();
        for (name, nesting) in NESTINGS {
            let mut inner = parts(nesting);
            let deeper = nested(nesting, Role::Optional, parts(nesting));
            inner.insert("inner".into(), deeper);
            shape.block.attributes.insert(name.into(), nested(nesting, Role::Optional, inner));
            let ours = nested(nesting, Role::Computed, computed_parts(Role::Computed));
            shape.block.attributes.insert(format!("computed_{name}").into(), ours);
            let either =
                nested(nesting, Role::OptionalComputed, computed_parts(Role::OptionalComputed));
            shape.block.attributes.insert(format!("chosen_{name}").into(), either);
        }
        shape
    }
}

impl Shaped for Blocks {
    fn shape() -> Shape {
        let mut shape = with_id();
        for (name, nesting) in [("group", Nesting::Group)].into_iter().chain(NESTINGS) {
            let mut content = Block { attributes: parts(nesting), ..Block::default() };
            let deeper = Block { attributes: parts(nesting), ..Block::default() };
            content.blocks.insert("inner".into(), block(nesting, 0, 0, deeper));
            shape.block.blocks.insert(name.into(), block(nesting, 0, 0, content));
        }
        let any = Attribute::new(Type::Dynamic, Role::Optional);
        let any = Block { attributes: [("any".into(), any)].into(), ..Block::default() };
        shape.block.blocks.insert("dynamic_list".into(), block(Nesting::List, 0, 0, any.clone()));
        shape.block.blocks.insert("dynamic_map".into(), block(Nesting::Map, 0, 0, any));
        shape
    }
}

impl Shaped for Strict {
    fn shape() -> Shape {
        let mut shape = with_id();
        let required = Attribute::new(Type::String, Role::Required);
        let content =
            Block { attributes: [("needed".into(), required.clone())].into(), ..Block::default() };
        shape.block.attributes.insert("needed".into(), required);
        shape.block.blocks.insert("one".into(), block(Nesting::List, 1, 1, content.clone()));
        shape.block.blocks.insert("few".into(), block(Nesting::Set, 0, 2, content.clone()));
        shape.block.blocks.insert("must".into(), block(Nesting::Single, 1, 1, content));
        shape
    }
}
