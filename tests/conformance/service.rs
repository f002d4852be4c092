//! A small HTTP service with items, for one run of the sound provider.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

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
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, content) = items.answer(method, path, body);
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        content.len()
    )?;
    stream.write_all(&content)
}
