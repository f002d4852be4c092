//! Functions that read files, through the host, and functions on paths.

mod fileset;
mod path;
mod template;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_value::codec::hex;
use formwork_value::{Type, Value};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::{Args, Builtin, CallError, FileFailure, FileKind};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    let mut list = vec![
        builtin_on_path("file", file)
            .described_as("Returns the content of a file as a string.", ["Path of the file."])
            .with_example(r#"file("greeting.txt")"#, r#""hello""#),
        builtin_on_path("filebase64", |args| {
            args.string_result(STANDARD.encode(read_file_argument(args)?))
        })
        .described_as("Returns the bytes of a file in Base64.", ["Path of the file."])
        .with_example(r#"filebase64("greeting.txt")"#, r#""aGVsbG8=""#),
        builtin_on_path("fileexists", file_exists)
            .with_return_type(Type::Bool)
            .described_as(
                "Returns whether a file exists at a path; a directory is an error.",
                ["Path of the file."],
            )
            .with_example(r#"fileexists("missing.txt")"#, "false"),
        fileset::file_set_builtin(),
    ];
    list.extend(digest_builtins());
    list.extend(path::builtins());
    list.extend(template::builtins());
    list
}

/// Functions that compute a digest of a file.
fn digest_builtins() -> Vec<Builtin> {
    vec![
        builtin_on_path("filemd5", |args| {
            args.string_result(hex::encode(&Md5::digest(read_file_to_hash(args)?)))
        })
        .described_as(
            "Returns the MD5 hash of a file in hexadecimal digits.",
            ["Path of the file."],
        )
        .with_example(r#"filemd5("greeting.txt")"#, r#""5d41402abc4b2a76b9719d911017c592""#),
        builtin_on_path("filesha1", |args| {
            args.string_result(hex::encode(&Sha1::digest(read_file_to_hash(args)?)))
        })
        .described_as(
            "Returns the SHA-1 hash of a file in hexadecimal digits.",
            ["Path of the file."],
        )
        .with_example(r#"substr(filesha1("greeting.txt"), 0, 8)"#, r#""aaf4c61d""#),
        builtin_on_path("filesha256", |args| {
            args.string_result(hex::encode(&Sha256::digest(read_file_to_hash(args)?)))
        })
        .described_as(
            "Returns the SHA-256 hash of a file in hexadecimal digits.",
            ["Path of the file."],
        )
        .with_example(r#"substr(filesha256("greeting.txt"), 0, 8)"#, r#""2cf24dba""#),
        builtin_on_path("filesha512", |args| {
            args.string_result(hex::encode(&Sha512::digest(read_file_to_hash(args)?)))
        })
        .described_as(
            "Returns the SHA-512 hash of a file in hexadecimal digits.",
            ["Path of the file."],
        )
        .with_example(r#"substr(filesha512("greeting.txt"), 0, 8)"#, r#""9b71d224""#),
        builtin_on_path("filebase64sha256", |args| {
            args.string_result(STANDARD.encode(Sha256::digest(read_file_to_hash(args)?)))
        })
        .described_as("Returns the SHA-256 hash of a file in Base64.", ["Path of the file."])
        .with_example(r#"substr(filebase64sha256("greeting.txt"), 0, 8)"#, r#""LPJNul+w""#),
        builtin_on_path("filebase64sha512", |args| {
            args.string_result(STANDARD.encode(Sha512::digest(read_file_to_hash(args)?)))
        })
        .described_as("Returns the SHA-512 hash of a file in Base64.", ["Path of the file."])
        .with_example(r#"substr(filebase64sha512("greeting.txt"), 0, 8)"#, r#""m3HSJL1i""#),
    ]
}

fn builtin_on_path(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    Builtin::new(name, body).with_param("path", Type::String).with_return_type(Type::String)
}

/// Returns the path in the first argument, with `~` expanded.
fn path_argument(args: &Args<'_>) -> Result<String, CallError> {
    path::expand_home(args, args.text(0)?)
}

fn read_file_argument(args: &Args<'_>) -> Result<Vec<u8>, CallError> {
    let bytes = args
        .ctx
        .host
        .files
        .read_file(&path_argument(args)?)
        .map_err(|failure| CallError::for_argument(0, unreadable_message(args, &failure)))?;
    args.charge_bytes(bytes.len())?;
    Ok(bytes)
}

fn read_file_to_hash(args: &Args<'_>) -> Result<Vec<u8>, CallError> {
    let bytes = args.ctx.host.files.read_file(&path_argument(args)?).map_err(|failure| {
        let reason = unreadable_message(args, &failure);
        let path = args.text(0).map_or("", |path| path.as_str());
        CallError::new(match failure {
            FileFailure::Missing => format!("open {path}: no such file or directory; {reason}"),
            FileFailure::Failed(_) => reason,
        })
    })?;
    args.charge_bytes(bytes.len())?;
    Ok(bytes)
}

fn unreadable_message(args: &Args<'_>, failure: &FileFailure) -> String {
    let path = quoted_path_argument(args);
    match failure {
        FileFailure::Missing => format!(
            "no file exists at {path}; this function works only with files that are distributed as part of the configuration source code, so if this file will be created by a resource in this configuration you must instead obtain this result from an attribute of that resource"
        ),
        FileFailure::Failed(reason) => format!("the file at {path} cannot be read: {reason}"),
    }
}

/// The path as written, for messages.
fn quoted_path_argument(args: &Args<'_>) -> String {
    args.text(0).map_or(String::new(), |path| format!("{:?}", path.as_str()))
}

fn read_text_file(args: &Args<'_>) -> Result<String, CallError> {
    String::from_utf8(read_file_argument(args)?).map_err(|_| {
        CallError::new(format!(
            "the file at {} is not UTF-8 text; filebase64() returns its bytes in Base64",
            quoted_path_argument(args)
        ))
    })
}

fn file(args: &Args<'_>) -> FunctionResult {
    Ok(Value::string(read_text_file(args)?))
}

fn file_exists(args: &Args<'_>) -> FunctionResult {
    let path = path_argument(args)?;
    // An empty path means the current directory.
    match args.ctx.host.files.file_kind(if path.is_empty() { "." } else { &path }) {
        Ok(FileKind::File) => Ok(Value::Bool(true)),
        Ok(FileKind::Directory) => Err(CallError::new(format!(
            "{} is a directory, not a file",
            quoted_path_argument(args)
        ))),
        Ok(FileKind::Other) => {
            Err(CallError::new(format!("{} is a device, not a file", quoted_path_argument(args))))
        }
        Err(FileFailure::Missing) => Ok(Value::Bool(false)),
        Err(failure) => Err(CallError::new(unreadable_message(args, &failure))),
    }
}
