//! Actions and list resources, called as a host would.

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::Provider as _;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::action::{ActionEvent, ActionRequest};
use formwork_plugin_protocol::message::list::ListRequest;
use formwork_value::Value;
use futures_util::StreamExt as _;

use super::super::Server;
use crate::prelude::*;

/// What to count.
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
            call.progress.tell(number.to_string());
            tokio::task::yield_now().await;
        }
        match call.config.to {
            0 => Err(Problem::new("Nothing to count", "")),
            _ => Ok(()),
        }
    }
}

/// A thing.
#[derive(Model)]
struct Thing {
    #[attr(required, identity)]
    name: String,
    #[attr(computed)]
    size: i64,
}

struct Things;

impl List for Things {
    type Model = ();
    type Object = Thing;

    async fn list(&self, _: Search<()>) -> Answer<Vec<Listed<Thing>>> {
        let names = ["a", "b", "c"].into_iter();
        Ok(names
            .map(|name| Listed {
                name: format!("thing {name}"),
                object: Thing { name: name.to_owned(), size: 1 }.into(),
            })
            .collect())
    }
}

fn server() -> Server {
    let provider = ProviderDef::new("registry.terraform.io/acme/test");
    Server::new(provider.action("test_count", Count).list("test_thing", Things))
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
    let told = events.map(|event| match event.unwrap() {
        ActionEvent::Progress(text) => text,
        ActionEvent::Completed(problems) => {
            let problems: Vec<_> = problems.into_iter().map(|problem| problem.summary).collect();
            format!("end {}", problems.join(", "))
        }
    });
    told.collect().await
}

#[tokio::test]
async fn an_action_tells_how_it_goes_and_then_how_it_ended() {
    assert_eq!(counted(Value::null(formwork_value::Type::Number)).await, ["1", "2", "end "]);
    assert_eq!(counted(Value::int(0)).await, ["end Nothing to count"]);
}

#[tokio::test]
async fn objects_are_listed_by_identity_up_to_the_limit() {
    let request = ListRequest {
        type_name: "test_thing".to_owned(),
        config: Payload::Absent,
        include_object: false,
        limit: 2,
    };
    let events: Vec<_> = server().list(request).await.unwrap().collect().await;
    let shown: Vec<_> = events
        .into_iter()
        .map(|event| {
            let event = event.unwrap();
            assert!(event.object.is_none());
            let Some(Payload::Value(identity, _)) = event.identity else { panic!("no identity") };
            let name = Path::root().attribute("name").find(identity.value()).cloned();
            (event.display_name, name.unwrap())
        })
        .collect();
    let expected = ["a", "b"].map(|name| (format!("thing {name}"), Value::string(name)));
    assert_eq!(shown, expected);
}
