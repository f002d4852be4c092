//! `test_thing`: an object without nested parts, with an attribute of every kind.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;
use formwork_sdk::value::Value;

/// An object.
#[derive(Model)]
pub(crate) struct Thing {
    /// The id; constant during the lifetime of the object.
    #[attr(computed, keep)]
    id: String,
    /// The name.
    #[attr(optional)]
    name: Option<String>,
    /// A change forces replacement.
    #[attr(optional, replace)]
    forced: Option<String>,
    /// Any value.
    #[attr(optional)]
    value: Option<Value>,
    /// Strings in order.
    #[attr(optional)]
    list: Option<Vec<Option<String>>>,
    /// Strings by name.
    #[attr(optional)]
    tags: Option<BTreeMap<String, Option<String>>>,
    /// A sensitive string.
    #[attr(optional, sensitive)]
    secret: Option<String>,
    /// A write-only string.
    #[attr(optional, write_only)]
    secret_wo: Option<String>,
    /// Increase it when `secret_wo` changes.
    #[attr(optional)]
    secret_wo_version: Option<i64>,
    /// Length of the last `secret_wo`.
    #[attr(computed)]
    secret_wo_length: i64,
    /// `NAME is computed`, new with each change.
    #[attr(computed)]
    computed: String,
    /// The configured value, or `chosen`.
    #[attr(optional_computed, keep)]
    chosen: String,
    /// The configured value, or `default`.
    #[attr(default = "default")]
    defaulted: String,
    /// A deprecated attribute.
    #[attr(optional, deprecated = "Use `value` instead.")]
    old: Option<String>,
    /// The call that fails: `validate`, `plan`, `create`, `update` or `delete`. With `warn`, validation
    /// warns.
    #[attr(optional)]
    fails: Option<String>,
}

/// The resource type.
pub(crate) struct Things;

impl Resource for Things {
    type Model = Thing;

    const VERSION: u64 = 1;

    fn validate(&self, call: Validate<Thing>) -> Answer<()> {
        if call.config.fails.get().is_some_and(|fails| fails == "warn") {
            call.warn(Problem::new("Thing warns", "It was asked to.").at("fails"));
        }
        fail_if(call.config.fails.get(), "validate")
    }

    async fn modify_plan(&self, change: &mut ModifyPlan<Thing>) -> Answer<()> {
        fail_if(change.config.fails.get(), "plan")
    }

    async fn create(&self, call: Create<Thing>) -> Answer<ThingComputed> {
        fail_if(call.planned.fails.as_ref(), "create")?;
        Ok(computed_attributes(call.planned.name.as_deref(), call.planned.secret_wo.as_deref()))
    }

    async fn update(&self, call: Update<Thing>) -> Answer<ThingComputed> {
        fail_if(call.planned.fails.as_ref(), "update")?;
        Ok(computed_attributes(call.planned.name.as_deref(), call.planned.secret_wo.as_deref()))
    }

    async fn delete(&self, call: Delete<Thing>) -> Answer<()> {
        fail_if(call.prior.fails.as_ref(), "delete")
    }

    async fn import(&self, call: Import<Thing>) -> Answer<ThingDraft> {
        let id = call.id.as_str();
        let Some(name) = id.strip_prefix("id of ") else {
            let detail = format!("{id:?} does not begin with \"id of \".");
            return Err(Problem::new("There is no such thing", detail));
        };
        Ok(ThingDraft {
            name: name.into(),
            defaulted: "default".into(),
            ..computed_attributes(Some(name), None).into()
        })
    }

    async fn upgrade(&self, call: Upgrade) -> Answer<ThingDraft> {
        call.stored.to_draft::<Thing>()
    }
}

fn computed_attributes(name: Option<&str>, secret: Option<&str>) -> ThingComputed {
    let name = name.unwrap_or_default();
    ThingComputed {
        id: format!("id of {name}"),
        secret_wo_length: secret
            .map(str::len)
            .and_then(|it| it.try_into().ok())
            .unwrap_or_default(),
        computed: format!("{name} is computed"),
        chosen: "chosen".to_owned(),
    }
}

fn fail_if(fails: Option<&String>, operation: &str) -> Answer<()> {
    if fails.is_none_or(|fails| fails != operation) {
        return Ok(());
    }
    let problem = Problem::new(format!("Thing fails to {operation}"), "It was asked to.");
    Err(problem.at("fails"))
}
