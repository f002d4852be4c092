//! Timeouts of operations, as authors of configurations set them in a block, and waiting within
//! them. A model has the block as `#[block] timeouts: Option<Timeouts>`.

use std::time::Duration;

use formwork_value::Value;

use crate::log;
use crate::prelude::*;

/// Timeouts of operations.
///
/// ```
/// use std::time::Duration;
///
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::{Type, Value};
///
/// /// A database.
/// #[derive(Model)]
/// struct Database {
///     #[attr(required)]
///     name: String,
///     #[block]
///     timeouts: Option<Timeouts>,
/// }
///
/// struct Databases;
///
/// impl Resource for Databases {
///     type Model = Database;
///
///     async fn create(&self, call: Create<Database>) -> Answer<DatabaseComputed> {
///         // The configuration has `create = "1h30m"` in its block `timeouts`.
///         assert_eq!(call.timeout(Duration::from_secs(60)), Duration::from_secs(90 * 60));
///         Ok(DatabaseComputed {})
///     }
/// }
/// # let provider =
/// #     ProviderDef::new("registry.terraform.io/acme/db").resource("db_database", Databases);
/// # let mut database = wait(TestObject::new(provider, "db_database")).unwrap();
/// # let unset = ["read", "update", "delete"].map(|name| (name, Value::null(Type::String)));
/// # let create = [("create", Value::string("1h30m"))];
/// # let timeouts = Value::object(create.into_iter().chain(unset));
/// # wait(database.apply([("name", Value::string("a")), ("timeouts", timeouts)])).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, formwork_sdk_macros::Nested)]
pub struct Timeouts {
    /// Timeout of a creation, such as `30s`, `90m` or `1h30m`.
    #[attr(optional, check = check_duration)]
    pub create: Option<String>,
    /// Timeout of a read.
    #[attr(optional, check = check_duration)]
    pub read: Option<String>,
    /// Timeout of an update.
    #[attr(optional, check = check_duration)]
    pub update: Option<String>,
    /// Timeout of a destruction.
    #[attr(optional, check = check_duration)]
    pub delete: Option<String>,
}

/// Timeout that the author of an object's configuration sets for an operation.
pub(crate) fn configured_timeout(object: &Value, operation: &str) -> Option<Duration> {
    let Value::Object(parts) = object else { return None };
    // By name and not by type: a model may have such a block of its own, with other operations.
    let Some(Value::Object(timeouts)) = parts.get("timeouts") else { return None };
    match timeouts.get(operation) {
        Some(Value::String(text)) => parse_duration(text.as_str()),
        _ => None,
    }
}

fn check_duration(text: &str) -> Result<(), String> {
    match parse_duration(text) {
        Some(_) => Ok(()),
        None => Err(format!("must be a duration such as 30s, 90m or 1h30m, and not {text:?}")),
    }
}

/// Reads a duration that can be waited for.
fn parse_duration(text: &str) -> Option<Duration> {
    let nanoseconds = formwork_value::duration::parse_nanoseconds(text).ok()?;
    // A negative duration can be written, and not waited for.
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

/// Polls until a condition holds: by default every second, for at most 20 minutes. A timeout that the
/// author of the configuration sets in `timeouts` takes precedence. Time runs from the beginning of the
/// call. Progress is written to the host's log. Created by [`Call::wait`].
///
/// ```
/// use std::time::Duration;
/// use formwork_sdk::prelude::*;
///
/// # struct Client;
/// # impl Client {
/// #     async fn state(&self, _: &str) -> Answer<String> { Ok("up".to_owned()) }
/// # }
/// # struct Machines { client: Client }
/// impl Machines {
///     async fn started(&self, id: &str, call: &Call) -> Answer<()> {
///         let wait = call.wait("the machine is up").every(Duration::from_secs(5));
///         wait.until(|| async { Ok((self.client.state(id).await? == "up").then_some(())) }).await
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "does nothing until `until` is called"]
pub struct Wait<'c> {
    call: &'c Call,
    condition: &'c str,
    every: Duration,
    /// Upper limit of the pauses, each of which is twice as long as the previous one.
    doubling_to: Duration,
    at_most: Duration,
}

impl<'c> Wait<'c> {
    pub(crate) fn for_call(call: &'c Call, condition: &'c str) -> Self {
        let (every, at_most) = (Duration::from_secs(1), Duration::from_secs(20 * 60));
        let doubling_to = Duration::ZERO;
        Self { call, condition, every, doubling_to, at_most: call.timeout(at_most) }
    }

