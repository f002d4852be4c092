//! Finds the messages of protocol 5 that are the same on the wire as one of protocol 6. Independent
//! of Rust types.

use std::collections::BTreeMap;
use std::fmt;

use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet};

/// Message families with another name in protocol 6.
const RENAMED_FAMILIES: [(&str, &str); 5] = [
    ("PrepareProviderConfig", "ValidateProviderConfig"),
    ("ValidateResourceTypeConfig", "ValidateResourceConfig"),
    ("ValidateDataSourceConfig", "ValidateDataResourceConfig"),
    ("Configure", "ConfigureProvider"),
    ("Stop", "StopProvider"),
];

/// Result of the comparison for each message and enum of protocol 5, by its full name
/// `.tfplugin5.Schema.Block`.
#[derive(Debug)]
pub struct ProtocolComparison {
    sharings: BTreeMap<String, V5TypeSharing>,
}

/// Whether a message or enum of protocol 5 can have the Rust type of protocol 6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum V5TypeSharing {
    /// It has the same fields as the named message. Protocol 6 may have `extra` ones, by name.
    Shared {
        /// The full name of the one in protocol 6.
        v6_name: String,
        /// Fields only protocol 6 has.
        extra: Vec<String>,
    },
    /// A reader of protocol 6 would misread it, for the reason given.
    Own(String),
}

/// A description that lacks one of the two protocols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPackage(&'static str);

impl fmt::Display for MissingPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no package {} among the descriptions", self.0)
    }
}

impl std::error::Error for MissingPackage {}

impl ProtocolComparison {
    /// Compares the two protocols.
    ///
    /// # Errors
    /// When the description of one protocol is missing.
    pub fn compare_protocols(descriptions: &FileDescriptorSet) -> Result<Self, MissingPackage> {
        let v5 = Package::find_package(descriptions, "tfplugin5")?;
        let v6 = Package::find_package(descriptions, "tfplugin6")?;
        let mut sharings: BTreeMap<String, V5TypeSharing> =
            v5.enums
                .iter()
                .map(|(name, definition)| (name.clone(), compare_enum(name, definition, &v6)))
                .chain(v5.messages.iter().map(|(name, definition)| {
                    (name.clone(), compare_message(name, definition, &v6))
                }))
                .collect();
        // A message that holds one of its own kind is of its own kind too.
        // Repeated until nothing changes: an own `Attribute` makes `Block` an own message, and that
        // makes `Schema` one. Each round adds one, so it ends.
        while let Some((name, sharing)) = next_wrongly_shared(&v5, &sharings) {
            sharings.insert(name, sharing);
        }
        Ok(Self { sharings })
    }

    /// Goes through everything of protocol 5 in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V5TypeSharing)> {
        self.sharings.iter().map(|(name, sharing)| (name.as_str(), sharing))
    }

    /// The names in protocol 5 and protocol 6 of messages that can be one type. A message is left
    /// out when a type declared inside it is not shared.
    pub fn shared_v5_v6_name_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter_map(|(name, sharing)| match sharing {
            // prost maps everything below an external path, so an outer message with an own message
            // inside would drag that one along.
            V5TypeSharing::Shared { v6_name, .. } if self.is_everything_inside_shared(name) => {
                Some((name, v6_name.as_str()))
            }
            _ => None,
        })
    }

    fn is_everything_inside_shared(&self, outer: &str) -> bool {
        let prefix = format!("{outer}.");
        self.sharings
            .range(prefix.clone()..)
            .take_while(|(name, _)| name.starts_with(&prefix))
            .all(|(_, sharing)| matches!(sharing, V5TypeSharing::Shared { .. }))
    }
}

/// The messages and enums of a package by full name.
struct Package<'d> {
    messages: BTreeMap<String, &'d DescriptorProto>,
    enums: BTreeMap<String, &'d EnumDescriptorProto>,
}

impl<'d> Package<'d> {
    fn find_package(
        descriptions: &'d FileDescriptorSet,
        name: &'static str,
    ) -> Result<Self, MissingPackage> {
        let file = descriptions
            .file
            .iter()
            .find(|file| file.package() == name)
            .ok_or(MissingPackage(name))?;
        let mut package = Self { messages: BTreeMap::new(), enums: BTreeMap::new() };
        package.add_messages_and_enums(&format!(".{name}"), &file.message_type, &file.enum_type);
        Ok(package)
    }

