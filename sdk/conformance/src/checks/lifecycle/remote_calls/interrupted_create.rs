//! Checks of creates that are cut off: by the end of the process and by the timeout of the
//! configuration.

use std::time::Duration;

use formwork_value::schema::{AttributeKind, Block, Nesting};
use formwork_value::{Path, Type, Value};

use super::super::{Object, import_and_list, journal_create_result};
use super::{RemoteCallChecker, object_in_answer, state_in_answer};
use crate::checks::listing;
use crate::checks::plan::{UsablePlan, plan_input, plan_or_none};
use crate::checks::{display_value, null_object};
use crate::finding::Finding;
use crate::generate::replace_part;
use crate::http_proxy::{RemoteCall, RemoteFault};
use crate::message::Msg;
use crate::offer::Kind;
use crate::plugin::{Call, Reply};
use crate::request::{self, PlanInput, decode_dynamic};
use crate::rpc::Rpc;
use crate::suite::CHANGING_CALL_TIMEOUT;

/// The most objects that are listed.
const MAX_LISTED_OBJECTS: u64 = 1_000;

/// The timeout in the configuration.
const SHORT_CREATE_TIMEOUT: &str = "2s";

/// The longest wait for the answer to a create with that timeout.
const CREATE_ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

impl RemoteCallChecker<'_> {
    /// Creates, kills the process after the service has created the object, and looks for the
    /// object with another process.
    pub(super) async fn check_crashed_create(&mut self, create: &PlanInput, planned: &UsablePlan) {
        if !self.suite.is_rule_wanted("A-18") {
            return;
        }
        // Before the create, because only what is new later can be its object.
        let before = self.list_identities().await;
        let entry = self.journal.record_create_intent(&self.offered, &create.config);
        let request = request::apply_request(&self.offered, create, &planned.answer);
        self.proxy.restart_recording_with_fault(RemoteFault::HoldAnswer);
        let Some(call) = self.kill_during_create(&request).await else {
            // No request was sent, so there is no object to look for.
            self.journal.forget_refused_create(entry);
            return self.suite.note_skipped_rules(&["A-18"], "the process cannot be killed");
        };
        let calls = self.proxy.take_calls();
        let create_call =
            calls.into_iter().find(|it| it.may_change_something() && it.is_carried_out);
        let Some(create_call) = create_call.filter(|_| call.is_crash_or_hang()) else {
            self.suite.note_skipped_rules(&["A-18"], "no call of a create changes the service");
            return self.journal_and_destroy(entry, &call, create).await;
        };
        let created_object = self.find_created_object(create, planned, &before, &create_call).await;
        self.suite.record_case("A-18", created_object.is_some(), || {
            let message = "an object that exists when the process ends cannot be found again";
            Finding::new("A-18", &self.offered.display_name(), message)
                .with_call(&call)
                .with_expected_and_found(
                    "an identity that is planned, a list, or a create with a key",
                    create_call.display_text(),
                )
                .with_input(display_value(&create.config))
        });
        match created_object {
            Some(object) => {
                let create_call = (&object.value, &object.private);
                self.journal.record_created(entry, &self.offered, Some(create_call));
                self.delete_object(&object).await;
            }
            // The object exists and cannot be found, so the report has to list it as left over.
            None => self.journal.record_created(entry, &self.offered, None),
        }
    }

    /// Notes the result of a create, and destroys its objects.
    async fn journal_and_destroy(&mut self, entry: usize, call: &Call, create: &PlanInput) {
        journal_create_result(self.journal, entry, &self.offered, call);
        if let Some(value) = state_in_answer(&self.offered, call) {
            self.delete_object(&object_in_answer(value, call, create)).await;
        }
    }

    /// Applies, and kills the process as soon as the proxy holds an answer.
    async fn kill_during_create(&mut self, request: &Msg) -> Option<Call> {
        self.suite.ensure_running().await.ok()?;
        let plugin = self.suite.plugin()?;
        let child = &plugin.started.as_ref()?.child;
        let call = plugin.call(Rpc::ApplyResourceChange, request, CHANGING_CALL_TIMEOUT);
        tokio::pin!(call);
        let call = tokio::select! {
            call = &mut call => call,
            // Now the service has the object, and the provider has no response yet.
            () = self.proxy.wait_for_held_call() => {
                child.kill();
                call.await
            }
        };
        Some(call)
    }

    /// Looks for an object as a host can: by an identity or id that was planned, in the list of the
    /// objects, and by the same request where it is safe to repeat.
    async fn find_created_object(
        &mut self,
        create: &PlanInput,
        planned: &UsablePlan,
        before: &[(Msg, Value)],
        create_call: &RemoteCall,
    ) -> Option<Object> {
        // The surest come first: what was planned, and only then what is new in the list.
        let mut requests = Vec::new();
        let name = self.offered.name.clone();
        let named =
            || Msg::new().with_text(1, &name).with_message(3, &request::client_capabilities());
        requests.extend(self.planned_identity(planned).map(|it| named().with_message(4, &it)));
        if let Some(Value::String(id)) = Path::root().attribute("id").find(&planned.value) {
            requests.push(named().with_text(2, id.as_str()));
        }
        let is_new =
            |(_, value): &(Msg, Value)| before.iter().all(|(_, prior_value)| prior_value != value);
        let listed = self.list_identities().await.into_iter().filter(is_new);
        let listed: Vec<Msg> =
            listed.map(|(identity, _)| named().with_message(4, &identity)).collect();
        requests.extend(listed);
        for request in &requests {
            let imported =
                import_and_list::import_and_read(self.suite, &self.offered, request).await;
            let Some((call, value)) = imported else { continue };
            let mut identities = call.first_message()?.repeated_messages(1).into_iter();
            let identities = identities.find(|it| it.get_text(1) == self.offered.name)?;
            let (private, identity) = (identities.get_bytes(3), identities.get_msg(4));
            return Some(Object { value, private, identity, config: create.config.clone() });
        }
        // Only such a request creates no second object when it is sent again.
        if !create_call.is_idempotent && create_call.method != "PUT" {
            return None;
        }
        let request = request::apply_request(&self.offered, create, &planned.answer);
        let call = self.suite.call_changing(Rpc::ApplyResourceChange, &request).await;
        let value = state_in_answer(&self.offered, &call).filter(|_| call.is_success())?;
        Some(object_in_answer(value, &call, create))
    }

    /// The identity in a plan, if all of it is known.
    fn planned_identity(&self, planned: &UsablePlan) -> Option<Msg> {
        let identity = planned.answer.get_msg(7)?;
        let (_, ty, _) = self.suite.offer.identities.get(&self.offered.name)?;
        let value = decode_dynamic(identity.get_msg(1), ty).ok()??.into_value();
        // An identity with an unknown part does not identify an object.
        (!value.is_null() && value.is_wholly_known()).then_some(identity)
    }

    /// The identities of all objects of the type, if the provider lists them.
    async fn list_identities(&mut self) -> Vec<(Msg, Value)> {
        let name = self.offered.name.clone();
        let list =
            self.suite.offer.usable_types_of_kind(Kind::List).find(|it| it.name == name).cloned();
        let ty = self.suite.offer.identities.get(&name).map(|(_, ty, _)| ty.clone());
        let (Some(list), Some(ty)) = (list, ty) else { return Vec::new() };
        let Some(config) = self.suite.legal_configs(&list).await.first().cloned() else {
            return Vec::new();
        };
        let call = listing::list_objects(self.suite, &list, &config, MAX_LISTED_OBJECTS).await;
        let Reply::Answered(events) = &call.reply else { return Vec::new() };
        let identities = events.iter().filter_map(|event| event.get_msg(1));
        let decoded = identities.filter_map(|identity| {
            let value = decode_dynamic(identity.get_msg(1), &ty).ok()??.into_value();
            Some((identity, value))
        });
        decoded.collect()
    }

    /// Creates with a short timeout at a service that does not answer.
    pub(super) async fn check_create_timeout(&mut self, config: &Value) {
        if !self.suite.is_rule_wanted("A-22") {
            return;
        }
        let Some(config) = with_create_timeout(self.offered.block(), config) else {
            let reason = "no resource type has a timeout for creating in its configuration";
            return self.suite.note_skipped_rules(&["A-22"], reason);
        };
        let create = plan_input(&self.offered, null_object(&self.offered.ty()), config);
        self.proxy.restart_recording_with_fault(RemoteFault::None);
        let Some(planned) = plan_or_none(self.suite, &self.offered, &create).await else {
            return self
                .suite
                .note_skipped_rules(&["A-22"], "an object with a timeout of 2s cannot be planned");
        };
        let entry = self.journal.record_create_intent(&self.offered, &create.config);
        let request = request::apply_request(&self.offered, &create, &planned.answer);
        self.proxy.restart_recording_with_fault(RemoteFault::HoldChanges);
        let rpc = Rpc::ApplyResourceChange;
        let call =
            self.suite.call_with_deadline(rpc, vec![request.encode()], CREATE_ANSWER_TIMEOUT).await;
        if !self.proxy.take_calls().iter().any(RemoteCall::may_change_something) {
            self.suite.note_skipped_rules(&["A-22"], "no call of a create changes the service");
            return self.journal_and_destroy(entry, &call, &create).await;
        }
        self.suite.record_case("A-22", call.has_reply(), || {
            let message = "a create does not end with the timeout of its configuration";
            Finding::new("A-22", &self.offered.display_name(), message)
                .with_call(&call)
                .with_expected_and_found(
                    format!(
                        "an answer within {} s for a timeout of {SHORT_CREATE_TIMEOUT}",
                        CREATE_ANSWER_TIMEOUT.as_secs()
                    ),
                    call.describe_outcome(),
                )
                .with_input(display_value(&create.config))
        });
        // The service did not carry out the request.
        match state_in_answer(&self.offered, &call) {
            Some(_) => self.journal_and_destroy(entry, &call, &create).await,
            None => self.journal.forget_refused_create(entry),
        }
    }
}

