//! Secrets, leases, credentials, and faults of their server.

use formwork_core::state::file::StateFile;
use formwork_value::Value;
use serde_json::json;

use super::cluster_connection::ClusterConnection;
use super::kubeconfig::{ClusterAccess, ExecEntry};
use super::*;
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient as _};
use crate::scripted_server::{
    ReceivedRequest, ScriptedReply, ScriptedServer, configure_backend_with_variables,
    test_state_text,
};

fn new_backend(server: &ScriptedServer, access: ClusterAccess) -> KubernetesBackend {
    let connection = ClusterConnection { server: server.url.clone(), insecure: false, access };
    let cluster = ClusterClient::new(connection, "team".to_owned(), BTreeMap::new());
    KubernetesBackend {
        cluster: Arc::new(cluster),
        suffix: "app".to_owned(),
        labels: BTreeMap::new(),
        root: "unused".into(),
    }
}

fn new_remote_client(server: &ScriptedServer) -> KubernetesClient {
    let access = ClusterAccess { token: Some("secret".to_owned()), ..ClusterAccess::default() };
    new_backend(server, access).remote_client(DEFAULT_WORKSPACE)
}

fn json_reply(status: &'static str, content: &serde_json::Value) -> ScriptedReply {
    ScriptedReply::new(status, content.to_string())
}

fn success_reply(content: &serde_json::Value) -> ScriptedReply {
    json_reply("200 OK", content)
}

