//! Ensures that signals end the program even if its main thread is busy: computing, waiting for a disk, or
//! for the reader of its output. For a command that handles signals itself, this takes effect only if the
//! command has not ended after two signals.
//!
//! The process ends as abruptly as by SIGKILL, so recovery handles incomplete work. The kernel ends plugins
//! together with this program; its other child processes get a signal.

#[cfg_attr(unix, path = "signals/unix.rs")]
#[cfg_attr(not(unix), path = "signals/windows.rs")]
mod system;

use std::io;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use formwork_plugin_protocol::children;

use self::system::Signals;
use crate::view;

/// Method of ending a process. On Windows, which does not have a general request to end, both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessEnd {
    /// The process is requested to end, and may ignore the request.
    Asked,
    /// The process is killed.
    Forced,
}

/// Time limit for ending: after the second signal for a command that handles signals itself, and after the
/// request to end for another program.
const EXIT_WAIT_AFTER_SIGNAL: Duration = Duration::from_millis(1500);

/// Time limit for printing the notice, and for finding the processes to signal.
const NOTICE_WAIT: Duration = Duration::from_millis(200);

/// Number of parts of the program that handle signals themselves.
static SIGNAL_GUARD_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether one of them received a signal, and therefore ends the command.
static GUARD_HEARD_SIGNAL: AtomicBool = AtomicBool::new(false);

/// While this exists, its owner handles a first signal, because it can end more gracefully.
pub(crate) struct SignalGuard(Signals);

impl SignalGuard {
    /// From now on, no signal is missed.
    ///
    /// # Errors
    /// Returns an error if the system does not allow the process to handle signals.
    pub(crate) fn start_listening() -> io::Result<Self> {
        let signals = Signals::listen()?;
        SIGNAL_GUARD_COUNT.fetch_add(1, Ordering::SeqCst);
        Ok(Self(signals))
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        self.0.next().await;
        GUARD_HEARD_SIGNAL.store(true, Ordering::SeqCst);
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        SIGNAL_GUARD_COUNT.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Child processes that would not detect the end of this process.
static COMPANION_PIDS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A child process that is ended when a signal ends Formwork. Only this type waits for it: afterwards, the
/// system may reuse its process ID.
pub(crate) struct SupervisedChild {
    program: Child,
    /// The process ID, while the process is among the companions.
    number: Option<u32>,
}

impl SupervisedChild {
    /// Starts a program.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut companions = lock_companions();
        let program = command.spawn()?;
        let number = program.id();
        companions.push(number);
        Ok(Self { program, number: Some(number) })
    }

    /// Takes the stdout pipe of the process, if it is piped and not taken yet.
    pub(crate) fn stdout(&mut self) -> Option<ChildStdout> {
        self.program.stdout.take()
    }

    /// Takes the stderr pipe, likewise.
    pub(crate) fn stderr(&mut self) -> Option<ChildStderr> {
        self.program.stderr.take()
    }

    /// Ends the program and its children after a timeout, or as soon as `is_too_much` returns true, which is
    /// called periodically. Dropping the returned value disables this. The program must not be waited for
    /// while the value exists.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be created. The program is ended in this case.
    pub(crate) fn end_after(
        &self,
        limit: Duration,
        is_too_much: impl Fn() -> bool + Send + 'static,
    ) -> io::Result<CompanionDeadline> {
        let (end, passed) = (Arc::new(Mutex::new(None)), self.program.id());
        let (stop, stopped) = mpsc::channel::<()>();
        let (notes, began) = (Arc::clone(&end), Instant::now());
        let watch = thread::Builder::new().spawn(move || {
            let end = loop {
                let remaining = limit.saturating_sub(began.elapsed());
                let pause = remaining.min(COMPANION_CHECK_INTERVAL);
                if stopped.recv_timeout(pause) != Err(mpsc::RecvTimeoutError::Timeout) {
                    return;
                }
                if began.elapsed() >= limit {
                    break ForcedEnd::Late;
                }
                if is_too_much() {
                    break ForcedEnd::TooMuch;
                }
            };
            *notes.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
            system::end_process_trees(vec![passed], ProcessEnd::Asked);
            // The program may ignore the request.
            if stopped.recv_timeout(EXIT_WAIT_AFTER_SIGNAL) == Err(mpsc::RecvTimeoutError::Timeout)
            {
                system::end_process_trees(vec![passed], ProcessEnd::Forced);
            }
        });
        let watch =
            watch.inspect_err(|_| system::end_process_trees(vec![passed], ProcessEnd::Forced))?;
        Ok(CompanionDeadline { end, stop: Some(stop), watch: Some(watch) })
    }

    /// Waits for the end of the program.
    ///
    /// # Errors
    /// Returns an error if the system cannot report the end of the program.
    pub(crate) fn wait(mut self) -> io::Result<ExitStatus> {
        self.wait_for_end();
        let mut companions = lock_companions();
        self.remove_from_companions(&mut companions);
        self.program.wait()
    }

    /// Waits until the program has ended, without releasing its process ID, as a deadline requires.
    pub(crate) fn wait_for_end(&self) {
        children::wait_without_reaping(&self.program);
    }

    fn remove_from_companions(&mut self, companions: &mut Vec<u32>) {
        if let Some(number) = self.number.take() {
            companions.retain(|id| *id != number);
        }
    }
}

/// Interval between two checks of a companion.
const COMPANION_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The reason why a companion was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForcedEnd {
    /// The timeout expired.
    Late,
    /// The process exceeded its limit.
    TooMuch,
}

/// A running deadline of a companion.
pub(crate) struct CompanionDeadline {
    end: Arc<Mutex<Option<ForcedEnd>>>,
    stop: Option<mpsc::Sender<()>>,
    watch: Option<thread::JoinHandle<()>>,
}

impl CompanionDeadline {
    /// The reason why the companion was ended, if it was.
    pub(crate) fn forced_end(&self) -> Option<ForcedEnd> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CompanionDeadline {
    fn drop(&mut self) {
        drop(self.stop.take());
        // The process ID may be reused as soon as the program is waited for.
        self.watch.take().map(thread::JoinHandle::join);
    }
}

impl Drop for SupervisedChild {
    fn drop(&mut self) {
        if self.number.is_some() {
            self.remove_from_companions(&mut lock_companions());
        }
    }
}

fn lock_companions() -> MutexGuard<'static, Vec<u32>> {
    COMPANION_PIDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`lock_companions`], unless another thread takes too long to start a companion.
fn try_lock_companions() -> Option<MutexGuard<'static, Vec<u32>>> {
    let begun = Instant::now();
    loop {
        match COMPANION_PIDS.try_lock() {
            Ok(companions) => return Some(companions),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < NOTICE_WAIT => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => return None,
        }
    }
}

