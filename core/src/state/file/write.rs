//! Writes the state file piece by piece, so that no copy of the whole text is ever in memory.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use formwork_value::codec;
use formwork_value::{Path, Step};

use super::json::{self, append_indented, append_line_break, append_quoted};
use super::{ObjectEntry, StateFile};
use crate::addr::{
    ConfigResourceAddr, DeposedKey, InstanceKey, ProviderConfigAddr, ResourceAddr, ResourceMode,
};
use crate::state::{
    InstanceState, ObjectAttributes, ObjectState, ObjectStatus, OutputValue, ResourceState,
    StoredIdentity,
};

/// Levels of indentation of the parts of the file.
const OUTPUT_DEPTH: usize = 2;
const RESOURCE_DEPTH: usize = 2;
const INSTANCE_DEPTH: usize = 4;

/// Number of bytes that are buffered before they are written.
const STATE_WRITE_BUFFER_LEN: usize = 64 * 1024;

/// Writes the members from `outputs` on, and the end of the file.
pub(super) fn write_content(file: &StateFile, to: &mut dyn Write) -> io::Result<()> {
    let mut writer = StateWriter::default();
    writer.write_content(file, to)
}

/// Writes the whole file.
pub(super) fn write_file(file: &StateFile, to: &mut dyn Write) -> io::Result<()> {
    let mut writer = StateWriter::default();
    writer.open_bracket(b'{');
    writer.write_member(1, "version", b"4");
    writer.write_string_member(1, "terraform_version", &file.terraform_version);
    writer.write_member(1, "serial", file.serial.to_string().as_bytes());
    writer.write_string_member(1, "lineage", &file.lineage);
    to.write_all(&writer.out)?;
    // Its writer does not open a bracket, and so begins with the comma.
    write_content(file, to)
}

/// Writes one object as a resource with nothing else in it, on one line.
pub(super) fn write_entry_as_resource(entry: &ObjectEntry) -> Vec<u8> {
    let mut instance = InstanceState::default();
    match &entry.deposed {
        Some(key) => drop(instance.deposed.insert(key.clone(), entry.object.clone())),
        None => instance.current = Some(entry.object.clone()),
    }
    let instances = [(entry.addr.key.clone(), instance)].into();
    let resource = ResourceState { provider: entry.provider.clone(), instances };
    let addr = entry.addr.resource_addr();
    let mut writer = StateWriter::default();
    let mut text = Vec::new();
    if let Some(resource) = SortedResource::new(&addr, &resource) {
        // Writing into memory does not fail.
        writer
            .write_resource(&resource, &mut text)
            .and_then(|()| writer.flush_full_buffer(&mut text, 0))
            .ok();
    }
    let text = String::from_utf8_lossy(&text);
    json::compact_json(&text).unwrap_or_else(|_| text.into_owned().into_bytes())
}

/// Writes members of an object, each on its line, with the commas between them.
#[derive(Default)]
struct StateWriter {
    out: Vec<u8>,
    /// Whether nothing was written since the last opening bracket.
    is_first: bool,
    /// The list of dependencies last rendered. Instances of one resource share theirs.
    dependencies: (Arc<Vec<ConfigResourceAddr>>, Vec<u8>),
    /// Provider names already rendered.
    providers: HashMap<ProviderConfigAddr, String>,
}

impl StateWriter {
    fn write_content(&mut self, file: &StateFile, to: &mut dyn Write) -> io::Result<()> {
        self.write_key(1, "outputs");
        self.open_bracket(b'{');
        for (name, output) in &file.state.outputs {
            self.write_output(name, output);
            self.flush_full_buffer(to, STATE_WRITE_BUFFER_LEN)?;
        }
        self.close_bracket(b'}', 1);
        self.write_key(1, "resources");
        self.open_bracket(b'[');
        let mut resources: Vec<SortedResource<'_>> = file
            .state
            .resources
            .iter()
            .filter_map(|(addr, resource)| SortedResource::new(addr, resource))
            .collect();
        // By the strings in the file, as in Terraform, so that both programs write the same bytes.
        resources.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        for resource in resources {
            self.begin_element(RESOURCE_DEPTH);
            self.write_resource(&resource, to)?;
        }
        self.close_bracket(b']', 1);
        self.write_key(1, "check_results");
        match &file.check_results {
            Some(results) => append_indented(&mut self.out, results, 1),
            None => self.write_raw(b"null"),
        }
        self.close_bracket(b'}', 0);
        self.write_raw(b"\n");
        self.flush_full_buffer(to, 0)
    }

