//! Secrets, leases, credentials, and faults of their server.

use formwork_core::state::file::StateFile;
use formwork_value::Value;
use serde_json::json;

use super::access::Connection;
use super::kubeconfig::{Access, ExecEntry};
use super::*;
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, Locking, PutError, RemoteClient as _};
use crate::scripted::{Asked, Reply, Scripted, configured_in, text};

fn backend(server: &Scripted, access: Access) -> Kubernetes {
    let connection = Connection { server: server.url.clone(), insecure: false, access };
    let cluster = Cluster::new(connection, "team".to_owned(), BTreeMap::new());
    Kubernetes {
        cluster: Arc::new(cluster),
        suffix: "app".to_owned(),
        labels: BTreeMap::new(),
        root: "unused".into(),
    }
}

fn remote_client(server: &Scripted) -> KubernetesClient {
    let access = Access { token: Some("secret".to_owned()), ..Access::default() };
    backend(server, access).remote_client(DEFAULT_WORKSPACE)
}

fn reply(status: &'static str, content: &serde_json::Value) -> Reply {
    Reply::new(status, content.to_string())
}

fn ok(content: &serde_json::Value) -> Reply {
    reply("200 OK", content)
}

fn secret(serial: u64, version: u64) -> serde_json::Value {
    use base64::Engine as _;
    let content = crate::compression::compressed(&text(serial)).unwrap();
    let data = base64::engine::general_purpose::STANDARD.encode(content);
    json!({
        "metadata": {
            "name": "tfstate-default-app",
            "resourceVersion": version.to_string(),
            "labels": { "tfstate": "true" },
            "annotations": { "kept": "k" },
        },
        "data": { "tfstate": data },
    })
}

fn list(secrets: &[serde_json::Value]) -> Reply {
    ok(&json!({ "kind": "SecretList", "metadata": {}, "items": secrets }))
}

fn lease(holder: Option<&str>) -> Reply {
    let mut lease = json!({
        "kind": "Lease",
        "metadata": { "name": "lock-tfstate-default-app", "resourceVersion": "5", "annotations": {} },
        "spec": {},
    });
    if let Some(id) = holder {
        lease["spec"]["holderIdentity"] = json!(id);
        let info = json!({ "ID": id, "Who": "ana@host" }).to_string();
        lease["metadata"]["annotations"]["app.terraform.io/lock-info"] = json!(info);
    }
    ok(&lease)
}

fn status(line: &'static str, reason: &str) -> Reply {
    let message = format!("said {reason}");
    reply(line, &json!({ "kind": "Status", "reason": reason, "message": message }))
}

fn missing() -> Reply {
    status("404 Not Found", "NotFound")
}

fn conflict() -> Reply {
    status("409 Conflict", "Conflict")
}

fn content(asked: &Asked) -> serde_json::Value {
    serde_json::from_slice(&asked.body).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_written_only_over_the_version_that_was_read() {
    let server = Scripted::start([list(&[secret(1, 7)]), ok(&secret(2, 8))]);
    let mut client = remote_client(&server);
    assert_eq!(client.get().await.unwrap(), Some(text(1)));
    client.put(text(2)).await.unwrap();
    let asked = server.asked();
    assert_eq!(
        asked[0].line,
        "GET /api/v1/namespaces/team/secrets?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dterraform%2Ctfstate%3Dtrue%2CtfstateSecretSuffix%3Dapp%2CtfstateWorkspace%3Ddefault"
    );
    assert_eq!(asked[0].headers["authorization"], "Bearer secret");
    assert_eq!(asked[1].line, "PUT /api/v1/namespaces/team/secrets/tfstate-default-app");
    let written = content(&asked[1]);
    assert_eq!(written["metadata"]["resourceVersion"], "7");
    // Another program may have put them there.
    assert_eq!(written["metadata"]["annotations"]["kept"], "k");
    assert_eq!(written["data"], secret(2, 7)["data"]);

    let server = Scripted::start([list(&[]), reply("201 Created", &secret(1, 1))]);
    let mut client = remote_client(&server);
    assert_eq!(client.get().await.unwrap(), None);
    client.put(text(1)).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[1].line, "POST /api/v1/namespaces/team/secrets");
    let written = content(&asked[1]);
    assert_eq!(written["metadata"]["annotations"]["encoding"], "gzip");
    assert_eq!(written["metadata"]["labels"]["tfstateWorkspace"], "default");
}

