//! Configuration that is generated for imported objects: its file, and its later use.

use crate::harness::{Workdir, instances, test_provider};

const HEADER: &str =
    "terraform {\n  required_providers {\n    test = { source = \"formwork/test\" }\n  }\n}\n";
/// Differs from the real object once it is generated: computed values are not in it.
const IMPORT: &str =
    "import {\n  to = test_nested.n\n  id = jsonencode({ id = \"x\", name = \"n\" })\n}\n";

fn workdir() -> Workdir {
    let workdir = Workdir::new(&format!("{HEADER}{IMPORT}"));
    workdir.link_plugin(test_provider());
    workdir
}

#[test]
fn a_saved_plan_applies_generated_configuration_without_its_file() {
    let workdir = workdir();
    let planned = workdir.formwork("plan -generate-config-out=made.tf -out=plan").succeed();
    planned.says("written it to made.tf").says("(imported from");
    let generated = workdir.read("made.tf");
    assert!(generated.contains("resource \"test_nested\" \"n\" {"), "{generated}");
    workdir.formwork("apply plan").succeed().says("1 imported, 0 added, 1 changed");
    assert_eq!(instances(&workdir).len(), 1);
    // Now that it is written, nothing is left to do.
    workdir.formwork("plan -detailed-exitcode").succeed().says("No changes");
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let workdir = workdir();
    workdir.write("made.tf", "# mine\n");
    let refused = workdir.formwork("plan -generate-config-out=made.tf").run();
    refused.code(1).says("Target generated file already exists");
    assert_eq!(workdir.read("made.tf"), "# mine\n");
    let refused = workdir.formwork("plan -generate-config-out=nowhere/made.tf").run();
    refused.code(1).says("Failed to create target generated file");
}
