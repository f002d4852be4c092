//! A tiny provider in a process of its own, for the tests in this directory. `TINY` selects its
//! behaviour. While it runs it holds a connection to the socket in `TINY_WITNESS`, so that a test
//! can observe its exit. With the argument `host` it is a host instead, which launches itself as a
//! plugin and waits.

#![expect(clippy::disallowed_methods, reason = "a test sets its behaviour in the environment")]
#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "it is about processes that end and print"
)]

use std::collections::BTreeMap;
use std::future::pending;
use std::net::TcpStream;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::thread;

use formwork_plugin_protocol::client::{Executable, Plugin, Settings};
use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, PlanRequest, PlanResponse,
    ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{Metadata, ProviderSchema};
use formwork_plugin_protocol::server::{Options, run};
use formwork_plugin_protocol::{Failure, ProviderHandlers};
use formwork_value::Type;
use formwork_value::schema::{Attribute, Role, Schema};

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("host") {
        return host();
    }
    let behaviour = std::env::var("TINY").unwrap_or_default();
    // Held to the end: the test detects the exit of the process by the end of the connection.
    let _witness = std::env::var("TINY_WITNESS").ok().map(TcpStream::connect);
    if behaviour == "talks first" {
        println!("loading");
    }
    let protocols: &'static [Protocol] = match behaviour.as_str() {
        "old" => &[Protocol::V5],
        _ => &Protocol::ALL,
    };
    let options = Options {
        address: "registry.terraform.io/formwork/tiny".to_owned(),
        protocols,
        debug: argument.as_deref() == Some("--debug"),
    };
    let is_staying = behaviour == "stays";
    let code = run(&options, Arc::new(Tiny { behaviour }));
    // As a provider in which another thread keeps the process.
    if is_staying {
        loop {
            thread::park();
        }
    }
    code
}

struct Tiny {
    behaviour: String,
}

impl ProviderHandlers for Tiny {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        match self.behaviour.as_str() {
            "dies" => {
                eprintln!("about to die");
                std::process::abort();
            }
            "dies and leaves a child" => {
                // The child inherits stderr, so that pipe stays open after the end of the plugin.
                Command::new("sleep").arg("1000").spawn().expect("there is a sleep");
                std::process::exit(3);
            }
            "panics" => panic!("the schema is lost"),
            // Far more than a pipe holds: it blocks if the host does not read.
            "chatters" => (0..300_000).for_each(|n| eprintln!("line {n} of a great many")),
            // After the handshake, output on stdout must be harmless.
            "prints" => println!("a print that nobody wants"),
            _ => (),
        }
        let mut schema = Schema::default();
        schema.block.attributes.insert("id".into(), Attribute::new(Type::String, Role::Computed));
        let resources = BTreeMap::from([("tiny_thing".to_owned(), schema)]);
        Ok(ProviderSchema { resources, ..ProviderSchema::default() })
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        Ok(Metadata { resources: vec!["tiny_thing".to_owned()], ..Metadata::default() })
    }

    async fn stop(&self) -> Result<String, Failure> {
        Ok("stopping".to_owned())
    }

    async fn validate_provider_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn configure(&self, _: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        // A call without end, for the test of the shutdown.
        pending().await
    }

    async fn validate_resource_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn validate_data_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn upgrade_state(&self, _: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        Err(Failure::Unimplemented("UpgradeResourceState"))
    }

    async fn read(&self, _: ReadRequest) -> Result<ReadResponse, Failure> {
        Err(Failure::Unimplemented("ReadResource"))
    }

    async fn plan(&self, _: PlanRequest) -> Result<PlanResponse, Failure> {
        Err(Failure::Unimplemented("PlanResourceChange"))
    }

    async fn apply(&self, _: ApplyRequest) -> Result<ApplyResponse, Failure> {
        Err(Failure::Unimplemented("ApplyResourceChange"))
    }

    async fn import(&self, _: ImportRequest) -> Result<ImportResponse, Failure> {
        Err(Failure::Unimplemented("ImportResourceState"))
    }

    async fn read_data(&self, _: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        Err(Failure::Unimplemented("ReadDataSource"))
    }
}

/// Launches this program as a plugin, reports that, and waits to be killed.
#[tokio::main(flavor = "current_thread")]
async fn host() -> ExitCode {
    let path = std::env::current_exe().expect("we run from somewhere");
    let executable = Executable {
        name: "tiny".to_owned(),
        path,
        arg0: None,
        identity: None,
        env: Vec::new(),
        withheld: Vec::new(),
    };
    match Plugin::launch(&executable, &Settings::TERRAFORM_DEFAULTS).await {
        Ok(_plugin) => {
            println!("ready");
            pending().await
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
