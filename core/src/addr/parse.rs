//! Reads addresses from text: command lines and state files.
//!
//! The grammar is that of references in the language with constant keys only. References in
//! expressions do not come through here, they have a syntax tree already.

use std::str::{Chars, FromStr};
use std::sync::Arc;

use formwork_value::Str;
use formwork_value::diag::Message;

use super::{
    ConfigResourceAddr, InstanceAddr, InstanceKey, ModuleAddr, ModuleStep, ProviderAddr,
    ProviderConfigAddr, ResourceAddr, ResourceMode, ResourceName, Target,
};
use crate::messages;

/// The error for a string that is not a valid address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct AddressError {
    /// The kind of error, fit for the summary of a diagnostic.
    pub summary: &'static Message,
    /// The finding and the correct form, in whole sentences.
    pub detail: String,
}

impl AddressError {
    pub(super) fn new(detail: impl Into<String>) -> Self {
        // The address may come from a file, and its line breaks must not forge lines of the output.
        let shown = |char: char| match char.is_control() {
            true => char.escape_default().to_string(),
            false => char.to_string(),
        };
        let detail = detail.into().chars().map(shown).collect();
        Self { summary: messages::INVALID_ADDRESS, detail }
    }
}

/// A step of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AddressStep {
    Name(Str),
    Key(InstanceKey),
}

/// Names that begin other kinds of references, and so cannot be resource types without `resource.`.
const RESERVED_ROOT_NAMES: [&str; 10] =
    ["arg", "count", "each", "lazy", "local", "path", "self", "template", "terraform", "var"];

/// Whether text can be a name in the language.
#[must_use]
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_continuation)
}

fn is_name_start(c: char) -> bool {
    c == '_' || unicode_ident::is_xid_start(c)
}

fn is_name_continuation(c: char) -> bool {
    c == '-' || unicode_ident::is_xid_continue(c)
}

/// Splits an address into its steps.
pub(crate) fn split_address(text: &str) -> Result<Vec<AddressStep>, AddressError> {
    let mut rest = text.trim();
    let mut steps = Vec::new();
    if rest.is_empty() {
        return Err(AddressError::new("An address must begin with a name, but this one is empty."));
    }
    loop {
        // An address cannot begin with a key, so a bracket at the start is read as an invalid name.
        if let Some(inside) = rest.strip_prefix('[').filter(|_| !steps.is_empty()) {
            let (key, after_key) = read_instance_key(inside.trim_start())?;
            steps.push(AddressStep::Key(key));
            rest = after_key;
        } else {
            let name = if steps.is_empty() {
                rest
            } else {
                rest.strip_prefix('.').ok_or_else(|| unexpected_text_error(rest))?
            };
            let length = name.find(|c| !is_name_continuation(c)).unwrap_or(name.len());
            let (name, after_name) = name.split_at(length);
            if !is_identifier(name) {
                return Err(invalid_name_error(&steps, name, after_name));
            }
            steps.push(AddressStep::Name(name.into()));
            rest = after_name;
        }
        if rest.is_empty() {
            return Ok(steps);
        }
    }
}

fn invalid_name_error(before: &[AddressStep], name: &str, after_name: &str) -> AddressError {
    AddressError::new(if before.is_empty() {
        format!("An address must begin with a name, not with `{name}{after_name}`.")
    } else {
        format!(
            "Expected a name after a dot, but found `{name}{after_name}`. Write instance keys \
             in brackets: `[0]`, `[\"key\"]`."
        )
    })
}

fn unexpected_text_error(rest: &str) -> AddressError {
    AddressError::new(format!("Expected `.name` or `[key]`, but found `{rest}`."))
}

/// Reads a key and its closing bracket.
fn read_instance_key(text: &str) -> Result<(InstanceKey, &str), AddressError> {
    let (key, rest) = if let Some(inside) = text.strip_prefix('"') {
        let (key, rest) = read_quoted_string(inside)?;
        (InstanceKey::Str(key.into()), rest)
    } else if text.starts_with('*') {
        return Err(AddressError::new("A splat `[*]` is not allowed in an address."));
    } else {
        let length = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at(length);
        // Without the filter, `[1.5]` would be reported as a bracket that is not closed.
        let number = digits.parse().ok().filter(|_| !rest.starts_with(['.', 'e', 'E']));
        let Some(number) = number else {
            return Err(AddressError::new(
                "Brackets must contain a whole number from 0 or a string in double quotes. On a command \
                 line, put the address in single quotes to keep the double ones.",
            ));
        };
        (InstanceKey::Int(number), rest)
    };
    match rest.trim_start().strip_prefix(']') {
        Some(after_bracket) => Ok((key, after_bracket)),
        None => Err(AddressError::new("Expected a closing bracket after the key.")),
    }
}

