//! `formwork provider check` of a provider whose service is encrypted: the proxy of the checker answers
//! for the service with a certificate that the provider trusts, and the rules about remote calls fire as
//! they do without encryption.

use std::collections::BTreeSet;
use std::sync::Mutex;

use formwork_tests::items::Items;
use formwork_tests::seeded::{self, Fault};

use crate::harness::registry::{Page, Registry};
use crate::harness::{Workdir, sound_provider};

/// The number of concurrent runs.
const AT_ONCE: usize = 3;

/// The verdicts of one run, the rules of its findings, and the number of requests to the service.
struct Checked {
    verdicts: Vec<(String, String)>,
    broken: BTreeSet<String>,
    n_requests: usize,
    n_items: usize,
}

/// Checks the sound provider with an encrypted service of its own.
fn checked(rules: &[&str], fault: Option<&str>) -> Checked {
    let workdir = Workdir::new("");
    let (service, items) = (Registry::start(), Items::default());
    let served = items.clone();
    service.answer_with(move |request| {
        let body = request.body.clone().into_bytes();
        let (status, body) = served.answer(&request.method, &request.path, body);
        Some(Page { status, body, ..Page::default() })
    });
    let check = workdir.formwork("provider check -level=3 -json");
    let check = check.arg(&format!("-only={}", rules.join(",")));
    let check = check
        .arg(&sound_provider().display().to_string())
        .env("SSL_CERT_FILE", &service.authority())
        .env("SOUND_OBJECTS", &workdir.root().display().to_string())
        .env("SOUND_SERVICE", &service.url(""));
    let run = fault.into_iter().fold(check, |check, rule| check.env("SOUND_FAULT", rule)).run();
    let report: serde_json::Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stdout));
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let all = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let verdict = |rule: &serde_json::Value| (text(&rule["id"]), text(&rule["verdict"]));
    let verdicts = all("rules").iter().map(verdict).collect();
    let broken = all("findings").iter().map(|it| text(&it["rule"])).collect();
    Checked { verdicts, broken, n_requests: service.take_requests().len(), n_items: items.count() }
}

impl Checked {
    fn verdict(&self, rule: &str) -> &str {
        self.verdicts.iter().find(|(id, _)| id == rule).map_or("", |(_, verdict)| verdict)
    }
}

#[test]
fn rules_about_remote_calls_are_checked_over_tls() {
    let rows = seeded::rows().filter(|row| matches!(row.fault, Fault::Remote(_)));
    let rules: Vec<&str> = rows.map(|row| row.rule).collect();
    let sound = checked(&rules, None);
    assert!(sound.n_requests > 0, "nothing came to the service");
    assert_eq!(sound.n_items, 0, "objects are left at the service");
    for rule in &rules {
        assert_eq!(sound.verdict(rule), "held", "{rule} of the sound provider");
    }
    let (next, failures) = (Mutex::new(rules.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let rule = next.lock().expect("no panic").next();
                    let Some(rule) = rule else { break };
                    let result = checked(&[rule], Some(rule));
                    let expected = BTreeSet::from([(*rule).to_owned()]);
                    if result.broken != expected || result.n_requests == 0 {
                        let verdict = result.verdict(rule).to_owned();
                        failures.lock().expect("no panic").push((rule, verdict, result.broken));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    println!("{} of {} rules fire over TLS", rules.len() - failures.len(), rules.len());
    assert!(failures.is_empty(), "{failures:#?}");
}
