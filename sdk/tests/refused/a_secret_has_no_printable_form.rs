//! A message with a secret in it.

use formwork_sdk::prelude::*;

fn complaint(password: &Secret<String>) -> String {
    format!("{password} is too short")
}

fn main() {
    complaint(&Secret::new("a"));
}
