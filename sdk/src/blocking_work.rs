//! Blocking work, run concurrently with the handlers.

use crate::{Answer, Problem, panic_positions};

/// Runs blocking work: reads of files, calls of a synchronous client, long computations. All
/// handlers of a provider share one thread, so blocking work inside a handler would delay all
/// others. Work that has started continues after the handler is stopped.
///
/// ```
/// # use formwork_sdk::prelude::*;
/// # async fn read(path: std::path::PathBuf) -> Answer<String> {
/// let text = run_blocking(move || Ok(std::fs::read_to_string(path)?)).await?;
/// # Ok(text)
/// # }
/// ```
///
/// # Errors Errors of the work.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Answer<T> + Send + 'static,
) -> Answer<T> {
    // Caught on the other thread and resumed here: tokio's own error has no position of the panic.
    match tokio::task::spawn_blocking(|| panic_positions::catch_panic_to_resume(work)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(panic)) => panic_positions::resume_panic(panic),
        // The runtime is shutting down.
        Err(_) => Err(Problem::from_detail("it was not begun: the provider ends")),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::mpsc;

    use futures_util::FutureExt as _;

    use super::run_blocking;
    use crate::panic_positions;

    #[tokio::test]
    async fn a_panic_is_resumed_with_its_position() {
        let work = AssertUnwindSafe(run_blocking::<()>(|| panic!("out of luck")));
        let panic = work.catch_unwind().await.unwrap_err();
        let panic_text = panic_positions::describe_panic(&*panic);
        assert!(panic_text.starts_with(" at sdk/src/blocking_work.rs:"), "{panic_text}");
        assert!(panic_text.ends_with(": out of luck"), "{panic_text}");
    }

    #[tokio::test]
    async fn other_tasks_continue_during_blocking_work() {
        // Would hang if the work blocked the runtime: the value it waits for is sent concurrently.
        let (sender, receiver) = mpsc::channel();
        let other_work = async { sender.send("done").unwrap() };
        let work = run_blocking(move || Ok(receiver.recv().unwrap()));
        let (answer, ()) = tokio::join!(work, other_work);
        assert_eq!(answer, Ok("done"));
    }
}
