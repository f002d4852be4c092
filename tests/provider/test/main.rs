//! A provider for tests with one type of each kind, in a process of its own: every nesting of blocks
//! and attributes, write-only arguments, ephemeral resources, functions, identities, private data,
//! provider meta and a state store. Unlike the bad provider it keeps every rule.
//!
//! `TEST_LOG` names a file to which it writes down the calls that it gets, one a line; `TEST_OBJECTS`, a
//! directory in which its objects really exist. Nested attributes do not exist in protocol 5, so it
//! supports protocol 6 only.

mod data;
mod fake_service;
mod function;
mod house;
mod label;
mod legacy;
mod log;
mod logged_provider;
mod nested;
mod shape;
mod store;
mod thing;
mod token;

use std::process::ExitCode;
use std::sync::Arc;

use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::server::{Options, run};
use formwork_sdk::prelude::*;
use formwork_sdk::value::Value;

use fake_service::FakeService;
use log::Log;
use logged_provider::LoggedProvider;

const ADDRESS: &str = "registry.terraform.io/formwork/test";

fn main() -> ExitCode {
    let options = Options { address: ADDRESS.to_owned(), protocols: &[Protocol::V6], debug: false };
    let logged_provider = LoggedProvider {
        inner: provider().into_provider(),
        log: Log::from_env(),
        service: FakeService::from_env(),
    };
    run(&options, Arc::new(logged_provider))
}

fn provider() -> ProviderDef {
    let provider = ProviderDef::new(ADDRESS)
        .with_configuration(Settings)
        .resource("test_thing", thing::Things)
        .resource("test_nested", nested::Objects(nested::Nested))
        .resource("test_blocks", nested::Objects(nested::Blocks))
        .resource("test_strict", nested::Objects(nested::Strict))
        .resource("test_house", house::Houses)
        .resource("test_room", house::Rooms)
        .resource("test_label", label::Labels)
        .resource("test_named", label::Names)
        .resource("test_tagged", label::Tags)
        .resource("test_numbered", label::Numbers)
        .list("test_room", house::Rooms)
        .data_source("test_data", data::Data)
        .ephemeral("test_token", token::Tokens)
        .state_store("test_store", store::Store);
    function::all_functions().fold(provider, |provider, function| {
        let name = function.name;
        provider.any_function(name, function)
    })
}

/// The configuration of the provider, which changes nothing.
#[derive(Model)]
struct Config {
    /// Any value.
    #[attr(optional)]
    value: Option<Value>,
    /// Any sensitive value.
    #[attr(optional, sensitive)]
    secret: Option<String>,
    /// An error to fail with.
    #[attr(optional)]
    fails: Option<String>,
}

struct Settings;

impl Configure for Settings {
    type Model = Config;

    async fn configure(&self, call: Setup<Config>) -> Answer<()> {
        match call.config.fails.get() {
            Some(fails) => {
                let problem = Problem::new("Configuration refused", fails.clone());
                Err(problem.at("fails"))
            }
            None => Ok(()),
        }
    }
}