    fn add_messages_and_enums(
        &mut self,
        prefix: &str,
        messages: &'d [DescriptorProto],
        enums: &'d [EnumDescriptorProto],
    ) {
        for definition in enums {
            self.enums.insert(format!("{prefix}.{}", definition.name()), definition);
        }
        for message in messages {
            let name = format!("{prefix}.{}", message.name());
            self.add_messages_and_enums(&name, &message.nested_type, &message.enum_type);
            self.messages.insert(name, message);
        }
    }
}

/// The name in protocol 6 of a type of protocol 5; other names are unchanged.
fn name_in_v6(v5: &str) -> String {
    let Some(inner) = v5.strip_prefix(".tfplugin5.") else { return v5.to_owned() };
    let (family, suffix) = match inner.split_once('.') {
        Some((family, suffix)) => (family, format!(".{suffix}")),
        None => (inner, String::new()),
    };
    let renamed = RENAMED_FAMILIES
        .iter()
        .find(|(old_name, _)| *old_name == family)
        .map_or(family, |(_, new_name)| new_name);
    format!(".tfplugin6.{renamed}{suffix}")
}

fn compare_enum(name: &str, v5: &EnumDescriptorProto, v6: &Package<'_>) -> V5TypeSharing {
    let v6_name = name_in_v6(name);
    let Some(v6_enum) = v6.enums.get(&v6_name) else {
        return V5TypeSharing::Own("protocol 6 has no such enum".to_owned());
    };
    let values = |definition: &EnumDescriptorProto| {
        definition
            .value
            .iter()
            .map(|value| (value.number(), value.name().to_owned()))
            .collect::<Vec<_>>()
    };
    // An enum travels as its number, but its names become Rust variants: one type for both needs
    // both alike.
    if values(v5) == values(v6_enum) {
        V5TypeSharing::Shared { v6_name, extra: Vec::new() }
    } else {
        V5TypeSharing::Own("its values differ".to_owned())
    }
}

fn compare_message(name: &str, v5: &DescriptorProto, v6: &Package<'_>) -> V5TypeSharing {
    let v6_name = name_in_v6(name);
    let Some(v6_message) = v6.messages.get(&v6_name) else {
        return V5TypeSharing::Own("protocol 6 has no such message".to_owned());
    };
    for field in &v5.field {
        // By number: the wire identifies a field only by its number, and a name may have moved, as
        // `write_only` has (10 in protocol 5, 11 in protocol 6).
        let Some(v6_field) =
            v6_message.field.iter().find(|v6_field| v6_field.number() == field.number())
        else {
            return V5TypeSharing::Own(format!("protocol 6 has no field {}", field.number()));
        };
        if FieldShape::of(field, v5) != FieldShape::of(v6_field, v6_message) {
            return V5TypeSharing::Own(format!(
                "field {} is {} here and {} in protocol 6",
                field.number(),
                field.name(),
                v6_field.name()
            ));
        }
    }
    // Extra fields are harmless: readers of protocol 5 ignore unknown fields.
    let is_known = |number| v5.field.iter().any(|field| field.number() == number);
    let extra = v6_message.field.iter().filter(|field| !is_known(field.number()));
    V5TypeSharing::Shared { extra: extra.map(|field| field.name().to_owned()).collect(), v6_name }
}

/// All that decides how a field looks on the wire and in code.
#[derive(PartialEq, Eq)]
struct FieldShape {
    name: String,
    ty: i32,
    of: String,
    label: i32,
    optional: bool,
    one_of: Option<String>,
}

impl FieldShape {
    fn of(field: &FieldDescriptorProto, message: &DescriptorProto) -> Self {
        let one_of = field.oneof_index.and_then(|index| {
            let group = message.oneof_decl.get(usize::try_from(index).ok()?)?;
            Some(group.name().to_owned())
        });
        Self {
            name: field.name().to_owned(),
            ty: field.r#type.unwrap_or_default(),
            of: name_in_v6(field.type_name()),
            label: field.label.unwrap_or_default(),
            // Presence does not change the wire form, but it is an `Option` in Rust.
            optional: field.proto3_optional(),
            one_of,
        }
    }
}

