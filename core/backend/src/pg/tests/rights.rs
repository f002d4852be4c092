//! Users with different rights: each can use Formwork's tables like the table of states, or is refused with the
//! statement that grants the rights.

use formwork_core::state::intent_log::StateAccess;

use super::lost_connections::states_table;
use super::{
    claims_of_run, connect_directly, new_backend, open_locked_for_apply, open_store, start_server,
    state_with_object,
};
use crate::claims::Claims;
use crate::journals::JournalStore;
use crate::lock::StateLock;
use crate::pg::PgStore;
use crate::pg::journals::PgJournals;
use crate::store::StateStore;
use crate::{DEFAULT_WORKSPACE, StoreError};

#[tokio::test]
async fn a_user_who_may_only_read_the_states_is_refused_before_the_first_change() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    open_store(&backend).await.overwrite(state_with_object(1, "old")).await.unwrap();
    let direct_client = connect_directly(server.port).await;
    let open = |user: &str| PgStore::new(states_table(user, server.port), DEFAULT_WORKSPACE);
    let new_user = async |user: &str, tables: &str| {
        let statements = format!(
            "CREATE ROLE {user} LOGIN; GRANT USAGE ON SCHEMA terraform_remote_state TO {user}; GRANT SELECT ON {tables} TO {user}"
        );
        direct_client.batch_execute(&statements).await.unwrap();
    };
    // Before and after Formwork's tables are there.
    for (user, tables) in [
        ("early", "terraform_remote_state.states"),
        ("later", "ALL TABLES IN SCHEMA terraform_remote_state"),
    ] {
        new_user(user, tables).await;
        let mut store = open(user);
        let lock = store.try_lock("OperationTypeApply").await.unwrap();
        store.read().await.unwrap();
        // Nothing to store, so nothing to refuse.
        store.claim_changes(Claims { run: user.to_owned(), ..Claims::default() }).await.unwrap();
        let only_checks = Claims { stores_other_changes: true, ..Claims::default() };
        let refused = store.claim_changes(only_checks).await.unwrap_err().to_string();
        assert!(refused.contains("lacks rights to write the table"), "{refused}");
        let error = store.claim_changes(claims_of_run(user)).await.unwrap_err();
        let StoreError::Failed { cause, .. } = &error else { panic!("{error:?}") };
        let cause = cause.to_string();
        let statements = cause.split_once("with: ").map(|(_, statements)| statements).unwrap();
        assert!(statements.contains("\"terraform_remote_state\".states TO"), "{cause}");
        direct_client.batch_execute(statements).await.unwrap();
        store.claim_changes(claims_of_run(user)).await.unwrap();
        store.write(&mut state_with_object(1, user)).await.unwrap();
        store.unlock(lock).await.unwrap();
        // The tables are there for the second user.
        let mut first_store = open_locked_for_apply(&backend).await;
        first_store.unlock(StateLock::new(String::new())).await.unwrap();
    }
}

#[tokio::test]
async fn users_of_the_states_table_may_use_tables_that_another_user_creates() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    open_store(&backend).await.overwrite(state_with_object(1, "old")).await.unwrap();
    let direct_client = connect_directly(server.port).await;
    let new_user = async |user: &str, rights: &str| {
        let statements = format!(
            "CREATE ROLE {user} LOGIN; GRANT USAGE ON SCHEMA terraform_remote_state TO {user}; GRANT {rights} ON terraform_remote_state.states TO {user}; GRANT USAGE ON SEQUENCE public.global_states_id_seq TO {user}"
        );
        direct_client.batch_execute(&statements).await.unwrap();
    };
    new_user("mate", "SELECT, INSERT, UPDATE").await;
    new_user("reader", "SELECT").await;
    // The first apply creates the tables.
    let mut first_store = open_locked_for_apply(&backend).await;
    first_store.unlock(StateLock::new(String::new())).await.unwrap();
    new_user("late", "SELECT, INSERT, UPDATE, DELETE").await;
    let open = |user: &str| PgStore::new(states_table(user, server.port), DEFAULT_WORKSPACE);
    let journals = |user: &str| PgJournals::new(states_table(user, server.port), DEFAULT_WORKSPACE);

    let mut mate_store = open("mate");
    let lock = mate_store.try_lock("OperationTypeApply").await.unwrap();
    assert_eq!(mate_store.state_access(), StateAccess::Shared);
    mate_store.read().await.unwrap();
    mate_store.claim_changes(claims_of_run("mate")).await.unwrap();
    mate_store.write(&mut state_with_object(1, "new")).await.unwrap();
    mate_store.unlock(lock).await.unwrap();
    assert_eq!(journals("mate").begin_run("mate").await.unwrap(), None);
    assert!(journals("reader").read_runs(StateAccess::ReadOnly).await.unwrap().is_empty());
    assert!(!open("reader").history(9).await.unwrap().unwrap().is_empty());

    // A user who was created later works exclusively, and does not treat unreadable journals as
    // missing.
    let mut late_store = open("late");
    let lock = late_store.try_lock("OperationTypeApply").await.unwrap();
    assert_eq!(late_store.state_access(), StateAccess::Locked);
    late_store.read().await.unwrap();
    late_store.claim_changes(claims_of_run("late")).await.unwrap();
    late_store.write(&mut state_with_object(2, "newer")).await.unwrap();
    late_store.unlock(lock).await.unwrap();
    let error = late_store.history(9).await.unwrap_err();
    let StoreError::Failed { cause, .. } = &error else { panic!("{error:?}") };
    let cause = cause.to_string();
    let statement = cause.split_once("with: ").map(|(_, statement)| statement).unwrap();
    let error = journals("late").read_runs(StateAccess::Locked).await.unwrap_err().to_string();
    assert!(error.ends_with(statement), "{error}");
    let reason = journals("late").begin_run("late").await.unwrap().unwrap();
    assert!(reason.ends_with(statement), "{reason}");
    direct_client.batch_execute(statement).await.unwrap();
    let _lock = late_store.try_lock("OperationTypeApply").await.unwrap();
    assert_eq!(late_store.state_access(), StateAccess::Shared);
}
