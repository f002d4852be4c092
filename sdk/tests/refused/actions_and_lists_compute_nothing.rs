//! An action with a computed attribute, and a list of objects without an identity.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Message {
    #[attr(required)]
    text: String,
    #[attr(computed)]
    id: String,
}

struct Send;

impl Action for Send {
    type Model = Message;

    async fn invoke(&self, _: Invoke<Message>) -> Answer<()> {
        Ok(())
    }
}

struct Messages;

impl List for Messages {
    type Model = ();
    type Object = Message;

    async fn list(&self, _: Search<(), Message>) -> Answer<()> {
        Ok(())
    }
}

fn main() {
    let provider = ProviderDef::new("registry.terraform.io/acme/mail");
    provider.action("mail_send", Send).list("mail_message", Messages);
}
