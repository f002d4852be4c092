//! The objects of the sound provider: a file of JSON for each, which all processes with this directory
//! share.

use std::fs;
use std::path::PathBuf;

use formwork_conformance::message::Msg;
use formwork_conformance::offer::{Kind, Offer, OfferedType};
use formwork_conformance::rpc::Rpc;
use formwork_sdk::Model;
use formwork_value::codec::{json, msgpack};
use formwork_value::{Path, Value};

/// The directory of the objects.
pub(crate) fn directory() -> PathBuf {
    std::env::var_os("SOUND_OBJECTS").map_or_else(std::env::temp_dir, PathBuf::from)
}

/// The type whose objects are kept here.
const STORED_TYPE: &str = "sound_item";

fn file(id: &str) -> PathBuf {
    let name: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    directory().join(format!("{}.object", &name[..name.len().min(100)]))
}

/// Objects of a type with their names.
pub(crate) fn all_objects<M: Model>() -> Vec<(String, M)> {
    let mut objects = Vec::new();
    let ty = M::shape().block.implied_type();
    for entry in fs::read_dir(directory()).into_iter().flatten().flatten() {
        let is_object = entry.path().extension().is_some_and(|it| it == "object");
        let Ok(text) = fs::read(entry.path()) else { continue };
        let Some(value) = json::decode(&text, &ty).ok().filter(|_| is_object) else {
            continue;
        };
        if let Ok(object) = M::from_value(&value) {
            objects.push((entry.file_name().to_string_lossy().into_owned(), object));
        }
    }
    objects
}

fn stored_type(offer: &Offer, request: &Msg) -> Option<OfferedType> {
    let name = request.get_text(1);
    offer
        .usable_types_of_kind(Kind::Resource)
        .find(|it| it.name == name && name == STORED_TYPE)
        .cloned()
}

fn decode(offered: &OfferedType, dynamic: Option<Msg>) -> Option<Value> {
    let dynamic = dynamic?;
    msgpack::decode(&dynamic.get_bytes(1), &offered.ty()).ok().filter(|it| !it.is_null())
}

fn id_of(value: &Value) -> Option<String> {
    match Path::root().attribute("id").find(value) {
        Some(Value::String(id)) => Some(id.as_str().to_owned()),
        _ => None,
    }
}

/// The request to read with the real object in place of the stored one; `Err` with the answer if it is
/// gone.
pub(crate) fn current(offer: &Offer, request: &Msg) -> Result<Msg, Msg> {
    let Some(offered) = stored_type(offer, request) else { return Ok(request.clone()) };
    let Some(state) = decode(&offered, request.get_msg(2)) else { return Ok(request.clone()) };
    let ty = offered.ty();
    let real = id_of(&state).and_then(|id| fs::read(file(&id)).ok());
    let real = real.and_then(|text| json::decode(&text, &ty).ok());
    let encode = |value: &Value| msgpack::encode(value, &ty).unwrap_or_default();
    match real {
        Some(value) => {
            Ok(request.clone().replace_field(2, Msg::new().with_bytes(1, encode(&value)).encode()))
        }
        None => {
            let null = Msg::new().with_bytes(1, encode(&Value::null(ty.clone())));
            Err(Msg::new().with_message(1, &null).with_bytes(3, request.get_bytes(3)))
        }
    }
}

/// Keeps an object, so that it is listed.
pub(crate) fn store_object(offered: &OfferedType, object: &Value) {
    let text = json::encode(object, &offered.ty()).unwrap_or_default();
    if let Some(id) = id_of(object) {
        fs::write(file(&id), text).expect("the directory can be written");
    }
}

/// Removes an object.
pub(crate) fn remove(object: &Value) {
    if let Some(id) = id_of(object) {
        // An absent object counts as removed.
        drop(fs::remove_file(file(&id)));
    }
}

/// Stores the object of an apply, or removes it.
pub(crate) fn record_apply(offer: &Offer, rpc: Rpc, request: &Msg, answer: &Msg) {
    let Some(offered) = stored_type(offer, request).filter(|_| rpc == Rpc::ApplyResourceChange)
    else {
        return;
    };
    match decode(&offered, answer.get_msg(1)) {
        Some(applied) => store_object(&offered, &applied),
        None => {
            if let Some(prior) = decode(&offered, request.get_msg(2)) {
                remove(&prior);
            }
        }
    }
}