/// Starts to watch. From now on, no signal is missed. If the thread cannot be created, signals keep their
/// default effect.
pub(crate) fn start_watching_signals() {
    system::note_ignored_hangup();
    let watching = thread::Builder::new().name("signals".to_owned()).stack_size(256 * 1024);
    let (listens, listening) = mpsc::channel();
    // If the thread cannot be started, signals keep their default effect.
    drop(watching.spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(watch_signals(listens));
        }
    }));
    // A thread that fails drops the other end.
    listening.recv().ok();
}

async fn watch_signals(listens: mpsc::Sender<()>) {
    let Ok(mut signals) = Signals::listen() else { return };
    listens.send(()).ok();
    let mut n_attended = 0;
    loop {
        signals.next().await;
        // The part that received the signal may have ended before this thread is notified.
        if SIGNAL_GUARD_COUNT.load(Ordering::SeqCst) == 0
            && !GUARD_HEARD_SIGNAL.load(Ordering::SeqCst)
        {
            print_notice("\nInterrupt received. The command ended before it completed.\n");
            end_process();
        }
        n_attended += 1;
        if n_attended > 1 {
            tokio::time::sleep(EXIT_WAIT_AFTER_SIGNAL).await;
            end_process();
        }
    }
}

/// Prints a notice, unless stderr blocks.
fn print_notice(text: &'static str) {
    let (sender, receiver) = mpsc::channel();
    let saying = thread::Builder::new().spawn(move || {
        view::print_err(text);
        // The receiver is dropped if this took too long.
        sender.send(()).ok();
    });
    if saying.is_err() {
        return;
    }
    // The process ends next, even if printing timed out.
    receiver.recv_timeout(NOTICE_WAIT).ok();
}

#[expect(clippy::exit, reason = "the thread that would return from main is busy")]
fn end_process() -> ! {
    // While the lock is held, no process is reaped, so that each ID still refers to its process. If the lock
    // cannot be acquired in time, a program takes so long to start that waiting would be worse.
    let companions = try_lock_companions();
    let programs = companions.as_deref().cloned().unwrap_or_default();
    system::end_process_trees(programs, ProcessEnd::Asked);
    std::process::exit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "no plugin; it ends by itself and is waited for")]
    #[test]
    fn a_process_id_is_reserved_while_the_process_may_be_signalled() {
        let companion = SupervisedChild::start(&mut Command::new("true")).unwrap();
        let id = companion.program.id();
        companion.wait_for_end();
        assert!(lock_companions().contains(&id));
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        assert!(status.contains(") Z "), "the process ID is not reused: {status}");
        assert!(companion.wait().unwrap().success());
        assert!(!lock_companions().contains(&id));
    }
}