/// A message, so far considered shared, with a field of a type that is not shared.
fn next_wrongly_shared(
    v5: &Package<'_>,
    sharings: &BTreeMap<String, V5TypeSharing>,
) -> Option<(String, V5TypeSharing)> {
    let is_own = |name: &str| matches!(sharings.get(name), Some(V5TypeSharing::Own(_)));
    v5.messages.iter().filter(|(name, _)| !is_own(name)).find_map(|(name, message)| {
        let field = message.field.iter().find(|field| is_own(field.type_name()))?;
        Some((name.clone(), V5TypeSharing::Own(format!("it holds {}", field.type_name()))))
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};

    use super::*;

    fn found() -> ProtocolComparison {
        let descriptions = crate::compile_provider_protos(&crate::proto_dir()).unwrap();
        ProtocolComparison::compare_protocols(&descriptions).unwrap()
    }

    fn check(lines: impl Iterator<Item = String>, expect: &Expect) {
        let mut text = String::new();
        for line in lines {
            writeln!(text, "{line}").unwrap();
        }
        expect.assert_eq(&text);
    }

    #[test]
    fn few_messages_of_protocol_5_differ_from_protocol_6() {
        let comparison = found();
        let v5_specific = comparison.iter().filter_map(|(name, sharing)| match sharing {
            V5TypeSharing::Own(reason) => Some(format!("{name}: {reason}")),
            V5TypeSharing::Shared { .. } => None,
        });
        check(
            v5_specific,
            &expect![[r#"
            .tfplugin5.ActionSchema: it holds .tfplugin5.Schema
            .tfplugin5.GetMetadata.Response: field 8 is actions here and state_stores in protocol 6
            .tfplugin5.GetProviderSchema.Response: it holds .tfplugin5.Schema
            .tfplugin5.GetProviderSchema.Response.ActionSchemasEntry: it holds .tfplugin5.ActionSchema
            .tfplugin5.GetProviderSchema.Response.DataSourceSchemasEntry: it holds .tfplugin5.Schema
            .tfplugin5.GetProviderSchema.Response.EphemeralResourceSchemasEntry: it holds .tfplugin5.Schema
            .tfplugin5.GetProviderSchema.Response.ListResourceSchemasEntry: it holds .tfplugin5.Schema
            .tfplugin5.GetProviderSchema.Response.ResourceSchemasEntry: it holds .tfplugin5.Schema
            .tfplugin5.GetProvisionerSchema: protocol 6 has no such message
            .tfplugin5.GetProvisionerSchema.Request: protocol 6 has no such message
            .tfplugin5.GetProvisionerSchema.Response: protocol 6 has no such message
            .tfplugin5.PrepareProviderConfig.Response: protocol 6 has no field 1
            .tfplugin5.ProvisionResource: protocol 6 has no such message
            .tfplugin5.ProvisionResource.Request: protocol 6 has no such message
            .tfplugin5.ProvisionResource.Response: protocol 6 has no such message
            .tfplugin5.Schema: it holds .tfplugin5.Schema.Block
            .tfplugin5.Schema.Attribute: field 10 is write_only here and nested_type in protocol 6
            .tfplugin5.Schema.Block: it holds .tfplugin5.Schema.Attribute
            .tfplugin5.Schema.NestedBlock: it holds .tfplugin5.Schema.Block
            .tfplugin5.ValidateProvisionerConfig: protocol 6 has no such message
            .tfplugin5.ValidateProvisionerConfig.Request: protocol 6 has no such message
            .tfplugin5.ValidateProvisionerConfig.Response: protocol 6 has no such message
        "#]],
        );
    }

    #[test]
    fn protocol_6_has_more_fields_in_few_shared_messages() {
        let comparison = found();
        let extended = comparison.iter().filter_map(|(name, sharing)| match sharing {
            V5TypeSharing::Shared { extra, .. } if !extra.is_empty() => {
                Some(format!("{name}: {}", extra.join(", ")))
            }
            _ => None,
        });
        check(
            extended,
            &expect![[r#"
            .tfplugin5.ClientCapabilities: store_planned_private, computed_blocks_allowed
            .tfplugin5.PlanResourceChange.Request: planned_private
        "#]],
        );
    }

    #[test]
    fn most_messages_are_shared_by_both_protocols() {
        let comparison = found();
        let n_shared = comparison.shared_v5_v6_name_pairs().count();
        assert!(n_shared > 100, "only {n_shared} are shared");
    }
}
