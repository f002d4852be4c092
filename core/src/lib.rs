//! The engine: configuration, state, graph, plan and apply.
