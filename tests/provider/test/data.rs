//! `test_data`: answers what it is asked.

use formwork_sdk::prelude::*;
use formwork_sdk::value::Value;

/// What is asked, and the answer.
#[derive(Model)]
#[attr(loose)]
pub(crate) struct Asked {
    /// What the answer is about.
    #[attr(optional)]
    name: Attr<String>,
    /// Anything.
    #[attr(optional)]
    value: Attr<Value>,
    /// Anything that is not shown.
    #[attr(optional, sensitive)]
    secret: Attr<String>,
    /// An error to fail with.
    #[attr(optional)]
    fails: Attr<String>,
    /// `data of NAME`.
    #[attr(computed)]
    result: Attr<String>,
    /// What `value` is.
    #[attr(computed)]
    echo: Attr<Value>,
}

/// The data source.
pub(crate) struct Data;

#[async_trait]
impl DataSource for Data {
    type Model = Asked;

    async fn read(&self, diags: &mut Diagnostics, config: Asked) -> Answer<Asked> {
        if let Some(fails) = config.fails.get() {
            let problem = Diagnostic::error("Reading refused", fails.clone());
            return Err(diags.error(problem.path(Path::root().attribute("fails"))));
        }
        let result = format!("data of {}", config.name.or_default()).into();
        Ok(Asked { result, echo: config.value.clone(), ..config })
    }
}
