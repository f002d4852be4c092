//! `archive`, `local`, `null`, and the built-in provider.

use super::super::row::{Import, Other, Provider, Replace, Resource, Update};

const NO_IMPORT: Import = Import::Refused("Resource import not supported");

pub(super) fn archive() -> Provider {
    Provider {
        source: "hashicorp/archive",
        fixture: r#"
resource "archive_file" "directory" {
  type             = "tar.gz"
  output_path      = "${path.module}/out/b.tar.gz"
  output_file_mode = "0644"
  source_dir       = path.module
  excludes         = ["*.tf*", "out/**", "terraform.tfstate*", ".*", "**/*.{lock,info}"]
}
"#
        .to_owned(),
        files: &[("kept.txt", "kept")],
        resources: vec![Resource {
            kind: "archive_file",
            create: r#"
  type        = "zip"
  output_path = "${path.module}/out/a.zip"
  source {
    filename = "a/one.txt"
    content  = "one"
  }
  source {
    filename = "two.txt"
    content  = "two"
  }
"#,
            update: Update::InPlace(
                r#"
  type                        = "zip"
  output_path                 = "${path.module}/out/a.zip"
  exclude_symlink_directories = true
  source {
    filename = "a/one.txt"
    content  = "one"
  }
  source {
    filename = "two.txt"
    content  = "two"
  }
"#,
            ),
            replace: Replace::By(
                r#"
  type        = "tar.gz"
  output_path = "${path.module}/out/a.tar.gz"
  source_file = "${path.module}/kept.txt"
"#,
            ),
            import: NO_IMPORT,
            generated: &[],
        }],
        other_types: vec![Other::Data(
            "archive_file",
            r#"
  type                    = "zip"
  output_path             = "${path.module}/out/c.zip"
  source_content          = "text"
  source_content_filename = "c.txt"
"#,
            &[],
        )],
    }
}

pub(super) fn local() -> Provider {
    Provider {
        source: "hashicorp/local",
        fixture: String::new(),
        files: &[("kept.txt", "kept <&>")],
        resources: vec![
            Resource {
                kind: "local_file",
                create: r#"
  filename        = "${path.module}/a.txt"
  content         = "one <&>"
  file_permission = "0600"
"#,
                update: Update::Replaces(
                    r#"
  filename        = "${path.module}/a.txt"
  content         = "two <&>"
  file_permission = "0600"
"#,
                    "another content is another file",
                ),
                replace: Replace::By(
                    "  filename = \"${path.module}/b.txt\"\n  content  = \"two <&>\"",
                ),
                import: NO_IMPORT,
                generated: &[],
            },
            Resource {
                kind: "local_sensitive_file",
                create: "  filename       = \"${path.module}/c.bin\"\n  content_base64 = \"AAEC\"",
                update: Update::Replaces(
                    "  filename = \"${path.module}/c.bin\"\n  content  = \"secret\"",
                    "another content is another file",
                ),
                replace: Replace::By(
                    "  filename = \"${path.module}/c.bin\"\n  source   = \"${path.module}/kept.txt\"",
                ),
                import: NO_IMPORT,
                generated: &[],
            },
        ],
        other_types: vec![
            Other::Data(
                "local_command",
                "  command           = \"sh\"\n  arguments         = [\"-c\", \"cat; echo $0\", \"<&>\"]\n  \
                 stdin             = \"in \"\n  working_directory = path.module",
                &[],
            ),
            Other::Data("local_file", "  filename = \"${path.module}/kept.txt\"", &[]),
            Other::Data("local_sensitive_file", "  filename = local_file.row.filename", &[]),
            Other::Function("direxists", "path.module"),
            Other::Ephemeral(
                "local_command",
                "  command                  = \"false\"\n  allow_non_zero_exit_code = true",
                "ephemeral.local_command.row.exit_code == 1",
            ),
        ],
    }
}

pub(super) fn null() -> Provider {
    Provider {
        source: "hashicorp/null",
        fixture: "resource \"null_resource\" \"plain\" {\n}\n".to_owned(),
        files: &[],
        resources: vec![Resource {
            kind: "null_resource",
            create: "  triggers = { a = null_resource.plain.id }",
            update: Update::Replaces(
                "  triggers = { a = null_resource.plain.id, b = \"x\" }",
                "it has nothing but triggers",
            ),
            replace: Replace::By("  triggers = { a = null_resource.plain.id, b = \"y\" }"),
            import: NO_IMPORT,
            generated: &["id", "triggers"],
        }],
        other_types: vec![Other::Data("null_data_source", "  inputs = { a = \"x\" }", &["random"])],
    }
}

pub(super) fn builtin() -> Provider {
    Provider {
        source: "terraform.io/builtin/terraform",
        fixture: String::new(),
        files: &[(
            "remote.tfstate",
            r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "a",
"outputs": {"o": {"value": [1, "x"], "type": ["tuple", ["number", "string"]]}}, "resources": []}"#,
        )],
        resources: vec![Resource {
            kind: "terraform_data",
            create: "  input            = { a = [1, \"x\"] }\n  triggers_replace = [\"a\"]",
            update: Update::InPlace("  input            = null\n  triggers_replace = [\"a\"]"),
            replace: Replace::By("  input = true"),
            import: Import::Incomplete("{id}", "the id is all that it knows"),
            generated: &["id"],
        }],
        other_types: vec![
            Other::Data(
                "terraform_remote_state",
                "  backend  = \"local\"\n  config   = { path = \"${path.module}/remote.tfstate\" }\n  \
                 defaults = { p = \"q\" }",
                &[],
            ),
            Other::Function("decode_tfvars", "\"a = [1, true]\""),
            Other::Function("encode_tfvars", "{ a = [1, \"x\"] }"),
            Other::Function("encode_expr", "{ a = [1, \"${upper(\"x\")}\"] }"),
        ],
    }
}
