//! Keys, chunks and sessions, and faults of their server.
