//! Files become a [`Config`]. Nothing is evaluated beyond constants.

use std::path::Path;

use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Reported};

use super::{Config, Files};

impl Config {
    /// Reads the configuration in a folder. The sources keep the texts, also when it fails, so that
    /// messages can show them.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, a block is malformed, or a name stands for nothing.
    pub fn load(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        files: &dyn Files,
        dir: &Path,
    ) -> Result<Self, Reported> {
        let _ = (diags, sources, files, dir);
        todo!()
    }
}