/// Reads the rest of a quoted string, after its opening quote.
fn read_quoted_string(text: &str) -> Result<(String, &str), AddressError> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok((out, chars.as_str())),
            '\\' => out.push(read_string_escape(&mut chars)?),
            '$' | '%' if chars.as_str().starts_with('{') => {
                return Err(AddressError::new(format!(
                    "A key cannot contain a template. If `{c}{{` is part of the key, write `{c}{c}{{`."
                )));
            }
            '$' | '%' if is_escaped_template_marker(c, chars.as_str()) => {
                chars.next();
                out.push(c);
            }
            // A string of the language ends on its line: a break within a key is written `\n`.
            '\n' | '\r' => break,
            c => out.push(c),
        }
    }
    Err(AddressError::new("A string key has no closing quote."))
}

/// Whether a `$` or `%` is followed by another one and a brace: an escaped template marker.
fn is_escaped_template_marker(c: char, rest: &str) -> bool {
    rest.strip_prefix(c).is_some_and(|rest| rest.starts_with('{'))
}

fn read_string_escape(chars: &mut Chars<'_>) -> Result<char, AddressError> {
    let bad = || {
        AddressError::new(
            "Invalid escape sequence in a key. Valid escapes are \\n \\r \\t \\\" \\\\ \\uNNNN.",
        )
    };
    let digits = match chars.next().ok_or_else(bad)? {
        'n' => return Ok('\n'),
        'r' => return Ok('\r'),
        't' => return Ok('\t'),
        '"' => return Ok('"'),
        '\\' => return Ok('\\'),
        'u' => 4,
        'U' => 8,
        _ => return Err(bad()),
    };
    let hex: String = chars.by_ref().take(digits).collect();
    // `from_str_radix` accepts a sign, too.
    let is_code = hex.len() == digits && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
    let code = if is_code { u32::from_str_radix(&hex, 16).ok() } else { None };
    code.and_then(char::from_u32).ok_or_else(bad)
}

/// The most levels of modules in an address. No configuration has as many, and each is walked down.
const MAX_MODULE_DEPTH: usize = 512;

/// Takes `module.name[key]` pairs off the front.
fn parse_module_prefix(steps: &mut &[AddressStep]) -> Result<ModuleAddr, AddressError> {
    let mut calls = Vec::new();
    while let [AddressStep::Name(word), rest @ ..] = *steps
        && word == "module"
    {
        let [AddressStep::Name(name), rest @ ..] = rest else {
            return Err(AddressError::new("Expected the name of a module call after `module.`."));
        };
        let (key, rest) = parse_instance_key(rest);
        if calls.len() == MAX_MODULE_DEPTH {
            let problem =
                format!("The address has more than {MAX_MODULE_DEPTH} levels of modules.");
            return Err(AddressError::new(problem));
        }
        calls.push(ModuleStep { name: name.clone(), key });
        *steps = rest;
    }
    Ok(ModuleAddr(Arc::new(calls)))
}

fn parse_instance_key(steps: &[AddressStep]) -> (InstanceKey, &[AddressStep]) {
    match steps {
        [AddressStep::Key(key), rest @ ..] => (key.clone(), rest),
        rest => (InstanceKey::None, rest),
    }
}

/// Reads `[data.|resource.]type.name` off the front.
fn parse_resource(steps: &mut &[AddressStep]) -> Result<ResourceName, AddressError> {
    let (mode, rest, bare) = match *steps {
        [AddressStep::Name(word), rest @ ..] if word == "data" => (ResourceMode::Data, rest, false),
        [AddressStep::Name(word), rest @ ..] if word == "ephemeral" => {
            (ResourceMode::Ephemeral, rest, false)
        }
        [AddressStep::Name(word), rest @ ..] if word == "resource" => {
            (ResourceMode::Managed, rest, false)
        }
        rest => (ResourceMode::Managed, rest, true),
    };
    if let [AddressStep::Name(word), ..] = rest
        && bare
        && RESERVED_ROOT_NAMES.contains(&word.as_str())
    {
        return Err(AddressError::new(format!(
            "`{word}` does not begin the address of a resource. For a resource type of that name, \
             write `resource.{word}.NAME`."
        )));
    }
    let [AddressStep::Name(kind), AddressStep::Name(name), rest @ ..] = rest else {
        return Err(AddressError::new(
            "A resource address requires a resource type and a name: `TYPE.NAME`.",
        ));
    };
    *steps = rest;
    Ok(ResourceName::new(mode, kind, name))
}

