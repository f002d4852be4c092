//! Forces a value into a schema: attribute types converted, missing parts filled with null or empty.
