//! The provisioners that come with Formwork. When they run, and what their failure means, is the
//! engine's business.

mod local_exec;

use formwork_core::provisioner::Provisioners;

use self::local_exec::LocalExec;

/// All provisioners there are.
#[must_use]
pub fn all() -> Provisioners {
    Provisioners::of([("local-exec", Box::new(LocalExec::default()))])
}
