//! Work that takes long or waits for a disk, done beside everything else.

use std::panic::resume_unwind;

use crate::Answer;

/// Does work that blocks: reads files, asks a client that is not asynchronous, computes for long. All
/// handlers of a provider share one thread, so none of the others would go on meanwhile.
///
/// ```
/// # use formwork_sdk::prelude::*;
/// # async fn read(path: std::path::PathBuf) -> Answer<String> {
/// let text = aside(move || Ok(std::fs::read_to_string(path)?)).await?;
/// # Ok(text)
/// # }
/// ```
///
/// # Errors
/// What the work returns.
pub async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Answer<T> + Send + 'static,
) -> Answer<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) => resume_unwind(error.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::aside;

    #[tokio::test]
    async fn others_go_on_meanwhile() {
        let (sender, receiver) = mpsc::channel();
        let other = async { sender.send("done").unwrap() };
        let work = aside(move || Ok(receiver.recv().unwrap()));
        let (answer, ()) = tokio::join!(work, other);
        assert_eq!(answer, Ok("done"));
    }
}
