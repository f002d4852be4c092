//! Programs that do not become plugins.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::*;

pub(super) const CASES: &[Case] = &[
    (Fault::StartJunk, Create, 1, "`Hello, I am not a plugin.`", Nothing),
    (Fault::StartLogLine, Create, 1, "it printed something before the handshake", Nothing),
    (
        Fault::StartExit,
        Create,
        1,
        "exit status 7. Its last output: the licence has expired",
        Nothing,
    ),
    (Fault::StartExitZero, Create, 1, "The process ended: exit status 0", Nothing),
    (Fault::StartKilled, Create, 1, "The process ended: killed by SIGKILL", Nothing),
    (Fault::StartPanics, Create, 1, "the start went wrong", Nothing),
    (Fault::StartSilent, Create, 1, "it gave no handshake within 2s and was ended", Nothing),
    (Fault::StartHalfLine, Create, 1, "it gave no handshake within 2s and was ended", Nothing),
    (Fault::StartLongLine, Create, 1, "without ending the handshake line", Nothing),
    (Fault::StartCoreVersion, Create, 1, "its handshake has core version `2`", Nothing),
    (Fault::StartProtocol, Create, 1, "it uses version `4` of the provider protocol", Nothing),
    (Fault::StartNetRpc, Create, 1, "only gRPC plugins are supported", Nothing),
    (Fault::StartNetwork, Create, 1, "a network of unknown type `vsock`", Nothing),
    (Fault::StartRemote, Create, 1, "192.0.2.1:443, which is not on this machine", Nothing),
    (
        Fault::StartNoCertificate,
        Create,
        1,
        "it returned no certificate although TLS is required",
        Nothing,
    ),
    (Fault::StartBadCertificate, Create, 1, "is not valid base64", Nothing),
    (Fault::StartForeignCertificate, Create, 1, "certificate", Nothing),
    (Fault::StartDeadPort, Create, 1, "no connection to 127.0.0.1:1", Nothing),
    (Fault::StartNoSocket, Create, 1, "no connection to /nowhere", Nothing),
    (Fault::StartMute, Create, 1, "it was started, but", Nothing),
    (Fault::StartReadsStdin, Create, 0, "Apply complete! Resources: 3 added", Ready),
];

#[test]
fn a_program_that_is_not_a_plugin_is_explained() {
    check(CASES);
}

#[test]
fn a_plugin_that_starts_slowly_is_waited_for_and_started_once() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "start:process");
    let running = command.env("FORMWORK_PLUGIN_PATIENCE", "1").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.wait_for_output("provider formwork/bad has not answered GetProviderSchema");
    paused.resume();
    running.wait().code(0).says("3 added");
    let calls = workdir.service.take_calls();
    assert_eq!(calls.iter().filter(|call| *call == "start").count(), 1, "{calls:?}");
    workdir.service.assert_no_provider_runs();
}

#[test]
fn a_plugin_that_is_run_by_a_user_explains_itself_and_fails() {
    let workdir = Workdir::new("");
    let output = std::process::Command::new(bad_provider())
        .env_clear()
        .env("BAD_OBJECTS", workdir.service.path())
        .output()
        .expect("it can be run");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("plugin"), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_plugin_that_cannot_be_run_is_explained() {
    let with = |program: fn(&Path)| {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        replace_plugin(&workdir, program);
        let result = workdir.formwork("apply -auto-approve").run();
        assert!(!workdir.has("terraform.tfstate"), "{}", result.text());
        result
    };
    with(|_| ()).code(1).says("formwork/bad");
    with(|path| fs::write(path, "#!/bin/sh\n").expect("a file")).code(1).says("chmod +x");
    with(|path| {
        fs::write(path, b"\x7fELF\x02\x01\x01 and nothing more").expect("a file");
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("permissions");
    })
    .code(1)
    .says("Failed to start provider");
    with(|path| fs::create_dir(path).expect("a directory")).code(1).says("formwork/bad");
}
