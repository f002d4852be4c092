//! Writes the state file piece by piece, so that no copy of the whole text is ever in memory.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use formwork_value::codec;
use formwork_value::{Path, Step};

use super::json::{self, break_line, indent, quote};
use super::{Entry, StateFile};
use crate::addr::{
    ConfigResourceAddr, DeposedKey, InstanceKey, Mode, ProviderConfigAddr, ResourceAddr,
};
use crate::state::{Attributes, InstanceState, Object, OutputValue, ResourceState, Status};

/// Levels of indentation of the parts of the file.
const OUTPUT: usize = 2;
const RESOURCE: usize = 2;
const INSTANCE: usize = 4;

/// Size of the text that is gathered before it is passed on.
const PIECE: usize = 64 * 1024;

/// Writes the members from `outputs` on, and the end of the file.
pub(super) fn content(file: &StateFile, to: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::default();
    writer.content(file, to)
}

/// Writes the whole file.
pub(super) fn whole(file: &StateFile, to: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::default();
    writer.open(b'{');
    writer.member(1, "version", b"4");
    writer.string(1, "terraform_version", &file.terraform_version);
    writer.member(1, "serial", file.serial.to_string().as_bytes());
    writer.string(1, "lineage", &file.lineage);
    to.write_all(&writer.out)?;
    // Its writer has opened no bracket of its own, and so begins with the comma.
    content(file, to)
}

/// Writes one object as a resource with nothing else in it, on one line.
pub(super) fn entry(entry: &Entry) -> Vec<u8> {
    let mut instance = InstanceState::default();
    match &entry.deposed {
        Some(key) => drop(instance.deposed.insert(key.clone(), entry.object.clone())),
        None => instance.current = Some(entry.object.clone()),
    }
    let instances = [(entry.addr.key.clone(), instance)].into();
    let resource = ResourceState { provider: entry.provider.clone(), instances };
    let addr = entry.addr.of();
    let mut writer = Writer::default();
    let mut text = Vec::new();
    if let Some(resource) = SortedResource::new(&addr, &resource) {
        // Writing into memory does not fail.
        writer.resource(&resource, &mut text).and_then(|()| writer.pass_on(&mut text, 0)).ok();
    }
    let text = String::from_utf8_lossy(&text);
    json::compact(&text).unwrap_or_else(|_| text.into_owned().into_bytes())
}

/// Writes members of an object, each on its line, with the commas between them.
#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    /// Whether nothing was written since the last opening bracket.
    is_first: bool,
    /// The list of dependencies last rendered. Instances of one resource share theirs.
    dependencies: (Arc<Vec<ConfigResourceAddr>>, Vec<u8>),
    /// Provider names already rendered.
    providers: HashMap<ProviderConfigAddr, String>,
}

impl Writer {
    fn content(&mut self, file: &StateFile, to: &mut dyn Write) -> io::Result<()> {
        self.key(1, "outputs");
        self.open(b'{');
        for (name, output) in &file.state.outputs {
            self.output(name, output);
            self.pass_on(to, PIECE)?;
        }
        self.close(b'}', 1);
        self.key(1, "resources");
        self.open(b'[');
        let mut resources: Vec<SortedResource<'_>> = file
            .state
            .resources
            .iter()
            .filter_map(|(addr, resource)| SortedResource::new(addr, resource))
            .collect();
        // By the strings in the file, as in Terraform, so that both programs write the same bytes.
        resources.sort_unstable_by(|a, b| a.order().cmp(&b.order()));
        for resource in resources {
            self.element(RESOURCE);
            self.resource(&resource, to)?;
        }
        self.close(b']', 1);
        self.key(1, "check_results");
        match &file.check_results {
            Some(results) => indent(&mut self.out, results, 1),
            None => self.raw(b"null"),
        }
        self.close(b'}', 0);
        self.raw(b"\n");
        self.pass_on(to, 0)
    }

