//! Messages of `formwork import` while it looks for the requested object. Other events are reported as by
//! every command.

use formwork_core::change::ImportKey;
use formwork_core::event::{Event, EventObserver};

use crate::view::{Paint, Screen, print_out};

/// Reports the search for an object.
pub(crate) struct ImportReport<'a> {
    pub(crate) screen: Screen,
    /// Observer of all other events.
    pub(crate) observer: &'a dyn EventObserver,
}

impl EventObserver for ImportReport<'_> {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::ImportStart { addr, import_key: ImportKey::Id(id), applying: false } => {
                let text = format!("{addr}: Importing from ID {:?}...", id.as_str());
                print_out(&format!("{}\n", self.screen.paint(Paint::Bold, &text)));
            }
            Event::ImportFound { addr, n_objects } => {
                let message = format!("{addr}: Import prepared!");
                print_out(&format!("{}\n", self.screen.paint(Paint::BoldGreen, &message)));
                let kind = format!("  Prepared {} for import", addr.resource.resource_type());
                let kind = format!("{}\n", self.screen.paint(Paint::Green, &kind));
                print_out(&kind.repeat(*n_objects));
            }
            event => self.observer.on_event(event),
        }
    }
}
