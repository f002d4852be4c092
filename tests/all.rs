//! All end-to-end tests, in one program.

mod tidy;
