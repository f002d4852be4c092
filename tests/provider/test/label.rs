//! Objects without an id, which people know by something else.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;

/// Something that may have an id, a name and tags.
#[derive(Clone, Model)]
pub(crate) struct Label {
    /// An id.
    #[attr(optional)]
    id: Option<String>,
    /// What it is called.
    #[attr(optional)]
    name: Option<String>,
    /// What is tied to it.
    #[attr(optional)]
    tags: Option<BTreeMap<String, String>>,
    /// Anything.
    #[attr(optional)]
    note: Option<String>,
}

/// Something that may have a name and tags.
#[derive(Clone, Model)]
pub(crate) struct Named {
    /// What it is called.
    #[attr(optional)]
    name: Option<String>,
    /// What is tied to it.
    #[attr(optional)]
    tags: Option<BTreeMap<String, String>>,
    /// Anything.
    #[attr(optional)]
    note: Option<String>,
}

/// Something that may have tags.
#[derive(Clone, Model)]
pub(crate) struct Tagged {
    /// What is tied to it.
    #[attr(optional)]
    tags: Option<BTreeMap<String, String>>,
    /// Anything.
    #[attr(optional)]
    note: Option<String>,
}

/// Something with a name and a number for an id.
#[derive(Clone, Model)]
pub(crate) struct Numbered {
    /// Its number.
    #[attr(required)]
    id: i64,
    /// What it is called.
    #[attr(optional)]
    name: Option<String>,
    /// Anything.
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

    /// Something with a name becomes one that has the name as a tag, unless it is stuck.
    async fn take_over(&self, from: Foreign) -> Answer<Option<TaggedDraft>> {
        if from.type_name != "test_named" {
            return Ok(None);
        }
        let Named { name, tags, note } = from.stored.read()?;
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
