//! A trivial resource.

use formwork_sdk::prelude::*;

/// A greeting.
#[derive(Model)]
pub(crate) struct Greeting {
    /// Whom to greet.
    #[attr(required, replace)]
    name: String,
    /// The words.
    #[attr(computed, keep)]
    text: String,
}

pub(crate) struct Greetings;

#[async_trait]
impl Resource for Greetings {
    type Model = Greeting;

    async fn create(
        &self,
        _: &mut Diagnostics,
        call: Create<Greeting>,
    ) -> Answer<GreetingComputed> {
        Ok(GreetingComputed { text: format!("Hello, {}", call.planned.name) })
    }
}
