//! File downloads, which are resumed after a connection is lost.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::time::Instant;

use ureq::http::{HeaderMap, HeaderName, StatusCode, header};

use super::steady_reader::SteadyReader;
use super::{
    Client, DOWNLOAD_TIMEOUT, HttpError, HttpResponse, RetryPolicy, describe_read_error,
    retry_pause,
};
use crate::fetch::limited_lists::quote_shortened;
use crate::redact;

/// Maximum number of consecutive attempts that receive no further byte.
const MAX_FRUITLESS_ATTEMPTS: u32 = 4;

/// A file to download.
#[derive(Clone, Copy)]
pub(crate) struct Download<'a> {
    /// The URL of the file.
    pub(crate) url: &'a str,
    /// The value of the `Authorization` header, if one is sent.
    pub(crate) authorization: Option<&'a str>,
    /// Maximum size of the file, in bytes.
    pub(crate) limit: u64,
}

/// The downloaded part of a file, and the `ETag` that identifies the rest of the same file.
struct ResumePoint {
    /// Number of bytes that are already written.
    from: u64,
    /// The `ETag` of the file.
    tag: String,
}

/// The reason why the content of a response is incomplete.
enum BrokenDownload {
    /// The connection was lost. The download can be resumed over a new connection.
    Connection(io::Error),
    /// The content could not be written.
    Target(io::Error),
}

impl Client {
    /// Downloads the content of a URL to a file.
    ///
    /// # Errors
    /// The download fails, or the content is larger than the limit.
    pub(crate) fn download(
        &self,
        file: Download<'_>,
        to: &mut impl Write,
    ) -> Result<(), HttpError> {
        self.download_with_length(file, |_| (), to)
    }

    /// As [`Client::download`]. `sized` is called with the length that the server announces.
    ///
    /// # Errors
    /// The download fails, or the content is larger than the limit.
    pub(crate) fn download_with_length(
        &self,
        file: Download<'_>,
        sized: impl FnOnce(Option<u64>),
        to: &mut impl Write,
    ) -> Result<(), HttpError> {
        // Terraform also sends two requests. Its first one is for the headers only.
        let retry_policy = RetryPolicy { retries: 1, timeout: DOWNLOAD_TIMEOUT };
        let answer = self.send_with_retries(retry_policy, || {
            self.request_with_headers(file.url, file.authorization, &[], retry_policy.timeout)
        })?;
        sized(answer.announced_length());
        self.write_body(file, answer, to)
    }

    /// Writes the content of a response to a file. `download` is the request of the response.
    ///
    /// # Errors
    /// The connection is lost, or the content is larger than the limit.
    pub(crate) fn write_body(
        &self,
        file: Download<'_>,
        mut answer: HttpResponse,
        to: &mut impl Write,
    ) -> Result<(), HttpError> {
        let Download { url, authorization, limit } = file;
        let end = Instant::now() + DOWNLOAD_TIMEOUT;
        // A range of compressed content is not a range of the file.
        let tag = strong_etag(answer.response.headers()).filter(|_| !answer.is_compressed());
        let total = answer.announced_length();
        let (mut written, mut barren) = (0, 0);
        loop {
            let before = written;
            let content = SteadyReader::new(answer.into_reader(), self.pace);
            let broken = match copy_body(content, to, limit, total, &mut written) {
                Ok(()) if written > limit => {
                    return Err(HttpError::TooLong { url: redact::redact_address(url), limit });
                }
                Ok(()) => return Ok(()),
                Err(BrokenDownload::Target(error)) => {
                    return Err(broken_download_error(url, &error));
                }
                Err(BrokenDownload::Connection(error)) => error,
            };
            // Without an `ETag`, the rest may be that of a changed file.
            let mut cause = broken_download_error(url, &broken);
            let Some(tag) = &tag else { return Err(cause) };
            let resume = ResumePoint { from: written, tag: tag.clone() };
            // A server that sends a few bytes in each attempt does not get additional attempts.
            if written - before >= self.pace.min_bytes {
                barren = 0;
            }
            let mut next_pause = None;
            answer = loop {
                barren += 1;
                let remaining = end.saturating_duration_since(Instant::now());
                if barren > MAX_FRUITLESS_ATTEMPTS || remaining.is_zero() {
                    return Err(broken_download_error(url, &broken));
                }
                let pause = next_pause.unwrap_or_else(|| retry_pause(barren));
                self.pause_before_retry(&cause, pause);
                let headers = [
                    (header::RANGE, format!("bytes={}-", resume.from).into()),
                    (header::IF_RANGE, resume.tag.clone().into()),
                ];
                match self.request_with_headers(url, authorization, &headers, remaining) {
                    Ok(answer) => break self.request_rest(url, answer, &resume)?,
                    Err(error) if error.may_succeed_later() => {
                        next_pause = Some(error.retry_pause(barren + 1));
                        cause = error;
                    }
                    Err(error) => return Err(error),
                }
            };
        }
    }

