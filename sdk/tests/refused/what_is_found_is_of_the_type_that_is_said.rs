//! An object of one resource type, found as one of another: along with an import, and in a list.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Network {
    #[attr(computed, identity)]
    id: String,
}

#[derive(Model)]
struct Rule {
    #[attr(computed, identity)]
    id: String,
}

struct Networks;
struct Rules;

impl Resource for Rules {
    type Model = Rule;

    async fn create(&self, _: Create<Rule>) -> Answer<RuleComputed> {
        Ok(RuleComputed { id: String::new() })
    }
}

impl Resource for Networks {
    type Model = Network;

    async fn create(&self, _: Create<Network>) -> Answer<NetworkComputed> {
        Ok(NetworkComputed { id: String::new() })
    }

    async fn import(&self, call: Import<Network>) -> Answer<NetworkDraft> {
        call.add_object::<Rules>(NetworkIdentity { id: call.id.clone() });
        Ok(NetworkIdentity { id: call.id.clone() }.into())
    }
}

impl List for Networks {
    type Model = ();
    type Object = Network;

    async fn list(&self, call: Search<(), Network>) -> Answer<()> {
        call.send_object("a rule", Rule { id: String::new() }).await;
        Ok(())
    }
}

fn main() {}
