//! Functions that compute digests and identifiers. Their variants for files are in `file`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_value::codec::hex;
use formwork_value::{Type, Value};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use uuid::Uuid;

use super::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

/// The default cost of `bcrypt`.
const DEFAULT_BCRYPT_COST: u32 = 10;
/// The greatest cost of `bcrypt`: each step doubles the time, and this one takes about ten minutes.
const MAX_BCRYPT_COST: u32 = 20;

pub(super) fn builtins() -> Vec<Builtin> {
    [digest_builtins(), identifier_builtins()].into_iter().flatten().collect()
}

fn digest_builtins() -> Vec<Builtin> {
    vec![
        digest_builtin("md5", |args| {
            args.string_result(hex::encode(&Md5::digest(args.text(0)?.as_bytes())))
        })
        .described_as("Returns the MD5 hash of a string in hexadecimal digits.", ["The string."])
        .with_example(r#"md5("a")"#, r#""0cc175b9c0f1b6a831c399e269772661""#),
        digest_builtin("sha1", |args| {
            args.string_result(hex::encode(&Sha1::digest(args.text(0)?.as_bytes())))
        })
        .described_as("Returns the SHA-1 hash of a string in hexadecimal digits.", ["The string."])
        .with_example(r#"sha1("a")"#, r#""86f7e437faa5a7fce15d1ddcb9eaeaea377667b8""#),
        digest_builtin("sha256", |args| {
            args.string_result(hex::encode(&Sha256::digest(args.text(0)?.as_bytes())))
        })
        .described_as(
            "Returns the SHA-256 hash of a string in hexadecimal digits.",
            ["The string."],
        )
        .with_example(r#"substr(sha256("a"), 0, 8)"#, r#""ca978112""#),
        digest_builtin("sha512", |args| {
            args.string_result(hex::encode(&Sha512::digest(args.text(0)?.as_bytes())))
        })
        .described_as(
            "Returns the SHA-512 hash of a string in hexadecimal digits.",
            ["The string."],
        )
        .with_example(r#"substr(sha512("a"), 0, 8)"#, r#""1f40fc92""#),
        digest_builtin("base64sha256", |args| {
            args.string_result(STANDARD.encode(Sha256::digest(args.text(0)?.as_bytes())))
        })
        .described_as("Returns the SHA-256 hash of a string in Base64.", ["The string."])
        .with_example(r#"base64sha256("a")"#, r#""ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=""#),
        digest_builtin("base64sha512", |args| {
            args.string_result(STANDARD.encode(Sha512::digest(args.text(0)?.as_bytes())))
        })
        .described_as("Returns the SHA-512 hash of a string in Base64.", ["The string."])
        .with_example(r#"substr(base64sha512("a"), 0, 8)"#, r#""H0D8ktok""#),
        Builtin::new("bcrypt", bcrypt_hash)
            .with_param("str", Type::String)
            .with_variadic("cost", Type::Number)
            .with_return_type(Type::String)
            .described_as(
                "Returns the bcrypt hash of a string, with a new salt for each call.",
                [
                    "The string, of at most 72 bytes.",
                    "Cost of the hash, as a power of two; default 10.",
                ],
            )
            .with_example(r#"substr(bcrypt("a", 4), 0, 7)"#, r#""$2a$04$""#),
    ]
}

fn identifier_builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("uuid", |args| match args.ctx.host.clock_and_random.random_bytes() {
            // Plan and apply would get different ones, so the plan has none.
            None => Ok(Value::unknown(Type::String)),
            Some(bytes) => {
                args.string_result(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
            }
        })
        .with_return_type(Type::String)
        .described_as("Returns a random UUID, a new one for each call.", [])
        .with_example("length(uuid())", "36"),
        Builtin::new("uuidv5", uuid_v5)
            .with_param("namespace", Type::String)
            .with_param("name", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Returns the version 5 UUID of a name in a namespace.",
                ["The namespace: a UUID, or one of `dns`, `url`, `oid` and `x500`.", "The name."],
            )
            .with_example(r#"uuidv5("dns", "x")"#, r#""05b16a01-46c6-56dd-bd6e-c6dfb4a1427a""#),
    ]
}

fn digest_builtin(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    Builtin::new(name, body).with_param("str", Type::String).with_return_type(Type::String)
}

fn bcrypt_hash(args: &Args<'_>) -> FunctionResult {
    let cost = match args.values.len() {
        1 => DEFAULT_BCRYPT_COST,
        2 => u32::try_from(args.integer(1)?).unwrap_or(0),
        _ => return Err(CallError::new("it takes one or two arguments")),
    };
    if cost > MAX_BCRYPT_COST {
        return Err(CallError::new(format!(
            "the cost must be between 4 and {MAX_BCRYPT_COST}, not {cost}"
        )));
    }
    // Go's implementation replaces a cost that is too low by its default.
    let cost = if cost < 4 { DEFAULT_BCRYPT_COST } else { cost };
    let password = args.text(0)?;
    if password.len() > 72 {
        return Err(CallError::new("the string is longer than 72 bytes, the limit of bcrypt"));
    }
    // Plan and apply would get different hashes, so the plan has none.
    let Some(salt) = args.ctx.host.clock_and_random.random_bytes() else {
        return Ok(Value::unknown(Type::String));
    };
    let parts = bcrypt::hash_with_salt(password.as_bytes(), cost, salt)
        .map_err(|error| CallError::new(error.to_string()))?;
    // Go writes the version `2a`.
    args.string_result(parts.format_for_version(bcrypt::Version::TwoA))
}

fn uuid_v5(args: &Args<'_>) -> FunctionResult {
    let namespace = match args.text(0)?.as_str() {
        "dns" => Uuid::NAMESPACE_DNS,
        "url" => Uuid::NAMESPACE_URL,
        "oid" => Uuid::NAMESPACE_OID,
        "x500" => Uuid::NAMESPACE_X500,
        other => Uuid::try_parse(other).map_err(|_| {
            CallError::new(format!(
                "uuidv5() doesn't support namespace {other} (invalid UUID length: {}); supported are dns, url, oid, x500, and any UUID",
                other.len()
            ))
        })?,
    };
    args.string_result(Uuid::new_v5(&namespace, args.text(1)?.as_bytes()).to_string())
}