    /// Passes on what was gathered once it is so much.
    fn pass_on(&mut self, to: &mut dyn Write, at_least: usize) -> io::Result<()> {
        if self.out.len() >= at_least {
            to.write_all(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    fn output(&mut self, name: &str, output: &OutputValue) {
        let (plain, _) = output.value.value().clone().split_marks();
        let ty = plain.value().ty();
        // Only an infinite number cannot be written. Leaving such an output out costs one line of a
        // later plan; refusing to write would cost the state.
        let Ok(value) = codec::json::encode(plain.value(), &ty) else { return };
        self.key(OUTPUT, name);
        self.open(b'{');
        self.key(OUTPUT + 1, "value");
        indent(&mut self.out, value.as_bytes(), OUTPUT + 1);
        self.key(OUTPUT + 1, "type");
        indent(&mut self.out, codec::type_json::encode(&ty).as_bytes(), OUTPUT + 1);
        // Terraform leaves out what is false, null or empty.
        if output.sensitive {
            self.member(OUTPUT + 1, "sensitive", b"true");
        }
        self.close(b'}', OUTPUT);
    }

    fn resource(&mut self, resource: &SortedResource<'_>, to: &mut dyn Write) -> io::Result<()> {
        const KEY: usize = RESOURCE + 1;
        self.open(b'{');
        if !resource.module.is_empty() {
            self.string(KEY, "module", &resource.module);
        }
        self.string(KEY, "mode", resource.mode);
        self.string(KEY, "type", resource.addr.resource.kind());
        self.string(KEY, "name", resource.addr.resource.name());
        self.key(KEY, "provider");
        let provider = &resource.state.provider;
        if !self.providers.contains_key(provider) {
            self.providers.insert(provider.clone(), provider.to_string());
        }
        let provider = self.providers.get(provider).map_or("", String::as_str);
        quote(&mut self.out, provider);
        self.key(KEY, "instances");
        self.open(b'[');
        for (key, instance) in &resource.state.instances {
            let current = instance.current.iter().map(|object| (None, object));
            let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
            for (deposed, object) in current.chain(deposed) {
                self.element(INSTANCE);
                self.object(key, deposed, object);
                self.pass_on(to, PIECE)?;
            }
        }
        self.close(b']', KEY);
        self.close(b'}', RESOURCE);
        Ok(())
    }

    fn object(&mut self, key: &InstanceKey, deposed: Option<&DeposedKey>, object: &Object) {
        const KEY: usize = INSTANCE + 1;
        self.open(b'{');
        match key {
            InstanceKey::None => {}
            InstanceKey::Int(at) => self.member(KEY, "index_key", at.to_string().as_bytes()),
            InstanceKey::Str(key) => self.string(KEY, "index_key", key),
        }
        if object.status == Status::Tainted {
            self.string(KEY, "status", "tainted");
        }
        if let Some(DeposedKey(key)) = deposed {
            self.string(KEY, "deposed", key);
        }
        self.member(KEY, "schema_version", object.schema_version.to_string().as_bytes());
        match &object.attributes {
            Attributes::Json(text) => {
                self.key(KEY, "attributes");
                indent(&mut self.out, text, KEY);
            }
            Attributes::Flat(members) => {
                self.key(KEY, "attributes_flat");
                self.open(b'{');
                for (path, text) in &**members {
                    self.string(KEY + 1, path, text);
                }
                self.close(b'}', KEY);
            }
        }
        self.key(KEY, "sensitive_attributes");
        self.paths(&object.sensitive, KEY);
        if let Some((version, identity)) = &object.identity {
            self.member(KEY, "identity_schema_version", version.to_string().as_bytes());
            self.key(KEY, "identity");
            indent(&mut self.out, identity, KEY);
        }
        if !object.private.is_empty() {
            self.string(KEY, "private", &BASE64_STANDARD.encode(&object.private));
        }
        if !object.dependencies.is_empty() {
            self.key(KEY, "dependencies");
            self.dependencies(&object.dependencies, KEY);
        }
        if object.create_before_destroy {
            self.member(KEY, "create_before_destroy", b"true");
        }
        self.close(b'}', INSTANCE);
    }

    fn paths(&mut self, paths: &[Path], depth: usize) {
        self.open(b'[');
        for path in paths {
            self.element(depth + 1);
            self.open(b'[');
            for step in &path.0 {
                self.element(depth + 2);
                self.step(step, depth + 2);
            }
            self.close(b']', depth + 1);
        }
        self.close(b']', depth);
    }

    fn step(&mut self, step: &Step, depth: usize) {
        self.open(b'{');
        let kind = if let Step::Attribute(_) = step { "get_attr" } else { "index" };
        self.string(depth + 1, "type", kind);
        self.key(depth + 1, "value");
        match step {
            Step::Attribute(name) => quote(&mut self.out, name),
            Step::Key(key) => {
                self.open(b'{');
                self.string(depth + 2, "value", key);
                self.string(depth + 2, "type", "string");
                self.close(b'}', depth + 1);
            }
            Step::Index(at) => {
                self.open(b'{');
                self.member(depth + 2, "value", at.to_string().as_bytes());
                self.string(depth + 2, "type", "number");
                self.close(b'}', depth + 1);
            }
        }
        self.close(b'}', depth);
    }

    fn dependencies(&mut self, addrs: &Arc<Vec<ConfigResourceAddr>>, depth: usize) {
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
        // The file sorts by text, the address type by what the parts mean.
        names.sort_unstable();
        let mut list = Self::default();
        list.open(b'[');
        for name in names {
            list.element(depth + 1);
            quote(&mut list.out, &name);
        }
        list.close(b']', depth);
        list.out
    }

    fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.is_first = true;
    }

    fn close(&mut self, bracket: u8, depth: usize) {
        if !self.is_first {
            break_line(&mut self.out, depth);
        }
        self.out.push(bracket);
        self.is_first = false;
    }

    fn element(&mut self, depth: usize) {
        if !self.is_first {
            self.out.push(b',');
        }
        break_line(&mut self.out, depth);
        self.is_first = false;
    }

    fn key(&mut self, depth: usize, key: &str) {
        self.element(depth);
        quote(&mut self.out, key);
        self.raw(b": ");
    }

    fn member(&mut self, depth: usize, key: &str, value: &[u8]) {
        self.key(depth, key);
        self.raw(value);
    }

    fn string(&mut self, depth: usize, key: &str, value: &str) {
        self.key(depth, key);
        quote(&mut self.out, value);
    }

    fn raw(&mut self, text: &[u8]) {
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
            Mode::Managed => "managed",
            Mode::Data => "data",
            Mode::Ephemeral => return None,
        };
        Some(Self { module: addr.module.to_string(), mode, addr, state })
    }

    fn order(&self) -> (&str, &str, &str, &str) {
        let name = &self.addr.resource;
        (&self.module, self.mode, name.kind(), name.name())
    }
}
