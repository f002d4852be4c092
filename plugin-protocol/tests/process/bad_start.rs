//! Programs that are not plugins, or bad ones. Every message must contain what was found.

use expect_test::{Expect, expect};

use super::*;

async fn refused(executable: &Executable) -> String {
    refused_with(executable, &Settings::TERRAFORM_DEFAULTS).await
}

async fn refused_with(executable: &Executable, settings: &Settings) -> String {
    let launch = timeout(HANG_TIMEOUT, Plugin::launch(executable, settings));
    let failure = launch.await.expect("it comes to an end").expect_err("it is no plugin");
    let kind = format!("{failure:?}");
    let kind = kind.split('(').next().unwrap_or_default();
    format!(
        "{kind}: {}",
        failure.to_string().replace(&executable.path.display().to_string(), "PATH")
    )
}

async fn check(text: &str, expected: Expect) {
    let (_dir, executable) = script(text);
    expected.assert_eq(&refused(&executable).await);
}

#[tokio::test]
async fn a_program_that_ends_immediately_is_reported() {
    check("echo 'no config' >&2; exit 7", expect![[r#"
        Launch: PATH: it ended or closed its stdout without a handshake; perhaps it is not a provider plugin.
        The process ended: exit status 7.
        Its last output:
          no config"#]]).await;
    check("kill -SEGV $$", expect![[r#"
        Launch: PATH: it ended or closed its stdout without a handshake; perhaps it is not a provider plugin.
        The process ended: killed by SIGSEGV."#]]).await;
}

#[tokio::test]
async fn a_program_without_a_handshake_is_reported_with_its_output() {
    check("echo hello; exec sleep 1000", expect!["Launch: PATH: the first line on its stdout is not a plugin handshake: `hello`; it is not a provider plugin, or it printed something before the handshake, which a plugin must not do."]).await;
    check("printf 'half a line'", expect![[r#"
        Launch: PATH: the first line on its stdout is not a plugin handshake: `half a line`; it is not a provider plugin, or it printed something before the handshake, which a plugin must not do.
        The process ended: exit status 0."#]]).await;
    let (_dir, mut executable) = script("exec \"$TINY_PROGRAM\"");
    executable.env.push(("TINY_PROGRAM".into(), tiny("").path.into()));
    executable.env.push(("TINY".into(), "talks first".into()));
    expect!["Launch: PATH: the first line on its stdout is not a plugin handshake: `loading`; it is not a provider plugin, or it printed something before the handshake, which a plugin must not do."].assert_eq(&refused(&executable).await);
}

#[tokio::test]
async fn a_program_without_a_handshake_times_out() {
    let settings =
        Settings { start_timeout: Duration::from_millis(100), ..Settings::TERRAFORM_DEFAULTS };
    // Without its line break, a handshake may be incomplete.
    for text in ["exec sleep 1000", "printf '1|6|unix|/s|grpc|'; exec sleep 1000"] {
        let (_dir, executable) = script(text);
        expect!["Launch: PATH: it gave no handshake within 0.1s and was ended."]
            .assert_eq(&refused_with(&executable, &settings).await);
    }
}

#[tokio::test]
async fn an_endless_handshake_line_is_cut_off() {
    check("head -c 100000 /dev/zero | tr '\\0' y; exec sleep 1000", expect!["Launch: PATH: it wrote more than 65536 bytes without ending the handshake line: `yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy... (65336 more bytes)`."]).await;
}

#[tokio::test]
async fn an_unsupported_handshake_is_reported() {
    for (line, expected) in [
        (
            "1|4|unix|/s|grpc|",
            expect![
                "Incompatible: PATH: it uses version `4` of the provider protocol, and only 5 and \
                 6 are supported."
            ],
        ),
        (
            "1|6|vsock|2:3|grpc|",
            expect!["Incompatible: PATH: it listens on a network of unknown type `vsock`."],
        ),
        (
            "1|6|unix|/s|grpc|",
            expect![
                "Incompatible: PATH: it returned no certificate although TLS is required; if you trust it, set TF_DISABLE_PLUGIN_TLS=1 to do without."
            ],
        ),
        (
            // An address for documentation (RFC 5737), without a server.
            "1|6|tcp|192.0.2.1:443|grpc|",
            expect![
                "Misbehaved: PATH: it announced the address 192.0.2.1:443, which is not on this \
                 machine."
            ],
        ),
    ] {
        check(&format!("echo '{line}'; exec sleep 1000"), expected).await;
    }
}

#[tokio::test]
async fn a_missing_socket_is_reported() {
    // More than 50 bytes, or it would not count as a certificate.
    let certificate = "A".repeat(80);
    check(&format!("echo '1|6|unix|/nowhere|grpc|{certificate}'; exec sleep 1000"), expect!["Launch: PATH: it was started, but no connection to /nowhere: No such file or directory (os error 2)."])
        .await;
}

#[tokio::test]
async fn a_file_that_cannot_be_run_is_reported() {
    let (directory, mut executable) = script("");
    fs::set_permissions(&executable.path, fs::Permissions::from_mode(0o644)).expect("permissions");
    expect!["Launch: PATH: cannot be started: it may not be executed; give it the permission (chmod +x), and see that the file system is not mounted with noexec."].assert_eq(&refused(&executable).await);

    // Nothing may take it for a script.
    let trace = directory.path().join("trace");
    fs::write(&executable.path, format!("echo harm > {}\n", trace.display())).expect("a file");
    fs::set_permissions(&executable.path, fs::Permissions::from_mode(0o755)).expect("permissions");
    let message = refused(&executable).await;
    assert!(
        message.starts_with("Launch: PATH: cannot be started: it is not a program, and"),
        "{message}"
    );
    assert!(!trace.exists(), "a shell has run a file that is not a program");

    executable.path = directory.path().join("missing");
    expect![
        "Launch: PATH: cannot be started: there is no such file; run init to install the provider."
    ]
    .assert_eq(&refused(&executable).await);

    executable.path = directory.path().to_owned();
    expect!["Launch: PATH: cannot be started: it is a directory, not a program."]
        .assert_eq(&refused(&executable).await);
}

#[tokio::test]
async fn a_file_that_was_replaced_after_its_check_is_not_started() {
    let (directory, mut executable) = script("");
    let path_of = |name: &str| directory.path().join(name);
    let program = format!("#!/bin/sh\necho started > {}\n", path_of("trace").display());
    fs::write(path_of("other"), program).expect("a file");
    fs::set_permissions(path_of("other"), fs::Permissions::from_mode(0o755)).expect("permissions");
    executable.identity = Some(FileStamp::of_path(&executable.path).expect("it is there"));
    fs::rename(path_of("other"), &executable.path).expect("it can be moved");
    let refusal = refused(&executable).await;
    assert!(refusal.starts_with("Launch: PATH: cannot be started: "), "{refusal}");
    let reason = "the file has changed since its checksum was compared with the dependency lock file, so it is not started; run the command again.";
    assert!(refusal.ends_with(reason), "{refusal}");
    assert!(!path_of("trace").exists(), "a file is run that was not checked");

    // Once it is checked itself, it is started.
    executable.identity = Some(FileStamp::of_path(&executable.path).expect("it is there"));
    let failure = refused(&executable).await;
    assert!(failure.contains("without a handshake") && path_of("trace").exists(), "{failure}");
}

#[tokio::test]
async fn a_plugin_that_requires_tls_is_refused_without_tls() {
    let certificate = "A".repeat(80);
    let (_dir, executable) =
        script(&format!("echo '1|6|unix|/s|grpc|{certificate}'; exec sleep 1000"));
    let settings = Settings { tls: false, ..Settings::TERRAFORM_DEFAULTS };
    expect!["Incompatible: PATH: it talks TLS only, and TLS is switched off; unset TF_DISABLE_PLUGIN_TLS."].assert_eq(&refused_with(&executable, &settings).await);
}

#[tokio::test]
async fn a_plugin_has_the_configured_limits_and_environment() {
    // Output instead of a handshake is quoted in the message.
    let (_dir, mut executable) = script(
        "echo \"files $(ulimit -n) kilobytes $(ulimit -d) path ${PATH-none} home ${HOME-none}\"",
    );
    executable.withheld = vec!["HOME".into()];
    executable.env = vec![("PATH".into(), "/bin".into())];
    let limits = ProcessLimits { memory: Some(64 << 20), files: Some(50) };
    let settings = Settings { limits, ..Settings::TERRAFORM_DEFAULTS };
    let failure = Plugin::launch(&executable, &settings).await.expect_err("it is no plugin");
    let message = failure.to_string();
    assert!(message.contains("files 50 kilobytes 65536 path /bin home none"), "{message}");
}
