//! Generates the Rust code of the plugin protocol from its descriptions, without protoc.
//!
//! Run it with `cargo run -p formwork-plugin-codegen` after changing a file in `proto/`; a test
//! compares the checked-in code with newly generated code. No other crate depends on this one at
//! run time.

pub mod protocol_comparison;

use std::error::Error;
use std::path::{Path, PathBuf};

use prost_types::FileDescriptorSet;

use protocol_comparison::ProtocolComparison;

/// Path of the Rust types of protocol 6 in the crate that uses them.
const V6_MODULE_PATH: &str = "crate::wire::generated::tfplugin6";

const PROVIDER_PROTO_FILES: [&str; 2] = ["tfplugin5.proto", "tfplugin6.proto"];

const GO_PLUGIN_PROTO_FILES: [&str; 4] =
    ["grpc_broker.proto", "grpc_controller.proto", "grpc_stdio.proto", "health.proto"];

/// The directory of the descriptions.
#[must_use]
pub fn proto_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto")
}

/// The directory of the generated code.
#[must_use]
pub fn generated_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/wire/generated")
}

/// Reads the descriptions of both provider protocols.
///
/// # Errors
/// When a description is missing or wrong.
pub fn compile_provider_protos(proto: &Path) -> Result<FileDescriptorSet, protox::Error> {
    protox::compile(PROVIDER_PROTO_FILES, [proto])
}

/// Writes the code for the descriptions in `proto` into the directory `out`, one file per package.
///
/// The provider protocols become messages only: one client and one server serve both, by method
/// path. The plumbing becomes clients and servers too. Of protocol 5, only those messages are written
/// that differ from protocol 6; the others are the types of protocol 6.
///
/// # Errors
/// When a description is wrong or a file cannot be written.
pub fn generate_wire_code(proto: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let descriptions = compile_provider_protos(proto)?;
    let comparison = ProtocolComparison::compare_protocols(&descriptions)?;
    let mut messages = tonic_builder(out).build_client(false).build_server(false);
    for (v5, v6) in comparison.shared_v5_v6_name_pairs() {
        // The code of protocol 5 names the type of protocol 6 then, so that one conversion serves
        // both.
        messages = messages.extern_path(v5, rust_path(v6));
    }
    messages.compile_fds(descriptions)?;

    // A builder of its own, because the plumbing has few methods and is the same for both versions:
    // here the generated clients and servers do.
    tonic_builder(out).compile_fds(protox::compile(GO_PLUGIN_PROTO_FILES, [proto])?)?;
    Ok(())
}

fn tonic_builder(out: &Path) -> tonic_prost_build::Builder {
    tonic_prost_build::configure()
        .out_dir(out)
        // Those lines are for build scripts, and this is a program.
        .emit_rerun_if_changed(false)
        // Payloads are passed on as they came: their bytes share the memory of the message.
        .bytes(".")
        // Map entries are written in a stable order.
        .btree_map(".")
        // No generated `connect`: `client/connect.rs` opens connections, with a pinned certificate.
        .build_transport(false)
}

/// The Rust path of a message of protocol 6, `.tfplugin6.GetFunctions.Response`.
fn rust_path(v6: &str) -> String {
    // A full name begins with a dot, so the first part is empty and the second is the package.
    let mut names: Vec<&str> = v6.split('.').skip(2).collect();
    let type_name = names.pop().unwrap_or_default();
    let modules = names.into_iter().map(|name| format!("::{}", to_snake_case(name)));
    format!("{V6_MODULE_PATH}{}::{type_name}", modules.collect::<String>())
}

fn to_snake_case(camel: &str) -> String {
    let mut snake = String::new();
    for (index, letter) in camel.char_indices() {
        if index > 0 && letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    fn read(directory: &Path) -> BTreeMap<String, String> {
        fs::read_dir(directory)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                (name, fs::read_to_string(entry.path()).unwrap())
            })
            .filter(|(_, text)| !text.is_empty())
            .collect()
    }

    #[test]
    fn generated_code_matches_the_protocol_descriptions() {
        let out = tempfile::tempdir().unwrap();
        generate_wire_code(&proto_dir(), out.path()).unwrap();
        let generated = read(out.path());
        let checked_in = read(&generated_dir());
        assert_eq!(
            generated.keys().collect::<Vec<_>>(),
            checked_in.keys().collect::<Vec<_>>(),
            "run `cargo run -p formwork-plugin-codegen`"
        );
        for (name, text) in &generated {
            // Not assert_eq: the files are thousands of lines long.
            assert!(
                *text == checked_in[name],
                "{name} is not up to date: run `cargo run -p formwork-plugin-codegen`"
            );
        }
    }

    #[test]
    fn nested_messages_are_in_a_module_named_after_the_outer_message() {
        assert_eq!(
            rust_path(".tfplugin6.InvokeAction.Event.Progress"),
            "crate::wire::generated::tfplugin6::invoke_action::event::Progress"
        );
        assert_eq!(
            rust_path(".tfplugin6.DynamicValue"),
            "crate::wire::generated::tfplugin6::DynamicValue"
        );
    }
}