fn expect_no_more_steps(steps: &[AddressStep]) -> Result<(), AddressError> {
    match steps {
        [] => Ok(()),
        [AddressStep::Name(name)] => Err(AddressError::new(format!(
            "`.{name}` after the name of a resource is invalid. Write instance keys in \
             brackets: `[0]`, `[\"{name}\"]`."
        ))),
        _ => Err(AddressError::new("Unexpected characters after the address.")),
    }
}

impl FromStr for Target {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::from_steps(&split_address(text)?)
    }
}

impl Target {
    /// Reads an address that was split into its steps.
    ///
    /// # Errors
    /// When the steps are not a valid address.
    pub(crate) fn from_steps(steps: &[AddressStep]) -> Result<Self, AddressError> {
        let mut rest = steps;
        let module = parse_module_prefix(&mut rest)?;
        if rest.is_empty() {
            return Ok(Self::Module(module));
        }
        let resource = parse_resource(&mut rest)?;
        let (key, rest) = parse_instance_key(rest);
        expect_no_more_steps(rest)?;
        // Without a key it means every instance of the resource, as in Terraform. For a resource
        // that is not repeated that is its one instance.
        Ok(match key {
            InstanceKey::None => Self::Resource(ResourceAddr { module, resource }),
            key => Self::Instance(InstanceAddr { module, resource, key }),
        })
    }
}

impl FromStr for ModuleAddr {
    type Err = AddressError;

    /// Reads `module.a["x"].module.b`; the empty string is the root module.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text.is_empty() {
            return Ok(Self::root());
        }
        match text.parse()? {
            Target::Module(module) => Ok(module),
            _ => Err(AddressError::new("Expected the address of a module only.")),
        }
    }
}

impl FromStr for InstanceAddr {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.parse()? {
            Target::Instance(addr) => Ok(addr),
            Target::Resource(addr) => Ok(addr.instance_addr(InstanceKey::None)),
            Target::Module(_) => Err(AddressError::new(
                "This names a module; expected a resource instance: `TYPE.NAME`, `TYPE.NAME[0]`.",
            )),
        }
    }
}

impl FromStr for ResourceAddr {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let addr: InstanceAddr = text.parse()?;
        match addr.key {
            InstanceKey::None => Ok(addr.resource_addr()),
            _ => Err(AddressError::new("Expected a resource without an instance key.")),
        }
    }
}

impl FromStr for ConfigResourceAddr {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let addr: ResourceAddr = text.parse()?;
        if addr.module.0.iter().any(|step| step.key != InstanceKey::None) {
            return Err(AddressError::new("Expected a resource block, without instance keys."));
        }
        Ok(addr.config_addr())
    }
}

impl FromStr for ProviderConfigAddr {
    type Err = AddressError;

    /// Reads `module.a.provider["host/namespace/type"].alias`, and the old form `provider.type`.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let bad = || {
            AddressError::new(format!(
                "`{text}` does not name a provider configuration; expected \
                 `provider[\"HOST/NAMESPACE/TYPE\"]`, followed by `.ALIAS` if it has an alias."
            ))
        };
        let steps = split_address(text)?;
        let mut rest = steps.as_slice();
        let module = parse_module_prefix(&mut rest)?;
        let [AddressStep::Name(word), provider_step, rest @ ..] = rest else { return Err(bad()) };
        let provider = match provider_step {
            _ if word != "provider" => return Err(bad()),
            AddressStep::Key(InstanceKey::Str(source)) => ProviderAddr::from_state(source)?,
            // States from before Terraform 0.13 name a provider only by its type.
            AddressStep::Name(kind) => ProviderAddr::implied_by_name(kind),
            AddressStep::Key(_) => return Err(bad()),
        };
        let alias = match rest {
            [] => None,
            [AddressStep::Name(alias)] => Some(alias.clone()),
            _ => return Err(bad()),
        };
        Ok(Self { module: module.path(), provider, alias })
    }
}

#[cfg(test)]
mod tests;
