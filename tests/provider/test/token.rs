//! `test_token`: an ephemeral resource with a token for a name, and with failures on request.

use std::time::{Duration, SystemTime};

use formwork_sdk::context::Private;
use formwork_sdk::ephemeral::Expiry;
use formwork_sdk::prelude::*;
use formwork_sdk::value::Value;

/// Arguments and result of the ephemeral resource.
#[derive(Model)]
pub(crate) struct Token {
    /// The purpose of the token.
    #[attr(optional)]
    name: Option<String>,
    /// Any value.
    #[attr(optional)]
    value: Option<Value>,
    /// Milliseconds until the next renewal.
    #[attr(optional)]
    lasts: Option<i64>,
    /// The call that fails: `validate`, `open`, `renew` or `close`.
    #[attr(optional)]
    fails: Option<String>,
    /// `token of NAME`.
    #[attr(computed)]
    token: String,
    /// The token, sensitive.
    #[attr(computed, sensitive)]
    secret: String,
    /// The same as `value`.
    #[attr(computed)]
    echo: Option<Value>,
}

/// The ephemeral resource type.
pub(crate) struct Tokens;

impl Ephemeral for Tokens {
    type Model = Token;

    fn validate(&self, call: Validate<Token>) -> Answer<()> {
        fail_if(&call.config.fails.or_default(), "validate")
    }

    async fn open(&self, call: Open<Token>) -> Answer<TokenComputed> {
        let data = TokenData {
            name: call.config.name.unwrap_or_default(),
            fails: call.config.fails.unwrap_or_default(),
            lasts: call.config.lasts.unwrap_or_default(),
            n_renewals: 0,
        };
        fail_if(&data.fails, "open")?;
        data.keep(&call.private, &call.lasts);
        let token = format!("token of {}", data.name);
        Ok(TokenComputed { token: token.clone(), secret: token, echo: call.config.value })
    }

    async fn renew(&self, call: Renew) -> Answer<()> {
        let data = TokenData::of(&call.private);
        fail_if(&data.fails, "renew")?;
        TokenData { n_renewals: data.n_renewals + 1, ..data }.keep(&call.private, &call.lasts);
        Ok(())
    }

    async fn close(&self, call: Close) -> Answer<()> {
        fail_if(&TokenData::of(&call.private).fails, "close")
    }
}

/// Data kept between calls.
struct TokenData {
    name: String,
    fails: String,
    lasts: i64,
    n_renewals: u32,
}

impl TokenData {
    fn of(private: &Private) -> Self {
        let text = |key| private.get(key).unwrap_or_default();
        Self {
            name: text("name"),
            fails: text("fails"),
            lasts: text("lasts").parse().unwrap_or_default(),
            n_renewals: text("renewals").parse().unwrap_or_default(),
        }
    }

    fn keep(&self, private: &Private, until: &Expiry) {
        private.set("name", &self.name);
        private.set("fails", &self.fails);
        private.set("lasts", self.lasts.to_string());
        private.set("renewals", self.n_renewals.to_string());
        if let Some(lasts) = u64::try_from(self.lasts).ok().filter(|lasts| *lasts > 0) {
            until.renew_at(SystemTime::now() + Duration::from_millis(lasts));
        }
    }
}

fn fail_if(fails: &str, operation: &str) -> Answer<()> {
    if fails != operation {
        return Ok(());
    }
    Err(Problem::new(format!("Token fails to {operation}"), "It was asked to.").at("fails"))
}
