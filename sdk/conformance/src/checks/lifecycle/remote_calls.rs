//! Checks of the remote calls of a provider, observed and disturbed by the proxy: the changing
//! calls, and the state of an object after one of them fails (P-16, R-08, A-09, A-14 to,
//! K-04).

mod interrupted_create;

use formwork_value::{Path, Value};

use super::journal::Journal;
use super::{
    Object, answer_has_null_object, call_read, destroy_object, journal_create_result,
    update_and_replace,
};
use crate::checks::plan::{UsablePlan, plan_input, plan_or_none};
use crate::checks::{differing_paths, display_value, null_object};
use crate::finding::Finding;
use crate::http_proxy::{Proxy, RemoteCall, RemoteFault};
use crate::offer::OfferedType;
use crate::plugin::{Call, Plugin};
use crate::request::{self, PlanInput, decode_dynamic};
use crate::rpc::Rpc;
use crate::suite::{CHANGING_CALL_TIMEOUT, READ_ONLY_CALL_TIMEOUT, Suite};

/// The rules of the family.
pub(super) const REMOTE_CALL_RULES: [&str; 11] =
    ["P-16", "R-08", "A-09", "A-14", "A-15", "A-16", "A-18", "A-22", "A-23", "A-24", "K-04"];

/// The most answers of one operation that are spoilt, one after the other.
const MAX_SPOILT_ANSWERS: usize = 4;

/// The maximum number of attempts at one read of a busy service.
const MAX_READ_ATTEMPTS: usize = 100;

/// The reason why remote calls cannot be observed.
const NO_REMOTE_CALL_REASON: &str =
    "no remote call was observed: the provider sends none, or none through a proxy";

/// One resource type of a provider that uses the proxy.
struct RemoteCallChecker<'s> {
    suite: &'s mut Suite,
    journal: &'s mut Journal,
    proxy: Proxy,
    offered: OfferedType,
}

/// Checks the family.
pub(super) async fn run(suite: &mut Suite, journal: &mut Journal, resources: &[OfferedType]) {
    if !suite.wants_any(&REMOTE_CALL_RULES) {
        return;
    }
    if suite.program_path().is_none() {
        return suite.note_skipped_rules(
            &REMOTE_CALL_RULES,
            "a provider that runs already cannot be led to a proxy",
        );
    }
    for offered in resources {
        let Some(config) = suite.legal_configs(offered).await.first().cloned() else {
            suite.note_skipped_rules(
                &REMOTE_CALL_RULES,
                "no legal configuration was found; give one with -examples",
            );
            continue;
        };
        if suite.is_run_over() {
            break;
        }
        let proxy = match Proxy::start().await {
            Ok(proxy) => proxy,
            Err(error) => {
                return suite.note_skipped_rules(
                    &REMOTE_CALL_RULES,
                    &format!("the proxy cannot be started: {error}"),
                );
            }
        };
        // A process keeps the environment of its start, so another one is started with the proxy in
        // it.
        suite.end_plugin();
        suite.proxy_env = proxy.proxy_variables();
        let offered = offered.clone();
        let mut observer = RemoteCallChecker { suite, journal, proxy, offered };
        observer.check_with_config(&config).await;
        // The proxy ends here, and a process that still uses it could not reach any service.
        suite.end_plugin();
        suite.proxy_env.clear();
    }
    suite.note_skipped_rules(&REMOTE_CALL_RULES, NO_REMOTE_CALL_REASON);
}

/// The state in an answer: the object, `None` if it is null or absent.
fn state_in_answer(offered: &OfferedType, call: &Call) -> Option<Value> {
    let decoded =
        decode_dynamic(call.first_message()?.get_msg(1), &offered.ty()).ok()??.into_value();
    (!decoded.is_null()).then_some(decoded)
}

