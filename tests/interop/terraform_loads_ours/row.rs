//! Rows of the table of everything that our providers offer, and the configuration that a row is in each
//! stage of its life. Runs nothing.

use serde_json::{Map, Value};

/// A provider, and the lifecycles of its objects.
pub(super) struct Provider {
    /// Its source address, as a configuration names it.
    pub(super) source: &'static str,
    /// Configuration in addition to the rows: the provider's settings, locals, more objects. The generated
    /// attributes of these objects are not listed, so that only their shape is compared.
    pub(super) fixture: String,
    /// Files that are in the directory, with their content.
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) resources: Vec<Resource>,
    pub(super) other_types: Vec<Other>,
}

/// A managed resource type. Every step is listed, with the reason if it is not the usual one.
/// Strings are the inside of a block, whose address is `KIND.row`.
pub(super) struct Resource {
    pub(super) kind: &'static str,
    pub(super) create: &'static str,
    pub(super) update: Update,
    pub(super) replace: Replace,
    pub(super) import: Import,
    /// Attributes with unpredictable values; they are compared by shape.
    pub(super) generated: &'static [&'static str],
}

/// The configuration that comes second.
#[derive(Clone, Copy)]
pub(super) enum Update {
    InPlace(&'static str),
    /// No attribute can be changed in place.
    Replaces(&'static str, Reason),
}

/// The configuration that comes third.
#[derive(Clone, Copy)]
pub(super) enum Replace {
    By(&'static str),
    /// No argument requires a replacement, so the command requests it.
    OnRequest(Reason),
}

/// Import of an object that has been forgotten.
#[derive(Clone, Copy)]
pub(super) enum Import {
    /// Import by this id, in which `{name}` is replaced by an attribute. Nothing changes afterwards.
    By(&'static str),
    /// Import by this id. Attributes that the import cannot set are changed in place.
    Incomplete(&'static str, Reason),
    /// No import. The provider reports it with these words.
    Refused(&'static str),
}

type Reason = &'static str;

/// Data source, function or ephemeral resource, which every stage has.
#[derive(Clone, Copy)]
pub(super) enum Other {
    /// A data source, the body of its block, and its generated attributes.
    Data(&'static str, &'static str, &'static [&'static str]),
    /// A function, and a call of it, whose result becomes an output.
    Function(&'static str, &'static str),
    /// An ephemeral resource, the inside of its block, and what must be true when it is open.
    Ephemeral(&'static str, &'static str, &'static str),
}

/// The stages, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LifecycleStage {
    Create,
    Update,
    Replace,
}

impl LifecycleStage {
    pub(super) const ALL: [Self; 3] = [Self::Create, Self::Update, Self::Replace];
}

impl Resource {
    pub(super) fn address(&self) -> String {
        format!("{}.row", self.kind)
    }

    /// The inside of its block in a stage.
    fn body(&self, stage: LifecycleStage) -> &'static str {
        let (Update::InPlace(updated) | Update::Replaces(updated, _)) = self.update;
        match (stage, self.replace) {
            (LifecycleStage::Create, _) => self.create,
            (LifecycleStage::Update, _) | (LifecycleStage::Replace, Replace::OnRequest(_)) => {
                updated
            }
            (LifecycleStage::Replace, Replace::By(replaced)) => replaced,
        }
    }

    /// Whether a plan has the action of the stage for the object.
    pub(super) fn is_planned(&self, stage: LifecycleStage, actions: &Value) -> bool {
        let actions: Vec<_> =
            actions.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        match (stage, self.update) {
            (LifecycleStage::Create, _) => actions == ["create"],
            (LifecycleStage::Update, Update::InPlace(_)) => actions == ["update"],
            (LifecycleStage::Update, Update::Replaces(..)) | (LifecycleStage::Replace, _) => {
                actions == ["delete", "create"] || actions == ["create", "delete"]
            }
        }
    }

    /// The row of the table that is printed.
    pub(super) fn line(&self) -> String {
        let update = match self.update {
            Update::InPlace(_) => "update".to_owned(),
            Update::Replaces(_, reason) => format!("no update ({reason})"),
        };
        let replace = match self.replace {
            Replace::By(_) => "replace".to_owned(),
            Replace::OnRequest(reason) => format!("replace when asked ({reason})"),
        };
        let import = match self.import {
            Import::By(_) => "import".to_owned(),
            Import::Incomplete(_, reason) => format!("import, then update ({reason})"),
            Import::Refused(words) => format!("no import ({words})"),
        };
        format!("{:<26} create, {update}, {replace}, {import}, destroy", self.kind)
    }
}

impl Other {
    /// Its name among those that the schema lists under the heading that comes with it.
    pub(super) fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Data(kind, ..) => ("data_source_schemas", kind),
            Self::Function(name, _) => ("functions", name),
            Self::Ephemeral(kind, ..) => ("ephemeral_resource_schemas", kind),
        }
    }

    fn block(self, provider: &str) -> String {
        match self {
            Self::Data(kind, body, _) => format!("data {kind:?} \"row\" {{\n{body}\n}}\n"),
            Self::Function(name, arguments) => format!(
                "output {name:?} {{\n  value = provider::{provider}::{name}({arguments})\n}}\n"
            ),
            // Terraform 1.11 crashes when it shows conditions inside an ephemeral resource.
            Self::Ephemeral(kind, body, condition) => format!(
                "ephemeral {kind:?} \"row\" {{\n{body}\n}}\noutput \"{kind}_opened\" {{\n  value = true\n  \
                 precondition {{\n    condition     = {condition}\n    error_message = \"It is not.\"\n  }}\n}}\n"
            ),
        }
    }
}

impl Provider {
    pub(super) fn name(&self) -> &'static str {
        self.source.rsplit('/').next().unwrap_or_default()
    }

    /// Everything, as it is in a stage.
    pub(super) fn config(&self, stage: LifecycleStage) -> String {
        let (name, source) = (self.name(), self.source);
        let needs = format!(
            "terraform {{\n  required_providers {{\n    {name} = {{ source = {source:?} }}\n  }}\n}}\n"
        );
        let resources = self.resources.iter().map(|resource| {
            format!("resource {:?} \"row\" {{\n{}\n}}\n", resource.kind, resource.body(stage))
        });
        let others = self.other_types.iter().map(|other| other.block(name));
        [needs, self.fixture.clone()].into_iter().chain(resources).chain(others).collect()
    }

    /// Imports of objects whose types have none.
    pub(super) fn refused(&self) -> Vec<(&'static str, String)> {
        let refused = self.resources.iter().filter_map(|resource| {
            let Import::Refused(words) = resource.import else { return None };
            let (kind, body) = (resource.kind, resource.create);
            Some((words, format!("resource {kind:?} \"refused\" {{\n{body}\n}}\nimport {{\n  to = {kind}.refused\n  id = \"x\"\n}}\n")))
        });
        refused.collect()
    }

    /// Replaces unpredictable values by their kind, in a state or in the view of a plan.
    pub(super) fn shape(&self, document: &mut Value) {
        match document {
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.shape(element)),
            Value::Object(members) if members.contains_key("mode") => match self.generated(members)
            {
                Some(generated) => replace_values_by_kinds(document, generated),
                None => {
                    for instance in document["instances"].as_array_mut().into_iter().flatten() {
                        kinds(&mut instance["attributes"]);
                    }
                }
            },
            Value::Object(members) => members.values_mut().for_each(|member| self.shape(member)),
            _ => {}
        }
    }

