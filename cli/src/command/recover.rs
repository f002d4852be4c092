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

use super::import::{Taking, address};
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
        text.push_str(&screen.wrap(&format!("{}\n\n", one.diagnostic().detail)));
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
    };
    let done = taking
        .run(env, async |diags, finder, locked| {
            let addr = address(diags, &args.address)?;
            let open = locked.decide(&addr, "the user took the object into the state");
            let Some(last) = open.last() else {
                return Err(diags.error(locked.nothing_open(&addr)));
            };
            let (addr, place) = (&last.addr, last.place());
            match (&last.doubt, &args.id) {
                (Doubt::Place { object }, None) => {
                    let before = locked.file.state.clone();
                    let object = object.as_ref();
                    put_in(diags, &mut locked.file.state, last, object)?;
                    let state = &mut locked.file.state;
                    if addr != place && !moved::goes(finder.config(), state, addr, place) {
                        *state = before;
                        put_in(diags, state, &last.clone().at(place.clone()), object)?;
                    }
                }
                (_, Some(id)) => {
                    make_room(locked, last);
                    // Where another object is by now, the one that moved there in vain is not taken for
                    // it: the next plan says what becomes of it.
                    let is_free = locked.file.state.current(place).is_none();
                    let at = if is_free { place } else { addr };
                    let (clue, unwritten) = (Clue::Id(id.as_str().into()), Some(last.provider.clone()));
                    let adoption = Adoption { clue, all: false, unwritten };
                    finder.take_in(diags, locked, at, adoption).await?;
                    refuse_predecessor(diags, locked, (last, at))?;
                    if is_free {
                        bring_home(&mut locked.file.state, finder.config(), last);
                    }
                }
                (Doubt::Effect, None) => {
                    let detail = format!(
                        "What the provider knows the object by is not known here: give it behind the address, as `formwork import` has it.\n  formwork recover adopt '{addr}' ID"
                    );
                    let problem = Diagnostic::error("The id of the object is missing", detail);
                    return Err(diags.error(problem));
                }
            }
            locked.save(diags).await
        })
        .await;
    if done == Exit::Done {
        out(&format!("{} is in the state.\n", args.address));
    }
    done
}

/// Has what was taken in go the way of everything else that moves: it waits where the run was to make
/// it. Alone under the new address it would keep the others, whose place is not there yet, from coming.
fn bring_home(state: &mut State, config: &Config, one: &Unresolved) {
    let (from, to) = (&one.addr, one.place());
    if from == to || from.resource.kind() != to.resource.kind() {
        return;
    }
    let Some(object) = state.object(to, None).cloned() else { return };
    let mut home = state.clone();
    home.remove_object(to, None);
    let resource = home.resource_mut(from.of(), &one.provider);
    resource.instances.or_default(&from.key).current = Some(object);
    if moved::goes(config, &home, from, to) {
        *state = home;
    }
}

/// Deposes the object that the new one was to take the place of.
fn make_room(locked: &mut Locked, one: &Unresolved) {
    let Some(key) = &one.deposes else { return };
    let Some(instance) = locked.file.state.instance_mut(&one.addr) else { return };
    if let Some(object) = instance.current.take() {
        instance.deposed.insert(key.clone(), object);
    }
}

/// Makes sure that what was found is not the object that the new one was to take the place of: it would
/// be destroyed as such.
fn refuse_predecessor(
    diags: &mut Diagnostics,
    locked: &Locked,
    (one, at): (&Unresolved, &InstanceAddr),
) -> Result<(), Reported> {
    let Some(key) = &one.deposes else { return Ok(()) };
    let state = &locked.file.state;
    let (found, before) = (state.object(at, None), state.object(&one.addr, Some(key)));
    let (Some(found), Some(before)) = (found, before) else { return Ok(()) };
    if !found.is_of_the_same_object(before) {
        return Ok(());
    }
    let detail = format!(
        "The object found is the one that {} has already, and that the interrupted creation was to replace. If there is no other one, say so:\n  formwork recover forget '{}'",
        one.addr, one.addr
    );
    Err(diags.error(Diagnostic::error("Object is managed already", detail)))
}

/// Puts a result in its place, whatever has come there since, unless that is certainly another object:
/// nobody would know of it any more.
fn put_in(
    diags: &mut Diagnostics,
    state: &mut State,
    one: &Unresolved,
    object: Option<&Arc<Object>>,
) -> Result<(), Reported> {
    let Some(object) = object else {
        state.remove_object(&one.addr, one.deposed.as_ref());
        return Ok(());
    };
    let resource = state.resource_mut(one.addr.of(), &one.provider);
    let instance = resource.instances.or_default(&one.addr.key);
    let before = match &one.deposed {
        Some(key) => instance.deposed.insert(key.clone(), object.clone()),
        None => instance.current.replace(object.clone()),
    };
    let Some(before) = before else { return Ok(()) };
    if let Some(key) = &one.deposes {
        instance.deposed.insert(key.clone(), before);
    } else if object.is_of_another_object(&before) {
        let addr = &one.addr;
        let detail = format!(
            "The state has another object at {addr} by now than the one that came back. Give that one another address first (`formwork state mv`), or take it out of the state (`formwork state rm`). If the one that came back is not to be managed, say so:\n  formwork recover forget '{addr}'"
        );
        return Err(diags.error(Diagnostic::error("Another object is managed here", detail)));
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
