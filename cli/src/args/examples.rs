//! One example of each command, for its help text, its manual page and the command reference.

/// An example: the command without the program's name, the rest of the line, and its effect.
pub(super) struct Example {
    pub(super) command: &'static str,
    pub(super) arguments: &'static str,
    pub(super) effect: &'static str,
}

/// Finds the example of a command, by its name without that of the program.
pub(super) fn of(command: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.command == command)
}

macro_rules! examples {
    ($($command:literal $arguments:literal $effect:literal)*) => {
        &[$(Example { command: $command, arguments: $arguments, effect: $effect }),*]
    };
}

/// The examples, in the order of the command reference.
static EXAMPLES: &[Example] = examples! {
    "" "plan" "Show the changes that the configuration in this folder requires."
    "init" "-upgrade" "Install the newest modules and providers that the constraints allow."
    "validate" "-json" "Check the configuration, for an editor."
    "plan" "-out=tfplan -var region=eu" "Save a plan that applies later exactly as it was shown."
    "apply" "tfplan" "Apply a saved plan."
    "destroy" "-target=aws_instance.web" "Destroy one resource and the resources that depend on it."
    "console" "-plan" "Evaluate expressions against the planned values."
    "explain" "FW1001" "Print the cause and the remedy of the diagnostic with this code."
    "fmt" "-check -recursive" "Fail if a file below this folder is not in the usual layout."
    "force-unlock" "4f2c1a9e-8f3b-1c55-9d0e-2f6a7b8c9d0e" "Release the lock with this ID."
    "get" "-update" "Install the newest modules that the constraints allow."
    "graph" "-type=plan" "Print the graph of a plan. Pipe it to `dot -Tsvg` to draw it."
    "import" "aws_instance.web i-0abc" "Bring an existing instance under management."
    "login" "app.example.com" "Obtain a token of a registry and keep it."
    "logout" "app.example.com" "Remove the kept token of a registry."
    "metadata functions" "-json" "Print the signatures of all functions."
    "modules" "-json" "List the modules that the configuration calls, as JSON."
    "output" "-raw address" "Print one output value for a script."
    "provider new" "weather -namespace=acme" "Write a provider to terraform-provider-weather."
    "provider docs" "target/debug/terraform-provider-weather" "Write the pages of a provider to docs."
    "provider check" "target/debug/terraform-provider-weather -level=2" "Check a provider against the rules of the protocol."
    "provider package" "-version=1.0.0 -key=secret.asc target/release/terraform-provider-weather" "Pack a release for this platform."
    "provider replay" "P-02.json target/debug/terraform-provider-weather" "Repeat the calls of a finding."
    "providers" "" "Show which module requires which provider."
    "providers lock" "-platform=linux_amd64 -platform=darwin_arm64" "Lock the packages of two platforms."
    "providers mirror" "mirror" "Copy the required packages to a folder."
    "providers sbom" "" "Print the bill of materials of this folder."
    "providers schema" "-json" "Print the schemas of the required providers."
    "recover list" "" "List the operations that an interrupted run left open."
    "recover adopt" "aws_instance.web i-0abc" "Take the object that was created into the state."
    "recover forget" "aws_instance.web" "Declare that the operation had no effect."
    "recover retry" "-all" "Have the next apply repeat all open operations."
    "recover review" "" "Decide about one open operation after the other."
    "refresh" "-target=aws_instance.web" "Update one resource in the state from its real object."
    "show" "-json tfplan" "Print a saved plan as JSON."
    "state list" "module.network" "List the instances of a module."
    "state log" "-limit=5" "List the last five writes of the state, with their users."
    "state mv" "aws_instance.web aws_instance.app" "Rename a resource in the state."
    "state pull" "" "Print the state, whichever backend keeps it."
    "state push" "restored.tfstate" "Replace the state by that of a file."
    "state replace-provider" "hashicorp/aws acme/aws" "Assign resources to another provider."
    "state rm" "aws_instance.web" "Forget a resource. The real object stays."
    "state show" "aws_instance.web" "Show the attributes of an instance."
    "taint" "aws_instance.web" "Have the next apply replace an instance."
    "untaint" "aws_instance.web" "Keep an instance that was marked for replacement."
    "version" "-json" "Print the versions of the program and of the selected providers."
    "workspace list" "" "List the workspaces."
    "workspace new" "staging" "Create a workspace and select it."
    "workspace select" "-or-create staging" "Select a workspace, and create it if it is missing."
    "workspace delete" "staging" "Delete an empty workspace."
    "workspace show" "" "Print the name of the selected workspace."
    "help" "plan" "Show the options of `plan`."
};

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::args::description;
    use crate::normalize::normalize;

    /// The names of all visible commands that can be run.
    fn runnable(command: &clap::Command, name: &str, found: &mut Vec<String>) {
        if !command.is_subcommand_required_set() {
            found.push(name.to_owned());
        }
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            runnable(one, format!("{name} {}", one.get_name()).trim(), found);
        }
    }

    #[test]
    fn every_command_has_one_example_that_it_accepts() {
        let mut commands = vec![String::new()];
        runnable(&description(), "", &mut commands);
        for command in &commands {
            assert!(of(command).is_some(), "`formwork {command}` has no example");
        }
        for Example { command, arguments, .. } in EXAMPLES {
            assert!(commands.iter().any(|name| name == command), "there is no `{command}`");
            let line = format!("formwork {command} {arguments}");
            let words = line.split_whitespace().map(OsString::from).collect();
            let words = normalize(&description(), words, &[].into()).unwrap();
            let parsed = description().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
        let mut names: Vec<_> = EXAMPLES.iter().map(|example| example.command).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
    }
}
