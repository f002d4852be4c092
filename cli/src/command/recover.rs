//! `formwork recover`: what an interrupted run left open, and what the user decides about it.

use std::sync::Arc;

use formwork_core::addr::InstanceAddr;
use formwork_core::change::Clue;
use formwork_core::config::Config;
use formwork_core::moved;
use formwork_core::plan::Adoption;
use formwork_core::state::journal::Action;
use formwork_core::state::recover::{Doubt, Unresolved};
use formwork_core::state::{Object, State};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::import::{Finder, Taking, address};
use super::locked::Locked;
use super::told::told;
use crate::args::{
    RecoverAdoptArgs, RecoverCommand, RecoverDecideArgs, RecoverListArgs, StateArgs,
};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::json::tree::Json;
use crate::view::json::value;
use crate::view::{Screen, out};
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(command: RecoverCommand, env: &Env) -> Exit {
    match command {
        RecoverCommand::List(args) => list(&args, env).await,
        RecoverCommand::Adopt(args) => adopt(&args, env).await,
        RecoverCommand::Forget(args) => {
            let how = "the user says that it is settled";
            decide(&args, env, how, "is settled: the next apply may create it").await
        }
        RecoverCommand::Retry(args) => {
            let how = "the user says that nothing was done";
            decide(&args, env, how, "is settled: the next apply does again what is to be done")
                .await
        }
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

fn text(locked: &Locked, screen: &Screen) -> String {
    let mut text = String::new();
    for one in locked.undecided() {
        text.push_str(&screen.wrap(&format!("{}\n\n", one.detail("how is said below"))));
    }
    if text.is_empty() {
        return "No interrupted run left anything open.\n".to_owned();
    }
    text.push_str(&format!("What to do about one:\n{}\n", choices("ADDRESS")));
    text
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

fn document(locked: &Locked) -> Json {
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
        Doubt::Effect => "effect",
        Doubt::Place { .. } => "place",
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

/// Takes down what the user decided.
async fn decide(args: &RecoverDecideArgs, env: &Env, how: &str, then: &str) -> Exit {
    told(env, async |diags, workspace| {
        let addr = address(diags, &args.address)?;
        let mut locked = open(diags, workspace, &args.state).await?;
        let settled = settle(diags, &mut locked, &addr, how).await;
        locked.close(diags).await;
        settled?;
        Ok(format!("{addr} {then}.\n"))
    })
    .await
}

async fn settle(
    diags: &mut Diagnostics,
    locked: &mut Locked,
    addr: &InstanceAddr,
    how: &str,
) -> Result<(), Reported> {
    if locked.decide(addr, how).is_empty() {
        return Err(diags.error(locked.nothing_open(addr)));
    }
    locked.save(diags).await
}

/// Takes the object into the state that an interrupted creation made.
async fn adopt(args: &RecoverAdoptArgs, env: &Env) -> Exit {
    let taking = Taking {
        finding: &args.finding,
        state: &args.state,
        address: &args.address,
        config: None,
        operation: "recover",
        must_be_written: false,
    };
    let mut ended = String::new();
    let done = taking
        .run(env, async |diags, finder, locked| {
            let addr = address(diags, &args.address)?;
            let open = locked.decide(&addr, "the user took the object into the state");
            let Some(last) = open.last() else {
                return Err(diags.error(locked.nothing_open(&addr)));
            };
            let at = match (&last.doubt, &args.id) {
                (Doubt::Place { object: None }, None) => {
                    ended = format!(
                        "{} was destroyed. What the state has there by now stays, and the next refresh sees what became of it.\n",
                        last.addr
                    );
                    return locked.save(diags).await;
                }
                (Doubt::Place { object: Some(object) }, None) => {
                    put_back(diags, &mut locked.file.state, finder.config(), (last, object))?
                }
                (_, Some(id)) => find(diags, finder, locked, (last, id)).await?,
                (Doubt::Effect, None) => {
                    let detail = format!(
                        "What the provider knows the object by is not known here: give it behind the address, as `formwork import` has it.\n  formwork recover adopt '{}' ID",
                        last.addr
                    );
                    let problem = Diagnostic::error("The id of the object is missing", detail);
                    return Err(diags.error(problem));
                }
            };
            warn_of_no_place(diags, (finder.config(), &locked.file.state), last, &at);
            ended = format!("{at} is in the state.\n");
            locked.save(diags).await
        })
        .await;
    if done == Exit::Done {
        out(&ended);
    }
    done
}

/// Finds the object that was made and takes it in. Returns under which address.
async fn find(
    diags: &mut Diagnostics,
    finder: &Finder<'_>,
    locked: &mut Locked,
    (one, id): (&Unresolved, &str),
) -> Result<InstanceAddr, Reported> {
    make_room(locked, one);
    // Where another object is by now, the one that moved there in vain is not taken for it: the next
    // plan says what becomes of it.
    let is_free = !finder.is_taken(&locked.file.state, one.place());
    let at = if is_free { one.place() } else { &one.addr };
    let (clue, unwritten) = (Clue::Id(id.into()), Some(one.provider.clone()));
    let adoption = Adoption { clue, all: false, unwritten };
    let others = locked.file.state.clone();
    finder.take_in(diags, locked, at, adoption).await?;
    refuse_managed(diags, (&others, &locked.file.state), (one, at))?;
    match is_free && bring_home(&mut locked.file.state, finder.config(), one) {
        true => Ok(one.addr.clone()),
        false => Ok(at.clone()),
    }
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
    put_in(diags, state, &one.clone().at(place.clone()), object)?;
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
fn make_room(locked: &mut Locked, one: &Unresolved) {
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
        "The object found is one that {holder} has already. If there is no other one that the interrupted run has made for {}, say so:\n  formwork recover forget '{}'",
        one.addr, one.addr
    );
    Err(diags.error(Diagnostic::error("Object is managed already", detail)))
}

/// Puts a result under an address, whatever has come there since, unless that is certainly another
/// object: nobody would know of it any more.
fn put_in(
    diags: &mut Diagnostics,
    state: &mut State,
    one: &Unresolved,
    object: &Arc<Object>,
) -> Result<(), Reported> {
    let addr = &one.addr;
    let there = state.object(addr, one.deposed.as_ref()).cloned();
    let there = there.filter(|there| !there.is_of_the_same_object(object));
    // What it was to take the place of is there all the time, unless it is out of the way already.
    let room = one.deposes.as_ref().filter(|key| state.object(addr, Some(*key)).is_none());
    if room.is_none() && there.as_ref().is_some_and(|there| object.is_of_another_object(there)) {
        let detail = format!(
            "The state has another object at {addr} by now than the one that came back. That one stays. Say that this is settled, and import the one that came back under an address of its own:\n  formwork recover forget '{addr}'"
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
) -> Result<Locked, Reported> {
    let backend = workspace.backend(diags)?;
    let store = workspace.store(diags, backend.as_ref(), &args.place())?;
    let mut locked = Locked::open(diags, store, &args.lock, "recover").await?;
    // What is open has the address of the run that was cut off, and may have another one by now. A
    // configuration that is not whole is no reason not to decide.
    if locked.undecided().next().is_some()
        && let Ok(config) = workspace.config(&mut Diagnostics::new())
    {
        locked.follow_moves(&config);
    }
    Ok(locked)
}
