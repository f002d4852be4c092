//! Work that takes long or waits for a disk, done beside everything else: all handlers of a provider
//! share one thread.

use std::panic::resume_unwind;

use formwork_sdk::Answer;

/// Does some work; what it panics with is what we panic with.
pub(crate) async fn aside<T: Send + 'static>(
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
