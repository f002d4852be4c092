//! Counts the instances that a phase has finished, for a display of progress.

use std::cell::Cell;

use crate::event::{Event, EventObserver, Phase};

/// The instances of a phase: the number finished, and the number known by now.
pub(crate) struct Counter<'a> {
    watch: &'a dyn EventObserver,
    phase: Phase,
    done: Cell<usize>,
    total: Cell<usize>,
}

impl<'a> Counter<'a> {
    /// Makes a counter that expects `total` instances.
    pub(crate) fn new(watch: &'a dyn EventObserver, phase: Phase, total: usize) -> Self {
        Self { watch, phase, done: Cell::new(0), total: Cell::new(total) }
    }

    /// Expects more instances.
    pub(crate) fn add(&self, more: usize) {
        self.total.set(self.total.get() + more);
    }

    /// Takes back one expected instance: the instances that it stood for are counted themselves
    /// from here on.
    pub(crate) fn take_back(&self) {
        self.total.set(self.total.get().saturating_sub(1));
    }

    /// Counts one instance as finished.
    pub(crate) fn done(&self) {
        self.done.set(self.done.get() + 1);
        let (phase, done, total) = (self.phase, self.done.get(), self.total.get());
        // Instances become known while resources are expanded, so the total may lag behind.
        self.watch.see(&Event::Count { phase, done, total: total.max(done) });
    }
}
