//! What happens while the engine works, for whoever watches.
