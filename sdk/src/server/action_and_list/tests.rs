//! Tests of actions and list resources, called as by a host.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::ProviderExt as _;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::action::{ActionEvent, ActionRequest};
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest};
use formwork_value::Value;
use futures_util::StreamExt as _;

use super::super::Server;
use crate::prelude::*;

/// Range to count.
#[derive(Model)]
struct Counting {
    #[attr(default = 2)]
    to: i64,
}

struct Count;

impl Action for Count {
    type Model = Counting;

    async fn invoke(&self, call: Invoke<Counting>) -> Answer<()> {
        for number in 1..=call.config.to {
            call.progress.send(number.to_string());
            // Lets the host take the event, as in an action that waits.
            tokio::task::yield_now().await;
        }
        match call.config.to {
            0 => Err(Problem::new("Nothing to count", "")),
            _ => Ok(()),
        }
    }
}

/// An object.
#[derive(Model)]
struct Thing {
    #[attr(required, identity)]
    name: String,
    #[attr(computed)]
    size: i64,
}

/// A query.
#[derive(Model)]
struct Asked {
    /// Number of objects.
    #[attr(default = 3)]
    of: i64,
}

/// Finds objects, and counts the requests.
#[derive(Clone, Default)]
struct Things(Arc<AtomicUsize>);

impl List for Things {
    type Model = Asked;
    type Object = Thing;

    async fn list(&self, call: Search<Asked, Thing>) -> Answer<()> {
        for number in 1..=call.config.of {
            self.0.fetch_add(1, Ordering::Relaxed);
            let name = format!("thing {number}");
            match number {
                7 => return Err(Problem::from_detail("the seventh is not to be found")),
                _ if call.whole => {
                    call.send_object(&name, Thing { name: name.clone(), size: 1 }).await;
                }
                _ => call.send_object(&name, ThingIdentity { name: name.clone() }).await,
            }
        }
        call.warn(Problem::new("Nothing more", ""));
        Ok(())
    }
}

fn server() -> Server {
    let provider = ProviderDef::new("registry.terraform.io/acme/test");
    Server::new(provider.action("test_count", Count).list("test_thing", Things::default()))
}

async fn counted(to: Value) -> Vec<String> {
    let config = Value::object([("to", to)]);
    let ty = config.ty();
    let request = ActionRequest {
        type_name: "test_count".to_owned(),
        config: Payload::Value(config.split_marks().0, ty),
        client: ClientCapabilities::default(),
    };
    let events = server().invoke_action(request).await.unwrap();
    let summaries = events.map(|event| match event.unwrap() {
        ActionEvent::Progress(text) => text,
        ActionEvent::Completed(problems) => {
            let problems: Vec<_> = problems.into_iter().map(|problem| problem.summary).collect();
            format!("end {}", problems.join(", "))
        }
    });
    summaries.collect().await
}

#[tokio::test]
async fn an_action_reports_its_progress_and_its_result() {
    assert_eq!(counted(Value::null(formwork_value::Type::Number)).await, ["1", "2", "end "]);
    // An error also ends the stream: a host waits for `Completed` and ignores later events.
    assert_eq!(counted(Value::int(0)).await, ["end Nothing to count"]);
}

fn listing(of: i64, limit: i64, include_object: bool) -> ListRequest {
    let config = Value::object([("of", Value::int(of))]).split_marks().0;
    ListRequest {
        type_name: "test_thing".to_owned(),
        config: Payload::Value(config, Asked::shape().ty().clone()),
        include_object,
        limit,
    }
}

async fn listed(of: i64, limit: i64) -> Vec<ListEvent> {
    let events = server().list(listing(of, limit, false)).await.unwrap();
    events.map(Result::unwrap).collect().await
}

#[tokio::test]
async fn objects_are_listed_by_identity_up_to_the_limit() {
    let events = listed(3, 2).await;
    let identities: Vec<_> = events
        .into_iter()
        .map(|event| {
            assert!(event.object.is_none());
            let Some(Payload::Value(identity, _)) = event.identity else { panic!("no identity") };
            let name = Path::root().attribute("name").find(identity.value()).cloned();
            (event.display_name, name.unwrap())
        })
        .collect();
    let expected = ["thing 1", "thing 2"].map(|name| (name.to_owned(), Value::string(name)));
    assert_eq!(identities, expected);
}

