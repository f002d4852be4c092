//! The life of a plugin process, from its environment to its last call.

use std::io;
use std::process;
use std::time::Duration;

use tokio::time::{interval, sleep};
use tokio_stream::Stream;
use tonic::transport::Server;

use super::accept_connections::{Connection, accept_connections};
use super::controller::ShutdownSignal;
use super::plugin_process::{
    HostProcess, ignore_interrupts, take_stdout_for_handshake, wait_for_end_request,
};
use super::provider_service::ProviderService;
use super::services::Services;
use super::{Options, ServeError};
use crate::handshake::{EnvironmentFromHost, Handshake, Protocol};
use crate::reattach::{self, REATTACH_VARIABLE, Reattach};
use crate::socket::Listener;
use crate::tls::{TlsIdentity, server_config};
use crate::wire::MAX_HEADER_LIST_LEN;

/// Time that calls in flight get after the host requested the exit. The host waits two seconds in
/// total.
const DRAIN_TIME: Duration = Duration::from_secs(1);
/// Interval of the checks whether the host still runs.
const HOST_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Serves the host that started this process, until it requests the exit or dies.
#[expect(clippy::disallowed_methods, reason = "the host's wishes come in the environment")]
pub(super) async fn serve_host(
    options: &Options,
    provider: ProviderService,
) -> Result<(), ServeError> {
    // Read before anything else: if the host dies later, the parent is another process, and the
    // watch would never notice.
    let host = HostProcess::of_parent();
    let environment = EnvironmentFromHost::read(|name| std::env::var_os(name));
    // Without the magic cookie a person has started the program, who needs a message instead of a
    // server that waits.
    if !environment.started_by_host {
        return Err(ServeError::NoHost);
    }
    // The host handles interrupts, and calls StopProvider. The terminal may send them to the whole
    // process group.
    let _ignored = ignore_interrupts().map_err(ServeError::Output)?;

    let protocol = Protocol::negotiate_or_oldest(&environment.offered_versions, options.protocols);
    let (identity, tls) = match &environment.client_certificate {
        None => (None, None),
        Some(client) => {
            let identity =
                TlsIdentity::generate().map_err(|error| ServeError::Tls(error.to_string()))?;
            let config = server_config(&identity, client)
                .map_err(|error| ServeError::Tls(error.to_string()))?;
            (Some(identity), Some(config))
        }
    };
    // Before the handshake: the host connects as soon as it has read the line.
    let listener = Listener::bind(&environment).await.map_err(ServeError::Listen)?;
    let handshake = Handshake {
        protocol,
        address: listener.address().map_err(ServeError::Listen)?,
        certificate: identity.map(|identity| identity.certificate_der().to_vec()),
    };
    // go-plugin appends a seventh field only for hosts that requested multiplexing, and older hosts
    // refuse a line with it.
    let line = handshake.to_line(environment.multiplex_requested);
    // After the handshake a stray print of the provider must not reach the host, which reads
    // nothing more.
    let _stdout = print_handshake_and_redirect(&line).map_err(ServeError::Output)?;

    let stop = ShutdownSignal::default();
    tokio::spawn(stop_when_host_is_gone(host, stop.clone()));
    let services = Services::new(provider, protocol, &stop);
    serve_connections(services, accept_connections(listener, tls), stop).await
}

