//! Messages of the command that imports, while it looks for the one object it was asked for. Other
//! events are reported as in every command.

use formwork_core::change::ImportKey;
use formwork_core::event::{Event, EventObserver};

use crate::view::{Paint, Screen, out};

/// Reports an object that is looked for.
pub(crate) struct Importing<'a> {
    pub(crate) screen: Screen,
    /// Observer of all other events.
    pub(crate) others: &'a dyn EventObserver,
}

impl EventObserver for Importing<'_> {
    fn see(&self, event: &Event<'_>) {
        match event {
            Event::ImportStart { addr, import_key: ImportKey::Id(id), applying: false } => {
                let text = format!("{addr}: Importing from ID {:?}...", id.as_str());
                out(&format!("{}\n", self.screen.paint(Paint::Bold, &text)));
            }
            Event::ImportFound { addr, n_objects } => {
                let found = format!("{addr}: Import prepared!");
                out(&format!("{}\n", self.screen.paint(Paint::BoldGreen, &found)));
                let kind = format!("  Prepared {} for import", addr.resource.kind());
                let kind = format!("{}\n", self.screen.paint(Paint::Green, &kind));
                out(&kind.repeat(*n_objects));
            }
            event => self.others.see(event),
        }
    }
}
