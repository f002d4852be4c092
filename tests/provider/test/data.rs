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

#[async_trait]
impl DataSource for Data {
    type Model = Asked;

    async fn read(&self, diags: &mut Diagnostics, config: AskedInput) -> Answer<AskedComputed> {
        if let Some(fails) = config.fails {
            let problem = Diagnostic::error("Reading refused", fails);
            return Err(diags.error(problem.path(Path::root().attribute("fails"))));
        }
        let result = format!("data of {}", config.name.unwrap_or_default());
        Ok(AskedComputed { result, echo: config.value })
    }
}
