//! Messages of the commands for provider authors.

use formwork_value::messages;

messages! {
    "Commands for provider authors"
    AUTHORS

    FW8501 FILE_CANNOT_BE_PLAYED = "The file cannot be played",
        "The file has no recorded calls that this version can send to the provider.",
        "Use a reproducer file that the conformance suite of this version wrote.";

    FW8502 INVALID_TIME_LIMIT = "Invalid time limit",
        "The time limit is not a duration.",
        "Write a duration such as `30s` or `5m`.";

    FW8503 KEY_RELEASE_CANNOT_BE_READ = "The release key cannot be read",
        "The file of `-release-key` does not exist, or does not contain an OpenPGP public key.",
        "Specify a file with one OpenPGP public key.";

    FW8504 NOT_A_PROGRAM = "Not a program",
        "The file is not executable.",
        "Specify the path of the built provider.";

    FW8505 NO_SUCH_DIR_RELEASE = "No such release directory",
        "The release directory does not exist.",
        "Correct the path. `formwork provider package` creates such directories.";

    FW8506 NO_SUCH_LEVEL = "No such level",
        "No conformance level has this number.",
        "Use a level from 0 to 3.";

    FW8507 NO_SUCH_PROGRAM = "No such program",
        "The program does not exist.",
        "Build the provider, or correct the path.";

    FW8508 NO_SUCH_REPRODUCER_FILE = "No such reproducer file",
        "The reproducer file does not exist.",
        "Correct the path.";

    FW8509 PROVIDER_CANNOT_BE_CHECKED = "The provider cannot be checked",
        "The provider could not be started or does not describe its schema.",
        "Correct the provider.";

    FW8510 PROVIDER_NOT_INSTALLED = "Provider not installed",
        "The provider to check is not installed.",
        "Run `formwork init`, or give the path of the program.";

    FW8511 REPORT_COULD_NOT_BE_WRITTEN = "A report could not be written",
        "The disk is full, or the directory of the report does not exist or is not writable.",
        "Check the permissions of the directory and the free space.";

    FW8512 UNKNOWN_RULE = "Unknown rule",
        "No conformance rule has this ID.",
        "Use an ID such as `P-02`. `docs/conformance-rules.md` lists all of them.";

    FW8513 FILE_CANNOT_BE_READ = "A file cannot be read",
        "An input of the check could not be read.",
        "Check the path and the permissions.";

    FW8514 FILE_DOES_NOT_PARSE = "A file does not parse",
        "An input of the check is not valid.",
        "Correct the file at the position in the detail.";

    FW8515 NO_SUCH_DIR_EXAMPLES = "No such examples directory",
        "The examples directory does not exist.",
        "Correct the path, or remove the option.";

    FW8516 NOT_NAME_PROVIDER = "Not a provider name",
        "The name of the program is not of the form `terraform-provider-NAME`.",
        "Rename the program.";

    FW8517 PAGE_IS_OUT_DATE = "A page is out of date",
        "A page of the documentation differs from the schema and the examples of the provider.",
        "Run `formwork provider docs`, and commit the pages.";

    FW8518 PROVIDER_CANNOT_BE_ASKED = "The provider schema cannot be read",
        "The provider could not be started to read its schema.",
        "Correct the provider.";

    FW8519 UNABLE_TO_WRITE_PAGE = "Unable to write a page",
        "A page of the documentation could not be written.",
        "Check the permissions of the directory and the free space.";

    FW8520 EXAMPLE_DOES_NOT_PLAN = "An example does not plan",
        "An example of the provider has errors.",
        "Correct the errors that are reported before this one.";

    FW8521 DIFFERENT_PROVIDERS = "Different providers",
        "The programs for the platforms belong to different providers.",
        "Specify programs of one provider.";

    FW8522 DUPLICATE_PLATFORM = "Duplicate platform",
        "Two programs are specified for one platform.",
        "Specify one program per platform.";

    FW8523 INVALID_REGISTRY_MANIFEST = "Invalid registry manifest",
        "The manifest for the registry is not valid.",
        "Correct the file.";

    FW8524 INVALID_VERSION = "Invalid version",
        "The version of the release is not a semantic version.",
        "Write a version such as `1.2.3`.";

    FW8525 NOT_A_PROVIDER = "Not a provider",
        "The program name is not a provider name.",
        "Rename the program to `terraform-provider-NAME`.";

    FW8526 RELEASE_IS_NOT_SIGNED = "Release is not signed",
        "No key was specified, so the checksums have no signature. Registries require one.",
        "Specify a key file with `-key`. Mirrors accept a release without a signature.";

    FW8527 UNABLE_TO_PACK_FILE = "Unable to pack a file",
        "A file of the release could not be packed.",
        "Check that the file can be read.";

    FW8528 UNABLE_TO_SIGN_CHECKSUMS = "Unable to sign the checksums",
        "The key file cannot be read or is not a secret OpenPGP key that can sign, or its passphrase is missing or wrong.",
        "Check the key file and its passphrase.";

    FW8529 UNABLE_TO_WRITE_RELEASE = "Unable to write the release",
        "The files of the release could not be written.",
        "Check the permissions of the directory and the free space.";

    FW8530 INVALID_PROVIDER_NAME = "Invalid name",
        "The name or namespace of a new provider is not valid.",
        "Begin with a lower-case letter, followed by lower-case letters, digits and dashes.";

    FW8531 SDK_WAS_NOT_FOUND = "The SDK was not found",
        "The value of `-sdk` is not the `sdk` directory of the Formwork sources.",
        "Specify that directory, or remove the option to use the published packages.";

    FW8532 THE_DIR_EXISTS = "The directory exists",
        "The directory for the new provider already exists.",
        "Choose another name, or remove the directory.";

    FW8533 UNABLE_TO_WRITE_FILE = "Unable to write a file",
        "A file of the new provider could not be written.",
        "Check the permissions of the directory and the free space.";
}
