//! End-to-end scenarios, interoperation, the bad provider, tidy checks and benchmarks.
