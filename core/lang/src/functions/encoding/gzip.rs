//! Gzip compression, byte for byte equal to Terraform's. Different bytes would change computed values,
//! and replace machines without cause. The `flate2` crate produces different bytes.

mod huffman;
mod matches;
mod write_block;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_value::Value;

use crate::functions::{Args, Builtin, CallError};
use write_block::BitWriter;

/// Magic number, method, no flags, no time, no extra flags, unknown system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

pub(super) fn base64_gzip_builtin() -> Builtin {
    super::builtin_on_string("base64gzip", |args: &Args<'_>| -> Result<Value, CallError> {
        let text = args.text(0)?;
        // Every byte is compared with many that came before it.
        args.ctx.budget.charge_steps(text.len())?;
        args.string_result(STANDARD.encode(gzip_compress(text.as_bytes())))
    })
    .described_as(
        "Compresses a string with gzip and encodes the result as Base64.",
        ["The string."],
    )
    .with_example(r#"base64gzip("hello")"#, r#""H4sIAAAAAAAA/8pIzcnJBwAAAP//AQAA//+GphA2BQAAAA==""#)
}

fn gzip_compress(data: &[u8]) -> Vec<u8> {
    let mut bits = BitWriter::new(GZIP_HEADER.to_vec());
    matches::compress_into_blocks(data, &mut bits);
    // Terraform flushes before it closes, and each of the two writes an empty block.
    bits.write_empty_block(false);
    bits.write_empty_block(true);
    let mut out = bits.into_bytes();
    out.extend(crc32fast::hash(data).to_le_bytes());
    // The format keeps the size modulo 2^32.
    out.extend((data.len() as u32).to_le_bytes());
    out
}
