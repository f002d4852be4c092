//! A small HTTP service with items, for one run of the sound provider.

use std::io::BufReader;
use std::net::{TcpListener, TcpStream};

use formwork_tests::http::{self, Request};
use formwork_tests::items::Items;

/// The service. It ends with the test program.
pub(crate) struct Service {
    /// The URL, without a slash at the end.
    pub(crate) url: String,
}

impl Service {
    /// Starts a service without items.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let items = Items::default();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let items = items.clone();
                // A client that goes away is none of its business.
                std::thread::spawn(move || drop(serve(&stream, &items)));
            }
        });
        Self { url }
    }
}

/// Answers one request.
fn serve(stream: &TcpStream, items: &Items) -> std::io::Result<()> {
    let Some(request) = Request::read(&mut BufReader::new(stream))? else { return Ok(()) };
    let (status, content) = items.answer(&request.method, &request.target, request.body);
    http::answer(stream, &format!("{status} X"), &["Connection: close"], &content)
}
