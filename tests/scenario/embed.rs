//! A program that embeds the engine by the library of operations, without the command line.

use std::process::Command;

use crate::harness::built;

const CONFIG: &str = r#"
resource "random_pet" "a" {
  length = 2
}
resource "terraform_data" "b" {
  input = random_pet.a.id
}
output "name" {
  value = terraform_data.b.output
}
"#;

/// Runs the example in a directory with our provider `random`; returns its exit code and output.
fn embed(directory: &std::path::Path) -> (Option<i32>, String) {
    let output = Command::new(built("examples/embed"))
        .arg(directory)
        .arg("hashicorp/random")
        .arg(built("terraform-provider-random"))
        .output()
        .expect("the example was built");
    let (out, err) = (output.stdout, output.stderr);
    let text = [out, err].concat();
    let text = String::from_utf8(text).expect("the example prints text");
    (output.status.code(), text)
}

#[test]
fn a_program_of_a_few_lines_plans_and_applies_by_the_library() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("main.tf"), CONFIG).unwrap();
    let (code, text) = embed(directory.path());
    assert_eq!(code, Some(0), "{text}");
    for line in ["2 changes planned", "random_pet.a: Create done", "terraform_data.b: Create done"]
    {
        assert!(text.contains(line), "{text}");
    }
    let state = std::fs::read(directory.path().join("terraform.tfstate")).unwrap();
    let state: serde_json::Value = serde_json::from_slice(&state).unwrap();
    assert_eq!(state["resources"].as_array().map(Vec::len), Some(2), "{state}");
    let pet = &state["resources"][0]["instances"][0]["attributes"]["id"];
    assert_eq!(state["outputs"]["name"]["value"], *pet, "{state}");

    let (code, text) = embed(directory.path());
    assert_eq!((code, text.as_str()), (Some(0), "0 changes planned\n"));

    // An error in the configuration is reported and changes nothing.
    std::fs::write(directory.path().join("more.tf"), "output \"o\" { value = missing.a.b }\n")
        .unwrap();
    let (code, text) = embed(directory.path());
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Reference to undeclared resource"), "{text}");
}