/// The configuration with a timeout for creating, if its schema has one.
fn with_create_timeout(block: &Block, config: &Value) -> Option<Value> {
    let create = Path::root().attribute("create");
    let path = Path::root().attribute("timeouts");
    let limited = |block: &Block| {
        let attribute = block.attributes.get("create")?;
        let is_text = attribute.implied_type() == Type::String && attribute.role.is_settable();
        replace_part(&block.empty_value(), &create, Value::string(SHORT_CREATE_TIMEOUT))
            .filter(|_| is_text)
    };
    // Three forms: a block (SDKv2), a nested attribute, or an attribute of an object type, as in
    // protocol 5.
    let part = if let Some(nested) = block.blocks.get("timeouts") {
        let limits = limited(&nested.block)?;
        match nested.nesting {
            Nesting::Single | Nesting::Group => limits,
            Nesting::List | Nesting::Set => nested.to_list_or_set_value(vec![limits]),
            Nesting::Map => return None,
        }
    } else {
        match &block.attributes.get("timeouts")?.kind {
            AttributeKind::Nested(nested) if nested.nesting == Nesting::Single => {
                limited(&Block { attributes: nested.attributes.clone(), ..Block::default() })?
            }
            AttributeKind::Plain(Type::Object(object)) => {
                let has_create = object
                    .attributes
                    .iter()
                    .any(|(name, ty)| name.as_str() == "create" && *ty == Type::String);
                let parts = object.attributes.iter().map(|(name, ty)| {
                    let is_create = name.as_str() == "create";
                    let limit = || Value::string(SHORT_CREATE_TIMEOUT);
                    (name.clone(), if is_create { limit() } else { Value::null(ty.clone()) })
                });
                has_create.then(|| Value::object(parts.collect::<Vec<_>>()))?
            }
            AttributeKind::Nested(_) | AttributeKind::Plain(_) => return None,
        }
    };
    replace_part(config, &path, part)
}
