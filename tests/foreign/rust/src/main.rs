//! A provider on the crate `tf-provider`: files with a content, and its length.
//!
//! It is here to be driven by the tests; nothing of it is an example of how to write one.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tf_provider::schema::{
    Attribute, AttributeConstraint, AttributeType, Block, Description, Schema,
};
use tf_provider::value::{ValueEmpty, ValueNumber, ValueString};
use tf_provider::{AttributePath, Diagnostics, DynamicResource, Provider, Resource, map, serve};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct FileState<'a> {
    #[serde(borrow = "'a")]
    path: ValueString<'a>,
    #[serde(borrow = "'a")]
    text: ValueString<'a>,
    length: ValueNumber,
}

type Pair<'a> = Option<(FileState<'a>, ValueEmpty)>;

/// `crate_file`: another path makes it another file, another text does not.
struct File;

/// Writes the file, and returns its state.
fn write<'a>(diags: &mut Diagnostics, planned: FileState<'a>) -> Pair<'a> {
    if let Err(error) = fs::write(planned.path.as_str(), planned.text.as_str()) {
        diags.root_error("The file cannot be written", error.to_string());
        return None;
    }
    let length = length(planned.text.as_str());
    Some((FileState { length, ..planned }, ValueEmpty::default()))
}

fn length(text: &str) -> ValueNumber {
    ValueNumber::Value(text.len() as i64)
}

fn attribute(attr_type: AttributeType, constraint: AttributeConstraint) -> Attribute {
    Attribute { attr_type, constraint, ..Attribute::default() }
}

#[async_trait]
impl Resource for File {
    type State<'a> = FileState<'a>;
    type PrivateState<'a> = ValueEmpty;
    type ProviderMetaState<'a> = ValueEmpty;

    fn schema(&self, _: &mut Diagnostics) -> Option<Schema> {
        let attributes = map! {
            "path" => attribute(AttributeType::String, AttributeConstraint::Required),
            "text" => attribute(AttributeType::String, AttributeConstraint::Required),
            "length" => attribute(AttributeType::Number, AttributeConstraint::Computed),
        };
        let description = Description::plain("A file with a text.");
        Some(Schema { version: 1, block: Block { attributes, description, ..Block::default() } })
    }

    async fn read<'a>(
        &self,
        diags: &mut Diagnostics,
        mut state: FileState<'a>,
        private: ValueEmpty,
        _: ValueEmpty,
    ) -> Pair<'a> {
        match fs::read_to_string(state.path.as_str()) {
            Ok(text) => {
                state.length = length(&text);
                state.text = ValueString::from(text);
                Some((state, private))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                diags.root_error("The file cannot be read", error.to_string());
                Some((state, private))
            }
        }
    }

    async fn plan_create<'a>(
        &self,
        _: &mut Diagnostics,
        mut proposed: FileState<'a>,
        _: FileState<'a>,
        _: ValueEmpty,
    ) -> Pair<'a> {
        proposed.length = ValueNumber::Unknown;
        Some((proposed, ValueEmpty::default()))
    }

    async fn plan_update<'a>(
        &self,
        _: &mut Diagnostics,
        prior: FileState<'a>,
        mut proposed: FileState<'a>,
        _: FileState<'a>,
        private: ValueEmpty,
        _: ValueEmpty,
    ) -> Option<(FileState<'a>, ValueEmpty, Vec<AttributePath>)> {
        if proposed.text != prior.text {
            proposed.length = ValueNumber::Unknown;
        }
        let moved = proposed.path != prior.path;
        let forcing = if moved { vec![AttributePath::new("path")] } else { Vec::new() };
        Some((proposed, private, forcing))
    }

    async fn plan_destroy<'a>(
        &self,
        _: &mut Diagnostics,
        _: FileState<'a>,
        private: ValueEmpty,
        _: ValueEmpty,
    ) -> Option<ValueEmpty> {
        Some(private)
    }

    async fn create<'a>(
        &self,
        diags: &mut Diagnostics,
        planned: FileState<'a>,
        _: FileState<'a>,
        _: ValueEmpty,
        _: ValueEmpty,
    ) -> Pair<'a> {
        write(diags, planned)
    }

    async fn update<'a>(
        &self,
        diags: &mut Diagnostics,
        _: FileState<'a>,
        planned: FileState<'a>,
        _: FileState<'a>,
        _: ValueEmpty,
        _: ValueEmpty,
    ) -> Pair<'a> {
        write(diags, planned)
    }

    async fn destroy<'a>(
        &self,
        diags: &mut Diagnostics,
        state: FileState<'a>,
        _: ValueEmpty,
        _: ValueEmpty,
    ) -> Option<()> {
        if let Err(error) = fs::remove_file(state.path.as_str()) {
            diags.root_error("The file cannot be removed", error.to_string());
        }
        Some(())
    }
}

struct Crate;

#[async_trait]
impl Provider for Crate {
    type Config<'a> = ValueEmpty;
    type MetaState<'a> = ValueEmpty;

    fn schema(&self, _: &mut Diagnostics) -> Option<Schema> {
        let description = Description::plain("Nothing to configure.");
        Some(Schema { version: 1, block: Block { description, ..Block::default() } })
    }

    fn get_resources(
        &self,
        _: &mut Diagnostics,
    ) -> Option<HashMap<String, Box<dyn DynamicResource>>> {
        Some(map! { "file" => File })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Ok(serve("crate", Crate).await?)
}
