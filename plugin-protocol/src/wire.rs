//! Wire format of the messages. Private to this crate.
//!
//! Both versions of the protocol are one set of types (those of version 6) and two tables of method
//! paths; the few messages that truly differ are in `generated::tfplugin5`.

pub(crate) mod codec;
pub(crate) mod convert;
pub(crate) mod dialect;
pub(crate) mod exchange;
pub mod stored_schema;

/// Greatest length of a header: an error message travels in one. The same on both sides, because a
/// longer one ends the connection.
pub(crate) const MAX_HEADER_LIST_LEN: u32 = 1024 * 1024;

#[expect(
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::too_many_lines,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "made by codegen; the descriptions in proto/ are what people read and change"
)]
pub(crate) mod generated;
