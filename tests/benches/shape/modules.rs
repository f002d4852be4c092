//! Configurations with modules, installed as by `init`.

use std::fmt::Write as _;

use super::Shape;

/// A typical module: variables, two resources, outputs.
const SMALL: &str = r#"
variable "name" {
  type = string
}
variable "size" {
  type    = number
  default = 1
}
variable "tags" {
  type    = map(string)
  default = {}
}
locals {
  title = "${var.name}-${var.size}"
  all   = merge(var.tags, { title = local.title })
}
resource "terraform_data" "one" {
  input = local.title
}
resource "terraform_data" "two" {
  input = { one = terraform_data.one.output, all = local.all }
}
output "one" {
  value = terraform_data.one.id
}
output "title" {
  value = local.title
}
"#;

/// Number of variables of a module that has nothing else.
const VARIABLES: usize = 60;
/// Number of calls of the small module in the module in between.
const INNER: usize = 10;

/// The files of a shape with modules.
pub(super) fn files(shape: Shape, size: usize) -> Vec<(String, String)> {
    let mut main = String::new();
    let mut installed = Installed::default();
    let mut files = Vec::new();
    match shape {
        Shape::ModuleCount => {
            main.push_str(&call(
                "m",
                "./small",
                &format!("count = {size}\n  name = \"n${{count.index}}\""),
            ));
            installed.add("m", "./small", "small");
            files.push(module("small", SMALL.to_owned()));
        }
        Shape::Nested => {
            let n_outer = size.div_ceil(INNER);
            let mut between = String::from("variable \"name\" {\n  type = string\n}\n");
            for index in 0..INNER {
                between.push_str(&call(&format!("in{index}"), "../small", "name = var.name"));
            }
            for index in 0..n_outer {
                let name = format!("m{index}");
                main.push_str(&call(&name, "./between", &format!("name = \"n{index}\"")));
                installed.add(&name, "./between", "between");
                for inner in 0..INNER {
                    installed.add(&format!("{name}.in{inner}"), "../small", "small");
                }
            }
            files.push(module("between", between));
            files.push(module("small", SMALL.to_owned()));
        }
        Shape::ModuleVariables => {
            let mut text = String::new();
            let mut arguments = String::new();
            for index in 0..VARIABLES {
                writeln!(text, "variable \"v{index}\" {{\n  type = string\n}}").ok();
                writeln!(arguments, "v{index} = \"value {index}\"").ok();
            }
            for index in 0..size {
                let name = format!("m{index}");
                main.push_str(&call(&name, "./many", &arguments));
                installed.add(&name, "./many", "many");
            }
            files.push(module("many", text));
        }
        _ => {
            for index in 0..size {
                let name = format!("m{index}");
                main.push_str(&call(&name, "./small", &format!("name = \"n{index}\"")));
                installed.add(&name, "./small", "small");
            }
            files.push(module("small", SMALL.to_owned()));
        }
    }
    files.push(("main.tf".to_owned(), main));
    files.push((".terraform/modules/modules.json".to_owned(), installed.text()));
    files
}

fn call(name: &str, source: &str, arguments: &str) -> String {
    format!("module \"{name}\" {{\n  source = \"{source}\"\n  {arguments}\n}}\n")
}

fn module(directory: &str, text: String) -> (String, String) {
    (format!("{directory}/main.tf"), text)
}

/// Manifest that `init` writes of the locations of modules.
#[derive(Default)]
struct Installed(Vec<String>);

impl Installed {
    fn add(&mut self, key: &str, source: &str, directory: &str) {
        self.0.push(format!(r#"{{"Key":"{key}","Source":"{source}","Dir":"{directory}"}}"#));
    }

    fn text(mut self) -> String {
        self.0.push(r#"{"Key":"","Source":"","Dir":"."}"#.to_owned());
        format!(r#"{{"Modules":[{}]}}"#, self.0.join(","))
    }
}
