//! The derives of the provider SDK.
