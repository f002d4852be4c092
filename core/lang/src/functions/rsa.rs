//! `rsadecrypt`: decrypts RSA ciphertexts with the padding of PKCS #1 version 1.5. `private_key` parses
//! keys. The decryption is not constant-time, because the key belongs to the user of the program.

mod private_key;

use dashu_int::UBig;
use dashu_int::fast_div::ConstDivisor;
use formwork_value::{Type, Value};

use super::encoding::BASE64_ALLOWING_UNUSED_BITS;
use super::{Args, Builtin, CallError};
use base64::Engine as _;
use private_key::RsaPrivateKey;

/// Larger keys are unusual and would take minutes.
const MAX_RSA_KEY_BYTES: usize = 2_048;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("rsadecrypt", rsa_decrypt)
            .with_param("ciphertext", Type::String)
            .with_param("privatekey", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Decrypts data that was encrypted with an RSA public key, by PKCS #1 v1.5.",
                [
                    "The encrypted bytes in Base64.",
                    "The private key in PEM or OpenSSH form, without passphrase.",
                ],
            )
            .with_example(RSA_DECRYPT_EXAMPLE_CALL, r#""hi""#),
    ]
}

/// A key far too short for anything but an example.
const RSA_DECRYPT_EXAMPLE_CALL: &str = concat!(
    r#"rsadecrypt("XEWJ4NkNX8iEVPDMBejqwya+r0v6TArTNyTapeEvbnN9mOwoRiojJ5KipgzXYo3T/onWAUWotwJ9YVKgZRYlpQ==", ""#,
    r"-----BEGIN RSA PRIVATE KEY-----\nMIIBOwIBAAJBALccGCHZA2J1H0T5LarRtX+x2/v3eE8ImMO",
    r"o7w/o575yeGTEXMr6\nW39H9i6AsWss0oxsBOf1hEFGxf3nojlRzfECAwEAAQJBAIe/sjxVsGarwdTWj",
    r"n6X\nHeFfMGFqI60kCGz1rtWyqyvKXDacR7TFBR4nsYkKJforbkTowONkR3gI7pCxt4Ek\nEGECIQDf6",
    r"Bk+VrHj8D0krOQGICT3ug4WELrlPhdeoNDKtsXlFQIhANFbBJh354Hh\nPAhU7APXpH1Q7wLJ1u1O6MO",
    r"oVERSKzRtAiBEOVNfxEjF3FC1GR0NpMO+2+ko3gYk\njavPQI7+BXz9FQIgOw8qJLjunj0j6lXKnureh",
    r"FuokWjPMPLpxwhdfUiQ16ECIQC9\nlTlLRYyfqRruf+qANcj1B2zdnez02qY9NJ+t9i96uQ==\n-----",
    r"END RSA PRIVATE KEY-----",
    r#"")"#,
);

fn rsa_decrypt(args: &Args<'_>) -> Result<Value, CallError> {
    let refused = |at: usize| move |reason: &str| CallError::for_argument(at, reason);
    let letters: String =
        args.text(0)?.chars().filter(|char| !matches!(char, '\n' | '\r')).collect();
    let encrypted = BASE64_ALLOWING_UNUSED_BITS.decode(letters).map_err(|_| {
        let text = args.text(0).map_or("", |text| text.as_str());
        refused(0)(&format!("failed to decode input {text:?}: cipher text must be base64-encoded"))
    })?;
    let key = RsaPrivateKey::from_pem(args.text(1)?).map_err(refused(1))?;
    let text = decrypt_pkcs1(&key, &encrypted)
        .ok_or_else(|| CallError::new("the data was not encrypted for this key"))?;
    args.string_result(String::from_utf8_lossy(&text).into_owned())
}

fn decrypt_pkcs1(key: &RsaPrivateKey, encrypted: &[u8]) -> Option<Vec<u8>> {
    let (modulus, exponent) =
        (UBig::from_be_bytes(&key.modulus), UBig::from_be_bytes(&key.exponent));
    let number = UBig::from_be_bytes(encrypted);
    let n_bytes = modulus.to_be_bytes().len();
    // A key is input: an exponent beyond the modulus could take any time.
    if n_bytes > MAX_RSA_KEY_BYTES || exponent > modulus || number >= modulus {
        return None;
    }
    let bytes = ConstDivisor::new(modulus).reduce(number).pow(&exponent).residue().to_be_bytes();
    // A leading zero byte is not part of the number.
    if bytes.len() + 1 != n_bytes {
        return None;
    }
    // A two, at least eight bytes that are not zero, a zero, the text.
    let padded = bytes.strip_prefix(&[2])?;
    let end = padded.iter().position(|byte| *byte == 0).filter(|end| *end >= 8)?;
    padded.get(end + 1..).map(<[u8]>::to_vec)
}
