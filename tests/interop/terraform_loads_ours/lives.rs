//! What the objects of each provider live through. Every resource type is created, changed in place or
//! replaced, or both, imported where it can be, and destroyed.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use super::{Story, check};

#[test]
fn both_live_with_the_archive_provider() {
    let config = |text| {
        format!(
            r#"
resource "archive_file" "zip" {{
  type        = "zip"
  output_path = "${{path.module}}/out/a.zip"
  source {{
    filename = "a/one.txt"
    content  = "{text}"
  }}
  source {{
    filename = "two.txt"
    content  = "two"
  }}
}}
resource "archive_file" "folder" {{
  type             = "tar.gz"
  output_path      = "${{path.module}}/out/b.tar.gz"
  output_file_mode = "0644"
  source_dir       = path.module
  excludes         = ["*.tfrc", "out/**", "terraform.tfstate*", ".*", "**/*.{{lock,info}}", "saved"]
}}
data "archive_file" "content" {{
  type                    = "zip"
  output_path             = "${{path.module}}/out/c.zip"
  source_content          = "{text}"
  source_content_filename = "c.txt"
}}
output "digests" {{
  value = [archive_file.zip.output_base64sha256, data.archive_file.content.output_md5]
}}
"#
        )
    };
    check(Story { chapters: &[&config("one"), &config("1")], imports: &[] });
}

#[test]
fn both_live_with_the_http_provider() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    // Ends with the test program.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let n_bytes = stream.read(&mut [0; 4096]).unwrap();
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhallo";
            if n_bytes > 0 {
                stream.write_all(answer.as_bytes()).unwrap();
            }
        }
    });
    let config = |method| {
        format!(
            r#"
data "http" "a" {{
  url             = "http://{place}/"
  method          = "{method}"
  request_headers = {{ Accept = "text/plain" }}
  retry {{
    attempts     = 1
    min_delay_ms = 1
  }}
}}
output "body" {{
  value = [data.http.a.status_code, data.http.a.response_body]
}}
"#
        )
    };
    check(Story { chapters: &[&config("GET"), &config("POST")], imports: &[] });
}

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

#[test]
fn both_live_with_the_tls_provider() {
    let config = |organization, early| {
        format!(
            r#"
provider "tls" {{
  proxy {{
    from_env = false
  }}
}}
resource "tls_private_key" "ca" {{
  algorithm   = "ECDSA"
  ecdsa_curve = "P384"
}}
resource "tls_private_key" "a" {{
  algorithm = "ED25519"
}}
resource "tls_self_signed_cert" "ca" {{
  private_key_pem       = tls_private_key.ca.private_key_pem
  is_ca_certificate     = true
  validity_period_hours = 48
  early_renewal_hours   = {early}
  allowed_uses          = ["cert_signing"]
  subject {{
    common_name    = "ca"
    organization   = "{organization}"
    street_address = ["a", "b"]
  }}
}}
resource "tls_cert_request" "a" {{
  private_key_pem = tls_private_key.a.private_key_pem
  dns_names       = ["{organization}.example.com"]
  dynamic "subject" {{
    for_each = ["a"]
    content {{
      common_name = subject.value
    }}
  }}
}}
resource "tls_locally_signed_cert" "a" {{
  ca_private_key_pem    = tls_private_key.ca.private_key_pem
  ca_cert_pem           = tls_self_signed_cert.ca.cert_pem
  cert_request_pem      = tls_cert_request.a.cert_request_pem
  validity_period_hours = 24
  early_renewal_hours   = {early}
  allowed_uses          = ["server_auth", "key_encipherment"]
}}
data "tls_public_key" "a" {{
  private_key_openssh = tls_private_key.a.private_key_openssh
}}
data "tls_certificate" "ca" {{
  content = tls_self_signed_cert.ca.cert_pem
}}
ephemeral "tls_private_key" "passing" {{
  algorithm = "ED25519"
}}
output "same" {{
  value = data.tls_public_key.a.public_key_pem == tls_private_key.a.public_key_pem
}}
output "subject" {{
  value = one(data.tls_certificate.ca.certificates[*].subject)
}}
"#
        )
    };
    check(Story {
        chapters: &[&config("one", 1), &config("one", 2), &config("two", 2)],
        imports: &[],
    });
}
