//! Waits: their causes, their limits, and the host's stop signal.

use formwork_sdk::prelude::*;
use formwork_sdk::testing::PlannedAction;
use formwork_sdk::value::Value;
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::super::server::{PostgresqlConfigModelDraft, PostgresqlServer};
use super::real::Real;
use super::{create_object, text};

fn server(port: u16, seconds: i64) -> PostgresqlServer {
    let mut settings = PostgresqlConfigModelDraft::default();
    settings.host = "127.0.0.1".into();
    settings.port = i64::from(port).into();
    settings.connect_timeout = seconds.into();
    let server = PostgresqlServer::default();
    server.configure(&settings).unwrap();
    server
}

async fn refusal(server: &PostgresqlServer, stop: &Stop) -> String {
    format!("{:?}", server.connect(None, stop).await.err().unwrap())
}

#[tokio::test]
async fn a_statement_that_waits_for_a_lock_ends_when_the_host_stops() {
    let Some(real) = Real::start().await else { return };
    real.run("CREATE SCHEMA s; CREATE TABLE s.t ()").await;
    let (switch, stop) = Stop::new();
    let (_other, never) = Stop::new();
    let holder = real.server.connect(None, &never).await.unwrap();
    holder.run_statements("", &["BEGIN".to_owned()]).await.unwrap();
    holder.run_statements("", &["LOCK TABLE s.t".to_owned()]).await.unwrap();
    let session = real.server.connect(None, &stop).await.unwrap();
    let statements = ["DROP SCHEMA s CASCADE".to_owned()];
    let interrupt = async {
        while real.ask("SELECT count(*) FROM pg_locks WHERE NOT granted").await == "0" {}
        switch.request();
    };
    let (result, ()) =
        tokio::join!(session.run_statements("Error deleting", &statements), interrupt);
    let problem = format!("{:?}", result.unwrap_err());
    assert!(problem.contains("(SQLSTATE 57014)"), "{problem}");
    assert_eq!(real.ask("SELECT count(*) FROM pg_namespace WHERE nspname = 's'").await, "1");
}

#[tokio::test]
async fn waiting_for_a_lock_is_limited() {
    let Some(real) = Real::start().await else { return };
    let (_switch, stop) = Stop::new();
    let session = real.server.connect(None, &stop).await.unwrap();
    let limit: String =
        session.query_first_row("SHOW lock_timeout", &[]).await.unwrap().unwrap().get(0);
    assert_eq!(limit, "20s");
}

#[tokio::test]
async fn a_silent_server_is_abandoned_at_the_timeout_or_when_the_host_stops() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = server(listener.local_addr().unwrap().port(), 1);
    let (switch, stop) = Stop::new();
    let problem = refusal(&server, &stop).await;
    assert!(problem.contains("does not answer within 1 seconds"), "{problem}");
    switch.request();
    let problem = refusal(&server, &stop).await;
    assert!(problem.contains("Interrupted"), "{problem}");
}

#[tokio::test]
async fn an_absent_server_is_retried_for_a_few_seconds() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let (_switch, stop) = Stop::new();
    let started_at = Instant::now();
    let problem = refusal(&server(port, 180), &stop).await;
    assert!(problem.contains("refused"), "{problem}");
    assert!(started_at.elapsed().as_secs() < 10, "{:?}", started_at.elapsed());
}

#[tokio::test]
async fn an_unknown_server_causes_no_replacement() {
    let server = server(1, 1);
    let mut settings = PostgresqlConfigModelDraft::default();
    settings.port = Attr::Unknown;
    settings.username = Attr::Unknown;
    server.configure(&settings).unwrap();
    let (_switch, stop) = Stop::new();
    let problem = refusal(&server, &stop).await;
    assert!(problem.contains("`port`, `username` of the provider"), "{problem}");
}

#[tokio::test]
async fn changes_before_a_failure_are_kept() {
    let Some(real) = Real::start().await else { return };
    let mut database = create_object(&real, "postgresql_database", vec![text("name", "one")]).await;
    let failing_config = vec![text("name", "two"), text("tablespace_name", "none")];
    let refusal = database.apply(failing_config).await.unwrap_err();
    assert!(refusal.0.contains("tablespace \"none\" does not exist"), "{refusal:?}");
    assert_eq!(database.get("name"), &Value::string("two"));
    assert_eq!(database.apply(vec![text("name", "two")]).await, Ok(PlannedAction::Nothing));
    database.destroy().await.unwrap();
    assert_eq!(real.ask("SELECT count(*) FROM pg_database WHERE datname = 'two'").await, "0");
}
