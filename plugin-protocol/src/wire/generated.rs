//! The code made from the descriptions in `proto/`. Never changed by hand: see codegen.

#![allow(dead_code, reason = "the messages are complete, also where nothing uses them")]

#[rustfmt::skip]
#[path = "generated/grpc.health.v1.rs"]
pub(crate) mod health;
#[rustfmt::skip]
pub(crate) mod plugin;
#[rustfmt::skip]
pub(crate) mod tfplugin5;
#[rustfmt::skip]
pub(crate) mod tfplugin6;
