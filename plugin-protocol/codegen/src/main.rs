//! Regenerates the checked-in protobuf code.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let out = formwork_plugin_codegen::generated_dir();
    formwork_plugin_codegen::generate_wire_code(&formwork_plugin_codegen::proto_dir(), &out)
}
