//! Messages of the commands for provider authors.

use formwork_value::messages;

messages! {
    "Commands for provider authors"
    AUTHORS

    FW8501 FILE_CANNOT_BE_PLAYED = "The file cannot be played",
        "A recorded call cannot be played against the provider.",
        "Use a file that the conformance suite of this version wrote.";

    FW8502 INVALID_TIME_LIMIT = "Invalid time limit",
        "The time limit is not a duration.",
        "Write a duration such as `30s` or `5m`.";

    FW8503 KEY_RELEASE_CANNOT_BE_READ = "The key of the release cannot be read",
        "The public key of the release cannot be read.",
        "Give a file with one OpenPGP public key.";

    FW8504 NOT_A_PROGRAM = "Not a program",
        "The file is not executable.",
        "Give the path of the built provider.";

    FW8505 NO_SUCH_FOLDER_RELEASE = "No such folder of a release",
        "The folder of the release does not exist.",
        "Correct the path. `formwork provider package` makes such folders.";

    FW8506 NO_SUCH_LEVEL = "No such level",
        "There is no conformance level of this number.",
        "Use a level from 0 to 3.";

    FW8507 NO_SUCH_PROGRAM = "No such program",
        "The program does not exist.",
        "Build the provider, or correct the path.";

    FW8508 NO_SUCH_REPRODUCER_FILE = "No such reproducer file",
        "The reproducer file does not exist.",
        "Correct the path.";

    FW8509 PROVIDER_CANNOT_BE_CHECKED = "The provider cannot be checked",
        "The provider could not be started or does not describe its schema.",
        "Read the reason in the detail, and correct the provider.";

    FW8510 PROVIDER_NOT_INSTALLED = "Provider not installed",
        "The provider to check is not installed.",
        "Run `formwork init`, or give the path of the program.";

    FW8511 REPORT_COULD_NOT_BE_WRITTEN = "A report could not be written",
        "A file of the report could not be written.",
        "Check the permissions of the folder and the free space.";

    FW8512 UNKNOWN_RULE = "Unknown rule",
        "There is no conformance rule with this id.",
        "Use an id such as `P-02`. `docs/conformance-rules.md` lists all of them.";

    FW8513 FILE_CANNOT_BE_READ = "A file cannot be read",
        "An input of the check could not be read.",
        "Check the path and the permissions.";

    FW8514 FILE_DOES_NOT_PARSE = "A file does not parse",
        "An input of the check is not valid.",
        "Correct the file. The detail has the place.";

    FW8515 NO_SUCH_FOLDER_EXAMPLES = "No such folder of examples",
        "The folder of examples does not exist.",
        "Correct the path, or leave the option out.";

    FW8516 NOT_NAME_PROVIDER = "Not the name of a provider",
        "The name of the program is not of the form `terraform-provider-NAME`.",
        "Rename the program.";

    FW8517 PAGE_IS_OUT_DATE = "A page is out of date",
        "A page of the documentation differs from the schema and the examples of the provider.",
        "Run `formwork provider docs`, and commit the pages.";

    FW8518 PROVIDER_CANNOT_BE_ASKED = "The provider cannot be asked",
        "The provider could not be started to read its schema.",
        "Read the reason in the detail, and correct the provider.";

    FW8519 UNABLE_TO_WRITE_PAGE = "Unable to write a page",
        "A page of the documentation could not be written.",
        "Check the permissions of the folder and the free space.";

    FW8520 EXAMPLE_DOES_NOT_PLAN = "An example does not plan",
        "An example of the provider has errors.",
        "Correct the example. The errors are reported before.";

    FW8521 DIFFERENT_PROVIDERS = "Different providers",
        "The programs for the platforms belong to different providers.",
        "Give programs of one provider.";

    FW8522 DUPLICATE_PLATFORM = "Duplicate platform",
        "Two programs are given for one platform.",
        "Give one program for each platform.";

    FW8523 INVALID_REGISTRY_MANIFEST = "Invalid registry manifest",
        "The manifest for the registry is not valid.",
        "Correct the file. The detail has the reason.";

    FW8524 INVALID_VERSION = "Invalid version",
        "The version of the release is not a semantic version.",
        "Write a version such as `1.2.3`.";

    FW8525 NOT_A_PROVIDER = "Not a provider",
        "The name of the program is not that of a provider.",
        "Rename the program to `terraform-provider-NAME`.";

    FW8526 RELEASE_IS_NOT_SIGNED = "Release is not signed",
        "No key was given, so the checksums have no signature, which registries require.",
        "Give the file of a key with `-key`. Mirrors accept a release without a signature.";

    FW8527 UNABLE_TO_PACK_FILE = "Unable to pack a file",
        "A file of the release could not be packed.",
        "Check that the file can be read.";

    FW8528 UNABLE_TO_SIGN_CHECKSUMS = "Unable to sign the checksums",
        "The checksums could not be signed.",
        "Check the key and its passphrase. The detail has the reason.";

    FW8529 UNABLE_TO_WRITE_RELEASE = "Unable to write the release",
        "The files of the release could not be written.",
        "Check the permissions of the folder and the free space.";

    FW8530 INVALID_PROVIDER_NAME = "Invalid name",
        "The name or namespace of a new provider is not valid.",
        "Begin with a lower-case letter, followed by lower-case letters, digits and dashes.";

    FW8531 SDK_WAS_NOT_FOUND = "The SDK was not found",
        "The value of `-sdk` is not the folder `sdk` of the sources of Formwork.",
        "Name that folder, or remove the option to use the published packages.";

    FW8532 THE_FOLDER_EXISTS = "The folder exists",
        "The folder for the new provider already exists.",
        "Give another name, or remove the folder.";

    FW8533 UNABLE_TO_WRITE_FILE = "Unable to write a file",
        "A file of the new provider could not be written.",
        "Check the permissions of the folder and the free space.";
}