/// Serves any host, in plaintext, until an interrupt; prints the address for hosts.
#[expect(clippy::disallowed_methods, reason = "the host's wishes come in the environment")]
pub(super) async fn serve_debug(
    options: &Options,
    provider: ProviderService,
) -> Result<(), ServeError> {
    let environment = EnvironmentFromHost::read(|name| std::env::var_os(name));
    // No host has offered a version yet, so the newest is served and named in the variable.
    let protocol = options.protocols.iter().copied().max().unwrap_or(Protocol::V6);
    let listener = Listener::bind(&environment).await.map_err(ServeError::Listen)?;
    let address = listener.address().map_err(ServeError::Listen)?;
    let reattach = Reattach { protocol, address, pid: process::id() };
    let value = reattach::format_reattach_variable(
        &provider_addresses_for_hosts(&options.address),
        &reattach,
    );
    let text = format!(
        "The provider is running. To use it, run terraform or formwork with this variable:\n\n\
         \t{REATTACH_VARIABLE}='{value}'\n\n"
    );
    // On stdout, where tools look for the variable, as Go SDKs print it.
    write_and_flush(&mut io::stdout(), &text).map_err(ServeError::Output)?;

    let stop = ShutdownSignal::default();
    // Without a handler a signal would end the process immediately, and its socket would not be
    // removed.
    let end_request = wait_for_end_request().map_err(ServeError::Output)?;
    let stop_on_request = stop.clone();
    tokio::spawn(async move {
        end_request.await;
        stop_on_request.trigger();
    });
    let services = Services::new(provider, protocol, &stop);
    serve_connections(services, accept_connections(listener, None), stop).await
}

/// Returns the addresses that hosts may use for the provider: each command line tool has a default
/// registry, which applies to a name without a registry.
fn provider_addresses_for_hosts(address: &str) -> Vec<String> {
    let name = address.strip_prefix("registry.terraform.io/").unwrap_or(address);
    if name.matches('/').count() != 1 {
        return vec![address.to_owned()];
    }
    // OpenTofu and Terraform resolve a short address to different registries, and the variable must
    // work for both.
    ["registry.opentofu.org", "registry.terraform.io"]
        .map(|registry| format!("{registry}/{name}"))
        .to_vec()
}

async fn serve_connections(
    services: Services,
    incoming: impl Stream<Item = io::Result<Connection>>,
    stop: ShutdownSignal,
) -> Result<(), ServeError> {
    let server = Server::builder()
        .http2_max_header_list_size(MAX_HEADER_LIST_LEN)
        .serve_with_incoming_shutdown(services, incoming, stop.wait_until_triggered());
    // A call that does not end would hold the process until the host kills it, and then the socket
    // would not be removed.
    let drain_timeout = async {
        stop.wait_until_triggered().await;
        sleep(DRAIN_TIME).await;
    };
    tokio::select! {
        served = server => served.map_err(ServeError::Transport),
        () = drain_timeout => Ok(()),
    }
}

/// Prints the handshake and then makes stdout another stderr: the host no longer reads it, and
/// accidental output of the provider belongs in the log. Returns the real stdout, which stays open
/// because a host may treat its end as the exit of the process.
fn print_handshake_and_redirect(line: &str) -> io::Result<impl io::Write> {
    // Before the line is printed: a host may call at once, and then the provider may print.
    let mut stdout = take_stdout_for_handshake()?;
    write_and_flush(&mut stdout, line)?;
    Ok(stdout)
}

fn write_and_flush(out: &mut impl io::Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Ends this process after the host has exited: without a receiver of the result, further work only
/// does harm.
async fn stop_when_host_is_gone(host: HostProcess, stop: ShutdownSignal) {
    // Polled: the kernel's signal (`PR_SET_PDEATHSIG`) comes at the end of the thread that started
    // this process, which may end before the host does.
    let mut ticks = interval(HOST_CHECK_INTERVAL);
    while host.may_be_running() {
        ticks.tick().await;
    }
    stop.trigger();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_listed_under_both_registries_unless_its_address_has_one() {
        let both = ["registry.opentofu.org/acme/exp", "registry.terraform.io/acme/exp"];
        assert_eq!(provider_addresses_for_hosts("registry.terraform.io/acme/exp"), both);
        assert_eq!(provider_addresses_for_hosts("acme/exp"), both);
        assert_eq!(provider_addresses_for_hosts("example.com/acme/exp"), ["example.com/acme/exp"]);
    }
}
