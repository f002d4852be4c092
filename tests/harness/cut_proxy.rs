//! A proxy between programs and a server, whose connections end after a number of bytes.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToServer,
    ToClient,
}

/// The end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) direction: Direction,
    /// Number of bytes in this direction, of all connections, after which the one that carries them ends.
    pub(crate) after: u64,
    /// Whether the others end, too, and there are none until the network is mended.
    pub(crate) is_lasting: bool,
}

/// Number of bytes in each direction, and of cuts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub(crate) to_server: u64,
    pub(crate) to_client: u64,
    pub(crate) n_cuts: u32,
}

/// A proxy for one server. It accepts no more connections after it is dropped.
pub(crate) struct CutProxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

/// Parts of a proxy that its threads share.
struct Shared {
    server: SocketAddr,
    links: Mutex<Links>,
}

/// The connections, and the next cut.
#[derive(Default)]
struct Links {
    passed: Passed,
    cut: Option<Cut>,
    is_down: bool,
    is_over: bool,
    /// Both ends of the connections that a lasting cut ends.
    open: Vec<TcpStream>,
}

impl CutProxy {
    /// Starts a proxy that cuts nothing yet.
    pub(crate) fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("it has an address").port();
        let shared = Arc::new(Shared { server, links: Mutex::default() });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if accepting.links().is_over {
                    break;
                }
                // A connection that fails is closed, which the client sees.
                accepting.link(client).ok();
            }
        });
        Self { port, shared }
    }

    /// Counts bytes and cuts from now on, and cuts once.
    pub(crate) fn cut_once(&self, cut: Option<Cut>) {
        let mut links = self.shared.links();
        (links.passed, links.cut) = (Passed::default(), cut);
    }

    /// Lets all connections through again. Returns the numbers since counting began.
    pub(crate) fn restore(&self) -> Passed {
        let mut links = self.shared.links();
        (links.cut, links.is_down) = (None, false);
        links.open.clear();
        links.passed
    }
}

impl Drop for CutProxy {
    fn drop(&mut self) {
        self.shared.links().is_over = true;
        // The thread checks the flag when it has accepted a connection.
        TcpStream::connect(("127.0.0.1", self.port)).ok();
    }
}

impl Shared {
    fn links(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects a client with the server.
    fn link(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(self.server)?;
        {
            let mut links = self.links();
            if links.is_down {
                return Ok(());
            }
            if links.cut.is_some_and(|cut| cut.is_lasting) {
                links.open.extend([client.try_clone()?, server.try_clone()?]);
            }
        }
        let (client, server) = (Arc::new(client), Arc::new(server));
        for direction in [Direction::ToServer, Direction::ToClient] {
            let (shared, client, server) =
                (Arc::clone(self), Arc::clone(&client), Arc::clone(&server));
            thread::spawn(move || {
                let (from, to) = match direction {
                    Direction::ToServer => (&*client, &*server),
                    Direction::ToClient => (&*server, &*client),
                };
                // After its end, nothing more is forwarded in this direction.
                shared.carry(direction, from, to).ok();
                to.shutdown(Shutdown::Write).ok();
            });
        }
        Ok(())
    }

    /// Forwards bytes until one side ends or the connection is cut.
    fn carry(
        &self,
        direction: Direction,
        mut from: &TcpStream,
        mut to: &TcpStream,
    ) -> io::Result<()> {
        let mut bytes = [0; 8192];
        loop {
            let n = from.read(&mut bytes)?;
            if n == 0 {
                return Ok(());
            }
            let n_passing = self.links().pass(direction, n);
            to.write_all(&bytes[..n_passing])?;
            if n_passing < n {
                // After the bytes that still pass, so that they arrive.
                self.links().end_if_down();
                from.shutdown(Shutdown::Both)?;
                return to.shutdown(Shutdown::Both);
            }
        }
    }
}

impl Links {
    /// Counts bytes. Returns the number of those that pass.
    fn pass(&mut self, direction: Direction, n: usize) -> usize {
        let passed = match direction {
            Direction::ToServer => &mut self.passed.to_server,
            Direction::ToClient => &mut self.passed.to_client,
        };
        let cut = self.cut.filter(|cut| cut.direction == direction);
        let n_remaining = cut.map_or(u64::MAX, |cut| cut.after.saturating_sub(*passed));
        let n_passing = usize::try_from(n_remaining).unwrap_or(usize::MAX).min(n);
        *passed += n_passing as u64;
        if n_passing < n {
            self.cut = None;
            self.passed.n_cuts += 1;
            self.is_down = cut.is_some_and(|cut| cut.is_lasting);
        }
        n_passing
    }

    fn end_if_down(&mut self) {
        if self.is_down {
            for stream in self.open.drain(..) {
                stream.shutdown(Shutdown::Both).ok();
            }
        }
    }
}
