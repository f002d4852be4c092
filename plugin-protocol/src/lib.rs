//! The provider contract, and its gRPC client and server.
//!
//! [`Provider`] is the contract: one call, with neutral requests and responses by operation. The
//! gRPC client implements it for a plugin in a child process; the SDK implements it for a provider
//! in this process, which the server side serves over gRPC. `contract` has the rules for both
//! sides, as pure functions. Other code that hosts and plugins share is the cryptography, the
//! proxy selection and the targets of redirects.

pub mod capability;
pub mod children;
pub mod client;
pub mod contract;
pub mod failure;
#[cfg(any(test, fuzzing))]
pub mod fuzz_targets;
pub mod handshake;
pub mod host_building_blocks;
#[cfg(feature = "http-proxy")]
pub mod http_proxy;
pub mod message;
pub mod message_limits;
pub mod payload;
pub mod provider;
pub mod proxy_env;
pub mod raw;
pub mod reattach;
#[cfg(feature = "http-proxy")]
pub mod redirect_location;
pub mod server;
mod socket;
pub mod state_chunks;
mod tls;
pub mod transcript;
mod wire;

pub use failure::Failure;
pub use payload::Payload;
pub use provider::{Method, Provider, ProviderExt, ProviderHandlers, Request, Response};
pub use tls::{CertificateRule, NoVerifier, RuledVerifier, ShownCertificate, crypto_provider};
pub use wire::stored_schema;
