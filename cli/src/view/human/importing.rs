//! Messages of the command that imports, while it looks for the one object it was asked for. Other
//! events are reported as in every command.

use formwork_core::change::Clue;
use formwork_core::event::{Event, Watch};

use crate::view::{Paint, Screen, out};

/// Reports an object that is looked for.
pub(crate) struct Importing<'a> {
    pub(crate) screen: Screen,
    /// Observer of all other events.
    pub(crate) others: &'a dyn Watch,
}

impl Watch for Importing<'_> {
    fn see(&self, event: &Event<'_>) {
        match event {
            Event::ImportStart { addr, clue: Clue::Id(id), applying: false } => {
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