    /// Sets the pause between two polls.
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// Doubles each pause up to this limit.
    pub fn doubling_to(self, maximum: Duration) -> Self {
        Self { doubling_to: maximum, ..self }
    }

    /// Sets the default timeout, for configurations without one.
    pub fn at_most(self, default: Duration) -> Self {
        Self { at_most: self.call.timeout(default), ..self }
    }

    /// Polls until there is a result. The last attempt is at the end of the timeout.
    ///
    /// # Errors
    /// When an attempt fails, when the timeout expires, and when the host requests a stop.
    pub async fn until<T, F>(self, mut ask: impl FnMut() -> F) -> Answer<T>
    where
        F: Future<Output = Answer<Option<T>>>,
    {
        let mut pause = self.every;
        loop {
            if let Some(result) = ask().await? {
                return Ok(result);
            }
            // From the beginning of the call and not of this wait: the author's timeout is for the
            // whole operation, which may wait several times.
            let waited = self.call.started_at().elapsed();
            let remaining = self.at_most.saturating_sub(waited);
            if remaining.is_zero() {
                let (at_most, condition) = (self.at_most.as_secs_f64(), self.condition);
                let detail =
                    format!("Waited {at_most}s until {condition}, which has not happened.");
                return Err(Problem::new("Timed out", detail));
            }
            log::info("waiting", &[("until", &self.condition), ("seconds", &waited.as_secs())]);
            tokio::select! {
                // At most until the timeout, so that a last attempt is made at its end.
                () = tokio::time::sleep(pause.min(remaining)) => {}
                () = self.call.stop.wait_until_requested() => {
                    let detail = format!("Stopped waiting until {}.", self.condition);
                    return Err(Problem::new("Interrupted", detail));
                }
            }
            // Never shorter than before, even if the limit is below the first pause.
            pause = pause.max(pause.saturating_mul(2).min(self.doubling_to));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use formwork_value::{Type, Value};

    use super::*;
    use crate::testing::{PlannedAction, TestObject};

    #[test]
    fn durations_are_parsed_in_gos_format() {
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
            assert_eq!(parse_duration(text), expected.map(Duration::from_millis), "{text}");
        }
    }

    /// A service with slow operations.
    #[derive(Clone, Default)]
    struct Service(Arc<Mutex<u32>>);

    impl Service {
        async fn find(&self, name: &str) -> Answer<Option<String>> {
            let mut n_asked = self.0.lock().unwrap();
            *n_asked += 1;
            match name {
                "" => Err(Problem::new("Nameless", "")),
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

    impl Resource for Databases {
        type Model = Database;

        async fn create(&self, call: Create<Database>) -> Answer<DatabaseComputed> {
            // Short, because the clock of this test is the real one.
            let wait = call.wait("the database is ready").every(Duration::from_millis(1));
            let id = wait.until(|| self.service.find(&call.planned.name)).await?;
            Ok(DatabaseComputed { id })
        }
    }

    async fn test_object(service: &Service) -> TestObject {
        let service = service.clone();
        let provider = ProviderDef::new("registry.terraform.io/acme/test")
            .resource("test_database", Databases { service });
        TestObject::new(provider, "test_database").await.unwrap()
    }

    fn named(name: &str) -> (&'static str, Value) {
        ("name", Value::string(name))
    }

    #[tokio::test]
    async fn a_handler_waits_until_its_condition_is_met() {
        let service = Service::default();
        let mut object = test_object(&service).await;
        assert_eq!(object.apply([named("a")]).await, Ok(PlannedAction::Create));
        assert_eq!(object.get("id"), &Value::string("the id of a"));
        assert_eq!(*service.0.lock().unwrap(), 3);
    }

    #[tokio::test]
    async fn waiting_ends_at_the_timeout_after_an_error_and_when_the_host_stops() {
        let service = Service::default();
        let mut object = test_object(&service).await;
        assert_eq!(object.apply([named("")]).await.unwrap_err().0, "Nameless: ");
        let short = [("create", Value::string("3ms"))];
        let rest = ["read", "update", "delete"].map(|name| (name, Value::null(Type::String)));
        let timeouts = ("timeouts", Value::object(short.into_iter().chain(rest)));
        let refusal = object.apply([named("never"), timeouts]).await.unwrap_err();
        assert_eq!(
            refusal.0,
            "Timed out: Waited 0.003s until the database is ready, which has not happened."
        );
        // Before the call: a stop lasts, and ends the waits that begin later.
        object.stop().await.unwrap();
        let refusal = object.apply([named("never")]).await.unwrap_err();
        assert!(refusal.0.starts_with("Interrupted: "), "{refusal:?}");
    }
}
