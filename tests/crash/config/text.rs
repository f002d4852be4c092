//! Configurations as they are written.

use std::fmt::Write as _;

use super::group::Group;
use super::{Config, Link, StandaloneResource, type_of};

const REQUIRED: &str =
    "terraform {\n  required_providers {\n    crash = { source = \"formwork/crash\" }\n  }\n}\n";

/// The files of a configuration: the root module and the other one.
pub(crate) struct Files {
    pub(crate) main: String,
    pub(crate) inside: String,
}

impl Config {
    /// Writes it down.
    pub(crate) fn files(&self) -> Files {
        let mut files = Files { main: REQUIRED.to_owned(), inside: REQUIRED.to_owned() };
        files.main.push_str("module \"m\" {\n  source = \"./m\"\n}\n");
        for (number, resource) in &self.standalone {
            let block = self.block(*number, resource);
            match resource.is_inside {
                false => files.main.push_str(&block),
                true => {
                    files.inside.push_str(&block);
                    let id = format!("{}.{}.id", type_of(*number), resource.label);
                    // A `String` never refuses to be written to.
                    writeln!(files.inside, "output \"n{number}\" {{\n  value = {id}\n}}").ok();
                }
            }
        }
        files.main.extend(self.groups.iter().map(block_of));
        for (from, to) in &self.moves {
            // A resource in the root module has full addresses; a module has only its own.
            writeln!(files.main, "moved {{\n  from = {from}\n  to   = {to}\n}}").ok();
        }
        files
    }

    fn block(&self, number: u64, resource: &StandaloneResource) -> String {
        let mut block = format!(
            "resource {:?} {:?} {{\n  name = \"n{number}\"\n  size = {}\n  kind = \"k{}\"\n",
            type_of(number),
            resource.label,
            resource.traits.size,
            resource.traits.kind,
        );
        if let Some(link) = self.link_of(resource) {
            writeln!(block, "  link = {link}").ok();
        }
        if resource.creates_first {
            block.push_str("  lifecycle {\n    create_before_destroy = true\n  }\n");
        }
        block.push_str("}\n");
        block
    }

    /// The expression for the link of an object.
    fn link_of(&self, resource: &StandaloneResource) -> Option<String> {
        match resource.link {
            Link::Nothing => None,
            Link::Group(index) => {
                let label = &self.groups.get(index)?.label;
                Some(format!("join(\" \", [for one in crash_numbered.{label} : one.id])"))
            }
            Link::Standalone(target_number) => {
                let it = self.standalone.get(&target_number)?;
                Some(match it.is_inside && !resource.is_inside {
                    true => format!("module.m.n{target_number}"),
                    false => format!("{}.{}.id", type_of(target_number), it.label),
                })
            }
        }
    }
}

fn block_of(group: &Group) -> String {
    let Group { label, members, .. } = group;
    let mut block = format!("resource \"crash_numbered\" {label:?} {{\n");
    if members.is_empty() {
        block.push_str("  count = 0\n  name  = \"nobody\"\n");
    } else if group.is_counted {
        let of = |part: fn(&super::ObjectTraits) -> String| {
            let all: Vec<String> = members.values().map(|it| part(&it.traits)).collect();
            format!("[{}][count.index]", all.join(", "))
        };
        let name = group.name(0);
        let name = name.trim_end_matches('0');
        writeln!(block, "  count = {}\n  name  = \"{name}${{count.index}}\"", members.len()).ok();
        writeln!(block, "  size  = {}", of(|it| it.size.to_string())).ok();
        writeln!(block, "  kind  = {}", of(|it| format!("\"k{}\"", it.kind))).ok();
    } else {
        block.push_str("  for_each = {\n");
        for (number, member) in members {
            let (name, traits) = (group.name(*number), member.traits);
            writeln!(
                block,
                "    {} = {{ name = {name:?}, size = {}, kind = \"k{}\" }}",
                member.key, traits.size, traits.kind
            )
            .ok();
        }
        block.push_str(
            "  }\n  name = each.value.name\n  size = each.value.size\n  kind = each.value.kind\n",
        );
    }
    if group.creates_first() {
        block.push_str("  lifecycle {\n    create_before_destroy = true\n  }\n");
    }
    block.push_str("}\n");
    block
}
