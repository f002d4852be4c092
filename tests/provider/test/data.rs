//! `test_data`: answers with the values of its arguments.

use formwork_sdk::prelude::*;
use formwork_sdk::value::Value;

/// Arguments and result of the data source.
#[derive(Model)]
pub(crate) struct Asked {
    /// The subject of the answer.
    #[attr(optional)]
    name: Option<String>,
    /// Any value.
    #[attr(optional)]
    value: Option<Value>,
    /// Any sensitive value.
    #[attr(optional, sensitive)]
    secret: Option<String>,
    /// An error to fail with.
    #[attr(optional)]
    fails: Option<String>,
    /// `data of NAME`.
    #[attr(computed)]
    result: String,
    /// The same as `value`.
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
