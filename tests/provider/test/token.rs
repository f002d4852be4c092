//! `test_token`: an ephemeral resource that hands out what its name says, and fails where it is told to.

use std::time::{Duration, SystemTime};

use formwork_sdk::prelude::*;
use formwork_sdk::value::{Reported, Value};

/// What is asked for, and what is handed out.
#[derive(Model)]
pub(crate) struct Token {
    /// What the token is for.
    #[attr(optional)]
    name: Option<String>,
    /// Anything.
    #[attr(optional)]
    value: Option<Value>,
    /// After how many milliseconds it must be renewed, and again after each renewal.
    #[attr(optional)]
    lasts: Option<i64>,
    /// Where to fail: `validate`, `open`, `renew` or `close`.
    #[attr(optional)]
    fails: Option<String>,
    /// `token of NAME`.
    #[attr(computed)]
    token: String,
    /// The token, not to be shown.
    #[attr(computed, sensitive)]
    secret: String,
    /// What `value` is.
    #[attr(computed)]
    echo: Option<Value>,
}

/// The ephemeral resource type.
pub(crate) struct Tokens;

#[async_trait]
impl Ephemeral for Tokens {
    type Model = Token;

    fn validate(&self, diags: &mut Diagnostics, config: &TokenDraft) -> Answer<()> {
        fail_if(diags, &config.fails.or_default(), "validate")
    }

    async fn open(
        &self,
        diags: &mut Diagnostics,
        config: TokenInput,
    ) -> Answer<Opened<TokenComputed>> {
        let kept = Kept {
            name: config.name.unwrap_or_default(),
            fails: config.fails.unwrap_or_default(),
            lasts: config.lasts.unwrap_or_default(),
            n_renewals: 0,
        };
        fail_if(diags, &kept.fails, "open")?;
        let token = format!("token of {}", kept.name);
        let value = TokenComputed { token: token.clone(), secret: token, echo: config.value };
        Ok(Opened { value, keep: kept.keep() })
    }

    async fn renew(&self, diags: &mut Diagnostics, private: bytes::Bytes) -> Answer<Keep> {
        let kept = Kept::of(&private);
        fail_if(diags, &kept.fails, "renew")?;
        Ok(Kept { n_renewals: kept.n_renewals + 1, ..kept }.keep())
    }

    async fn close(&self, diags: &mut Diagnostics, private: bytes::Bytes) -> Answer<()> {
        fail_if(diags, &Kept::of(&private).fails, "close")
    }
}

/// What the private bytes say.
struct Kept {
    name: String,
    fails: String,
    lasts: i64,
    n_renewals: u32,
}

impl Kept {
    fn of(private: &[u8]) -> Self {
        let text = String::from_utf8_lossy(private);
        let mut parts = text.split('|').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        Self {
            name: next(),
            fails: next(),
            lasts: next().parse().unwrap_or_default(),
            n_renewals: next().parse().unwrap_or_default(),
        }
    }

    fn keep(&self) -> Keep {
        let Self { name, fails, lasts, n_renewals } = self;
        let lasts = u64::try_from(*lasts).ok().filter(|lasts| *lasts > 0);
        Keep {
            private: format!("{name}|{fails}|{}|{n_renewals}", self.lasts).into(),
            renew_at: lasts.map(|lasts| SystemTime::now() + Duration::from_millis(lasts)),
        }
    }
}

fn fail_if(diags: &mut Diagnostics, fails: &str, here: &str) -> Result<(), Reported> {
    if fails != here {
        return Ok(());
    }
    let problem = Diagnostic::error(format!("Token fails to {here}"), "It was asked to.");
    Err(diags.error(problem.path(Path::root().attribute("fails"))))
}
