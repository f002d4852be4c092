//! `test_thing`: an object without nested parts, with an attribute of every kind.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;
use formwork_sdk::value::Value;

/// An object.
#[derive(Model)]
#[attr(loose)]
pub(crate) struct Thing {
    /// The same as long as it lives.
    #[attr(computed, keep)]
    id: Attr<String>,
    /// What it is called.
    #[attr(optional)]
    name: Attr<String>,
    /// A change makes a new object.
    #[attr(optional, replace)]
    forced: Attr<String>,
    /// Anything.
    #[attr(optional)]
    value: Attr<Value>,
    /// Texts in order.
    #[attr(optional)]
    list: Attr<Vec<Attr<String>>>,
    /// Texts by name.
    #[attr(optional)]
    tags: Attr<BTreeMap<String, Attr<String>>>,
    /// A text that is not shown.
    #[attr(optional, sensitive)]
    secret: Attr<String>,
    /// A text that is not stored.
    #[attr(optional, write_only)]
    secret_wo: Attr<String>,
    /// To be raised when `secret_wo` changes.
    #[attr(optional)]
    secret_wo_version: Attr<i64>,
    /// How long the `secret_wo` was that came with the last change.
    #[attr(computed)]
    secret_wo_length: Attr<i64>,
    /// `NAME is computed`, new with each change.
    #[attr(computed)]
    computed: Attr<String>,
    /// The author's, or `chosen`.
    #[attr(optional_computed, keep)]
    chosen: Attr<String>,
    /// The author's, or `default`.
    #[attr(optional_computed, default = "default")]
    defaulted: Attr<String>,
    /// An attribute of former times.
    #[attr(optional, deprecated = "Use `value` instead.")]
    old: Attr<String>,
    /// Where to fail: `validate`, `plan`, `create`, `update` or `delete`.
    #[attr(optional)]
    fails: Attr<String>,
}

/// The resource type.
pub(crate) struct Things;

#[async_trait]
impl Resource for Things {
    type Model = Thing;

    const VERSION: u64 = 1;

    fn validate(&self, diags: &mut Diagnostics, config: &Thing) -> Answer<()> {
        config.fail_if(diags, "validate")
    }

    async fn modify_plan(&self, diags: &mut Diagnostics, change: &mut Change<Thing>) -> Answer<()> {
        change.config.fail_if(diags, "plan")
    }

    async fn create(&self, diags: &mut Diagnostics, call: Create<Thing>) -> Answer<Thing> {
        call.config.fail_if(diags, "create")?;
        let mut thing = call.planned.made(&call.config);
        thing.id = format!("id of {}", thing.name.or_default()).into();
        if thing.chosen.is_unknown() {
            thing.chosen = "chosen".into();
        }
        Ok(thing)
    }

    async fn update(&self, diags: &mut Diagnostics, call: Update<Thing>) -> Answer<Thing> {
        call.config.fail_if(diags, "update")?;
        Ok(call.planned.made(&call.config))
    }

    async fn delete(&self, diags: &mut Diagnostics, call: Delete<Thing>) -> Answer<()> {
        call.prior.fail_if(diags, "delete")
    }

    async fn import(&self, diags: &mut Diagnostics, id: &str) -> Answer<Thing> {
        let Some(name) = id.strip_prefix("id of ") else {
            let detail = format!("{id:?} does not begin with \"id of \".");
            return Err(diags.error(Diagnostic::error("There is no such thing", detail)));
        };
        let thing = Thing { id: id.into(), name: name.into(), ..Thing::empty() };
        Ok(Thing {
            chosen: "chosen".into(),
            defaulted: "default".into(),
            ..thing.made(&Thing::empty())
        })
    }

    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Thing> {
        stored.read(diags)
    }
}

impl Thing {
    fn empty() -> Self {
        Self {
            id: Attr::Null,
            name: Attr::Null,
            forced: Attr::Null,
            value: Attr::Null,
            list: Attr::Null,
            tags: Attr::Null,
            secret: Attr::Null,
            secret_wo: Attr::Null,
            secret_wo_version: Attr::Null,
            secret_wo_length: Attr::Null,
            computed: Attr::Null,
            chosen: Attr::Null,
            defaulted: Attr::Null,
            old: Attr::Null,
            fails: Attr::Null,
        }
    }

    fn made(self, config: &Self) -> Self {
        let length = config.secret_wo.get().map(String::len).unwrap_or_default();
        Self {
            secret_wo_length: i64::try_from(length).unwrap_or_default().into(),
            computed: format!("{} is computed", self.name.or_default()).into(),
            ..self
        }
    }

    fn fail_if(&self, diags: &mut Diagnostics, here: &str) -> Answer<()> {
        if self.fails.get().is_none_or(|fails| fails != here) {
            return Ok(());
        }
        let problem = Diagnostic::error(format!("Thing fails to {here}"), "It was asked to.");
        Err(diags.error(problem.path(Path::root().attribute("fails"))))
    }
}
