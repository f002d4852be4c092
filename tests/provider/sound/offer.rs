//! The types of the sound provider, one of each kind.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use formwork_sdk::prelude::*;

use crate::objects;

/// The provider's address.
pub(crate) const ADDRESS: &str = "registry.terraform.io/formwork/sound";

/// The definition of the provider.
pub(crate) fn provider() -> ProviderDef {
    ProviderDef::new(ADDRESS)
        .with_configuration(Settings)
        .resource("sound_item", Items)
        .resource("sound_note", Notes)
        .list("sound_item", Items)
        .data_source("sound_lookup", Lookups)
        .ephemeral("sound_token", Tokens)
        .action("sound_ping", Pings)
        .function::<JoinArguments>("joined")
        .function::<Shouted>("shouted")
}

/// The configuration of the provider.
#[derive(Model)]
struct Config {
    /// The URL of the service.
    #[attr(optional)]
    endpoint: Option<String>,
    /// The access token of the service.
    #[attr(optional, sensitive)]
    access_token: Option<String>,
}

struct Settings;

impl Configure for Settings {
    type Model = Config;

    async fn configure(&self, _: Setup<Config>) -> Answer<()> {
        Ok(())
    }
}

/// An existing item.
#[derive(Clone, Model)]
pub(crate) struct Item {
    /// The id of the item.
    #[attr(computed, keep, identity, import)]
    id: String,
    /// The name of the item.
    #[attr(required)]
    name: String,
    /// The kind of the item. A change forces replacement.
    #[attr(optional, replace)]
    kind: Option<String>,
    /// The size of the item.
    #[attr(optional)]
    size: Option<i64>,
    /// The tags of the item.
    #[attr(optional)]
    tags: Option<Set<String>>,
    /// The labels of the item.
    #[attr(optional)]
    labels: Option<BTreeMap<String, String>>,
    /// The notes about the item.
    #[attr(optional)]
    notes: Option<Vec<String>>,
    /// The password of the item.
    #[attr(optional, sensitive)]
    password: Option<String>,
    /// The secret of the item, which is not stored.
    #[attr(optional, write_only)]
    secret: Option<String>,
    /// The text of the item. The default is `text`.
    #[attr(optional_computed, keep)]
    text: String,
    /// The number of changes of the item.
    #[attr(computed)]
    generation: i64,
    /// The parts of the item.
    #[block]
    part: Vec<Part>,
    /// The limits of operations on the item. Durations that cannot be read are ignored.
    #[block]
    timeouts: Option<Limits>,
}

/// The limits of operations on an item.
#[derive(Clone, Debug, Nested)]
struct Limits {
    /// The longest time for creating.
    #[attr(optional)]
    create: Option<String>,
}

/// A part of an item.
#[derive(Clone, Debug, Nested)]
struct Part {
    /// The label of the part.
    #[attr(required)]
    label: String,
    /// The weight of the part.
    #[attr(optional)]
    weight: Option<i64>,
}

/// The resource type `sound_item`, and the list of its objects.
struct Items;

impl Resource for Items {
    type Model = Item;

    const VERSION: u64 = 2;

    async fn create(&self, _: Create<Item>) -> Answer<ItemComputed> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let id = format!("item-{}-{number}", std::process::id());
        Ok(ItemComputed { id, text: "text".to_owned(), generation: 1 })
    }

    async fn update(&self, call: Update<Item>) -> Answer<ItemComputed> {
        let Item { id, text, generation, .. } = call.prior.clone();
        Ok(ItemComputed { id, text, generation: generation + 1 })
    }

    async fn upgrade(&self, call: Upgrade) -> Answer<ItemDraft> {
        call.stored.to_draft::<Item>()
    }
}

impl List for Items {
    type Model = Query;
    type Object = Item;

    async fn list(&self, call: Search<Query, Item>) -> Answer<()> {
        for (name, object) in objects::all_objects::<Item>() {
            call.send_object(name, object).await;
        }
        Ok(())
    }
}

/// The arguments of a search for items.
#[derive(Model)]
struct Query {
    /// The beginning of the names to find.
    #[attr(optional)]
    prefix: Option<String>,
}

/// A note, which exists in the state alone.
#[derive(Model)]
struct Note {
    /// The id of the note.
    #[attr(computed, keep, import)]
    id: String,
    /// The title of the note.
    #[attr(optional)]
    title: Option<String>,
    /// Whether the note is pinned.
    #[attr(optional)]
    pinned: Option<bool>,
}

struct Notes;

impl Resource for Notes {
    type Model = Note;

    fn validate(&self, call: Validate<Note>) -> Answer<()> {
        // A provider in Go that reports one entry of a map reports any of them.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let entry = ["title", "pinned"][COUNT.fetch_add(1, Ordering::Relaxed) as usize % 2];
        call.warn(Problem::new("A note may change", format!("Its {entry} may change.")));
        Ok(())
    }

    async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
        Ok(NoteComputed { id: "note".to_owned() })
    }
}

/// An entry of the register.
#[derive(Model)]
struct Lookup {
    /// The name of the entry.
    #[attr(required)]
    name: String,
    /// The text of the entry.
    #[attr(computed)]
    text: String,
}

struct Lookups;

impl DataSource for Lookups {
    type Model = Lookup;

    async fn read(&self, call: ReadData<Lookup>) -> Answer<LookupComputed> {
        match call.config.name.as_str() {
            "alpha" => Ok(LookupComputed { text: "the first".to_owned() }),
            _ => {
                let problem = Problem::new("No such entry", "The register has only \"alpha\".");
                Err(problem.at("name"))
            }
        }
    }
}

/// A token that must be renewed.
#[derive(Model)]
struct Token {
    /// The use of the token.
    #[attr(optional)]
    name: Option<String>,
    /// The token.
    #[attr(computed, sensitive)]
    access_token: String,
}

struct Tokens;

impl Ephemeral for Tokens {
    type Model = Token;

    async fn open(&self, call: Open<Token>) -> Answer<TokenComputed> {
        call.lasts.renew_at(SystemTime::now() + Duration::from_secs(600));
        call.private.set("lease", "1");
        Ok(TokenComputed { access_token: "token-only-for-its-owner".to_owned() })
    }

    async fn renew(&self, call: Renew) -> Answer<()> {
        call.lasts.renew_at(SystemTime::now() + Duration::from_secs(600));
        Ok(())
    }

    async fn close(&self, _: Close) -> Answer<()> {
        Ok(())
    }
}

/// A ping.
#[derive(Model)]
struct Ping {
    /// The target of the ping.
    #[attr(optional)]
    target: Option<String>,
}

struct Pings;

impl Action for Pings {
    type Model = Ping;

    async fn invoke(&self, call: Invoke<Ping>) -> Answer<()> {
        call.progress.send("sent");
        Ok(())
    }
}

/// Joins strings.
#[derive(Arguments)]
struct JoinArguments {
    /// The separator between any two strings.
    separator: String,
    /// The strings.
    #[attr(variadic)]
    parts: Vec<String>,
}

impl Function for JoinArguments {
    type Result = String;

    fn call(self) -> Answer<String> {
        match self.separator.as_str() {
            "" => Err(Problem::from_detail("the separator is empty").at("separator")),
            separator => Ok(self.parts.join(separator)),
        }
    }
}

/// Returns a string in upper case.
#[derive(Arguments)]
struct Shouted {
    /// The string.
    text: String,
}

impl Function for Shouted {
    type Result = String;

    fn call(self) -> Answer<String> {
        Ok(self.text.to_uppercase())
    }
}