fn secret_with_state(serial: u64, version: u64) -> serde_json::Value {
    use base64::Engine as _;
    let content = crate::compression::compress_gzip(&test_state_text(serial)).unwrap();
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

fn list_reply(secrets: &[serde_json::Value]) -> ScriptedReply {
    success_reply(&json!({ "kind": "SecretList", "metadata": {}, "items": secrets }))
}

fn lease_reply(holder: Option<&str>) -> ScriptedReply {
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
    success_reply(&lease)
}

fn status_reply(line: &'static str, reason: &str) -> ScriptedReply {
    let message = format!("said {reason}");
    json_reply(line, &json!({ "kind": "Status", "reason": reason, "message": message }))
}

fn not_found_reply() -> ScriptedReply {
    status_reply("404 Not Found", "NotFound")
}

fn conflict_reply() -> ScriptedReply {
    status_reply("409 Conflict", "Conflict")
}

fn request_content(request: &ReceivedRequest) -> serde_json::Value {
    serde_json::from_slice(&request.body).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_written_only_over_the_version_that_was_read() {
    let server = ScriptedServer::start([
        list_reply(&[secret_with_state(1, 7)]),
        success_reply(&secret_with_state(2, 8)),
    ]);
    let mut client = new_remote_client(&server);
    assert_eq!(client.get().await.unwrap(), Some(test_state_text(1)));
    client.put(test_state_text(2)).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(
        requests[0].line,
        "GET /api/v1/namespaces/team/secrets?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dterraform%2Ctfstate%3Dtrue%2CtfstateSecretSuffix%3Dapp%2CtfstateWorkspace%3Ddefault"
    );
    assert_eq!(requests[0].headers["authorization"], "Bearer secret");
    assert_eq!(requests[1].line, "PUT /api/v1/namespaces/team/secrets/tfstate-default-app");
    let written_secret = request_content(&requests[1]);
    assert_eq!(written_secret["metadata"]["resourceVersion"], "7");
    // Another program may have added them.
    assert_eq!(written_secret["metadata"]["annotations"]["kept"], "k");
    assert_eq!(written_secret["data"], secret_with_state(2, 7)["data"]);

    let server = ScriptedServer::start([
        list_reply(&[]),
        json_reply("201 Created", &secret_with_state(1, 1)),
    ]);
    let mut client = new_remote_client(&server);
    assert_eq!(client.get().await.unwrap(), None);
    client.put(test_state_text(1)).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(requests[1].line, "POST /api/v1/namespaces/team/secrets");
    let written_secret = request_content(&requests[1]);
    assert_eq!(written_secret["metadata"]["annotations"]["encoding"], "gzip");
    assert_eq!(written_secret["metadata"]["labels"]["tfstateWorkspace"], "default");
}

#[tokio::test(start_paused = true)]
async fn a_version_of_another_program_is_kept_and_a_lost_response_is_not_a_conflict() {
    let cases = [
        (
            vec![
                list_reply(&[secret_with_state(1, 7)]),
                conflict_reply(),
                success_reply(&secret_with_state(9, 8)),
            ],
            false,
        ),
        (
            vec![
                list_reply(&[secret_with_state(1, 7)]),
                conflict_reply(),
                success_reply(&secret_with_state(2, 8)),
            ],
            true,
        ),
        (vec![list_reply(&[secret_with_state(1, 7)]), not_found_reply(), not_found_reply()], false),
        (
            vec![
                list_reply(&[]),
                status_reply("409 Conflict", "AlreadyExists"),
                success_reply(&secret_with_state(9, 8)),
            ],
            false,
        ),
        (
            vec![
                list_reply(&[]),
                ScriptedReply::Truncated,
                conflict_reply(),
                success_reply(&secret_with_state(2, 8)),
            ],
            true,
        ),
    ];
    for (replies, is_stored) in cases {
        let server = ScriptedServer::start(replies);
        let mut client = new_remote_client(&server);
        client.get().await.unwrap();
        match client.put(test_state_text(2)).await {
            Ok(()) => assert!(is_stored),
            Err(PutError::Changed) => assert!(!is_stored),
            Err(PutError::Failed(cause) | PutError::Unfinished { cause, .. }) => panic!("{cause}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_quota_conflict_is_repeated_and_not_reported_as_a_refusal() {
    let conflict = || {
        let details = json!({ "name": "compute", "kind": "resourcequotas" });
        let status =
            json!({ "kind": "Status", "reason": "Conflict", "message": "m", "details": details });
        json_reply("409 Conflict", &status)
    };
    let created = || json_reply("201 Created", &secret_with_state(1, 1));
    let server = ScriptedServer::start([list_reply(&[]), conflict(), conflict(), created()]);
    let mut client = new_remote_client(&server);
    client.get().await.unwrap();
    client.put(test_state_text(1)).await.unwrap();

    let server =
        ScriptedServer::start([list_reply(&[])].into_iter().chain((0..5).map(|_| conflict())));
    let mut client = new_remote_client(&server);
    client.get().await.unwrap();
    let error = client.put(test_state_text(1)).await.unwrap_err();
    assert!(matches!(error, PutError::Failed(_)), "{error:?}");
    // No other process holds the lock either.
    let server =
        ScriptedServer::start([not_found_reply()].into_iter().chain((0..5).map(|_| conflict())));
    let info = LockInfo::new("test", String::new());
    assert!(new_remote_client(&server).lock(&info).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn parts_are_ordered_by_number_and_damage_is_detected() {
    use base64::Engine as _;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let content = crate::compression::compress_gzip(&test_state_text(3)).unwrap();
    let n = content.len() / 12 + 1;
    let mut parts: Vec<_> = content.chunks(n).enumerate().collect();
    assert_eq!(parts.len(), 12);
    // In the order of the server's listing: by name.
    parts.sort_by_key(|(i, _)| if *i == 0 { String::new() } else { i.to_string() });
    let part_reply = |(i, chunk): &(usize, &[u8])| {
        let name = match i {
            0 => "tfstate-default-app".to_owned(),
            i => format!("tfstate-default-app-part-{i}"),
        };
        json!({ "metadata": { "name": name }, "data": { "tfstate": encode(chunk) } })
    };
    let secrets: Vec<_> = parts.iter().map(part_reply).collect();
    let server =
        ScriptedServer::start([list_reply(&secrets), list_reply(&secrets[1..]), list_reply(&[])]);
    let mut client = new_remote_client(&server);
    assert_eq!(client.get().await.unwrap(), Some(test_state_text(3)));
    let error = client.get().await.unwrap_err().to_string();
    assert!(error.contains("11 secrets cannot be decompressed"), "{error}");
}

/// A secret with a part of the content.
fn part_secret(name: &str, part: &[u8]) -> serde_json::Value {
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(part);
    json!({ "metadata": { "name": name, "resourceVersion": "7" }, "data": { "tfstate": data } })
}

/// Content whose compressed form needs two secrets.
fn large_text(seed: u8) -> Vec<u8> {
    use sha2::Digest as _;
    let hash = |i: u32| sha2::Sha256::digest([&i.to_be_bytes()[..], &[seed]].concat()).to_vec();
    (0..40_000).flat_map(hash).collect()
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_two_secrets_leaves_the_new_state() {
    // The copy is written before the secrets of the state.
    let created = || json_reply("201 Created", &json!({}));
    let done_reply = || success_reply(&json!({}));
    let copies = [
        part_secret("tfstate-default-app-next-0", b""),
        part_secret("tfstate-default-app-next-1", b""),
    ];
    let old_secrets: Vec<_> = {
        let content = crate::compression::compress_gzip(&large_text(1)).unwrap();
        let names = ["tfstate-default-app", "tfstate-default-app-part-1"];
        names
            .iter()
            .zip(content.chunks(1 << 20))
            .map(|(name, part)| part_secret(name, part))
            .collect()
    };
    let server = ScriptedServer::start([
        list_reply(&old_secrets),
        list_reply(&[]),
        created(),
        created(),
        done_reply(),
        done_reply(),
        list_reply(&copies),
        done_reply(),
        done_reply(),
    ]);
    let mut client = new_remote_client(&server);
    assert_eq!(client.get().await.unwrap(), Some(large_text(1)));
    client.put(large_text(2)).await.unwrap();
    let requests = server.received_requests();
    let methods: Vec<&str> =
        requests.iter().filter_map(|request| request.line.split(' ').next()).collect();
    assert_eq!(methods, ["GET", "GET", "POST", "POST", "PUT", "PUT", "GET", "DELETE", "DELETE"]);
    // Terraform lists by this label.
    let mut copies = [request_content(&requests[2]), request_content(&requests[3])];
    assert_eq!(copies[0]["metadata"]["labels"]["tfstate"], "next");

    // Between the two writes.
    let half_written = [request_content(&requests[4]), old_secrets[1].clone()];
    let server = ScriptedServer::start([list_reply(&half_written), list_reply(&copies)]);
    let mut client = new_remote_client(&server);
    assert_eq!(client.get().await.unwrap(), Some(large_text(2)));
    assert!(client.needs_rewrite());
    // A copy of another write is useless, and so is an incomplete one.
    copies[0]["metadata"]["annotations"]["formwork-replaced-sums"] = json!("");
    for copies in [&copies[..], &copies[..1], &[]] {
        let server = ScriptedServer::start([list_reply(&half_written), list_reply(copies)]);
        let error = new_remote_client(&server).get().await.unwrap_err().to_string();
        assert!(error.contains("2 secrets cannot be decompressed"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_a_lease_with_its_holder() {
    let info = LockInfo::new("test", String::new());
    let created = json_reply("201 Created", &json!({}));
    let server = ScriptedServer::start([
        not_found_reply(),
        created,
        lease_reply(Some(&info.id)),
        success_reply(&json!({})),
    ]);
    let mut client = new_remote_client(&server);
    assert!(matches!(client.lock(&info).await, Ok(LockOutcome::Taken)));
    client.unlock(&info.id).await.unwrap();
    let requests = server.received_requests();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/team/leases";
    assert_eq!(requests[0].line, format!("GET {leases}/lock-tfstate-default-app"));
    assert_eq!(requests[1].line, format!("POST {leases}"));
    let taking_request = request_content(&requests[1]);
    assert_eq!(taking_request["spec"]["holderIdentity"], info.id);
    let lock_info =
        taking_request["metadata"]["annotations"]["app.terraform.io/lock-info"].as_str();
    assert_eq!(serde_json::from_str::<LockInfo>(lock_info.unwrap()).unwrap(), info);
    let release_request = request_content(&requests[3]);
    assert_eq!(release_request["metadata"]["resourceVersion"], "5");
    assert_eq!(release_request["metadata"]["annotations"], json!({}));
    assert_eq!(release_request["spec"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_release_after_a_lost_response_succeeds() {
    for (current_reply, is_released) in [
        (lease_reply(None), true),
        (lease_reply(Some("l-2")), true),
        (lease_reply(Some("l-1")), false),
    ] {
        let server = ScriptedServer::start([
            lease_reply(Some("l-1")),
            ScriptedReply::Truncated,
            conflict_reply(),
            current_reply,
        ]);
        let released = new_remote_client(&server).unlock("l-1").await;
        assert_eq!(released.is_ok(), is_released, "{released:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_another_process_is_described_and_kept() {
    let info = LockInfo::new("test", String::new());
    for replies in [
        vec![lease_reply(Some("l-1")), lease_reply(Some("l-1"))],
        // Another process acquires the lock in between.
        vec![lease_reply(None), conflict_reply(), lease_reply(Some("l-1"))],
        vec![
            not_found_reply(),
            status_reply("409 Conflict", "AlreadyExists"),
            lease_reply(Some("l-1")),
        ],
    ] {
        let server = ScriptedServer::start(replies);
        let LockOutcome::Held(Some(holder)) = new_remote_client(&server).lock(&info).await.unwrap()
        else {
            panic!("it is held");
        };
        assert_eq!((holder.id.as_str(), holder.who.as_str()), ("l-1", "ana@host"));
    }
    let server = ScriptedServer::start([lease_reply(Some("l-1"))]);
    let holder = new_remote_client(&server).read_lock_holder().await.unwrap();
    assert_eq!(holder.unwrap().who, "ana@host");
    // The response to an attempt was lost.
    let server =
        ScriptedServer::start([lease_reply(None), conflict_reply(), lease_reply(Some(&info.id))]);
    assert!(matches!(new_remote_client(&server).lock(&info).await, Ok(LockOutcome::Taken)));

    for replies in [
        vec![lease_reply(Some("l-1"))],
        vec![lease_reply(None)],
        vec![not_found_reply()],
        vec![lease_reply(Some("l-2")), conflict_reply(), lease_reply(Some("l-3"))],
    ] {
        let server = ScriptedServer::start(replies);
        let broken = new_remote_client(&server).break_lock("l-2").await.unwrap();
        assert!(matches!(broken, ForceUnlockOutcome::OtherLock(_)), "{broken:?}");
    }
    let server = ScriptedServer::start([lease_reply(Some("l-9"))]);
    let error = new_remote_client(&server).unlock("l-1").await.unwrap_err().to_string();
    assert!(error.contains("by force, and ana@host"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_server_name_call_cause_and_next_step() {
    let busy = || status_reply("500 Internal Server Error", "InternalError");
    let many = || status_reply("429 Too Many Requests", "TooManyRequests");
    let server = ScriptedServer::start([
        busy(),
        ScriptedReply::Truncated,
        many(),
        ScriptedReply::Reset,
        list_reply(&[secret_with_state(4, 7)]),
    ]);
    let content = new_remote_client(&server).get().await.unwrap().unwrap();
    assert_eq!(StateFile::parse(&content).unwrap().serial, 4);
    for (replies, reason) in [
        (vec![busy(); 5], "InternalError: said"),
        (vec![status_reply("401 Unauthorized", "Unauthorized")], "log in to the cluster again"),
        (vec![status_reply("403 Forbidden", "Forbidden")], "must permit to get, list"),
        (vec![ScriptedReply::new("404 Not Found", "<html>")], "unexpected HTTP response code 404"),
        (vec![ScriptedReply::new("200 OK", "<html>")], "cannot be read"),
        (vec![ScriptedReply::Reset; 5], "(after 5 attempts)"),
    ] {
        let server = ScriptedServer::start(replies);
        let error = new_remote_client(&server).get().await.unwrap_err().to_string();
        let names_request =
            error.contains("GET http://127.0.0.1:") || error.contains("list of secrets");
        assert!(names_request && error.contains(reason), "{error}");
    }
    // A page from a proxy does not mean that there is no lock.
    let server = ScriptedServer::start([ScriptedReply::new("404 Not Found", "<html>")]);
    let info = LockInfo::new("test", String::new());
    assert!(new_remote_client(&server).lock(&info).await.is_err());
}

#[tokio::test]
async fn a_credential_program_runs_again_when_its_token_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let count = directory.path().join("count").display().to_string();
    let script = r#"echo x >> "$COUNT"; n=$(wc -l < "$COUNT"); case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 9 ;; esac; echo "{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t$((n))\"}}""#;
    let exec = ExecEntry {
        api_version: "client.authentication.k8s.io/v1".to_owned(),
        command: "sh".to_owned(),
        args: Some(vec!["-c".to_owned(), script.to_owned()]),
        env: Some(vec![kubeconfig::ExecVariable { name: "COUNT".to_owned(), value: count }]),
    };
    let refused_reply = || status_reply("401 Unauthorized", "Unauthorized");
    let server = ScriptedServer::start([
        list_reply(&[]),
        refused_reply(),
        list_reply(&[]),
        refused_reply(),
        refused_reply(),
    ]);
    let access = ClusterAccess { exec: Some(exec), ..ClusterAccess::default() };
    let mut client = new_backend(&server, access).remote_client(DEFAULT_WORKSPACE);
    client.get().await.unwrap();
    client.get().await.unwrap();
    let error = client.get().await.unwrap_err().to_string();
    assert!(error.contains("log in to the cluster again"), "{error}");
    let bearers: Vec<String> = server
        .received_requests()
        .iter()
        .map(|request| request.headers["authorization"].clone())
        .collect();
    assert_eq!(bearers, ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t2", "Bearer t3"]);

    let exec = ExecEntry { command: "/none/such".to_owned(), ..ExecEntry::default() };
    let access = ClusterAccess { exec: Some(exec), ..ClusterAccess::default() };
    let mut client = new_backend(&server, access).remote_client(DEFAULT_WORKSPACE);
    let error = client.get().await.unwrap_err().to_string();
    assert!(error.contains("no credentials for the cluster"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn workspaces_are_the_secrets_with_the_suffix() {
    let labeled = |suffix: &str, workspace: &str| json!({ "metadata": { "labels": { "tfstateSecretSuffix": suffix, "tfstateWorkspace": workspace } } });
    let first_page = success_reply(&json!({
        "metadata": { "continue": "c/1" },
        "items": [labeled("app", "two"), labeled("other", "three"), labeled("app", "default")],
    }));
    let server = ScriptedServer::start([
        first_page,
        list_reply(&[labeled("app", "one"), labeled("app", "two")]),
    ]);
    let backend = new_backend(&server, ClusterAccess::default());
    assert_eq!(backend.workspaces().await.unwrap(), [DEFAULT_WORKSPACE, "one", "two"]);
    assert!(server.request_lines()[1].ends_with("?labelSelector=tfstate%3Dtrue&continue=c%2F1"));
}

#[tokio::test]
async fn arguments_and_names_that_are_not_valid_are_refused() {
    let configure = |extra_arguments: &[(&'static str, Value)], variables: &[(&str, &str)]| {
        let mut arguments = vec![("host", Value::string("https://c:6443/"))];
        arguments.extend_from_slice(extra_arguments);
        configure_backend_with_variables("kubernetes", &arguments, variables)
    };
    let suffix = |text: &str| [("secret_suffix", Value::string(text))];
    let refusal = |extra_arguments: &[(&'static str, Value)], variables: &[(&str, &str)]| {
        let backend = configure(extra_arguments, variables);
        backend.map_or_else(|error| error.message, |backend| backend.location(DEFAULT_WORKSPACE))
    };
    let client = "https://c:6443/api/v1/namespaces/ns/secrets/tfstate-default-app";
    assert_eq!(refusal(&suffix("app"), &[("KUBE_NAMESPACE", "ns")]), client);
    assert!(refusal(&[], &[]).contains("\"secret_suffix\" is required"));
    assert!(refusal(&suffix("app-1"), &[]).contains("must not end with '-<number>'"));
    let without_server = [("secret_suffix", Value::string("app")), ("host", Value::string(""))];
    let error =
        configure_backend_with_variables("kubernetes", &without_server, &[]).err().unwrap().message;
    assert!(error.contains("no configuration has been provided"), "{error}");
    let in_cluster = [&suffix("app")[..], &[("in_cluster_config", Value::Bool(true))]].concat();
    assert!(refusal(&in_cluster, &[]).contains("KUBERNETES_SERVICE_HOST"));
    let with_password =
        [&suffix("app")[..], &[("host", Value::string("https://u:hush@h"))]].concat();
    let error =
        configure_backend_with_variables("kubernetes", &with_password, &[]).err().unwrap().message;
    assert!(!error.contains("hush"), "{error}");
    let backend = configure(&suffix("app"), &[]).unwrap();
    let error = backend.open_store("Upper_Case").await.err().unwrap().to_string();
    assert!(error.contains("the secret name tfstate-Upper_Case-app is invalid"), "{error}");
    assert!(backend.open_store("lower-case.1").await.is_ok());
}
