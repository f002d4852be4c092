//! Objects without an id, which messages identify by other attributes.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;

/// An object that may have an id, a name and tags.
#[derive(Clone, Model)]
pub(crate) struct Label {
    /// An id.
    #[attr(optional)]
    id: Option<String>,
    /// The name.
    #[attr(optional)]
    name: Option<String>,
    /// The tags.
    #[attr(optional)]
    tags: Option<BTreeMap<String, String>>,
    /// Any string.
    #[attr(optional)]
    note: Option<String>,
}

/// An object that may have a name and tags.
#[derive(Clone, Model)]
pub(crate) struct Named {
    /// The name.
    #[attr(optional)]
    name: Option<String>,
    /// The tags.
    #[attr(optional)]
    tags: Option<BTreeMap<String, String>>,
    /// Any string.
    #[attr(optional)]
    note: Option<String>,
}

/// An object that may have tags.
#[derive(Clone, Model)]
pub(crate) struct Tagged {
    /// The tags.
    #[attr(optional)]
    tags: Option<BTreeMap<String, String>>,
    /// Any string.
    #[attr(optional)]
    note: Option<String>,
}

/// An object with a name and a number as its id.
#[derive(Clone, Model)]
pub(crate) struct Numbered {
    /// The number.
    #[attr(required)]
    id: i64,
    /// The name.
    #[attr(optional)]
    name: Option<String>,
    /// Any string.
    #[attr(optional)]
    note: Option<String>,
}

/// The resource types.
pub(crate) struct Labels;
pub(crate) struct Names;
pub(crate) struct Tags;
pub(crate) struct Numbers;

impl Resource for Labels {
    type Model = Label;

    async fn create(&self, _: Create<Label>) -> Answer<LabelComputed> {
        Ok(LabelComputed {})
    }
}

impl Resource for Names {
    type Model = Named;

    async fn create(&self, _: Create<Named>) -> Answer<NamedComputed> {
        Ok(NamedComputed {})
    }
}

impl Resource for Tags {
    type Model = Tagged;

    async fn create(&self, _: Create<Tagged>) -> Answer<TaggedComputed> {
        Ok(TaggedComputed {})
    }

    /// An object with a name becomes one that has the name as a tag, unless it is stuck.
    async fn take_over(&self, from: ForeignObject) -> Answer<Option<TaggedDraft>> {
        if from.type_name != "test_named" {
            return Ok(None);
        }
        let Named { name, tags, note } = from.stored.to_model()?;
        if name.as_deref() == Some("stuck") {
            return Err(Problem::new("Taking over refused", "It is stuck."));
        }
        let mut tags = tags.unwrap_or_default();
        tags.extend(name.map(|name| ("name".to_owned(), name)));
        Ok(Some(TaggedDraft { tags: Some(tags).into(), note: note.into() }))
    }
}

impl Resource for Numbers {
    type Model = Numbered;

    async fn create(&self, _: Create<Numbered>) -> Answer<NumberedComputed> {
        Ok(NumberedComputed {})
    }
}
