//! `test_data`: answers what it is asked.

use formwork_sdk::prelude::*;
use formwork_sdk::value::Value;

/// What is asked, and the answer.
#[derive(Model)]
pub(crate) struct Asked {
    /// What the answer is about.
    #[attr(optional)]
    name: Option<String>,
    /// Anything.
    #[attr(optional)]
    value: Option<Value>,
    /// Anything that is not shown.
    #[attr(optional, sensitive)]
    secret: Option<String>,
    /// An error to fail with.
    #[attr(optional)]
    fails: Option<String>,
    /// `data of NAME`.
    #[attr(computed)]
    result: String,
    /// What `value` is.
    #[attr(computed)]
    echo: Option<Value>,
}

/// The data source.
pub(crate) struct Data;

impl DataSource for Data {
    type Model = Asked;

    async fn read(&self, call: ReadData<Asked>) -> Answer<AskedComputed> {
        if let Some(fails) = call.config.fails {
            let problem = Problem::new("Reading refused", fails);
            return Err(problem.at("fails"));
        }
        let result = format!("data of {}", call.config.name.unwrap_or_default());
        Ok(AskedComputed { result, echo: call.config.value })
    }
}
