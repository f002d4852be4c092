//! Schema of a `connection` block, which specifies the access to a remote machine.

use std::sync::LazyLock;

use formwork_value::Type;
use formwork_value::schema::{Attribute, Block, Role};

const STRING_ARGUMENTS: [&str; 22] = [
    "agent_identity",
    "bastion_certificate",
    "bastion_host",
    "bastion_host_key",
    "bastion_password",
    "bastion_private_key",
    "bastion_user",
    "cacert",
    "certificate",
    "host_key",
    "password",
    "private_key",
    "proxy_host",
    "proxy_scheme",
    "proxy_user_name",
    "proxy_user_password",
    "script_path",
    "target_platform",
    "timeout",
    "type",
    "user",
    "host",
];

const NUMBER_ARGUMENTS: [&str; 3] = ["bastion_port", "port", "proxy_port"];

const BOOL_ARGUMENTS: [&str; 4] = ["agent", "https", "insecure", "use_ntlm"];

/// Returns the arguments of a `connection` block.
#[must_use]
pub fn connection_schema() -> &'static Block {
    static CONNECTION_SCHEMA: LazyLock<Block> = LazyLock::new(|| {
        let of = |names: &'static [&'static str], ty: Type| {
            names.iter().map(move |name| {
                let role = if *name == "host" { Role::Required } else { Role::Optional };
                ((*name).into(), Attribute::new(ty.clone(), role))
            })
        };
        let attributes = of(&STRING_ARGUMENTS, Type::String)
            .chain(of(&NUMBER_ARGUMENTS, Type::Number))
            .chain(of(&BOOL_ARGUMENTS, Type::Bool))
            .collect();
        Block { attributes, ..Block::default() }
    });
    &CONNECTION_SCHEMA
}
