//! What the objects of each provider live through. Every resource type is created, changed in place or
//! replaced, or both, imported where it can be, and destroyed.

use super::{Story, check};

#[test]
fn both_live_with_the_external_provider() {
    let config = |value| {
        format!(
            r#"
data "external" "echo" {{
  program     = ["cat"]
  working_dir = path.module
  query       = {{ a = "{value}" }}
}}
output "o" {{
  value = data.external.echo.result
}}
"#
        )
    };
    check(Story { chapters: &[&config("x"), &config("y <&>")], imports: &[] });
}

#[test]
fn both_live_with_the_null_provider() {
    let config = |value| {
        format!(
            r#"
resource "null_resource" "plain" {{
}}
resource "null_resource" "triggered" {{
  triggers = {{ a = null_resource.plain.id, b = "{value}" }}
}}
data "null_data_source" "values" {{
  inputs = {{ a = "x" }}
}}
output "o" {{
  value = data.null_data_source.values.outputs
}}
"#
        )
    };
    check(Story { chapters: &[&config("x"), &config("y")], imports: &[] });
}

#[test]
fn both_live_with_the_random_provider() {
    let config = |keeper, length| {
        format!(
            r#"
resource "random_id" "a" {{
  byte_length = {length}
  prefix      = "p-"
}}
resource "random_integer" "a" {{
  min = 1
  max = {length}
}}
resource "random_password" "a" {{
  length      = 12
  min_numeric = 2
  keepers     = {{ k = "{keeper}" }}
}}
resource "random_password" "imported" {{
  length = {length}
}}
resource "random_pet" "a" {{
  keepers = {{ k = random_integer.a.result, l = "{keeper}" }}
}}
resource "random_shuffle" "a" {{
  input        = ["a", "b", "{keeper}"]
  result_count = 2
}}
resource "random_string" "a" {{
  length = {length}
}}
resource "random_uuid" "a" {{
  keepers = {{ k = "{keeper}" }}
}}
resource "random_uuid" "imported" {{
}}
output "password" {{
  value     = random_password.a.result
  sensitive = true
}}
output "pet" {{
  value = random_pet.a.id
}}
"#
        )
    };
    check(Story {
        chapters: &[&config("c", 8), &config("d", 9)],
        imports: &[
            ("random_id.a", "p-,{id}"),
            ("random_integer.a", "{result},{min},{max}"),
            ("random_password.imported", "{result}"),
            ("random_string.a", "{result}"),
            ("random_uuid.imported", "{result}"),
        ],
    });
}

#[test]
fn both_live_with_the_local_provider() {
    let config = |text| {
        format!(
            r#"
resource "local_file" "a" {{
  filename        = "${{path.module}}/a.txt"
  content         = "{text} <&>"
  file_permission = "0600"
}}
resource "local_sensitive_file" "b" {{
  filename       = "${{path.module}}/b.bin"
  content_base64 = base64encode("secret {text}")
}}
data "local_file" "read" {{
  filename = local_file.a.filename
}}
output "read" {{
  value = data.local_file.read.content
}}
"#
        )
    };
    check(Story { chapters: &[&config("one"), &config("two")], imports: &[] });
}

#[test]
fn both_live_with_the_time_provider() {
    let config = |date, years| {
        format!(
            r#"
resource "time_static" "a" {{
  rfc3339 = "{date}T12:00:00Z"
}}
resource "time_static" "now" {{
  triggers = {{ years = {years} }}
}}
resource "time_offset" "a" {{
  base_rfc3339 = time_static.a.rfc3339
  offset_years = {years}
}}
resource "time_rotating" "a" {{
  rfc3339        = "{date}T12:00:00Z"
  rotation_years = {years}
}}
resource "time_sleep" "a" {{
  create_duration = "{years}ms"
}}
output "o" {{
  value = [time_offset.a.year, time_offset.a.rfc3339]
}}
"#
        )
    };
    check(Story {
        chapters: &[
            &config("2024-02-29", 50),
            &config("2024-02-29", 60),
            &config("2023-02-28", 60),
        ],
        imports: &[
            ("time_static.a", "{rfc3339}"),
            ("time_offset.a", "{base_rfc3339},{offset_years},0,0,0,0,0"),
            ("time_rotating.a", "{rfc3339},{rotation_years},0,0,0,0"),
        ],
    });
}
