//! A frozen directed acyclic graph over any vertices. Knows nothing of our domain.

pub mod walk;
