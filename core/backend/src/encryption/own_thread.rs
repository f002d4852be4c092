//! Runs the requests of key providers in synchronous code: a key is needed while a file is written.

use std::future::Future;

/// Runs a future to completion on a separate thread.
///
/// # Errors
/// Returns an error if the system cannot create a thread. The message has no final period.
pub(super) fn run_on_own_thread<T: Send>(
    future: impl Future<Output = T> + Send,
) -> Result<T, String> {
    let failed = |error: std::io::Error| format!("a request cannot be started: {error}");
    std::thread::scope(|scope| {
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(future))
        };
        let thread = std::thread::Builder::new().spawn_scoped(scope, run).map_err(failed)?;
        let result = thread.join().map_err(|_| "a request was aborted".to_owned())?;
        result.map_err(failed)
    })
}
