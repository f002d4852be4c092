//! Rules of the handshake and the process (H).

use super::Severity::{Must, Should};
use super::{Rule, row};

/// The rows.
pub(super) const ROWS: &[Rule] = &[
    // Not a must, because hosts always set the cookie.
    row(
        ("H-01", Should, 0),
        "Exits with a non-zero status and a note when started without the magic cookie",
        "go-plugin server",
        "A user who runs the file by hand sees it hang.",
        "Serve only when TF_PLUGIN_MAGIC_COOKIE is right, otherwise print a note to stderr and exit 1.",
    ),
    // go-plugin takes the first line on stdout for the handshake, whatever it is.
    row(
        ("H-02", Must, 0),
        "Prints nothing to stdout before the handshake line",
        "go-plugin client",
        "Terraform reads the first line only and refuses the provider.",
        "Write logs to stderr; check for prints in `init` functions and native libraries.",
    ),
    row(
        ("H-03", Must, 0),
        "Handshake has core version 1, protocol 5 or 6, and gRPC",
        "go-plugin client",
        "Terraform cannot use the provider at all.",
        "Serve with a current go-plugin or SDK.",
    ),
    row(
        ("H-04", Must, 0),
        "Serves a version that PLUGIN_PROTOCOL_VERSIONS offers",
        "go-plugin server",
        "An older or newer Terraform cannot negotiate a version.",
        "Pick the highest version that both sides speak.",
    ),
    row(
        ("H-05", Should, 0),
        "Prints the handshake within 5 s when cold and 1 s when warm",
        "reliability target",
        "Every command starts the provider several times.",
        "Do no work before serving; open clients in Configure.",
    ),
    row(
        ("H-06", Must, 0),
        "AutoMTLS: returns a certificate, refuses another client and plaintext",
        "go-plugin mtls",
        "Another user of the machine can call the provider and read its secrets.",
        "Require the certificate of PLUGIN_CLIENT_CERT on every connection.",
    ),
    row(
        ("H-07", Should, 0),
        "Makes a new certificate for each process",
        "go-plugin mtls",
        "A key found in a binary opens the connections of all users.",
        "Generate the key pair at start.",
    ),
    // Not a must, because Terraform does without TLS only when TF_DISABLE_PLUGIN_TLS is set.
    row(
        ("H-08", Should, 0),
        "Serves without TLS when the host sends no certificate",
        "go-plugin server",
        "Debuggers and test hosts cannot connect.",
        "Use TLS only when PLUGIN_CLIENT_CERT is set.",
    ),
    row(
        ("H-09", Should, 0),
        "Listens on a private unix socket or on loopback only",
        "go-plugin server",
        "Other users or machines can reach the provider.",
        "Create the socket in PLUGIN_UNIX_SOCKET_DIR, or listen on 127.0.0.1.",
    ),
    row(
        ("H-10", Should, 0),
        "Leaves no file in TMPDIR or the working folder after exit",
        "reliability target",
        "Sockets and logs pile up on build machines.",
        "Remove the socket and temporary files at shutdown.",
    ),
    row(
        ("H-11", Should, 0),
        "Does not read stdin",
        "Terraform passes its own stdin",
        "The provider eats the answer to the approval question.",
        "Never read stdin.",
    ),
    // A terminal sends SIGINT to all processes of the group.
    row(
        ("H-12", Must, 0),
        "Ignores SIGINT",
        "go-plugin server",
        "Ctrl-C in the terminal kills the provider in the middle of a change.",
        "Ignore SIGINT; the host asks through StopProvider.",
    ),
    // go-plugin waits for 2 s before it kills.
    row(
        ("H-13", Should, 0),
        "Ends within 2 s after GRPCController.Shutdown",
        "go-plugin client",
        "The host kills the process, and cleanup code never runs.",
        "Stop the gRPC server and return from main.",
    ),
    row(
        ("H-14", Should, 0),
        "Ends within 10 s when its host is gone",
        "reliability target",
        "Orphaned providers go on creating objects that no state knows.",
        "Watch the parent process or the connection.",
    ),
    row(
        ("H-15", Must, 0),
        "Leaves no child process behind",
        "reliability target",
        "Terraform waits forever for a pipe that the child holds open.",
        "End helpers before exit, and give them no inherited pipes.",
    ),
    row(
        ("H-16", Should, 0),
        "Answers the stdio, broker, health and controller services or returns Unimplemented",
        "go-plugin services",
        "The host cannot tell a slow provider from a dead one.",
        "Serve with go-plugin or an SDK that has its services.",
    ),
    row(
        ("H-17", Must, 0),
        "Answers an unknown service or method with Unimplemented",
        "gRPC",
        "A newer host cannot find out which calls are missing.",
        "Leave unknown methods to the gRPC library.",
    ),
    row(
        ("H-18", Should, 0),
        "Opens no network connection before Configure",
        "reliability target",
        "Validation fails without a network.",
        "Connect in Configure or later.",
    ),
    row(
        ("H-19", Must, 0),
        "Two processes work side by side",
        "Terraform starts one per alias",
        "Aliased provider configurations break each other.",
        "Use no fixed ports, files or locks.",
    ),
    row(
        ("H-20", Should, 0),
        "Works with a read-only working folder, no HOME, and unusual TZ and LANG",
        "reliability target",
        "The provider fails in containers and CI.",
        "Do not depend on the environment of a login shell.",
    ),
    // 64 KiB is the buffer of go-plugin's log reader.
    row(
        ("H-21", Must, 0),
        "Raw stdout stays silent after the handshake, and no stderr line is over 64 KiB",
        "go-plugin log reader",
        "A long line on stdout blocks the provider, and Terraform hangs.",
        "Log to stderr in lines; keep stdout for the handshake.",
    ),
    // Without a manifest, a release counts as one of protocol 5.0.
    row(
        ("H-22", Must, 0),
        "Names and manifest of the package match the served protocol",
        "registry packages",
        "`terraform init` installs a provider that cannot be used.",
        "Set protocol_versions in the manifest to the served ones.",
    ),
];