    /// Requests the rest of a file. If the server sends the whole file again, the known part is skipped.
    fn request_rest(
        &self,
        url: &str,
        answer: HttpResponse,
        resume: &ResumePoint,
    ) -> Result<HttpResponse, HttpError> {
        let range_error =
            |reason: String| HttpError::Malformed { url: redact::redact_address(url), reason };
        if answer.response.status() == StatusCode::PARTIAL_CONTENT {
            let range = answer.header(header::CONTENT_RANGE.as_str()).unwrap_or_default();
            let from = range.strip_prefix("bytes ").and_then(|range| range.split('-').next());
            if from.and_then(|from| from.parse().ok()) == Some(resume.from) {
                return Ok(answer);
            }
            let reason = format!(
                "the request was for the bytes from {}, but the server sent {}",
                resume.from,
                quote_shortened(&range)
            );
            return Err(range_error(reason));
        }
        if strong_etag(answer.response.headers()).as_ref() != Some(&resume.tag) {
            let reason =
                "the file changed on the server during the download; run the command again";
            return Err(range_error(reason.to_owned()));
        }
        let HttpResponse { url: answer_url, response } = answer;
        let (head, mut body) = response.into_parts();
        let mut known_part = SteadyReader::new(body.as_reader(), self.pace).take(resume.from);
        io::copy(&mut known_part, &mut io::sink())
            .map_err(|error| broken_download_error(url, &error))?;
        Ok(HttpResponse { url: answer_url, response: ureq::http::Response::from_parts(head, body) })
    }
}

/// An additional header of a request.
pub(crate) type Header = (HeaderName, Cow<'static, str>);

/// Copies content, up to one byte more than the limit.
fn copy_body(
    mut content: impl Read,
    to: &mut impl Write,
    limit: u64,
    total: Option<u64>,
    written: &mut u64,
) -> Result<(), BrokenDownload> {
    let mut buffer = vec![0; 1 << 16];
    while *written <= limit {
        let n = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(BrokenDownload::Connection(error)),
        };
        to.write_all(&buffer[..n]).map_err(BrokenDownload::Target)?;
        *written += n as u64;
    }
    match total {
        Some(total) if *written < total && *written <= limit => {
            Err(BrokenDownload::Connection(io::ErrorKind::UnexpectedEof.into()))
        }
        _ => Ok(()),
    }
}

/// Returns the `ETag` if it is a strong one: files with the same strong tag are identical.
fn strong_etag(headers: &HeaderMap) -> Option<String> {
    let tag = headers.get(header::ETAG)?.to_str().ok()?;
    tag.starts_with('"').then(|| tag.to_owned())
}

