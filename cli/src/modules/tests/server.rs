//! A server of files, made for one test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// An answer: headers and body. `BASE` in a header is the server's own address.
pub(super) type Page = (Vec<(&'static str, String)>, Vec<u8>);

/// Answers until the process ends.
pub(super) struct Server {
    base: String,
    requests: Arc<Mutex<Vec<String>>>,
}

pub(super) fn body(bytes: Vec<u8>) -> Page {
    (Vec::new(), bytes)
}

pub(super) fn json(text: &str) -> Page {
    (vec![("Content-Type", "application/json".to_owned())], text.into())
}

pub(super) fn get(to: &str) -> Page {
    (vec![("X-Terraform-Get", to.to_owned())], Vec::new())
}

pub(super) fn moved(to: &str) -> Page {
    (vec![("Location", to.to_owned())], Vec::new())
}

impl Server {
    pub(super) fn start(pages: Vec<(&'static str, Page)>) -> Self {
        Self::busy(0, pages)
    }

    /// A server that has no time for the first few requests of each page.
    pub(super) fn busy(times: usize, pages: Vec<(&'static str, Page)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (base_of_server, requests_of_server) = (base.clone(), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that closes the connection early does not matter for the test.
                drop(answer(&stream.unwrap(), &pages, times, &base_of_server, &requests_of_server));
            }
        });
        Self { base, requests }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Requested paths, each with the request's headers in one line.
    pub(super) fn received_requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: &TcpStream,
    pages: &[(&str, Page)],
    busy: usize,
    base: &str,
    requests: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let lines = BufReader::new(stream).lines();
    let request: Vec<String> =
        lines.map_while(|line| line.ok().filter(|line| !line.is_empty())).collect();
    let path = request.first().and_then(|line| line.split([' ', '?']).nth(1)).unwrap_or_default();
    let page = pages.iter().find(|(page_path, _)| *page_path == path).map(|(_, page)| page);
    let n_before = {
        let mut requests = requests.lock().unwrap();
        let before = requests
            .iter()
            .filter(|request_line| request_line.split(' ').nth(1) == Some(path))
            .count();
        requests.push(request.join(" | "));
        before
    };
    let (headers, body) = match page {
        Some((headers, body)) => (headers.as_slice(), body.as_slice()),
        None => (&[][..], &[][..]),
    };
    let status = match page {
        None => "404 Not Found",
        Some(_) if n_before < busy => "503 Service Unavailable",
        Some(_) if headers.iter().any(|(name, _)| *name == "Location") => "302 Found",
        Some(_) => "200 OK",
    };
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len())?;
    for (name, value) in headers {
        write!(stream, "{name}: {}\r\n", value.replace("BASE", base))?;
    }
    stream.write_all(b"\r\n")?;
    stream.write_all(body)
}
