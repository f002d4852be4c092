//! How long operations may take, as authors of configurations write it in a block, and waiting no
//! longer than that.

use std::time::Duration;

use formwork_value::{Diagnostic, Diagnostics};
use tokio::time::Instant;

use crate::prelude::*;

/// A block in which the author of a configuration says how long operations may take. A model has it as
/// `#[block] timeouts: Option<Timeouts>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, formwork_sdk_macros::Nested)]
pub struct Timeouts {
    /// How long a creation may take, such as `30s`, `90m` or `1h30m`.
    #[attr(optional, check = is_duration)]
    pub create: Option<String>,
    /// How long a read may take.
    #[attr(optional, check = is_duration)]
    pub read: Option<String>,
    /// How long an update may take.
    #[attr(optional, check = is_duration)]
    pub update: Option<String>,
    /// How long a destruction may take.
    #[attr(optional, check = is_duration)]
    pub delete: Option<String>,
}

/// Returns how long an operation may take: what the author wrote, or else what is usual.
///
/// ```
/// use std::time::Duration;
/// use formwork_sdk::timeouts::{Timeouts, at_most};
///
/// let timeouts = Some(Timeouts { create: Some("1h30m".to_owned()), ..Timeouts::default() });
/// let usual = Duration::from_secs(60);
/// let create = at_most(timeouts.as_ref().and_then(|all| all.create.as_deref()), usual);
/// assert_eq!(create, Duration::from_secs(5400));
/// ```
#[must_use]
pub fn at_most(written: Option<&str>, usual: Duration) -> Duration {
    written.and_then(duration).unwrap_or(usual)
}

fn is_duration(text: &str) -> Result<(), String> {
    match duration(text) {
        Some(_) => Ok(()),
        None => {
            Err(format!("must be a length of time such as 30s, 90m or 1h30m, and not {text:?}"))
        }
    }
}

/// Reads a length of time that can be waited for.
fn duration(text: &str) -> Option<Duration> {
    let nanoseconds = formwork_value::duration::nanoseconds(text).ok()?;
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

/// Waiting for something that takes its time: asking again and again, in a loop of the author's own.
///
/// ```
/// use std::time::Duration;
/// use formwork_sdk::prelude::*;
///
/// # struct Client;
/// # impl Client {
/// #     async fn state(&self, _: &mut Diagnostics, _: &str) -> Answer<String> { Ok("up".to_owned()) }
/// # }
/// # struct Machines { client: Client }
/// impl Machines {
///     async fn started(&self, diags: &mut Diagnostics, id: &str, stop: &Stop) -> Answer<()> {
///         let mut wait = Wait::until("the machine is up", stop).at_most(Duration::from_secs(600));
///         while self.client.state(diags, id).await? != "up" {
///             wait.again(diags).await?;
///         }
///         Ok(())
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Wait<'s> {
    what: &'s str,
    every: Duration,
    at_most: Duration,
    stop: &'s Stop,
    begin: Instant,
}

impl<'s> Wait<'s> {
    /// Waits, from now on, until something is so, as a message says it: `the database is ready`. Asks
    /// every second, for at most 20 minutes, unless told otherwise; ends when the host wants an end.
    #[must_use]
    pub fn until(what: &'s str, stop: &'s Stop) -> Self {
        let (every, at_most) = (Duration::from_secs(1), Duration::from_secs(20 * 60));
        Self { what, every, at_most, stop, begin: Instant::now() }
    }

    /// How long to wait before asking again.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// How long to wait in all.
    #[must_use]
    pub fn at_most(self, at_most: Duration) -> Self {
        Self { at_most, ..self }
    }

