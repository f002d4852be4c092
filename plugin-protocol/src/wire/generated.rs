//! The code that codegen generates from the descriptions in `proto/`. Do not edit it.

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
