//! Requests and answers of HTTP/1.1, for the small servers that tests start. One caller reads a connection;
//! sizes and syntax are not checked.

use std::collections::BTreeMap;
use std::io::{BufRead, Result, Write};

/// A request.
#[derive(Debug, Default)]
pub struct Request {
    /// The method in capitals.
    pub method: String,
    /// The path with its query, as it was sent.
    pub target: String,
    /// The headers by their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The content.
    pub body: Vec<u8>,
}

impl Request {
    /// Reads the next request of a connection; `None` if the client has closed it.
    ///
    /// # Errors
    /// When the connection ends within a request.
    ///
    /// ```
    /// let mut sent = &b"PUT /a?b HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"[..];
    /// let request = formwork_tests::http::Request::read(&mut sent)?.expect("a request");
    /// assert_eq!((request.method.as_str(), request.target.as_str()), ("PUT", "/a?b"));
    /// assert_eq!(request.body, b"hi");
    /// assert!(formwork_tests::http::Request::read(&mut sent)?.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn read(reader: &mut impl BufRead) -> Result<Option<Self>> {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut words = first.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        Ok(Some(Self { method, target, headers, body }))
    }
}

/// Writes an answer. `status` is the code with its phrase, `headers` are lines without their ends.
///
/// # Errors
/// When the client has closed the connection.
pub fn answer(mut to: impl Write, status: &str, headers: &[&str], body: &[u8]) -> Result<()> {
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    write!(to, "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len())?;
    to.write_all(body)
}
