//! The command line of Formwork.