    /// Writes the buffered bytes once the given number is reached.
    fn flush_full_buffer(&mut self, to: &mut dyn Write, at_least: usize) -> io::Result<()> {
        if self.out.len() >= at_least {
            to.write_all(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    fn write_output(&mut self, name: &str, output: &OutputValue) {
        let (plain, _) = output.value.value().clone().split_marks();
        let ty = plain.value().ty();
        // Only an infinite number cannot be written. Leaving such an output out costs one line of a
        // later plan; refusing to write would cost the state.
        let Ok(value) = codec::json::encode(plain.value(), &ty) else { return };
        self.write_key(OUTPUT_DEPTH, name);
        self.open_bracket(b'{');
        self.write_key(OUTPUT_DEPTH + 1, "value");
        append_indented(&mut self.out, value.as_bytes(), OUTPUT_DEPTH + 1);
        self.write_key(OUTPUT_DEPTH + 1, "type");
        append_indented(&mut self.out, codec::type_json::encode(&ty).as_bytes(), OUTPUT_DEPTH + 1);
        // Terraform omits members that are false, null or empty.
        if output.sensitive {
            self.write_member(OUTPUT_DEPTH + 1, "sensitive", b"true");
        }
        self.close_bracket(b'}', OUTPUT_DEPTH);
    }

    fn write_resource(
        &mut self,
        resource: &SortedResource<'_>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        const KEY_DEPTH: usize = RESOURCE_DEPTH + 1;
        self.open_bracket(b'{');
        if !resource.module.is_empty() {
            self.write_string_member(KEY_DEPTH, "module", &resource.module);
        }
        self.write_string_member(KEY_DEPTH, "mode", resource.mode);
        self.write_string_member(KEY_DEPTH, "type", resource.addr.resource.resource_type());
        self.write_string_member(KEY_DEPTH, "name", resource.addr.resource.name());
        self.write_key(KEY_DEPTH, "provider");
        let provider = &resource.state.provider;
        if !self.providers.contains_key(provider) {
            self.providers.insert(provider.clone(), provider.to_string());
        }
        let provider = self.providers.get(provider).map_or("", String::as_str);
        append_quoted(&mut self.out, provider);
        self.write_key(KEY_DEPTH, "instances");
        self.open_bracket(b'[');
        for (key, instance) in &resource.state.instances {
            let current = instance.current.iter().map(|object| (None, object));
            let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
            for (deposed, object) in current.chain(deposed) {
                self.begin_element(INSTANCE_DEPTH);
                self.write_object(key, deposed, object);
                self.flush_full_buffer(to, STATE_WRITE_BUFFER_LEN)?;
            }
        }
        self.close_bracket(b']', KEY_DEPTH);
        self.close_bracket(b'}', RESOURCE_DEPTH);
        Ok(())
    }

    fn write_object(
        &mut self,
        key: &InstanceKey,
        deposed: Option<&DeposedKey>,
        object: &ObjectState,
    ) {
        const KEY_DEPTH: usize = INSTANCE_DEPTH + 1;
        self.open_bracket(b'{');
        match key {
            InstanceKey::None => {}
            InstanceKey::Int(at) => {
                self.write_member(KEY_DEPTH, "index_key", at.to_string().as_bytes());
            }
            InstanceKey::Str(key) => self.write_string_member(KEY_DEPTH, "index_key", key),
        }
        if object.status == ObjectStatus::Tainted {
            self.write_string_member(KEY_DEPTH, "status", "tainted");
        }
        if let Some(DeposedKey(key)) = deposed {
            self.write_string_member(KEY_DEPTH, "deposed", key);
        }
        self.write_member(
            KEY_DEPTH,
            "schema_version",
            object.schema_version.to_string().as_bytes(),
        );
        self.write_attributes(&object.attributes, KEY_DEPTH);
        self.write_key(KEY_DEPTH, "sensitive_attributes");
        self.write_sensitive_paths(&object.sensitive, KEY_DEPTH);
        if let Some(StoredIdentity { version, json }) = &object.identity {
            self.write_member(KEY_DEPTH, "identity_schema_version", version.to_string().as_bytes());
            self.write_key(KEY_DEPTH, "identity");
            append_indented(&mut self.out, json, KEY_DEPTH);
        }
        if !object.private.is_empty() {
            self.write_string_member(
                KEY_DEPTH,
                "private",
                &BASE64_STANDARD.encode(&object.private),
            );
        }
        if !object.dependencies.is_empty() {
            self.write_key(KEY_DEPTH, "dependencies");
            self.write_dependencies(&object.dependencies, KEY_DEPTH);
        }
        if object.create_before_destroy {
            self.write_member(KEY_DEPTH, "create_before_destroy", b"true");
        }
        self.close_bracket(b'}', INSTANCE_DEPTH);
    }

    fn write_attributes(&mut self, attributes: &ObjectAttributes, depth: usize) {
        match attributes {
            ObjectAttributes::Json(text) => {
                self.write_key(depth, "attributes");
                append_indented(&mut self.out, text, depth);
            }
            ObjectAttributes::Flatmap(members) => {
                self.write_key(depth, "attributes_flat");
                self.open_bracket(b'{');
                for (path, text) in &**members {
                    self.write_string_member(depth + 1, path, text);
                }
                self.close_bracket(b'}', depth);
            }
        }
    }

    fn write_sensitive_paths(&mut self, paths: &[Path], depth: usize) {
        self.open_bracket(b'[');
        for path in paths {
            self.begin_element(depth + 1);
            self.open_bracket(b'[');
            for step in &path.0 {
                self.begin_element(depth + 2);
                self.write_step(step, depth + 2);
            }
            self.close_bracket(b']', depth + 1);
        }
        self.close_bracket(b']', depth);
    }

    fn write_step(&mut self, step: &Step, depth: usize) {
        self.open_bracket(b'{');
        let kind = if let Step::Attribute(_) = step { "get_attr" } else { "index" };
        self.write_string_member(depth + 1, "type", kind);
        self.write_key(depth + 1, "value");
        match step {
            Step::Attribute(name) => append_quoted(&mut self.out, name),
            Step::Key(key) => {
                self.open_bracket(b'{');
                self.write_string_member(depth + 2, "value", key);
                self.write_string_member(depth + 2, "type", "string");
                self.close_bracket(b'}', depth + 1);
            }
            Step::Index(at) => {
                self.open_bracket(b'{');
                self.write_member(depth + 2, "value", at.to_string().as_bytes());
                self.write_string_member(depth + 2, "type", "number");
                self.close_bracket(b'}', depth + 1);
            }
        }
        self.close_bracket(b'}', depth);
    }

    fn write_dependencies(&mut self, addrs: &Arc<Vec<ConfigResourceAddr>>, depth: usize) {
        // Pointers are compared, because the lists of deep graphs are long and instances share
        // theirs.
        if !Arc::ptr_eq(&self.dependencies.0, addrs) {
            let text = self.render_dependencies(addrs, depth);
            self.dependencies = (addrs.clone(), text);
        }
        self.out.extend_from_slice(&self.dependencies.1);
        self.is_first = false;
    }

    fn render_dependencies(&self, addrs: &[ConfigResourceAddr], depth: usize) -> Vec<u8> {
        let mut names: Vec<String> = addrs.iter().map(ToString::to_string).collect();
        // The file is sorted by string, the address type by the meaning of the parts.
        names.sort_unstable();
        let mut list = Self::default();
        list.open_bracket(b'[');
        for name in names {
            list.begin_element(depth + 1);
            append_quoted(&mut list.out, &name);
        }
        list.close_bracket(b']', depth);
        list.out
    }

    fn open_bracket(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.is_first = true;
    }

    fn close_bracket(&mut self, bracket: u8, depth: usize) {
        if !self.is_first {
            append_line_break(&mut self.out, depth);
        }
        self.out.push(bracket);
        self.is_first = false;
    }

    fn begin_element(&mut self, depth: usize) {
        if !self.is_first {
            self.out.push(b',');
        }
        append_line_break(&mut self.out, depth);
        self.is_first = false;
    }

    fn write_key(&mut self, depth: usize, key: &str) {
        self.begin_element(depth);
        append_quoted(&mut self.out, key);
        self.write_raw(b": ");
    }

    fn write_member(&mut self, depth: usize, key: &str, value: &[u8]) {
        self.write_key(depth, key);
        self.write_raw(value);
    }

    fn write_string_member(&mut self, depth: usize, key: &str, value: &str) {
        self.write_key(depth, key);
        append_quoted(&mut self.out, value);
    }

    fn write_raw(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }
}

/// A resource with the strings by which the file is sorted.
struct SortedResource<'s> {
    module: String,
    mode: &'static str,
    addr: &'s ResourceAddr,
    state: &'s ResourceState,
}

impl<'s> SortedResource<'s> {
    /// Returns nothing for a value that is never stored.
    fn new(addr: &'s ResourceAddr, state: &'s ResourceState) -> Option<Self> {
        let mode = match addr.resource.mode() {
            ResourceMode::Managed => "managed",
            ResourceMode::Data => "data",
            ResourceMode::Ephemeral => return None,
        };
        Some(Self { module: addr.module.to_string(), mode, addr, state })
    }

    fn sort_key(&self) -> (&str, &str, &str, &str) {
        let name = &self.addr.resource;
        (&self.module, self.mode, name.resource_type(), name.name())
    }
}
