//! Ephemeral resources that expire during slow operations on objects.

use std::time::SystemTime;

use super::*;

#[derive(Clone, Model)]
struct Lease {
    #[attr(required)]
    name: String,
    /// Minutes until the next expiry.
    #[attr(required)]
    minutes: i64,
    #[attr(computed)]
    token: String,
}

/// Operations on leases, in order, with the minutes since the first was opened.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<(Option<tokio::time::Instant>, Vec<String>)>>);

impl Heard {
    fn say(&self, event: &str) {
        let mut log = self.0.lock().unwrap();
        let start = *log.0.get_or_insert_with(tokio::time::Instant::now);
        // Started minutes: an event due at a whole minute happens a moment later.
        let minutes = start.elapsed().as_secs() / 60;
        log.1.push(format!("{minutes} {event}"));
    }

    /// Operations while applying. Planning opens and closes everything once more.
    fn applying(&self) -> String {
        let log = &self.0.lock().unwrap().1;
        let mut planning = true;
        let mut closing = false;
        let later = log.iter().filter(|event| {
            // Until the first opening after a close, it was the plan.
            closing |= event.contains("close");
            planning &= !(closing && event.contains("open"));
            !planning
        });
        later.map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

struct Leases(Heard);

fn lasting(minutes: i64) -> SystemTime {
    // The clock of the test engine does not run, so each answer arrives immediately.
    let seconds = u64::try_from(minutes).unwrap_or(0) * 60;
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

impl Ephemeral for Leases {
    type Model = Lease;

    async fn open(&self, call: Open<Lease>) -> Answer<LeaseComputed> {
        self.0.say(&format!("open {}", call.config.name));
        call.private.set("name", &call.config.name);
        call.private.set("minutes", call.config.minutes.to_string());
        call.lasts.renew_at(lasting(call.config.minutes));
        Ok(LeaseComputed { token: "t".to_owned() })
    }

    async fn renew(&self, call: Renew) -> Answer<()> {
        let name = call.private.get("name").unwrap_or_default();
        self.0.say(&format!("renew {name}"));
        match name.as_str() {
            "refused" => return Err(Problem::new("The lock was changed", "By others.")),
            "slow" => tokio::time::sleep(Duration::from_secs(45 * 60)).await,
            _ => {}
        }
        let minutes = call.private.get("minutes").unwrap_or_default();
        call.lasts.renew_at(lasting(minutes.parse()?));
        Ok(())
    }

    async fn close(&self, call: Close) -> Answer<()> {
        self.0.say(&format!("close {}", call.private.get("name").unwrap_or_default()));
        Ok(())
    }
}

fn test_engine(event_log: &Heard, host_values: &HostValues) -> TestEngine {
    let (event_log, host_values) = (event_log.clone(), Arc::clone(host_values));
    TestEngine::new(move || {
        ProviderDef::new("registry.terraform.io/acme/cloud")
            .resource("cloud_machine", Machines(Arc::clone(&host_values)))
            .ephemeral("cloud_lease", Leases(event_log.clone()))
    })
}

/// Leases, and a machine that takes an hour to start and needs them.
fn config(leases: &[(&str, i64)], cores: i64) -> String {
    let mut text = String::new();
    for (name, minutes) in leases {
        text += &format!(
            "ephemeral \"cloud_lease\" \"{name}\" {{\n  name = \"{name}\"\n  minutes = {minutes}\n}}\n"
        );
    }
    let names: Vec<String> =
        leases.iter().map(|(name, _)| format!("ephemeral.cloud_lease.{name}")).collect();
    text + &format!(
        "resource \"cloud_machine\" \"a\" {{\n  zone = \"z\"\n  cores = {cores}\n  depends_on = [{}]\n}}\n",
        names.join(", ")
    )
}

#[test]
fn a_lease_is_renewed_before_it_expires_and_then_closed() {
    let event_log = Heard::default();
    let run_result =
        test_engine(&event_log, &HostValues::default()).apply(&config(&[("a", 25)], 1));
    run_result.expect_applied();
    // The creation of the machine takes an hour of the test engine's clock.
    assert_eq!(event_log.applying(), "0 open a, 25 renew a, 50 renew a, 60 close a");
}

#[test]
fn leases_are_renewed_independently_of_one_that_hangs() {
    let event_log = Heard::default();
    // `slow` takes 45 minutes for its renewal, during which the others are due.
    let leases = [("a", 25), ("b", 40), ("slow", 10)];
    test_engine(&event_log, &HostValues::default()).apply(&config(&leases, 1)).expect_applied();
    let events = event_log.applying();
    let renewed: Vec<&str> = events.split(", ").filter(|event| event.contains("renew")).collect();
    assert_eq!(renewed, ["10 renew slow", "25 renew a", "40 renew b", "50 renew a"], "{events}");
    // A resource during its renewal is closed afterwards.
    assert_eq!(events.matches("close").count(), 3, "{events}");
}

#[test]
fn a_failed_renewal_is_reported_and_not_retried() {
    let event_log = Heard::default();
    let run_result =
        test_engine(&event_log, &HostValues::default()).apply(&config(&[("refused", 25)], 1));
    assert!(
        run_result.plan_text().is_empty()
            || run_result.diags.iter().all(|diagnostic| !diagnostic.is_error())
    );
    let summaries: Vec<_> =
        run_result.diags.iter().map(|diagnostic| diagnostic.summary.as_str()).collect();
    assert_eq!(summaries, ["Ephemeral resource not renewed"]);
    assert_eq!(event_log.applying(), "0 open refused, 25 renew refused, 60 close refused");
}

#[test]
fn renewed_leases_are_closed_after_a_failure() {
    let event_log = Heard::default();
    let run_result =
        test_engine(&event_log, &HostValues::default()).apply(&config(&[("a", 45)], 99));
    run_result.expect_error("It does not start");
    assert_eq!(event_log.applying(), "0 open a, 45 renew a, 60 close a");
}

#[test]
fn a_lease_with_a_very_long_term_is_not_renewed() {
    let event_log = Heard::default();
    // Some 245,000 years: sums of times must not overflow.
    let ages = i64::from(i32::MAX) * 60;
    test_engine(&event_log, &HostValues::default())
        .apply(&config(&[("a", ages)], 1))
        .expect_applied();
    assert_eq!(event_log.applying(), "0 open a, 60 close a");
}

/// The existing zones.
#[derive(Model)]
struct Zones {
    #[attr(computed)]
    names: Vec<String>,
}

struct Atlas;

impl DataSource for Atlas {
    type Model = Zones;

    async fn read(&self, _: ReadData<Zones>) -> Answer<ZonesComputed> {
        Ok(ZonesComputed { names: vec!["z".to_owned()] })
    }
}

/// Returns a word twice.
#[derive(Arguments)]
struct Twice {
    /// The word.
    word: String,
}

impl Function for Twice {
    type Result = String;

    fn call(self) -> Answer<String> {
        Ok(self.word.repeat(2))
    }
}

#[test]
fn a_crash_in_any_call_is_survived() {
    let (event_log, host_values) = (Heard::default(), HostValues::default());
    let provider = move || {
        ProviderDef::new("registry.terraform.io/acme/cloud")
            .resource("cloud_machine", Machines(Arc::clone(&host_values)))
            .data_source("cloud_zones", Atlas)
            .ephemeral("cloud_lease", Leases(event_log.clone()))
            .function::<Twice>("twice")
    };
    let config = config(&[("a", 25)], 1)
        // `late` is read while applying, and `soon` while planning.
        + "data \"cloud_zones\" \"late\" {\n  depends_on = [cloud_machine.a]\n}\n\
           data \"cloud_zones\" \"soon\" {}\n\
           output \"twice\" {\n  value = provider::cloud::twice(\"ha\")\n}\n";
    let struck: Vec<_> = fault_sweep(provider, &config).into_iter().map(|case| case.call).collect();
    for call in ["read_data cloud_zones", "renew_ephemeral cloud_lease", "call_function twice"] {
        assert!(struck.iter().any(|case| case == call), "{call}: {struck:?}");
    }
}