fn broken_download_error(url: &str, error: &io::Error) -> HttpError {
    let reason = format!("the download was interrupted: {}", describe_read_error(error));
    HttpError::Unreachable { url: redact::redact_address(url), reason }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::{TcpListener, TcpStream};
    use std::thread::JoinHandle;
    use std::time::Duration;

    use formwork_plugin_protocol::proxy_env::ProxyEnv;

    use super::super::{MinimumPace, build_agent};
    use super::*;

    const FILE: &[u8] = b"0123456789";

    /// Serves one answer after the other, each over its own connection; returns the requests.
    fn server(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let served = answers.into_iter().zip(listener.incoming()).map(|(answer, stream)| {
                let mut stream = BufReader::new(stream.unwrap());
                let lines = stream.by_ref().lines().map_while(Result::ok);
                let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
                request.join("\n").to_lowercase()
            });
            served.collect()
        });
        (url, served)
    }

    fn whole_response(tag: &str, sent: &str) -> String {
        format!("HTTP/1.1 200 OK\r\nETag: {tag}\r\nContent-Length: 10\r\n\r\n{sent}")
    }

    fn partial_response(from: usize, sent: &str) -> String {
        let remaining = FILE.len() - from;
        format!(
            "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes {from}-9/10\r\nContent-Length: {remaining}\r\n\r\n{sent}"
        )
    }

    fn download_from(answers: Vec<String>) -> (Result<Vec<u8>, String>, Vec<String>) {
        let (url, served) = server(answers);
        let client = Client::new(ProxyEnv::read(|_| None), |_| ());
        let mut bytes = Vec::new();
        let result =
            client.download(Download { url: &url, authorization: None, limit: 100 }, &mut bytes);
        (result.map(|()| bytes).map_err(|error| error.to_string()), served.join().unwrap())
    }

    #[test]
    fn an_interrupted_download_is_resumed() {
        let answers = vec![
            whole_response("\"a\"", "0123"),
            partial_response(4, "456"),
            partial_response(7, "789"),
        ];
        let (result, requests) = download_from(answers);
        assert_eq!(result.unwrap(), FILE);
        assert!(!requests[0].contains("range"), "{}", requests[0]);
        assert!(
            requests[1].contains("\nrange: bytes=4-") && requests[1].contains("\nif-range: \"a\"")
        );
        assert!(requests[2].contains("\nrange: bytes=7-"), "{}", requests[2]);
    }

    #[test]
    fn a_repeated_file_is_skipped_up_to_the_missing_part() {
        let answers = vec![whole_response("\"a\"", "0123"), whole_response("\"a\"", "0123456789")];
        assert_eq!(download_from(answers).0.unwrap(), FILE);
    }

    #[test]
    fn parts_of_different_files_are_never_joined() {
        let changed = vec![whole_response("\"a\"", "0123"), whole_response("\"b\"", "abcdefghij")];
        let reason = download_from(changed).0.unwrap_err();
        assert!(reason.contains("the file changed on the server"), "{reason}");
        let misplaced = vec![whole_response("\"a\"", "0123"), partial_response(5, "56789")];
        let reason = download_from(misplaced).0.unwrap_err();
        assert!(reason.contains("for the bytes from 4"), "{reason}");
        for tag in ["W/\"a\"", "a"] {
            let reason = download_from(vec![whole_response(tag, "0123")]).0.unwrap_err();
            assert!(reason.contains("the download was interrupted"), "{reason}");
        }
    }

    #[test]
    fn content_that_is_compressed_for_the_transport_is_unpacked() {
        use flate2::{Compression, write::GzEncoder};

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("http://{}", listener.local_addr().unwrap());
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(FILE).unwrap();
        let packed = packed.finish().unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Encoding: GZIP\r\nContent-Length: {}\r\n\r\n",
            packed.len()
        );
        let content = packed.clone();
        let served = std::thread::spawn(move || {
            for stream in listener.incoming().take(3) {
                let mut stream = BufReader::new(stream.unwrap());
                let lines = stream.by_ref().lines().map_while(Result::ok);
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                stream.get_mut().write_all(head.as_bytes()).unwrap();
                stream.get_mut().write_all(&content).unwrap();
            }
        });
        let client = Client::new(ProxyEnv::read(|_| None), |_| ());
        let document = client.get(&format!("{host}/list"), None).unwrap();
        assert_eq!(document.read_text(100).unwrap().as_bytes(), FILE);
        let mut file = Vec::new();
        client
            .download(
                Download { url: &format!("{host}/file.zip"), authorization: None, limit: 100 },
                &mut file,
            )
            .unwrap();
        assert_eq!(file, FILE);
        // The header repeats the name of the archive.
        let mut archive = Vec::new();
        client
            .download(
                Download { url: &format!("{host}/a.tar.gz?x"), authorization: None, limit: 100 },
                &mut archive,
            )
            .unwrap();
        assert_eq!(archive, packed);
        served.join().unwrap();
    }

    /// Sends the headers and a byte, and then a byte after each pause, until the client closes the connection.
    fn slow_server(pause: Duration) -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nx");
            // When the client closes the connection, the wait ends.
            stream.set_read_timeout(Some(pause)).unwrap();
            let is_there = |mut stream: &TcpStream| loop {
                match stream.read(&mut [0; 1 << 10]) {
                    Ok(0) => return false,
                    Ok(_) => (),
                    Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
                }
            };
            while sent.is_ok() && is_there(&stream) {
                sent = stream.write_all(b"x");
            }
        });
        (url, served)
    }

    fn reason_of(client: &Client, url: &str) -> String {
        let file = Download { url, authorization: None, limit: 1 << 20 };
        client.download(file, &mut io::sink()).unwrap_err().to_string()
    }

    #[test]
    fn a_server_that_stalls_after_the_first_byte_is_abandoned() {
        let (url, served) = slow_server(Duration::from_secs(3600));
        let client = Client::new(ProxyEnv::read(|_| None), |_| ());
        let client = Client { agent: build_agent(Duration::from_millis(100)), ..client };
        let reason = reason_of(&client, &url);
        assert!(
            reason.ends_with("interrupted: timeout: no data was transferred for 30 seconds"),
            "{reason}"
        );
        served.join().unwrap();
    }

    #[test]
    fn a_server_that_sends_too_slowly_is_abandoned() {
        let (url, served) = slow_server(Duration::from_millis(1));
        let client = Client::new(ProxyEnv::read(|_| None), |_| ());
        let pace = MinimumPace { window: Duration::from_millis(50), min_bytes: 1 << 10 };
        let reason = reason_of(&Client { pace, ..client }, &url);
        assert!(reason.contains("the server sent") && reason.contains("bytes in"), "{reason}");
        served.join().unwrap();
    }

    #[test]
    fn invalid_addresses_are_not_retried() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static N_PAUSES: AtomicUsize = AtomicUsize::new(0);
        let client = Client::new(ProxyEnv::read(|_| None), |_| {
            N_PAUSES.fetch_add(1, Ordering::Relaxed);
        });
        for url in ["https://", "file:///etc/passwd", "https://a b/", "https://[::1"] {
            let reason = reason_of(&client, url);
            assert_eq!(N_PAUSES.load(Ordering::Relaxed), 0, "{url}: {reason}");
        }
    }

    #[test]
    fn a_server_that_stops_sending_is_abandoned() {
        let barren = std::iter::repeat_n(partial_response(4, ""), MAX_FRUITLESS_ATTEMPTS as usize);
        let answers = std::iter::once(whole_response("\"a\"", "0123")).chain(barren).collect();
        let reason = download_from(answers).0.unwrap_err();
        assert!(reason.contains("the download was interrupted"), "{reason}");
    }
}