impl RemoteCallChecker<'_> {
    async fn check_with_config(&mut self, config: &Value) {
        let create = plan_input(&self.offered, null_object(&self.offered.ty()), config.clone());
        self.proxy.restart_recording_with_fault(RemoteFault::None);
        let Some(planned) = plan_or_none(self.suite, &self.offered, &create).await else { return };
        let planning = self.proxy.take_calls();
        let Some((object, creating)) = self.apply_create_without_fault(&create, &planned).await
        else {
            return;
        };
        // Without remote calls there is nothing to observe or disturb.
        if creating.is_empty() {
            self.delete_object(&object).await;
            return;
        }
        self.check_calls_change_nothing("P-16", "planning", &planned.call, &planning);
        let object = self.check_no_op_calls(object).await;
        self.check_untrusted_certificate(&object).await;
        self.check_busy_service(&object).await;
        let object = self.check_failed_update(object).await;
        let object = self.check_failed_delete(object).await;
        // The object is deleted now: each of the checks below creates one of its own.
        self.delete_object(&object).await;
        self.check_create_failing_late(&create, &planned, &creating).await;
        self.check_not_found_after_create(&create, &planned, &creating).await;
        self.check_create_not_resent(&create, &planned).await;
        self.check_crashed_create(&create, &planned).await;
        self.check_create_timeout(config).await;
    }

    /// Creates an object without faults.
    async fn apply_create_without_fault(
        &mut self,
        create: &PlanInput,
        planned: &UsablePlan,
    ) -> Option<(Object, Vec<RemoteCall>)> {
        let (call, calls, entry) =
            self.apply_create_with_fault(create, planned, RemoteFault::None).await;
        journal_create_result(self.journal, entry, &self.offered, &call);
        let value = state_in_answer(&self.offered, &call).filter(|_| call.is_success())?;
        Some((object_in_answer(value, &call, create), calls))
    }

    /// Applies a plan to create with a fault.
    async fn apply_create_with_fault(
        &mut self,
        create: &PlanInput,
        planned: &UsablePlan,
        fault: RemoteFault,
    ) -> (Call, Vec<RemoteCall>, usize) {
        let entry = self.journal.record_create_intent(&self.offered, &create.config);
        let request = request::apply_request(&self.offered, create, &planned.answer);
        self.proxy.restart_recording_with_fault(fault);
        let call = self.suite.call_changing(Rpc::ApplyResourceChange, &request).await;
        (call, self.proxy.take_calls(), entry)
    }

    async fn delete_object(&mut self, object: &Object) {
        self.proxy.restart_recording_with_fault(RemoteFault::None);
        if destroy_object(self.suite, &self.offered, object).await.is_success() {
            self.journal.record_destroyed(&self.offered, &object.value);
        }
        self.proxy.take_calls();
    }

    /// Holds calls to a rule that none of them changes anything.
    fn check_calls_change_nothing(
        &mut self,
        rule: &'static str,
        operation: &str,
        call: &Call,
        calls: &[RemoteCall],
    ) {
        let first = calls.iter().find(|it| it.may_change_something());
        self.suite.record_case(rule, first.is_none(), || {
            let message = format!("{operation} sends a changing remote call");
            Finding::new(rule, &self.offered.display_name(), message)
                .with_call(call)
                .with_expected_and_found(
                    "reading calls only",
                    first.map(RemoteCall::display_text).unwrap_or_default(),
                )
        });
    }

    /// Reads, plans and applies without a change.
    async fn check_no_op_calls(&mut self, object: Object) -> Object {
        self.proxy.restart_recording_with_fault(RemoteFault::None);
        let (call, _) = call_read(self.suite, &self.offered, &object).await;
        let reading = self.proxy.take_calls();
        self.check_calls_change_nothing("R-08", "reading", &call, &reading);
        let second_input = object.plan_input_for(&self.offered, object.config.clone());
        self.proxy.restart_recording_with_fault(RemoteFault::None);
        let planned = plan_or_none(self.suite, &self.offered, &second_input).await;
        let planning = self.proxy.take_calls();
        let Some(planned) = planned else { return object };
        self.check_calls_change_nothing("P-16", "planning", &planned.call, &planning);
        if planned.value != object.value {
            self.suite.note_skipped_rules(&["A-09"], "the plan without a change is not empty");
            return object;
        }
        let request = request::apply_request(&self.offered, &second_input, &planned.answer);
        self.proxy.restart_recording_with_fault(RemoteFault::None);
        let call = self.suite.call_changing(Rpc::ApplyResourceChange, &request).await;
        let applying = self.proxy.take_calls();
        self.check_calls_change_nothing("A-09", "an update without a change", &call, &applying);
        object
    }

    /// Calls from a process that does not trust the authority of its proxy.
    async fn check_untrusted_certificate(&mut self, object: &Object) {
        if !self.suite.is_rule_wanted("K-04") {
            return;
        }
        let (Some(program), Ok(stranger)) = (self.suite.program_path(), Proxy::start().await)
        else {
            return;
        };
        let mut launch = self.suite.launch_options();
        // It trusts only the authority of the other proxy, so it must refuse this one.
        launch.env.extend(stranger.env_trusting_other_proxy(&self.proxy));
        let Ok(new_process) = Plugin::launch(&program, &launch).await else { return };
        let request = request::configure_request(&self.suite.config);
        let call = new_process.call(Rpc::ConfigureProvider, &request, CHANGING_CALL_TIMEOUT).await;
        // A client may connect only when it needs the service, and not while it is configured.
        let request = request::read_request(
            &self.offered,
            &object.value,
            &object.private,
            object.identity.as_ref(),
        );
        new_process.call(Rpc::ReadResource, &request, READ_ONLY_CALL_TIMEOUT).await;
        // Plain HTTP has no certificates to verify.
        if stranger.n_tunnels() == 0 {
            return self.suite.note_skipped_rules(&["K-04"], "no encrypted remote call was seen");
        }
        let calls = stranger.take_calls();
        // Only a client that accepted the certificate has sent a request that can be read.
        let first = calls.iter().find(|it| it.url.starts_with("https:"));
        self.suite.record_case("K-04", first.is_none(), || {
            let message = "a server with a certificate of an unknown authority is trusted";
            Finding::new("K-04", &self.offered.display_name(), message)
                .with_call(&call)
                .with_expected_and_found(
                    "no request",
                    first.map(RemoteCall::display_text).unwrap_or_default(),
                )
        });
    }

    /// Reads while the service is busy: for one call, and for good.
    async fn check_busy_service(&mut self, object: &Object) {
        if !self.suite.is_rule_wanted("A-23") {
            return;
        }
        let request = request::read_request(
            &self.offered,
            &object.value,
            &object.private,
            object.identity.as_ref(),
        );
        self.proxy.restart_recording_with_fault(RemoteFault::Busy(1));
        let call = self.suite.call(Rpc::ReadResource, &request).await;
        if self.proxy.take_calls().is_empty() {
            return;
        }
        let subject = self.offered.display_name();
        self.suite.record_case("A-23", call.is_success(), || {
            Finding::new("A-23", &subject, "reading fails when the service is busy once")
                .with_call(&call)
        });
        self.proxy.restart_recording_with_fault(RemoteFault::Busy(usize::MAX));
        let call = self.suite.call(Rpc::ReadResource, &request).await;
        let n_attempts = self.proxy.take_calls().len();
        self.suite.record_case("A-23", n_attempts <= MAX_READ_ATTEMPTS, || {
            Finding::new("A-23", &subject, "a busy service is retried without a limit")
                .with_call(&call)
                .with_expected_and_found(
                    format!("at most {MAX_READ_ATTEMPTS} attempts"),
                    format!("{n_attempts} attempts"),
                )
        });
    }

    /// Updates, and fails each answer in turn after the service has carried out the call.
    async fn check_failed_update(&mut self, mut object: Object) -> Object {
        if !self.suite.is_rule_wanted("A-15") {
            return object;
        }
        for index in 0..MAX_SPOILT_ANSWERS {
            let Some((change, planned)) =
                update_and_replace::find_in_place_change(self.suite, &self.offered, &object).await
            else {
                self.suite.note_skipped_rules(&["A-15"], "no update in place was found");
                break;
            };
            let request = request::apply_request(&self.offered, &change, &planned.answer);
            self.proxy.restart_recording_with_fault(RemoteFault::FailAt(index));
            let call = self.suite.call_changing(Rpc::ApplyResourceChange, &request).await;
            let calls = self.proxy.take_calls();
            let returned = state_in_answer(&self.offered, &call);
            let subject = self.offered.display_name();
            let Some(returned) = returned else {
                self.suite.record_case("A-15", false, || {
                    let message = "a failed update returns no object";
                    Finding::new("A-15", &subject, message).with_call(&call)
                });
                break;
            };
            let before = object.value.clone();
            // Used although the update failed: the next round changes the object that the provider
            // reports.
            object = object_in_answer(returned, &call, &change);
            if !call.is_success() {
                object = self.check_object_of_failed_update(object, &call).await;
            }
            self.journal.record_changed(&self.offered, &before, &object.value, &object.private);
            // No call came after the failed one, so a further round would have no fault.
            if calls.len() <= index + 1 {
                break;
            }
        }
        object
    }

    /// Holds the object that a failed update returned to the one that is read, and returns that one.
    async fn check_object_of_failed_update(&mut self, returned: Object, call: &Call) -> Object {
        let (_, actual) = call_read(self.suite, &self.offered, &returned).await;
        let Some(actual) = actual.filter(|it| !it.is_null()) else { return returned };
        let block = self.offered.block();
        let is_settable =
            |path: &Path| block.attribute_at(path).is_some_and(|(it, _)| it.role.is_settable());
        let first = differing_paths(&returned.value, &actual).into_iter().find(is_settable);
        let part = |value: &Value| {
            first.as_ref().and_then(|it| it.find(value)).map(display_value).unwrap_or_default()
        };
        let (real, reported) = (part(&actual), part(&returned.value));
        self.suite.record_case("A-15", first.is_none(), || {
            let message = "a failed update returns another object than there is";
            Finding::new("A-15", &self.offered.display_name(), message)
                .with_path(first.clone().unwrap_or_default())
                .with_call(call)
                .with_expected_and_found(real, reported)
        });
        // The configuration is that of the real object from now on.
        let config = block.attributes.iter().fold(returned.config.clone(), |config, (name, it)| {
            let path = Path::root().attribute(name.clone());
            let part = path.find(&actual).filter(|_| it.role.is_settable() && !it.write_only);
            let is_set = path.find(&config).is_some_and(|part| !part.is_null());
            let part = part.filter(|part| is_set || !it.role.is_computed() && !part.is_null());
            part.and_then(|part| crate::generate::replace_part(&config, &path, part.clone()))
                .unwrap_or(config)
        });
        Object { value: actual, config, ..returned }
    }

    /// Destroys while the service refuses every change.
    async fn check_failed_delete(&mut self, object: Object) -> Object {
        if !self.suite.is_rule_wanted("A-16") {
            return object;
        }
        self.proxy.restart_recording_with_fault(RemoteFault::RefuseChanges { only_first: false });
        let call = destroy_object(self.suite, &self.offered, &object).await;
        if !self.proxy.take_calls().iter().any(RemoteCall::may_change_something) {
            self.suite.note_skipped_rules(&["A-16"], "destroying sends no changing remote call");
            return object;
        }
        let subject = self.offered.display_name();
        let keeps = !call.is_success() && state_in_answer(&self.offered, &call).is_some();
        let message = match answer_has_null_object(&self.offered, &call) {
            true => "a delete that the service refused counts as done",
            false => "a failed delete returns no object",
        };
        self.suite.record_case("A-16", keeps, || {
            Finding::new("A-16", &subject, message).with_call(&call)
        });
        object
    }

    /// Creates, and fails each answer that comes after the object exists.
    async fn check_create_failing_late(
        &mut self,
        create: &PlanInput,
        planned: &UsablePlan,
        creating: &[RemoteCall],
    ) {
        // Failing an earlier answer would test a create without an object.
        let made_at = creating.iter().position(|it| it.may_change_something() && it.is_carried_out);
        let later = made_at.map_or(0..0, |made_at| made_at + 1..creating.len());
        if later.is_empty() {
            return self.suite.note_skipped_rules(
                &["A-14"],
                "a create sends no call after the one that creates the object",
            );
        }
        for index in later.take(MAX_SPOILT_ANSWERS) {
            if self.suite.is_rule_wanted("A-14") {
                self.check_create_keeps_state("A-14", create, planned, RemoteFault::FailAt(index))
                    .await;
            }
        }
    }

    /// Creates, and has the service not find the object at first.
    async fn check_not_found_after_create(
        &mut self,
        create: &PlanInput,
        planned: &UsablePlan,
        creating: &[RemoteCall],
    ) {
        let made_at = creating.iter().position(|it| it.may_change_something() && it.is_carried_out);
        let reads = creating.iter().skip(made_at.map_or(usize::MAX, |made_at| made_at + 1));
        if !reads.into_iter().any(|it| !it.may_change_something()) {
            return self
                .suite
                .note_skipped_rules(&["A-24"], "a create does not read the created object");
        }
        if self.suite.is_rule_wanted("A-24") {
            // A service of several copies may not find an object for a moment after it was created.
            self.check_create_keeps_state("A-24", create, planned, RemoteFault::NotFound(2)).await;
        }
    }

    /// Creates with a fault after the object exists: its state must not be lost.
    async fn check_create_keeps_state(
        &mut self,
        rule: &'static str,
        create: &PlanInput,
        planned: &UsablePlan,
        fault: RemoteFault,
    ) {
        let (call, calls, entry) = self.apply_create_with_fault(create, planned, fault).await;
        let exists = calls.iter().any(|it| it.may_change_something() && it.is_carried_out);
        let state = state_in_answer(&self.offered, &call);
        self.suite.record_case(rule, !exists || state.is_some(), || {
            let message = match rule {
                "A-24" => "an object that the service does not find immediately is lost",
                _ => "a create that fails after the object exists returns no object",
            };
            Finding::new(rule, &self.offered.display_name(), message)
                .with_call(&call)
                .with_input(display_value(&create.config))
        });
        match state {
            Some(value) => {
                journal_create_result(self.journal, entry, &self.offered, &call);
                self.delete_object(&object_in_answer(value, &call, create)).await;
            }
            // It exists, and no answer describes it. The sweep reports that.
            None if exists => self.journal.record_created(entry, &self.offered, None),
            None => self.journal.forget_refused_create(entry),
        }
    }

    /// Creates while the service fails the first change: whether it was carried out cannot be known, so
    /// it must not be sent again without a key.
    async fn check_create_not_resent(&mut self, create: &PlanInput, planned: &UsablePlan) {
        if !self.suite.is_rule_wanted("A-23") {
            return;
        }
        let fault = RemoteFault::RefuseChanges { only_first: true };
        let (call, calls, entry) = self.apply_create_with_fault(create, planned, fault).await;
        let refused_call = calls.iter().find(|it| it.may_change_something());
        let resent = refused_call.and_then(|refused_call| {
            // By HTTP, `PUT` and `DELETE` may be repeated. `POST` and `PATCH` may act twice.
            let unsafe_to_repeat = ["POST", "PATCH"].contains(&refused_call.method.as_str());
            let mut later = calls.iter().filter(|it| it.is_same_request(refused_call)).skip(1);
            later.next().filter(|it| unsafe_to_repeat && !it.is_idempotent)
        });
        self.suite.record_case("A-23", resent.is_none(), || {
            let message = "a change is sent again although the first may have been carried out";
            Finding::new("A-23", &self.offered.display_name(), message)
                .with_call(&call)
                .with_expected_and_found(
                    "one request, or a key",
                    resent.map(RemoteCall::display_text).unwrap_or_default(),
                )
        });
        journal_create_result(self.journal, entry, &self.offered, &call);
        match state_in_answer(&self.offered, &call) {
            Some(value) => self.delete_object(&object_in_answer(value, &call, create)).await,
            // No change was carried out.
            None if !calls.iter().any(|it| it.may_change_something() && it.is_carried_out) => {
                self.journal.forget_refused_create(entry);
            }
            None => {}
        }
    }
}

/// The object in an answer.
fn object_in_answer(value: Value, call: &Call, input: &PlanInput) -> Object {
    let answer = call.first_message().cloned().unwrap_or_default();
    Object {
        value,
        private: answer.get_bytes(2),
        identity: answer.get_msg(5),
        config: input.config.clone(),
    }
}
