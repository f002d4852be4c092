//! Reads the state file. Attributes stay encoded; everything else is checked here, once.

mod json_values;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use formwork_value::diag::Message;
use formwork_value::{Path, Str};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::json_values::{
    compact_attributes, read_index_key, read_output_value, read_step, too_deep_message,
};
use super::layout::{FileJson, HeaderJson, InstanceJson, ProvidersJson, ResourceJson, StepJson};
use super::{FileError, ObjectEntry, StateFile, StateFileHeader, json, version3};
use crate::addr::{
    ConfigResourceAddr, DeposedKey, ModuleAddr, ProviderAddr, ProviderConfigAddr, ResourceAddr,
    ResourceMode, ResourceName, is_identifier,
};
use crate::disk::parse_json_object;
use crate::messages;
use crate::state::{
    ObjectAttributes, ObjectState, ObjectStatus, ResourceState, State, StoredIdentity,
};

/// The largest serial that is read, so that a next one always exists.
const MAX_SERIAL: u64 = i64::MAX as u64;

pub(super) fn read_state_file(text: &[u8]) -> Result<StateFile, FileError> {
    let read = parse_json(text).and_then(|file: FileJson<'_>| {
        check_version(file.version)?;
        StateReader::new(text).read_file(file)
    });
    match read {
        Err(FileError::Older(version3::FORMAT_VERSION_3)) => read_version_3(text),
        read => read,
    }
}

/// Reads a file of version 3 from its translation, whose lines are not those of the file.
fn read_version_3(text: &[u8]) -> Result<StateFile, FileError> {
    let text = version3::upgrade_from_version_3(text)?;
    let read =
        parse_json(&text).and_then(|file: FileJson<'_>| StateReader::new(&text).read_file(file));
    read.map_err(|error| match error {
        FileError::Invalid { summary, detail, .. } => {
            FileError::Invalid { summary, detail, line: None }
        }
        error => error,
    })
}

pub(super) fn read_header(text: &[u8]) -> Result<StateFileHeader, FileError> {
    let read = parse_json(text).and_then(|header: HeaderJson| {
        check_version(header.version)?;
        Ok(StateFileHeader { serial: header.serial, lineage: header.lineage })
    });
    match read {
        Err(FileError::Older(version3::FORMAT_VERSION_3)) => {
            let StateFile { serial, lineage, .. } = read_version_3(text)?;
            Ok(StateFileHeader { serial, lineage })
        }
        read => read,
    }
}

pub(super) fn read_providers(text: &[u8]) -> Result<BTreeSet<ProviderAddr>, FileError> {
    let file: ProvidersJson = parse_json(text)?;
    if file.version == version3::FORMAT_VERSION_3 {
        let resources = read_version_3(text)?.state.resources;
        return Ok(resources.into_values().map(|state| state.provider.provider.clone()).collect());
    }
    let names: BTreeSet<String> =
        file.resources.into_iter().map(|resource| resource.provider).collect();
    // Names that cannot be read are reported when the whole file is read.
    let read = |name: &String| name.parse().ok().map(|config: ProviderConfigAddr| config.provider);
    Ok(names.iter().filter_map(read).collect())
}

pub(super) fn read_object_entry(text: &str) -> Result<ObjectEntry, FileError> {
    let resource: ResourceJson<'_> = parse_json(text.as_bytes())?;
    let mut state = State::default();
    StateReader::new(text.as_bytes()).read_resource(&resource, &mut state)?;
    let entry = state.resources.into_iter().find_map(|(addr, resource)| {
        let ResourceState { provider, instances } = Arc::unwrap_or_clone(resource);
        let (key, mut instance) = instances.into_iter().next()?;
        let deposed = instance.deposed.pop_first();
        let (deposed, object) = match deposed {
            Some((key, object)) => (Some(key), object),
            None => (None, instance.current?),
        };
        Some(ObjectEntry { addr: addr.instance_addr(key), deposed, provider, object })
    });
    entry.ok_or(FileError::Empty)
}

fn parse_json<'t, T: Deserialize<'t>>(text: &'t [u8]) -> Result<T, FileError> {
    // Never read as an empty state: all of its objects would be created a second time.
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(FileError::Empty);
    }
    parse_json_object(text).map_err(|error| state_parse_error(text, &error))
}

fn check_version(version: u64) -> Result<(), FileError> {
    match version {
        0 => Err(FileError::NoVersion),
        1..=3 => Err(FileError::Older(version)),
        4 => Ok(()),
        _ => Err(FileError::Newer(version)),
    }
}