    /// Waits until it is time to ask again. The last time is when all the time is over.
    ///
    /// # Errors
    /// When all the time is over, and when the host wants an end.
    pub async fn again(&mut self, diags: &mut Diagnostics) -> Answer<()> {
        let left = self.at_most.saturating_sub(self.begin.elapsed());
        if left.is_zero() {
            let detail = format!(
                "Waited {}s until {}, and it has not come to that.",
                self.at_most.as_secs_f64(),
                self.what
            );
            return Err(diags.error(Diagnostic::error("Timed out", detail)));
        }
        tokio::select! {
            () = tokio::time::sleep(self.every.min(left)) => Ok(()),
            () = self.stop.requested() => {
                let detail = format!("It was not waited for any longer that {}.", self.what);
                Err(diags.error(Diagnostic::error("Interrupted", detail)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use formwork_value::{Type, Value};

    use super::*;
    use crate::testing::{Action, Life};

    #[test]
    fn lengths_of_time_are_read_as_go_writes_them() {
        let table = [
            ("30s", Some(30_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5s", Some(1_500)),
            ("250ms", Some(250)),
            ("", None),
            ("30", None),
            ("s", None),
            ("1d", None),
            ("1..5s", None),
        ];
        for (text, expected) in table {
            assert_eq!(duration(text), expected.map(Duration::from_millis), "{text}");
        }
    }

    /// A service in which everything takes a while.
    #[derive(Clone, Default)]
    struct Service(Arc<Mutex<u32>>);

    impl Service {
        async fn find(&self, diags: &mut Diagnostics, name: &str) -> Answer<Option<String>> {
            let mut n_asked = self.0.lock().unwrap();
            *n_asked += 1;
            match name {
                "" => Err(diags.error(Diagnostic::error("Nameless", ""))),
                "never" => Ok(None),
                _ => Ok((*n_asked == 3).then(|| format!("the id of {name}"))),
            }
        }
    }

    #[derive(Model)]
    struct Database {
        #[attr(required)]
        name: String,
        #[block]
        timeouts: Option<Timeouts>,
        #[attr(computed, keep)]
        id: String,
    }

    struct Databases {
        service: Service,
    }

    #[async_trait]
    impl Resource for Databases {
        type Model = Database;

        async fn create(
            &self,
            diags: &mut Diagnostics,
            call: Create<Database>,
        ) -> Answer<DatabaseComputed> {
            let DatabaseInput { name, timeouts } = &call.planned;
            let written = timeouts.as_ref().and_then(|all| all.create.as_deref());
            let mut wait = Wait::until("the database is ready", &call.stop)
                .every(Duration::from_millis(1))
                .at_most(at_most(written, Duration::from_secs(60)));
            loop {
                if let Some(id) = self.service.find(diags, name).await? {
                    return Ok(DatabaseComputed { id });
                }
                wait.again(diags).await?;
            }
        }
    }

    async fn life(service: &Service) -> Life {
        let service = service.clone();
        let provider = ProviderDef::new("registry.terraform.io/acme/test")
            .resource("test_database", Databases { service });
        Life::new(provider, "test_database").await.unwrap()
    }

    fn named(name: &str) -> (&'static str, Value) {
        ("name", Value::string(name))
    }

    #[tokio::test]
    async fn a_handler_waits_until_what_it_asks_for_is_there() {
        let service = Service::default();
        let mut life = life(&service).await;
        assert_eq!(life.apply([named("a")]).await, Ok(Action::Create));
        assert_eq!(life.get("id"), &Value::string("the id of a"));
        assert_eq!(*service.0.lock().unwrap(), 3);
    }

    #[tokio::test]
    async fn waiting_ends_when_time_is_over_when_asking_fails_and_when_the_host_wants_an_end() {
        let service = Service::default();
        let mut life = life(&service).await;
        assert_eq!(life.apply([named("")]).await.unwrap_err().0, "Nameless: ");
        let short = [("create", Value::string("3ms"))];
        let rest = ["read", "update", "delete"].map(|name| (name, Value::null(Type::String)));
        let timeouts = ("timeouts", Value::object(short.into_iter().chain(rest)));
        let refusal = life.apply([named("never"), timeouts]).await.unwrap_err();
        assert_eq!(
            refusal.0,
            "Timed out: Waited 0.003s until the database is ready, and it has not come to that."
        );
        life.stop().await.unwrap();
        let refusal = life.apply([named("never")]).await.unwrap_err();
        assert!(refusal.0.starts_with("Interrupted: "), "{refusal:?}");
    }
}
