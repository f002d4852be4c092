//! The network between an engine and the server of the state: a proxy whose connections can be cut.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A proxy on this machine.
#[derive(Clone)]
pub(crate) struct Network {
    pub(crate) port: u16,
    links: Arc<Mutex<Links>>,
}

/// The connections, and whether there can be others.
#[derive(Default)]
struct Links {
    is_cut: bool,
    open: Vec<TcpStream>,
}

impl Network {
    /// Starts a proxy of a server.
    pub(crate) fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let network = Self { port: listener.local_addr()?.port(), links: Arc::default() };
        let accepting = network.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A connection that fails is closed, which the client sees.
                accepting.link(client, server).ok();
            }
        });
        Ok(network)
    }

    /// Connects a client with the server.
    fn link(&self, client: TcpStream, server: SocketAddr) -> io::Result<()> {
        let server = TcpStream::connect(server)?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.is_cut {
            return Err(io::ErrorKind::NetworkUnreachable.into());
        }
        for (from, to) in [(&client, &server), (&server, &client)] {
            links.open.push(from.try_clone()?);
            let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
            thread::spawn(move || {
                io::copy(&mut from, &mut to).ok();
                to.shutdown(Shutdown::Both).ok();
            });
        }
        Ok(())
    }

    /// Ends all connections and refuses others, or lets them through again.
    pub(crate) fn set_cut(&self, is_cut: bool) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if is_cut && !links.is_cut {
            for link in links.open.drain(..) {
                link.shutdown(Shutdown::Both).ok();
            }
        }
        links.is_cut = is_cut;
    }
}