/// The reason why a file cannot be read as version 4.
fn state_parse_error(text: &[u8], error: &serde_json::Error) -> FileError {
    #[derive(Default, Deserialize)]
    struct Versions {
        version: Option<u64>,
        encryption_version: Option<String>,
    }
    if error.is_data() {
        let versions: Versions = parse_json_object(text).unwrap_or_default();
        match versions.version.map(check_version) {
            _ if versions.encryption_version.is_some() => return FileError::Encrypted,
            None => return FileError::NoVersion,
            Some(Err(other)) => return other,
            Some(Ok(())) => {}
        }
        return FileError::Invalid {
            summary: messages::INVALID_STATE_FILE_FORMAT,
            detail: format!("The content does not have the expected form: {error}"),
            line: Some(error.line()),
        };
    }
    FileError::NotJson {
        line: error.line(),
        column: error.column(),
        reason: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    }
}

/// An error in a part of the file.
struct StateFileError {
    summary: &'static Message,
    detail: String,
}

impl StateFileError {
    fn new(summary: &'static Message, detail: impl Into<String>) -> Self {
        Self { summary, detail: detail.into() }
    }

    fn invalid_instance(detail: impl Into<String>) -> Self {
        Self::new(messages::INVALID_RESOURCE_INSTANCE_METADATA_IN_STATE, detail)
    }
}

/// Turns the parts of the file into ours. Names that occur again and again are read once.
struct StateReader<'t> {
    text: &'t [u8],
    providers: HashMap<String, ProviderConfigAddr>,
    modules: HashMap<String, ModuleAddr>,
    dependencies: HashMap<String, ConfigResourceAddr>,
    /// The list last read, with its text: neighbours often have the same.
    last_dependencies: (&'t str, Arc<Vec<ConfigResourceAddr>>),
    no_dependencies: Arc<Vec<ConfigResourceAddr>>,
    no_paths: Arc<Vec<Path>>,
}

