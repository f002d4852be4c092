//! The language's operators on values: under null, unknown and marks.
