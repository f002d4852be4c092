//! What a provider author writes against.