impl<'t> StateReader<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            providers: HashMap::new(),
            modules: HashMap::new(),
            dependencies: HashMap::new(),
            last_dependencies: Default::default(),
            no_dependencies: Arc::default(),
            no_paths: Arc::default(),
        }
    }

    fn read_file(mut self, file: FileJson<'t>) -> Result<StateFile, FileError> {
        check_terraform_version(&file.terraform_version)
            .map_err(|wrong| self.locate_error(wrong, None))?;
        let mut state = State::default();
        for (name, output) in file.outputs {
            check_printable_name("output", &name)
                .map_err(|wrong| self.locate_error(wrong, None))?;
            let read = read_output_value(&name, &output)
                .map_err(|wrong| self.locate_error(wrong, Some(output.value.get())))?;
            state.outputs.insert(name.into(), read);
        }
        for resource in file.resources {
            self.read_resource(&resource, &mut state)?;
        }
        let check_results =
            match file.check_results.map(|raw| (raw.get(), json::compact_json(raw.get()))) {
                None | Some(("null", _)) => None,
                Some((_, Ok(compact))) => Some(compact.into()),
                Some((raw, Err(json::NestedTooDeep))) => {
                    let wrong = StateFileError::new(
                        messages::INVALID_STATE_FILE_FORMAT,
                        too_deep_message("\"check_results\""),
                    );
                    return Err(self.locate_error(wrong, Some(raw)));
                }
            };
        if file.serial > MAX_SERIAL {
            let detail =
                format!("The serial {} is too large; {MAX_SERIAL} is the limit", file.serial);
            return Err(self.locate_error(
                StateFileError::new(messages::INVALID_STATE_FILE_FORMAT, detail),
                None,
            ));
        }
        Ok(StateFile {
            terraform_version: file.terraform_version,
            serial: file.serial,
            lineage: file.lineage,
            state,
            check_results,
        })
    }

    fn read_resource(
        &mut self,
        from: &ResourceJson<'t>,
        into: &mut State,
    ) -> Result<(), FileError> {
        let addr = self
            .read_resource_addr(from)
            .map_err(|wrong| self.locate_error(wrong, Some(&from.kind)))?;
        if from.instances.is_empty() {
            return Ok(());
        }
        let provider = self
            .read_provider(&addr, &from.provider)
            .map_err(|wrong| self.locate_error(wrong, Some(&from.kind)))?;
        let resource = into.resource_or_insert(addr.clone(), &provider);
        resource.provider = provider;
        for instance in &from.instances {
            let source = instance.attributes.map_or(&*from.kind, RawValue::get);
            self.read_instance(&addr, instance, resource)
                .map_err(|wrong| self.locate_error(wrong, Some(source)))?;
        }
        Ok(())
    }

    fn read_resource_addr(
        &mut self,
        from: &ResourceJson<'_>,
    ) -> Result<ResourceAddr, StateFileError> {
        let mode = match &*from.mode {
            "managed" => ResourceMode::Managed,
            "data" => ResourceMode::Data,
            other => {
                let detail = format!(
                    "State contains a resource with mode {other:?} ({:?} {:?}) which is not \
                     supported.",
                    from.kind, from.name
                );
                return Err(StateFileError::new(messages::INVALID_RESOURCE_MODE_IN_STATE, detail));
            }
        };
        let module = if from.module.is_empty() {
            ModuleAddr::root()
        } else {
            parse_name_cached(&mut self.modules, &from.module, |bad: crate::addr::AddressError| {
                StateFileError::new(messages::INVALID_MODULE_INSTANCE_ADDRESS, bad.detail)
            })?
        };
        check_printable_name("resource type", &from.kind)?;
        check_printable_name("resource", &from.name)?;
        Ok(ResourceAddr { module, resource: ResourceName::new(mode, &*from.kind, &*from.name) })
    }

    fn read_provider(
        &mut self,
        addr: &ResourceAddr,
        text: &str,
    ) -> Result<ProviderConfigAddr, StateFileError> {
        if text.is_empty() {
            let detail = format!(
                "Resource {addr} does not specify its provider configuration. States in which each \
                 instance has its own provider configuration are not supported."
            );
            return Err(StateFileError::new(
                messages::INVALID_PROVIDER_CONFIGURATION_ADDRESS_IN_STATE,
                detail,
            ));
        }
        parse_name_cached(&mut self.providers, text, |bad: crate::addr::AddressError| {
            StateFileError::new(
                messages::INVALID_PROVIDER_CONFIGURATION_ADDRESS_IN_STATE,
                format!("Resource {addr} has provider `{text}`. {}", bad.detail),
            )
        })
    }

    fn read_instance(
        &mut self,
        addr: &ResourceAddr,
        from: &InstanceJson<'t>,
        into: &mut ResourceState,
    ) -> Result<(), StateFileError> {
        let key = read_index_key(addr, from.index_key)?;
        let of = addr.instance_addr(key.clone());
        let object = Arc::new(self.read_object(&of, from)?);
        let instance = into.instances.or_default(&key);
        if from.deposed.is_empty() {
            if instance.current.replace(object).is_some() {
                let detail = format!("Instance {of} appears multiple times in the state file.");
                return Err(StateFileError::new(
                    messages::DUPLICATE_RESOURCE_INSTANCE_IN_STATE,
                    detail,
                ));
            }
        } else if instance.deposed.insert(DeposedKey(Str::new(&from.deposed)), object).is_some() {
            let detail = format!(
                "Instance {of} deposed object \"{}\" appears multiple times in the state file.",
                from.deposed
            );
            return Err(StateFileError::new(
                messages::DUPLICATE_RESOURCE_INSTANCE_IN_STATE,
                detail,
            ));
        }
        Ok(())
    }

    fn read_object(
        &mut self,
        of: &impl Display,
        from: &InstanceJson<'t>,
    ) -> Result<ObjectState, StateFileError> {
        let status = match from.status.as_str() {
            "" => ObjectStatus::Ready,
            "tainted" => ObjectStatus::Tainted,
            other => {
                let detail = format!("Instance {of} has invalid status \"{other}\".");
                return Err(StateFileError::invalid_instance(detail));
            }
        };
        if !from.deposed.is_empty() && from.deposed.len() != 8 {
            return Err(StateFileError::invalid_instance(format!(
                "Instance {of} has an object with deposed key \"{}\", which is not correctly \
                 formatted.",
                from.deposed
            )));
        }
        let private = BASE64_STANDARD.decode(&from.private).map_err(|error| {
            StateFileError::invalid_instance(format!(
                "Instance {of}: \"private\" is not valid base64: {error}."
            ))
        })?;
        let identity = from.identity.map(|raw| compact_attributes(of, "identity", raw));
        let version = from.identity_schema_version;
        let identity = identity.transpose()?.map(|json| StoredIdentity { version, json });
        Ok(ObjectState {
            status,
            schema_version: from.schema_version,
            attributes: match (from.attributes, &from.attributes_flat) {
                (Some(raw), _) => {
                    ObjectAttributes::Json(compact_attributes(of, "attributes", raw)?)
                }
                (None, Some(members)) => {
                    ObjectAttributes::Flatmap(Arc::new(flatmap_members(members)))
                }
                (None, None) => ObjectAttributes::default(),
            },
            sensitive: self.read_sensitive_paths(of, from.sensitive_attributes)?,
            private: private.into(),
            dependencies: self.read_dependencies(of, from.dependencies)?,
            create_before_destroy: from.create_before_destroy,
            identity,
        })
    }

    fn read_dependencies(
        &mut self,
        of: &impl Display,
        raw: Option<&'t RawValue>,
    ) -> Result<Arc<Vec<ConfigResourceAddr>>, StateFileError> {
        let Some(raw) = raw.map(RawValue::get) else { return Ok(self.no_dependencies.clone()) };
        if raw != self.last_dependencies.0 {
            let mut names: Vec<Cow<'_, str>> = serde_json::from_str(raw).map_err(|error| {
                StateFileError::invalid_instance(format!(
                    "Instance {of}: \"dependencies\": {error}."
                ))
            })?;
            // As they are written and shown.
            names.sort_unstable();
            let mut addrs = Vec::with_capacity(names.len());
            for name in names {
                addrs.push(parse_name_cached(
                    &mut self.dependencies,
                    &name,
                    |bad: crate::addr::AddressError| {
                        StateFileError::new(
                            bad.summary,
                            format!("Instance {of} depends on `{name}`. {}", bad.detail),
                        )
                    },
                )?);
            }
            self.last_dependencies = (raw, Arc::new(addrs));
        }
        Ok(self.last_dependencies.1.clone())
    }

    fn read_sensitive_paths(
        &self,
        of: &impl Display,
        raw: Option<&RawValue>,
    ) -> Result<Arc<Vec<Path>>, StateFileError> {
        let Some(raw) = raw.map(RawValue::get).filter(|raw| *raw != "[]") else {
            return Ok(self.no_paths.clone());
        };
        let wrong = |detail: &dyn Display| {
            let detail = format!("Instance {of}: \"sensitive_attributes\": {detail}.");
            StateFileError::new(messages::INVALID_PATH_IN_STATE, detail)
        };
        let paths: Vec<Vec<StepJson>> = serde_json::from_str(raw).map_err(|error| wrong(&error))?;
        let paths = paths
            .into_iter()
            .map(|steps| steps.into_iter().map(read_step).collect::<Result<_, _>>().map(Path));
        Ok(Arc::new(paths.collect::<Result<_, _>>().map_err(|detail| wrong(&detail))?))
    }

    /// Adds the line number of a part of the text.
    fn locate_error(
        &self,
        StateFileError { summary, detail }: StateFileError,
        source: Option<&str>,
    ) -> FileError {
        let start = self.text.as_ptr().addr();
        let line = source
            .and_then(|source| source.as_ptr().addr().checked_sub(start))
            .and_then(|offset| self.text.get(..offset))
            .map(|before| 1 + before.iter().filter(|byte| **byte == b'\n').count());
        FileError::Invalid { summary, detail, line }
    }
}

