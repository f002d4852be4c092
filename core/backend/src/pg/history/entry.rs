//! The entries of a history: an object or an output, as it was stored. If the values of the state are sealed,
//! an entry is a sealed part of the state.

use std::collections::BTreeMap;

use formwork_core::addr::{DeposedKey, InstanceAddr};
use formwork_core::state::file::sealed::read_sealed_header;
use formwork_core::state::file::{FileError, StateFile, read_object_entry, write_object_entry};
use formwork_core::state::{OutputValue, State};

use crate::cause::Cause;
use crate::encryption::StateCipher;
use crate::encryption::shared_state::PartSealer;

/// Returns the objects of an instance as entries, by their deposed keys. The current object has no
/// key.
pub(super) fn object_entries(state: &State, addr: &InstanceAddr) -> BTreeMap<String, String> {
    let Some(resource) = state.resources.get(&addr.resource_addr()) else { return BTreeMap::new() };
    let Some(instance) = resource.instances.get(&addr.key) else { return BTreeMap::new() };
    let entry = |key: Option<&DeposedKey>, object| {
        let text = write_object_entry(addr, key, &resource.provider, object);
        // The entry is JSON, which is UTF-8, so no character is lost.
        String::from_utf8_lossy(&text).into_owned()
    };
    let current = instance.current.iter().map(|object| (String::new(), entry(None, object)));
    let deposed = instance.deposed.iter();
    let deposed = deposed.map(|(key, object)| (key.to_string(), entry(Some(key), object)));
    current.chain(deposed).collect()
}

/// Returns an output as an entry.
pub(super) fn output_entry(output: &OutputValue) -> String {
    let value = output.value.value();
    let json = formwork_value::codec::json::encode(value, &value.ty()).unwrap_or_default();
    serde_json::json!({ "value": json, "sensitive": output.sensitive }).to_string()
}

/// Seals an entry of a state. `address` is that of its row.
///
/// # Errors
/// Returns an error if a value cannot be encrypted.
pub(super) fn seal_entry(
    sealer: &PartSealer<'_>,
    state_file: &StateFile,
    address: &str,
    entry: &str,
) -> Result<String, Cause> {
    let part_file = StateFile {
        // The same for all writes, so that an object that has not changed has the same entry.
        terraform_version: String::new(),
        serial: 0,
        lineage: state_file.lineage.clone(),
        state: part_of_state(&state_file.state, address, entry),
        check_results: None,
    };
    Ok(String::from_utf8(sealer.seal(&part_file)?)?)
}

/// Returns a state that contains only the object or output of an entry.
fn part_of_state(state: &State, address: &str, entry: &str) -> State {
    let mut part = State::default();
    if let Ok(object_entry) = read_object_entry(entry) {
        let resource =
            part.resource_or_insert(object_entry.addr.resource_addr(), &object_entry.provider);
        let instance = resource.instances.or_default(&object_entry.addr.key);
        match object_entry.deposed {
            Some(key) => drop(instance.deposed.insert(key, object_entry.object)),
            None => instance.current = Some(object_entry.object),
        }
        return part;
    }
    let name = address.strip_prefix("output.").unwrap_or(address);
    let output = state.outputs.get_key_value(name);
    part.outputs.extend(output.map(|(name, output)| (name.clone(), output.clone())));
    part
}

/// Opens an entry, which is unsealed if necessary. An unencrypted entry must be allowed by the
/// encryption.
///
/// # Errors
/// Returns an error if the entry cannot be decrypted.
pub(in crate::pg) fn open_entry(cipher: &StateCipher, entry: &str) -> Result<String, FileError> {
    let (text, _) = cipher.decrypt(entry.as_bytes())?;
    if read_sealed_header(entry.as_bytes()).is_none() {
        return Ok(entry.to_owned());
    }
    let part = StateFile::parse(&text)?.state;
    if let Some(output) = part.outputs.values().next() {
        return Ok(output_entry(output));
    }
    let instances = part.resources.iter().flat_map(|(addr, resource)| {
        resource.instances.keys().map(move |key| addr.instance_addr(key.clone()))
    });
    let mut entries = instances.flat_map(|addr| object_entries(&part, &addr).into_values());
    entries.next().ok_or(FileError::Empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encryption::tests::sealed::{FIRST_IDENTITY, sealed_encryption};

    /// A state with a secret in a marked attribute, in a copy in a deposed object, and in an output.
    const STATE: &str = r#"{"version":4,"serial":3,"lineage":"l","outputs":{"o":{"value":"hunter2","type":"string","sensitive":true}},
        "resources":[{"mode":"managed","type":"t","name":"a","provider":"provider[\"registry.terraform.io/hashicorp/t\"]","instances":[
        {"attributes":{"a":"hunter2"},"sensitive_attributes":[[{"type":"get_attr","value":"a"}]]},
        {"deposed":"0123abcd","attributes":{"a":"hunter2"}}]}]}"#;

    #[test]
    fn entries_of_a_sealed_state_are_sealed_and_restored() {
        let state_file = StateFile::parse(STATE.as_bytes()).unwrap();
        let cipher = |identity| sealed_encryption(&[FIRST_IDENTITY.1], identity, "").state;
        let (own_cipher, hiding_cipher) =
            (cipher(FIRST_IDENTITY.0), cipher("").with_sealed_values_hidden());
        let sealer = own_cipher.part_sealer(&state_file).unwrap().unwrap();
        let objects = object_entries(&state_file.state, &"t.a".parse().unwrap());
        let objects = objects.into_values().map(|entry| ("t.a", entry));
        let output = ("output.o", output_entry(&state_file.state.outputs["o"]));
        let entries: Vec<_> = objects.chain([output]).collect();
        assert_eq!(entries.len(), 3);
        for (address, entry) in entries {
            let sealed = seal_entry(&sealer, &state_file, address, &entry).unwrap();
            assert!(entry.contains("hunter2") && !sealed.contains("hunter2"), "{sealed}");
            assert_eq!(open_entry(&own_cipher, &sealed).unwrap(), entry);
            let shown_entry = open_entry(&hiding_cipher, &sealed).unwrap();
            assert!(
                !shown_entry.contains("hunter2") && !shown_entry.contains("sealed:"),
                "{shown_entry}"
            );
            // A readable entry is one from before the encryption.
            open_entry(&own_cipher, &entry).unwrap_err();
            assert_eq!(open_entry(&StateCipher::default(), &entry).unwrap(), entry);
            open_entry(&StateCipher::default(), &sealed).unwrap_err();
        }
    }
}
