//! Child processes on Windows.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle as _, OwnedHandle, RawHandle};
use std::process::Child;

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{INFINITE, WaitForSingleObject};

pub(super) fn wait_without_reaping(child: &Child) {
    #[expect(
        unsafe_code,
        reason = "the standard library waits only for a child that it may change"
    )]
    // SAFETY: the handle is open as long as `child`.
    unsafe {
        WaitForSingleObject(child.as_raw_handle(), INFINITE);
    }
}

/// Processes that end together: at the latest when the last handle of the job is closed, and so
/// even if this process is killed.
#[derive(Debug)]
pub(crate) struct Job(OwnedHandle);

impl Job {
    /// Creates a job without processes.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn new() -> io::Result<Self> {
        #[expect(unsafe_code, reason = "the standard library does not support jobs")]
        // SAFETY: neither security attributes nor a name are given, and a handle that is not null is owned
        // only by this process.
        let handle = unsafe {
            let handle = CreateJobObjectW(std::ptr::null(), std::ptr::null());
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            OwnedHandle::from_raw_handle(handle)
        };
        let job = Self(handle);
        job.set_limit_flags(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
        Ok(job)
    }

    /// Takes a process in, and all that it starts from now on.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn add_process(&self, process: RawHandle) -> io::Result<()> {
        #[expect(unsafe_code, reason = "as in `new`")]
        // SAFETY: both handles are open.
        let is_added = unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process) };
        if is_added == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Ends all its processes.
    pub(crate) fn terminate_processes(&self) {
        #[expect(unsafe_code, reason = "as in `new`")]
        // SAFETY: the handle is open. Failing means that no process is left.
        unsafe {
            TerminateJobObject(self.0.as_raw_handle(), 1);
        }
    }

    /// Lets its processes run on when the job is closed.
    pub(crate) fn disable_kill_on_close(&self) {
        // If the system refuses, they end.
        self.set_limit_flags(0).ok();
    }

    fn set_limit_flags(&self, flags: u32) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = flags;
        let size = u32::try_from(size_of_val(&limits)).unwrap_or_default();
        #[expect(unsafe_code, reason = "as in `new`")]
        // SAFETY: the handle is open, and `limits` has the size that is given.
        let is_set = unsafe {
            SetInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        };
        if is_set == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