/// Reads a name, or recalls it.
fn parse_name_cached<T: FromStr + Clone>(
    known: &mut HashMap<String, T>,
    text: &str,
    wrong: impl FnOnce(T::Err) -> StateFileError,
) -> Result<T, StateFileError> {
    if let Some(name) = known.get(text) {
        return Ok(name.clone());
    }
    let read: T = text.parse().map_err(wrong)?;
    known.insert(text.to_owned(), read.clone());
    Ok(read)
}

/// The members of an object in the format before version 4. Null is treated as empty, as in Terraform.
fn flatmap_members(
    members: &BTreeMap<Cow<'_, str>, Option<Cow<'_, str>>>,
) -> BTreeMap<String, String> {
    let text = |text: &Option<Cow<'_, str>>| text.as_deref().unwrap_or_default().to_owned();
    members.iter().map(|(path, value)| (path.clone().into_owned(), text(value))).collect()
}

fn check_terraform_version(version: &str) -> Result<(), StateFileError> {
    let number = version.strip_prefix('v').unwrap_or(version);
    if version.is_empty() || number.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(());
    }
    let detail = format!(
        "State file claims to have been written by Terraform version {version:?}, which is not a \
         valid version string."
    );
    Err(StateFileError::new(messages::INVALID_TERRAFORM_VERSION_STRING, detail))
}

/// Refuses a name that no configuration can contain. Names are printed, so one with control characters
/// or line breaks could forge output. Old states have names that begin with a digit.
fn check_printable_name(kind: &str, name: &str) -> Result<(), StateFileError> {
    if is_identifier(&format!("_{name}")) && !name.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "The state file contains the {kind} name {name:?}. A name must contain only letters, digits, underscores and dashes."
    );
    Err(StateFileError::new(messages::INVALID_NAME_IN_STATE, detail))
}
