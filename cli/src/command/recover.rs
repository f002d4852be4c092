//! `formwork recover`: lists the operations that an interrupted run left open, and records decisions
//! about them.

mod review;
mod select;

use std::sync::Arc;

use formwork_core::addr::InstanceAddr;
use formwork_core::change::ImportKey;
use formwork_core::config::Config;
use formwork_core::moved;
use formwork_core::plan::Adoption;
use formwork_core::state::journal::Action;
use formwork_core::state::recover::{OpenQuestion, Unresolved};
use formwork_core::state::{Object, State};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::import::{ImportCommand, ObjectFinder};
use super::state_session::StateSession;
use super::text_command::told;
use crate::args::{
    RecoverAdoptArgs, RecoverCommand, RecoverDecideArgs, RecoverListArgs, StateArgs,
};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::json::tree::Json;
use crate::view::json::value;
use crate::view::{Screen, out, sanitize};
use crate::workspace::Workspace;

const NOTHING_OPEN: &str = "No interrupted run left anything open.";
/// The most characters of a planned attribute that are shown.
const LONGEST_VALUE: usize = 200;

/// Runs the command.
pub(super) async fn run(command: RecoverCommand, env: &Env) -> Exit {
    match command {
        RecoverCommand::List(args) => list(&args, env).await,
        RecoverCommand::Adopt(args) => adopt(&args, env).await,
        RecoverCommand::Forget(args) => {
            let how = "settled by the user";
            decide(&args, env, how, "is settled: the next apply may create it").await
        }
        RecoverCommand::Retry(args) => {
            let how = "not executed, according to the user";
            decide(&args, env, how, "is settled: the next apply does again what is to be done")
                .await
        }
        RecoverCommand::Review(args) => review::run(&args, env).await,
    }
}

/// Lists what is open.
async fn list(args: &RecoverListArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    told(env, async |diags, workspace| {
        let locked = open(diags, workspace, &args.state).await?;
        let text = match args.json {
            true => format!("{}\n", document(&locked).compact()),
            false => text(&locked, &screen),
        };
        locked.close(diags).await;
        if args.json && !diags.has_errors() {
            // Programs read all of the output, and a warning has no place in a document.
            drop(std::mem::take(diags));
        }
        Ok(text)
    })
    .await
}

fn text(locked: &StateSession, screen: &Screen) -> String {
    let mut text = String::new();
    for one in locked.undecided() {
        text.push_str(&described(one, screen));
    }
    if text.is_empty() {
        return format!("{NOTHING_OPEN}\n");
    }
    text.push_str(&format!("To settle one:\n{}\n", choices("ADDRESS")));
    text.push_str(
        "\nInstead of an address, `forget` and `retry` take several, patterns such as 'module.a.*', and -all. `adopt -all` adopts every object whose id is known. `formwork recover review` asks about one after the other.\n",
    );
    text
}

/// Describes an open operation, with the planned attributes to look for.
fn described(one: &Unresolved, screen: &Screen) -> String {
    let mut text = screen.wrap(&format!("{}\n", one.detail("the commands are below")));
    let planned = one.planned_attributes();
    if !planned.is_empty() {
        text.push_str("\nPlanned attributes to look for:\n");
    }
    let width = planned.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    for (name, value) in planned {
        let short: String = value.chars().take(LONGEST_VALUE).collect();
        let more = if short.len() < value.len() { "..." } else { "" };
        text.push_str(&format!(
            "  {} = {}{more}\n",
            sanitize::line(&format!("{name:width$}")),
            sanitize::line(&short)
        ));
    }
    text + "\n"
}

/// The commands by which a person settles what is open about an address.
pub(super) fn choices(addr: &str) -> String {
    let rows = [
        (format!("adopt {addr} ID"), "the object exists: take it into the state"),
        (format!("forget {addr}"), "it does not exist, or is not ours any more"),
        (format!("retry {addr}"), "nothing was done: do it again with the next apply"),
    ];
    let width = rows.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    let rows = rows.map(|(command, what)| format!("  formwork recover {command:width$}    {what}"));
    rows.join("\n")
}

fn document(locked: &StateSession) -> Json {
    let unresolved = locked.undecided().map(entry).collect();
    Json::object([("format_version", Json::text("1.0")), ("unresolved", Json::Array(unresolved))])
}