#[tokio::test(start_paused = true)]
async fn a_version_of_another_program_stays_and_a_lost_answer_is_none() {
    let cases = [
        (vec![list(&[secret(1, 7)]), conflict(), ok(&secret(9, 8))], false),
        (vec![list(&[secret(1, 7)]), conflict(), ok(&secret(2, 8))], true),
        (vec![list(&[secret(1, 7)]), missing(), missing()], false),
        (vec![list(&[]), status("409 Conflict", "AlreadyExists"), ok(&secret(9, 8))], false),
        (vec![list(&[]), Reply::Half, conflict(), ok(&secret(2, 8))], true),
    ];
    for (replies, is_stored) in cases {
        let server = Scripted::start(replies);
        let mut client = remote_client(&server);
        client.get().await.unwrap();
        match client.put(text(2)).await {
            Ok(()) => assert!(is_stored),
            Err(PutError::Changed) => assert!(!is_stored),
            Err(PutError::Failed(cause) | PutError::Unfinished { cause, .. }) => panic!("{cause}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn parts_are_in_the_order_of_their_numbers_and_damage_is_found() {
    use base64::Engine as _;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let content = crate::compression::compressed(&text(3)).unwrap();
    let n = content.len() / 12 + 1;
    let mut parts: Vec<_> = content.chunks(n).enumerate().collect();
    assert_eq!(parts.len(), 12);
    // As the server lists them: by name.
    parts.sort_by_key(|(i, _)| if *i == 0 { String::new() } else { i.to_string() });
    let part = |(i, chunk): &(usize, &[u8])| {
        let name = match i {
            0 => "tfstate-default-app".to_owned(),
            i => format!("tfstate-default-app-part-{i}"),
        };
        json!({ "metadata": { "name": name }, "data": { "tfstate": encode(chunk) } })
    };
    let secrets: Vec<_> = parts.iter().map(part).collect();
    let server = Scripted::start([list(&secrets), list(&secrets[1..])]);
    let mut client = remote_client(&server);
    assert_eq!(client.get().await.unwrap(), Some(text(3)));
    let error = client.get().await.unwrap_err().to_string();
    assert!(error.contains("11 secrets cannot be decompressed"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_a_lease_with_its_holder() {
    let info = LockInfo::new("test", String::new());
    let created = reply("201 Created", &json!({}));
    let server = Scripted::start([missing(), created, lease(Some(&info.id)), ok(&json!({}))]);
    let mut client = remote_client(&server);
    assert!(matches!(client.lock(&info).await, Ok(Locking::Taken)));
    client.unlock(&info.id).await.unwrap();
    let asked = server.asked();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/team/leases";
    assert_eq!(asked[0].line, format!("GET {leases}/lock-tfstate-default-app"));
    assert_eq!(asked[1].line, format!("POST {leases}"));
    let taken = content(&asked[1]);
    assert_eq!(taken["spec"]["holderIdentity"], info.id);
    let described = taken["metadata"]["annotations"]["app.terraform.io/lock-info"].as_str();
    assert_eq!(serde_json::from_str::<LockInfo>(described.unwrap()).unwrap(), info);
    let given = content(&asked[3]);
    assert_eq!(given["metadata"]["resourceVersion"], "5");
    assert_eq!(given["metadata"]["annotations"], json!({}));
    assert_eq!(given["spec"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_another_process_is_described_and_left_alone() {
    let info = LockInfo::new("test", String::new());
    for replies in [
        vec![lease(Some("l-1")), lease(Some("l-1"))],
        // Another process takes it in between.
        vec![lease(None), conflict(), lease(Some("l-1"))],
        vec![missing(), status("409 Conflict", "AlreadyExists"), lease(Some("l-1"))],
    ] {
        let server = Scripted::start(replies);
        let Locking::Held(Some(holder)) = remote_client(&server).lock(&info).await.unwrap() else {
            panic!("it is held");
        };
        assert_eq!((holder.id.as_str(), holder.who.as_str()), ("l-1", "ana@host"));
    }
    // The answer of an attempt was lost.
    let server = Scripted::start([lease(None), conflict(), lease(Some(&info.id))]);
    assert!(matches!(remote_client(&server).lock(&info).await, Ok(Locking::Taken)));

    for replies in [
        vec![lease(Some("l-1"))],
        vec![lease(None)],
        vec![missing()],
        vec![lease(Some("l-2")), conflict(), lease(Some("l-3"))],
    ] {
        let server = Scripted::start(replies);
        let broken = remote_client(&server).break_lock("l-2").await.unwrap();
        assert!(matches!(broken, ForceUnlockOutcome::OtherLock(_)), "{broken:?}");
    }
    let server = Scripted::start([lease(Some("l-9"))]);
    let error = remote_client(&server).unlock("l-1").await.unwrap_err().to_string();
    assert!(error.contains("by force, and ana@host"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_server_name_call_cause_and_next_step() {
    let busy = || status("500 Internal Server Error", "InternalError");
    let many = || status("429 Too Many Requests", "TooManyRequests");
    let server =
        Scripted::start([busy(), Reply::Half, many(), Reply::Reset, list(&[secret(4, 7)])]);
    let content = remote_client(&server).get().await.unwrap().unwrap();
    assert_eq!(StateFile::read(&content).unwrap().serial, 4);
    for (replies, reason) in [
        (vec![busy(); 5], "InternalError: said"),
        (vec![status("401 Unauthorized", "Unauthorized")], "log in to the cluster again"),
        (vec![status("403 Forbidden", "Forbidden")], "must permit to get, list"),
        (vec![Reply::new("404 Not Found", "<html>")], "unexpected HTTP response code 404"),
        (vec![Reply::new("200 OK", "<html>")], "cannot be read"),
        (vec![Reply::Reset; 5], "(after 5 attempts)"),
    ] {
        let server = Scripted::start(replies);
        let error = remote_client(&server).get().await.unwrap_err().to_string();
        let named = error.contains("GET http://127.0.0.1:") || error.contains("list of secrets");
        assert!(named && error.contains(reason), "{error}");
    }
    // A page of a proxy does not say that there is no lock.
    let server = Scripted::start([Reply::new("404 Not Found", "<html>")]);
    let info = LockInfo::new("test", String::new());
    assert!(remote_client(&server).lock(&info).await.is_err());
}

#[tokio::test]
async fn a_program_returns_tokens_and_is_asked_again_when_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count").display().to_string();
    let script = r#"echo x >> "$COUNT"; n=$(wc -l < "$COUNT"); case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 9 ;; esac; echo "{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t$((n))\"}}""#;
    let exec = ExecEntry {
        api_version: "client.authentication.k8s.io/v1".to_owned(),
        command: "sh".to_owned(),
        args: Some(vec!["-c".to_owned(), script.to_owned()]),
        env: Some(vec![kubeconfig::Variable { name: "COUNT".to_owned(), value: count }]),
    };
    let refused = || status("401 Unauthorized", "Unauthorized");
    let server = Scripted::start([list(&[]), refused(), list(&[]), refused(), refused()]);
    let access = Access { exec: Some(exec), ..Access::default() };
    let mut client = backend(&server, access).remote_client(DEFAULT_WORKSPACE);
    client.get().await.unwrap();
    client.get().await.unwrap();
    let error = client.get().await.unwrap_err().to_string();
    assert!(error.contains("log in to the cluster again"), "{error}");
    let bearers: Vec<String> =
        server.asked().iter().map(|asked| asked.headers["authorization"].clone()).collect();
    assert_eq!(bearers, ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t2", "Bearer t3"]);

    let exec = ExecEntry { command: "/none/such".to_owned(), ..ExecEntry::default() };
    let access = Access { exec: Some(exec), ..Access::default() };
    let mut client = backend(&server, access).remote_client(DEFAULT_WORKSPACE);
    let error = client.get().await.unwrap_err().to_string();
    assert!(error.contains("no credentials for the cluster"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn workspaces_are_those_of_the_suffix() {
    let labeled = |suffix: &str, workspace: &str| json!({ "metadata": { "labels": { "tfstateSecretSuffix": suffix, "tfstateWorkspace": workspace } } });
    let first = ok(&json!({
        "metadata": { "continue": "c/1" },
        "items": [labeled("app", "two"), labeled("other", "three"), labeled("app", "default")],
    }));
    let server = Scripted::start([first, list(&[labeled("app", "one"), labeled("app", "two")])]);
    let backend = backend(&server, Access::default());
    assert_eq!(backend.workspaces().await.unwrap(), [DEFAULT_WORKSPACE, "one", "two"]);
    assert!(server.lines()[1].ends_with("?labelSelector=tfstate%3Dtrue&continue=c%2F1"));
}

#[tokio::test]
async fn arguments_and_names_that_are_not_valid_are_refused() {
    let configure = |more: &[(&'static str, Value)], variables: &[(&str, &str)]| {
        let mut all = vec![("host", Value::string("https://c:6443/"))];
        all.extend_from_slice(more);
        configured_in("kubernetes", &all, variables)
    };
    let suffix = |text: &str| [("secret_suffix", Value::string(text))];
    let refused = |more: &[(&'static str, Value)], variables: &[(&str, &str)]| {
        let backend = configure(more, variables);
        backend.map_or_else(|error| error.message, |backend| backend.location(DEFAULT_WORKSPACE))
    };
    let client = "https://c:6443/api/v1/namespaces/ns/secrets/tfstate-default-app";
    assert_eq!(refused(&suffix("app"), &[("KUBE_NAMESPACE", "ns")]), client);
    assert!(refused(&[], &[]).contains("\"secret_suffix\" is required"));
    assert!(refused(&suffix("app-1"), &[]).contains("must not end with '-<number>'"));
    let nowhere = [("secret_suffix", Value::string("app")), ("host", Value::string(""))];
    let error = configured_in("kubernetes", &nowhere, &[]).err().unwrap().message;
    assert!(error.contains("no configuration has been provided"), "{error}");
    let in_cluster = [&suffix("app")[..], &[("in_cluster_config", Value::Bool(true))]].concat();
    assert!(refused(&in_cluster, &[]).contains("KUBERNETES_SERVICE_HOST"));
    let with_password =
        [&suffix("app")[..], &[("host", Value::string("https://u:hush@h"))]].concat();
    let error = configured_in("kubernetes", &with_password, &[]).err().unwrap().message;
    assert!(!error.contains("hush"), "{error}");
    let backend = configure(&suffix("app"), &[]).unwrap();
    let error = backend.open("Upper_Case").await.err().unwrap().to_string();
    assert!(error.contains("the secret name tfstate-Upper_Case-app is invalid"), "{error}");
    assert!(backend.open("lower-case.1").await.is_ok());
}
