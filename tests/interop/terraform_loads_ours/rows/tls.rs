//! `tls`: keys, and certificates that hang together.

use super::super::row::{Import, Other, Provider, Replace, Resource, Update};

const NO_IMPORT: Import = Import::Refused("Resource import not supported");

/// Beside the rows: an authority, so that a row that changes does not change others.
const FIXTURE: &str = r#"
provider "tls" {
  proxy {
    from_env = false
  }
}
resource "tls_private_key" "ca" {
  algorithm   = "ECDSA"
  ecdsa_curve = "P384"
}
resource "tls_self_signed_cert" "ca" {
  private_key_pem       = tls_private_key.ca.private_key_pem
  is_ca_certificate     = true
  validity_period_hours = 48
  allowed_uses          = ["cert_signing"]
  subject {
    common_name    = "ca"
    street_address = ["a", "b"]
  }
}
resource "tls_cert_request" "asked" {
  private_key_pem = tls_private_key.ca.private_key_pem
  dynamic "subject" {
    for_each = ["a"]
    content {
      common_name = subject.value
    }
  }
}
"#;

pub(super) fn provider() -> Provider {
    let mut resources = vec![key(), request()];
    resources.extend([locally_signed(), self_signed()]);
    Provider {
        source: "hashicorp/tls",
        fixture: FIXTURE.to_owned(),
        files: &[],
        resources,
        other_types: vec![
            Other::Data(
                "tls_public_key",
                "  private_key_openssh = tls_private_key.row.private_key_openssh",
                &[
                    "id",
                    "private_key_openssh",
                    "public_key_fingerprint_md5",
                    "public_key_fingerprint_sha256",
                    "public_key_openssh",
                    "public_key_pem",
                ],
            ),
            Other::Data(
                "tls_certificate",
                "  content = tls_self_signed_cert.ca.cert_pem",
                &[
                    "cert_pem",
                    "content",
                    "id",
                    "not_after",
                    "not_before",
                    "public_key_fingerprint",
                    "serial_number",
                    "sha1_fingerprint",
                ],
            ),
            Other::Ephemeral(
                "tls_private_key",
                "  algorithm = \"ED25519\"",
                "startswith(ephemeral.tls_private_key.row.public_key_openssh, \"ssh-ed25519 \")",
            ),
            Other::Ephemeral(
                "tls_public_key",
                "  private_key_pem = ephemeral.tls_private_key.row.private_key_pem",
                "ephemeral.tls_public_key.row.public_key_pem == ephemeral.tls_private_key.row.public_key_pem",
            ),
        ],
    }
}

fn key() -> Resource {
    Resource {
        kind: "tls_private_key",
        create: "  algorithm = \"ED25519\"",
        update: Update::Replaces(
            "  algorithm   = \"ECDSA\"\n  ecdsa_curve = \"P521\"",
            "another kind of key is another key",
        ),
        replace: Replace::By("  algorithm   = \"ECDSA\"\n  ecdsa_curve = \"P256\""),
        import: NO_IMPORT,
        generated: &[
            "id",
            "private_key_openssh",
            "private_key_pem",
            "private_key_pem_pkcs8",
            "public_key_fingerprint_md5",
            "public_key_fingerprint_sha256",
            "public_key_openssh",
            "public_key_pem",
        ],
    }
}

fn request() -> Resource {
    Resource {
        kind: "tls_cert_request",
        create: r#"
  private_key_pem = tls_private_key.ca.private_key_pem
  dns_names       = ["one.example.com"]
"#,
        update: Update::Replaces(
            r#"
  private_key_pem = tls_private_key.ca.private_key_pem
  dns_names       = ["two.example.com"]
"#,
            "what is signed cannot be changed",
        ),
        replace: Replace::By(
            r#"
  private_key_pem = tls_private_key.ca.private_key_pem
  ip_addresses    = ["127.0.0.1"]
  subject {
    organization = "three"
  }
"#,
        ),
        import: NO_IMPORT,
        generated: &["cert_request_pem", "id", "private_key_pem"],
    }
}

fn locally_signed() -> Resource {
    Resource {
        kind: "tls_locally_signed_cert",
        create: r#"
  ca_private_key_pem    = tls_private_key.ca.private_key_pem
  ca_cert_pem           = tls_self_signed_cert.ca.cert_pem
  cert_request_pem      = tls_cert_request.asked.cert_request_pem
  validity_period_hours = 24
  early_renewal_hours   = 1
  allowed_uses          = ["server_auth", "key_encipherment"]
"#,
        update: Update::InPlace(
            r#"
  ca_private_key_pem    = tls_private_key.ca.private_key_pem
  ca_cert_pem           = tls_self_signed_cert.ca.cert_pem
  cert_request_pem      = tls_cert_request.asked.cert_request_pem
  validity_period_hours = 24
  early_renewal_hours   = 2
  allowed_uses          = ["server_auth", "key_encipherment"]
"#,
        ),
        replace: Replace::By(
            r#"
  ca_private_key_pem    = tls_private_key.ca.private_key_pem
  ca_cert_pem           = tls_self_signed_cert.ca.cert_pem
  cert_request_pem      = tls_cert_request.asked.cert_request_pem
  validity_period_hours = 24
  allowed_uses          = ["client_auth"]
"#,
        ),
        import: NO_IMPORT,
        generated: &[
            "ca_cert_pem",
            "ca_private_key_pem",
            "cert_pem",
            "cert_request_pem",
            "id",
            "validity_end_time",
            "validity_start_time",
        ],
    }
}

fn self_signed() -> Resource {
    Resource {
        kind: "tls_self_signed_cert",
        create: r#"
  private_key_pem       = tls_private_key.ca.private_key_pem
  validity_period_hours = 48
  early_renewal_hours   = 1
  allowed_uses          = []
  subject {
    organization = "one"
  }
"#,
        update: Update::InPlace(
            r#"
  private_key_pem       = tls_private_key.ca.private_key_pem
  validity_period_hours = 48
  early_renewal_hours   = 2
  allowed_uses          = []
  subject {
    organization = "one"
  }
"#,
        ),
        replace: Replace::By(
            r#"
  private_key_pem       = tls_private_key.ca.private_key_pem
  validity_period_hours = 48
  allowed_uses          = ["digital_signature"]
  subject {
    organization = "two"
  }
"#,
        ),
        import: NO_IMPORT,
        generated: &[
            "cert_pem",
            "id",
            "private_key_pem",
            "validity_end_time",
            "validity_start_time",
        ],
    }
}
