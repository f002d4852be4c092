//! What the command that imports tells while it looks for the one object it was asked for. What else
//! happens on the way is told as in every command.

use std::cell::Cell;

use formwork_core::change::Clue;
use formwork_core::event::{Event, Watch};

use crate::view::{Paint, Screen, out};

/// Tells of an object that is looked for.
pub(crate) struct Importing<'a> {
    pub(crate) screen: Screen,
    /// Who tells of everything else.
    pub(crate) others: &'a dyn Watch,
    /// Whether the object is looked for and not yet found.
    pub(crate) looking: Cell<bool>,
}

impl Watch for Importing<'_> {
    fn see(&self, event: &Event<'_>) {
        match event {
            Event::ImportStart { addr, clue: Clue::Id(id), applying: false } => {
                self.looking.set(true);
                let text = format!("{addr}: Importing from ID {:?}...", id.as_str());
                out(&format!("{}\n", self.screen.paint(Paint::Bold, &text)));
            }
            // The provider has found it, and is asked what it is now.
            Event::RefreshStart { addr, .. } if self.looking.take() => {
                let found = format!("{addr}: Import prepared!");
                let kind = format!("  Prepared {} for import", addr.resource.kind());
                out(&format!(
                    "{}\n{}\n",
                    self.screen.paint(Paint::BoldGreen, &found),
                    self.screen.paint(Paint::Green, &kind)
                ));
                self.others.see(event);
            }
            event => self.others.see(event),
        }
    }
}
