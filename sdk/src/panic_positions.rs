//! Positions of panics in handlers. The payload of a panic has only the message, so a panic hook
//! records the position.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{
    AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook,
};
use std::sync::Once;

thread_local! {
    /// Position of the last panic of this thread.
    static LAST_PANIC_POSITION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Records the positions of panics from now on; the previous hook is called as before.
pub(crate) fn install_panic_hook() {
    static PANIC_HOOK_INSTALLED: Once = Once::new();
    PANIC_HOOK_INSTALLED.call_once(|| {
        // Kept, because the server's own hook prints the `panic: ` line that hosts look for.
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            record_panic_position(panic);
            before(panic);
        }));
    });
}

/// Forgets the position of a panic that was caught and handled.
pub(crate) fn forget_panic_position() {
    LAST_PANIC_POSITION.take();
}

fn record_panic_position(panic: &PanicHookInfo<'_>) {
    let position = panic.location().map(ToString::to_string);
    LAST_PANIC_POSITION.with_borrow_mut(|last| *last = position);
}

/// Message and position of a panic of this thread: ` at src/pets.rs:7:5: out of luck`.
pub(crate) fn describe_panic(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
    match LAST_PANIC_POSITION.take() {
        Some(position) => format!(" at {position}: {text}"),
        None => format!(": {text}"),
    }
}

/// A panic of another thread.
pub(crate) struct CaughtPanic {
    payload: Box<dyn Any + Send>,
    position: Option<String>,
}

/// Runs work on another thread and catches its panic, so that the waiting thread can resume it.
pub(crate) fn catch_panic_to_resume<T>(work: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
    install_panic_hook();
    // The work is consumed, so no broken state remains.
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|payload| CaughtPanic { payload, position: LAST_PANIC_POSITION.take() })
}

/// Resumes a panic of another thread.
pub(crate) fn resume_panic(CaughtPanic { payload, position }: CaughtPanic) -> ! {
    // Resuming calls no hook, so the position is set by hand.
    LAST_PANIC_POSITION.set(position);
    resume_unwind(payload)
}