fn entry(one: &Unresolved) -> Json {
    let action = match one.action {
        Action::Create => "create",
        Action::Update => "update",
        Action::Delete => "delete",
    };
    let doubt = match one.doubt {
        OpenQuestion::Effect => "effect",
        OpenQuestion::Place { .. } => "place",
    };
    Json::some([
        ("address", Some(Json::text(one.addr.to_string()))),
        ("moved_to", one.moved.as_ref().map(|moved| Json::text(moved.to_string()))),
        ("deposed", one.deposed.as_ref().map(|key| Json::text(key.to_string()))),
        ("provider", Some(Json::text(one.provider.to_string()))),
        ("action", Some(Json::text(action))),
        ("doubt", Some(Json::text(doubt))),
        ("asked_for_at", Some(Json::text(one.when.clone()))),
        ("planned", one.planned.as_ref().map(value::known)),
        ("id_in_answer", one.guessed_id().map(Json::text)),
    ])
}

/// Records the decision of the user.
async fn decide(args: &RecoverDecideArgs, env: &Env, how: &str, then: &str) -> Exit {
    told(env, async |diags, workspace| {
        let mut locked = open(diags, workspace, &args.state).await?;
        let settled = settle(diags, &mut locked, args, how).await;
        locked.close(diags).await;
        let settled = settled?;
        if settled.is_empty() {
            return Ok(format!("{NOTHING_OPEN}\n"));
        }
        Ok(settled.iter().map(|addr| format!("{addr} {then}.\n")).collect())
    })
    .await
}

async fn settle(
    diags: &mut Diagnostics,
    locked: &mut StateSession,
    args: &RecoverDecideArgs,
    how: &str,
) -> Result<Vec<InstanceAddr>, Reported> {
    let selected = select::select(diags, locked, &args.addresses, args.all)?;
    for addr in &selected {
        locked.decide(addr, how);
    }
    if !selected.is_empty() {
        locked.save(diags).await?;
    }
    Ok(selected)
}

/// Adds objects to the state that interrupted creations made.
async fn adopt(args: &RecoverAdoptArgs, env: &Env) -> Exit {
    let taking = ImportCommand {
        finding: &args.finding,
        state: &args.state,
        address: args.address.as_deref().unwrap_or_default(),
        config: None,
        operation: "recover",
        must_be_written: false,
    };
    let mut ended = String::new();
    let done = taking
        .run(env, async |diags, finder, locked| {
            let selected = select::select(diags, locked, args.address.as_slice(), args.all)?;
            if args.id.is_some() && selected.len() > 1 {
                let detail = "The address stands for several operations. An id is for one.";
                return Err(diags.error(Diagnostic::error("Too many operations", detail)));
            }
            let id = args.id.as_deref();
            let mut result = Ok(());
            for addr in &selected {
                let adoption = Adopted { addr, id, force: args.force };
                match adoption.take_in(diags, finder, locked).await {
                    Ok(text) => ended.push_str(&text),
                    Err(reported) => result = Err(reported),
                }
            }
            match (selected.is_empty(), ended.is_empty()) {
                (true, _) => ended.push_str(&format!("{NOTHING_OPEN}\n")),
                (false, true) => {}
                (false, false) => locked.save(diags).await?,
            }
            result
        })
        .await;
    out(&ended);
    done
}

/// An object that is to be adopted.
#[derive(Clone, Copy)]
struct Adopted<'a> {
    addr: &'a InstanceAddr,
    /// The id of the object, if the user gave it.
    id: Option<&'a str>,
    /// Whether the object may differ from the plan.
    force: bool,
}

