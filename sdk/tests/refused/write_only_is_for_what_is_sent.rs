//! Write-only attributes where nothing would be written.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Chosen {
    #[attr(optional_computed, write_only)]
    password: String,
}

#[derive(Model)]
struct Defaulted {
    #[attr(default = "a", write_only)]
    password: String,
}

#[derive(Model)]
struct Known {
    #[attr(required, write_only, identity)]
    password: String,
}

#[derive(Clone, Debug, Nested)]
struct Login {
    #[attr(required, write_only)]
    password: String,
}

#[derive(Model)]
struct Asked {
    #[block]
    login: Option<Login>,
    #[attr(computed)]
    answer: String,
}

struct Source;

impl DataSource for Source {
    type Model = Asked;

    async fn read(&self, _: ReadData<Asked>) -> Answer<AskedComputed> {
        Ok(AskedComputed { answer: String::new() })
    }
}

fn main() {}
