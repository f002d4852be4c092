//! The included providers: thin binaries over the SDK. Names, schemas, import ids and behaviour are
//! those of the public providers of the same names, so that existing configurations run unedited.

pub mod archive;
pub mod bundle;
mod child;
mod decode_pem;
mod digest;
pub mod external;
mod file_mode;
pub mod http;
mod keepers;
pub mod local;
pub mod null;
#[cfg(feature = "postgresql")]
pub mod postgresql;
mod proxy;
pub mod random;
mod redact_url;
#[cfg(test)]
mod test_program;
pub mod time;
pub mod tls;

use std::collections::BTreeMap;

/// Arbitrary values whose change means a new object.
type Strings = BTreeMap<String, Option<String>>;
