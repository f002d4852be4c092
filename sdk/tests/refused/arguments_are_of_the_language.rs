//! Functions whose arguments have no form, or no end.

use std::path::PathBuf;

use formwork_sdk::prelude::*;

/// Takes a path.
#[derive(Arguments)]
struct Formless {
    path: PathBuf,
}

/// Takes anything, and then something.
#[derive(Arguments)]
struct Endless {
    #[attr(variadic)]
    first: Vec<String>,
    last: String,
}

struct Nothing;

impl Function for Nothing {
    type Result = String;

    fn call(self) -> Answer<String> {
        Ok(String::new())
    }
}

fn main() {}