#[tokio::test]
async fn complete_objects_are_listed_if_requested() {
    // A limit of 0 is none.
    let mut events = server().list(listing(1, 0, true)).await.unwrap();
    let event = events.next().await.unwrap().unwrap();
    let Some(Payload::Value(object, _)) = event.object else { panic!("no object") };
    let size = Path::root().attribute("size").find(object.value()).cloned();
    assert_eq!(size, Some(Value::int(1)));
}

#[tokio::test]
async fn objects_are_not_searched_before_they_are_requested() {
    let things = Things::default();
    let provider = ProviderDef::new("registry.terraform.io/acme/test");
    let server = Server::new(provider.list("test_thing", things.clone()));
    let mut events = server.list(listing(i64::MAX, 0, false)).await.unwrap();
    let looked_for = || things.0.load(Ordering::Relaxed);
    assert_eq!(looked_for(), 0);
    for n_wanted in 1..=5 {
        events.next().await.unwrap().unwrap();
        // One object more is prepared than were taken.
        assert!(looked_for() <= n_wanted + 1, "{} for {n_wanted}", looked_for());
    }
    drop(events);
    assert!(looked_for() <= 6, "no object is searched after the receiver is dropped");
}

#[tokio::test]
async fn the_error_that_ends_a_listing_follows_the_found_objects() {
    let events = listed(9, 0).await;
    assert_eq!(events.len(), 7, "six things and a problem");
    assert_eq!(events[6].diagnostics[0].detail, "the seventh is not to be found");
    // The objects were sent before the warning came, so it needs an event of its own.
    let events = listed(2, 0).await;
    assert_eq!(events[2].diagnostics[0].summary, "Nothing more");
    assert_eq!(events[2].identity, None);
}

#[tokio::test]
async fn an_object_without_identity_is_a_provider_bug() {
    struct Nameless;

    impl List for Nameless {
        type Model = ();
        type Object = Thing;

        async fn list(&self, call: Search<(), Thing>) -> Answer<()> {
            call.send_object("somebody", ThingDraft { size: 1.into(), ..ThingDraft::default() })
                .await;
            Ok(())
        }
    }

    let provider = ProviderDef::new("registry.terraform.io/acme/test");
    let server = Server::new(provider.list("test_thing", Nameless));
    let request = ListRequest { config: Payload::Absent, ..listing(1, 0, false) };
    let mut events = server.list(request).await.unwrap();
    let event = events.next().await.unwrap().unwrap();
    assert!(event.diagnostics[0].detail.starts_with("\"somebody\" was found without"));
    assert!(event.diagnostics[0].detail.contains("`name`"));
}

#[tokio::test]
async fn a_listing_ends_at_the_limit() {
    struct Searching;

    impl List for Searching {
        type Model = ();
        type Object = Thing;

        async fn list(&self, call: Search<(), Thing>) -> Answer<()> {
            call.send_object("a", ThingIdentity { name: "a".to_owned() }).await;
            // Only the limit can end this.
            std::future::pending().await
        }
    }

    let provider = ProviderDef::new("registry.terraform.io/acme/test");
    let server = Server::new(provider.list("test_thing", Searching));
    let request = ListRequest { config: Payload::Absent, ..listing(1, 1, false) };
    let events: Vec<_> = server.list(request).await.unwrap().collect().await;
    assert_eq!(events.len(), 1);
}

#[tokio::test]
async fn a_listing_ends_when_the_host_stops() {
    struct Endless;

    impl List for Endless {
        type Model = ();
        type Object = Thing;

        async fn list(&self, _: Search<(), Thing>) -> Answer<()> {
            std::future::pending().await
        }
    }

    let provider = ProviderDef::new("registry.terraform.io/acme/test");
    let server = Server::new(provider.list("test_thing", Endless));
    let request = ListRequest { config: Payload::Absent, ..listing(1, 0, false) };
    let events = server.list(request).await.unwrap();
    // `join!` polls in this order, so the listing begins before the stop.
    let (events, stopped) = tokio::join!(events.collect::<Vec<_>>(), server.stop());
    stopped.unwrap();
    assert_eq!(events[0].as_ref().unwrap().diagnostics[0].summary, "Interrupted");
}
