//! Visits a graph: concurrently, each vertex after what it depends on; records sequentially.