    /// Generated attributes of an object; `None` if it has no row.
    fn generated(&self, object: &Map<String, Value>) -> Option<&'static [&'static str]> {
        let text = |name| object.get(name).and_then(Value::as_str);
        text("name").filter(|name| *name == "row")?;
        let kind = text("type")?;
        if text("mode") == Some("managed") {
            return self.resources.iter().find(|row| row.kind == kind).map(|row| row.generated);
        }
        self.other_types.iter().find_map(|other| match other {
            Other::Data(row, _, generated) if *row == kind => Some(*generated),
            _ => None,
        })
    }
}

/// Replaces the members of these names by their kinds, wherever they are.
fn replace_values_by_kinds(value: &mut Value, names: &[&str]) {
    match value {
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| replace_values_by_kinds(element, names));
        }
        Value::Object(members) => {
            for (name, member) in members {
                if names.contains(&name.as_str()) {
                    kinds(member);
                } else {
                    replace_values_by_kinds(member, names);
                }
            }
        }
        _ => {}
    }
}

/// Replaces strings and numbers by the names of their kinds.
fn kinds(value: &mut Value) {
    match value {
        Value::String(text) => *text = "text".to_owned(),
        Value::Number(_) => *value = Value::from(0),
        Value::Array(elements) => elements.iter_mut().for_each(kinds),
        Value::Object(members) => members.values_mut().for_each(kinds),
        Value::Null | Value::Bool(_) => {}
    }
}
