//! A provider that lists its objects: an object that a lost call may have created is found among
//! them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use formwork_sdk::prelude::*;

use super::super::*;

/// A note. Its number is unknown before it is created.
#[derive(Clone, Model)]
struct Note {
    #[attr(required)]
    title: String,
    #[attr(computed, keep, identity)]
    number: i64,
}

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<BTreeMap<i64, Note>>>);

impl Notes {
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Resource for Notes {
    type Model = Note;

    async fn create(&self, call: Create<Note>) -> Answer<NoteComputed> {
        let mut notes = self.0.lock().unwrap();
        let number = i64::try_from(notes.len()).expect("the number of notes is small");
        notes.insert(number, Note { title: call.planned.title.clone(), number });
        Ok(NoteComputed { number })
    }

    async fn read(&self, call: Read<Note>) -> Answer<Option<Note>> {
        Ok(self.0.lock().unwrap().get(&call.current.number).cloned())
    }

    async fn update(&self, call: Update<Note>) -> Answer<NoteComputed> {
        let number = call.prior.number;
        let title = call.planned.title.clone();
        self.0.lock().unwrap().insert(number, Note { title, number });
        Ok(NoteComputed { number })
    }

    async fn delete(&self, call: Delete<Note>) -> Answer<()> {
        self.0.lock().unwrap().remove(&call.prior.number);
        Ok(())
    }
}

impl List for Notes {
    type Model = ();
    type Object = Note;

    async fn list(&self, call: Search<(), Note>) -> Answer<()> {
        let notes: Vec<_> = self.0.lock().unwrap().values().cloned().collect();
        for note in notes {
            call.send_object(note.title.clone(), note).await;
        }
        Ok(())
    }
}

fn provider(notes: &Notes) -> impl Fn() -> ProviderDef + Clone + Send + Sync + 'static {
    let notes = notes.clone();
    move || {
        ProviderDef::new("registry.terraform.io/acme/desk")
            .resource("desk_note", notes.clone())
            .list("desk_note", notes.clone())
    }
}

const CONFIG: &str = r#"
resource "desk_note" "a" {
  title = "milk"
}
"#;

#[test]
fn an_object_whose_creation_was_lost_is_found_by_listing() {
    let notes = Notes::default();
    let mut engine = TestEngine::new(provider(&notes));
    engine.apply(CONFIG).expect_applied();
    // A fault is set by the number of a call, which a first run finds out.
    let creation =
        engine.end_fault_and_take_calls().iter().position(|call| call == "apply desk_note");
    engine.destroy(CONFIG).expect_applied();

    let mut engine = TestEngine::new(provider(&notes));
    // The service has created the object, and the answer is lost.
    engine.inject_fault(creation.expect("it was created"), CrashFault::DiesAfter);
    assert!(!engine.apply(CONFIG).has_applied_without_error());
    assert_eq!(
        (notes.len(), engine.n_objects()),
        (1, 0),
        "the object exists and the state lacks it"
    );
    // Ends the fault and takes the calls so far, so that the next run has only its own calls.
    engine.end_fault_and_take_calls();
    engine.apply(CONFIG).expect_applied();
    let calls = engine.end_fault_and_take_calls();
    assert!(calls.iter().any(|call| call == "list desk_note"), "{calls:?}");
    assert_eq!((notes.len(), engine.n_objects()), (1, 1), "it exists once and is managed");
    engine.plan(CONFIG).expect_no_changes();
}

#[test]
fn faults_of_every_call_cause_no_second_object() {
    let notes = Notes::default();
    let cases = fault_sweep(provider(&notes), CONFIG);
    assert!(cases.iter().any(|case| case.call == "apply desk_note"));
    assert_eq!(notes.len(), 0, "no object remains");
}