impl Adopted<'_> {
    /// Adds the object to the state, which is not stored yet. Returns a sentence about it.
    ///
    /// # Errors
    /// When that is not possible. Then nothing is decided, and the state is as it was.
    async fn take_in(
        self,
        diags: &mut Diagnostics,
        finder: &ObjectFinder<'_>,
        locked: &mut StateSession,
    ) -> Result<String, Reported> {
        let before = (locked.file.clone(), locked.recovery.clone());
        let mut problems = Diagnostics::new();
        let done = self.try_take_in(&mut problems, finder, locked).await;
        if done.is_err() {
            (locked.file, locked.recovery) = before;
        }
        let _ = diags.append(problems);
        done
    }

    async fn try_take_in(
        self,
        diags: &mut Diagnostics,
        finder: &ObjectFinder<'_>,
        locked: &mut StateSession,
    ) -> Result<String, Reported> {
        let open = locked.decide(self.addr, "the user took the object into the state");
        let Some(last) = open.last() else {
            return Err(diags.error(locked.nothing_open(self.addr)));
        };
        let guessed = last.guessed_id().filter(|_| last.doubt == OpenQuestion::Effect);
        let at = match (&last.doubt, self.id.or(guessed.as_deref())) {
            (OpenQuestion::Place { object: None }, None) => {
                return Ok(format!(
                    "{} was destroyed. The object that the state has there now is kept, and the next refresh shows its outcome.\n",
                    last.addr
                ));
            }
            (OpenQuestion::Place { object: Some(object) }, None) => {
                put_back(diags, &mut locked.file.state, finder.config(), (last, object))?
            }
            (_, Some(id)) => self.find(diags, (finder, locked), (last, id)).await?,
            (OpenQuestion::Effect, None) => {
                let detail = format!(
                    "The id of the object at {} is not known here. Add it behind the address, in the form that `formwork import` takes:\n  formwork recover adopt '{}' ID",
                    last.addr, last.addr
                );
                let problem = Diagnostic::error("The id of the object is missing", detail);
                return Err(diags.error(problem));
            }
        };
        warn_of_no_place(diags, (finder.config(), &locked.file.state), last, &at);
        Ok(format!("{at} is in the state.\n"))
    }

    /// Finds the object that was created and adds it. Returns its address.
    async fn find(
        self,
        diags: &mut Diagnostics,
        (finder, locked): (&ObjectFinder<'_>, &mut StateSession),
        (one, id): (&Unresolved, &str),
    ) -> Result<InstanceAddr, Reported> {
        make_room(locked, one);
        // At an address that another object has by now, the one that moved there in vain is not
        // taken for it: the next plan decides its fate.
        let is_free = !finder.is_taken(&locked.file.state, one.place());
        let at = if is_free { one.place() } else { &one.addr };
        let (import_key, unwritten) = (ImportKey::Id(id.into()), Some(one.provider.clone()));
        let adoption = Adoption { import_key, all: false, unwritten };
        let others = locked.file.state.clone();
        finder.take_in(diags, locked, at, adoption).await?;
        refuse_managed(diags, (&others, &locked.file.state), (one, at))?;
        if !self.force {
            refuse_different(diags, &locked.file.state, (one, at), id)?;
        }
        match is_free && bring_home(&mut locked.file.state, finder.config(), one) {
            true => Ok(one.addr.clone()),
            false => Ok(at.clone()),
        }
    }
}

/// Refuses an object that differs from the plan: it may belong to another user.
fn refuse_different(
    diags: &mut Diagnostics,
    state: &State,
    (one, at): (&Unresolved, &InstanceAddr),
    id: &str,
) -> Result<(), Reported> {
    let found = state.object(at, None);
    let differences = found.map(|found| one.differences(found)).unwrap_or_default();
    if differences.is_empty() {
        return Ok(());
    }
    let planned = one.planned_attributes().into_iter();
    let planned = planned.filter(|(name, _)| differences.contains(name));
    let list: String = planned.map(|(name, value)| format!("\n  {name} = {value}")).collect();
    let detail = format!(
        "The object with the id {id:?} does not have these planned attributes of {}:{list}\n\nIt may be another object. If it is the right one:\n  formwork recover adopt -force '{}' {id}",
        one.addr, one.addr
    );
    Err(diags.error(Diagnostic::error("Object differs from the plan", detail)))
}

/// Puts a result in its place. Returns where that is.
fn put_back(
    diags: &mut Diagnostics,
    state: &mut State,
    config: &Config,
    (one, object): (&Unresolved, &Arc<Object>),
) -> Result<InstanceAddr, Reported> {
    let (addr, place) = (&one.addr, one.place());
    let before = state.clone();
    put_in(diags, state, one, object)?;
    if addr == place || moved::goes(config, state, addr, place) {
        return Ok(addr.clone());
    }
    *state = before;
    put_in(diags, state, &one.clone().with_addr(place.clone()), object)?;
    Ok(place.clone())
}

/// Warns where the next apply destroys what was taken in.
fn warn_of_no_place(
    diags: &mut Diagnostics,
    (config, state): (&Config, &State),
    one: &Unresolved,
    at: &InstanceAddr,
) {
    let place = one.place();
    let lands = if moved::goes(config, state, at, place) { place } else { at };
    if config.resource(&lands.of().config()).is_some() {
        return;
    }
    let detail = format!(
        "No block has a place for {at}, so the next apply destroys the object. To keep it, write its block first."
    );
    diags.warn(Diagnostic::warning("Adopted object has no block", detail).about(at.to_string()));
}

