//! `null_data_source`.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;

use super::random_number;

/// Values that come back as they went in.
#[derive(Model)]
#[attr(deprecated = "Use local values, or the terraform_data resource type.")]
pub(super) struct NullDataModel {
    /// Arbitrary values that are copied to `outputs`.
    #[attr(optional)]
    inputs: Option<BTreeMap<String, Option<String>>>,
    /// A copy of `inputs`.
    #[attr(computed)]
    outputs: Option<BTreeMap<String, Option<String>>>,
    /// A random number. For testing.
    #[attr(computed)]
    random: String,
    /// The given value, otherwise `default`. For testing.
    #[attr(optional_computed)]
    has_computed_default: String,
    /// Always the same.
    #[attr(computed, deprecated = "It has no meaning and should not be used.")]
    id: String,
}

/// The data source.
pub(super) struct NullDataSource;

impl DataSource for NullDataSource {
    type Model = NullDataModel;

    async fn read(&self, call: ReadData<NullDataModel>) -> Answer<NullDataModelComputed> {
        Ok(NullDataModelComputed {
            outputs: call.config.inputs,
            random: random_number(),
            has_computed_default: "default".to_owned(),
            id: "static".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{read_data, strings};
    use formwork_sdk::value::{Path, Value};

    use super::super::provider;

    #[tokio::test]
    async fn inputs_are_returned_as_outputs() {
        let inputs = || strings([("a", "b")]);
        let inputs_given = [("inputs", inputs()), ("has_computed_default", Value::string("mine"))];
        let data = read_data(provider(), "null_data_source", inputs_given).await.unwrap();
        let part = |name| Path::root().attribute(name).find(&data).cloned().unwrap();
        assert_eq!(part("outputs"), inputs());
        assert_eq!(part("has_computed_default"), Value::string("mine"));
        assert_eq!(part("id"), Value::string("static"));
        let data = read_data(provider(), "null_data_source", []).await.unwrap();
        let default = Path::root().attribute("has_computed_default");
        assert_eq!(default.find(&data), Some(&Value::string("default")));
    }
}