/// Has what was taken in go the way of everything else that moves: it waits where the run was to make
/// it. Alone under the new address it would keep the others, whose place is not there yet, from coming.
/// Returns whether it does.
fn bring_home(state: &mut State, config: &Config, one: &Unresolved) -> bool {
    let (from, to) = (&one.addr, one.place());
    if from == to || from.resource.kind() != to.resource.kind() {
        return false;
    }
    let Some(object) = state.object(to, None).cloned() else { return false };
    let mut home = state.clone();
    home.remove_object(to, None);
    let resource = home.resource_mut(from.of(), &one.provider);
    resource.instances.or_default(&from.key).current = Some(object);
    let goes = moved::goes(config, &home, from, to);
    if goes {
        *state = home;
    }
    goes
}

/// Deposes the object that the new one was to take the place of.
fn make_room(locked: &mut StateSession, one: &Unresolved) {
    let Some(key) = &one.deposes else { return };
    let Some(instance) = locked.file.state.instance_mut(&one.addr) else { return };
    // Once that is out of the way, what is there now is another.
    if instance.deposed.contains_key(key) {
        return;
    }
    if let Some(object) = instance.current.take() {
        instance.deposed.insert(key.clone(), object);
    }
}

/// Makes sure that what was found is not managed already, above all as the object that the new one was
/// to take the place of: under two addresses it would be destroyed as one of them.
fn refuse_managed(
    diags: &mut Diagnostics,
    (before, state): (&State, &State),
    (one, at): (&Unresolved, &InstanceAddr),
) -> Result<(), Reported> {
    let Some(found) = state.object(at, None) else { return Ok(()) };
    let of_kind =
        before.resources.iter().filter(|(addr, _)| addr.resource.kind() == at.resource.kind());
    let mut managed =
        of_kind.filter(|(_, held)| held.objects().any(|it| found.is_of_the_same_object(it)));
    let Some((holder, _)) = managed.next() else { return Ok(()) };
    let detail = format!(
        "The object found belongs to {holder} already. If the interrupted run has created no other one for {}, run:\n  formwork recover forget '{}'",
        one.addr, one.addr
    );
    Err(diags.error(Diagnostic::error("Object is managed already", detail)))
}

/// Puts a result under an address, whatever has come there since, unless that is certainly another
/// object, which would be lost.
fn put_in(
    diags: &mut Diagnostics,
    state: &mut State,
    one: &Unresolved,
    object: &Arc<Object>,
) -> Result<(), Reported> {
    let addr = &one.addr;
    let there = state.object(addr, one.deposed.as_ref()).cloned();
    let there = there.filter(|there| !there.is_of_the_same_object(object));
    // The object that it was to replace is there all the time, unless it is out of the way already.
    let room = one.deposes.as_ref().filter(|key| state.object(addr, Some(*key)).is_none());
    if room.is_none() && there.as_ref().is_some_and(|there| object.is_of_another_object(there)) {
        let detail = format!(
            "The state now has another object at {addr} than the returned one, and keeps it. Settle the operation, and import the returned object under another address:\n  formwork recover forget '{addr}'"
        );
        return Err(diags.error(Diagnostic::error("Another object is managed here", detail)));
    }
    let resource = state.resource_mut(addr.of(), &one.provider);
    let instance = resource.instances.or_default(&addr.key);
    match &one.deposed {
        Some(key) => drop(instance.deposed.insert(key.clone(), object.clone())),
        None => instance.current = Some(object.clone()),
    }
    if let (Some(key), Some(there)) = (room, there) {
        instance.deposed.insert(key.clone(), there);
    }
    Ok(())
}

async fn open(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &StateArgs,
) -> Result<StateSession, Reported> {
    let backend = workspace.backend(diags)?;
    let store = workspace.store(diags, backend.as_ref(), &args.place()).await?;
    let mut locked = StateSession::open(diags, store, &args.lock, "recover").await?;
    // An open operation has the address of the run that was cut off, and may have another one by
    // now. A configuration with errors is no reason not to decide.
    if locked.undecided().next().is_some()
        && let Ok(config) = workspace.config(&mut Diagnostics::new())
    {
        locked.follow_moves(&config);
    }
    Ok(locked)
}
