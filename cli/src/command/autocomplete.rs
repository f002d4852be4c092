//! Completion in shells: answers a shell that completes a line, and tells shells to ask.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::addr::ConfigResourceAddr;
use formwork_core::config::Config;
use formwork_value::Diagnostics;

use super::output::stored_file;
use crate::args::{self, Names, StatePlace};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::{complain, out};
use crate::workspace::Workspace;

/// Prints the candidates for a line, one a line.
pub(crate) async fn complete(line: &str, env: &Env) -> Exit {
    // The folder is read only where its names are asked for: a state can be large.
    let mut is_asked = false;
    let mut found = args::candidates(line, &mut |_| {
        is_asked = true;
        Vec::new()
    });
    if is_asked {
        let folder = Folder::read(env).await;
        found = args::candidates(line, &mut |names| folder.names(names));
    }
    if env.is_bash {
        found = for_bash(line, found);
    }
    out(&found.iter().map(|word| format!("{word}\n")).collect::<String>());
    Exit::Done
}

/// The candidates as bash replaces a word by them: bash ends a word at `=` and `:`, and does not quote.
fn for_bash(line: &str, found: Vec<String>) -> Vec<String> {
    let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    let kept = word.rfind(['=', ':']).map_or(0, |at| at + 1);
    let is_quoted = word.contains(['\'', '"']);
    let special = |c: char| "\"'[]*?$ \\".contains(c);
    found
        .into_iter()
        .filter_map(|word| Some(word.get(kept..)?.to_owned()))
        .map(|word| match word.contains(special) && !is_quoted {
            true => format!("'{word}'"),
            false => word,
        })
        .collect()
}

/// Names of the working folder. Problems are not reported: nothing is completed then.
struct Folder {
    addresses: Vec<String>,
    workspaces: Vec<String>,
    outputs: Vec<String>,
    variables: Vec<String>,
}

impl Folder {
    async fn read(env: &Env) -> Self {
        let mut folder = Self {
            addresses: Vec::new(),
            workspaces: Vec::new(),
            outputs: Vec::new(),
            variables: Vec::new(),
        };
        let mut diags = Diagnostics::new();
        let Ok(mut workspace) = Workspace::open(env, &mut diags) else { return folder };
        let config = workspace.config(&mut diags).ok();
        if let Some(config) = &config {
            folder.outputs.extend(config.root.outputs.keys().map(ToString::to_string));
            folder.variables.extend(config.root.variables.keys().map(ToString::to_string));
            folder.addresses.extend(written(config));
        }
        // A key must not wait for a server.
        let backend = config.as_ref().and_then(|config| config.root.settings.backend.as_ref());
        if backend.is_some_and(|backend| &*backend.kind != "local" || backend.provider.is_some()) {
            return folder;
        }
        if let Ok(backend) = super::workspace::workspaces(&mut diags, &mut workspace).await {
            folder.workspaces = backend.workspaces().await.unwrap_or_default();
        }
        let place = StatePlace::default();
        if let Ok(Some(file)) = stored_file(&mut diags, &mut workspace, &place).await {
            for (resource, held) in &file.state.resources {
                folder.addresses.push(resource.to_string());
                let instances = held.instances.keys().map(|key| resource.instance(key.clone()));
                folder.addresses.extend(instances.map(|addr| addr.to_string()));
            }
        }
        folder
    }

    fn names(&self, names: Names) -> Vec<String> {
        match names {
            Names::Addresses => self.addresses.clone(),
            Names::Workspaces => self.workspaces.clone(),
            Names::Outputs => self.outputs.clone(),
            Names::Variables => self.variables.clone(),
        }
    }
}

/// The addresses of the resources and modules that a configuration has.
fn written(config: &Config) -> Vec<String> {
    let resources = config.resources().map(|(node, resource)| {
        let (module, resource) = (node.path.clone(), resource.name.clone());
        ConfigResourceAddr { module, resource }.to_string()
    });
    let calls = config.root.calls.keys().map(|name| format!("module.{name}"));
    resources.chain(calls).collect()
}

/// A file of a shell that has it ask this program.
struct Hook {
    file: PathBuf,
    /// The line for the file.
    line: String,
    /// Whether the file holds nothing else.
    is_own: bool,
}

/// The script that has fish ask this program.
const FISH: &str = "function __complete_formwork\n    set -lx COMP_LINE (commandline -cp)\n    test -z (commandline -ct)\n    and set COMP_LINE \"$COMP_LINE \"\n    PROGRAM\nend\ncomplete -f -c formwork -a \"(__complete_formwork)\"\n";

/// The files of the shells that are set up in a home folder.
fn hooks(home: &Path, program: &Path) -> Vec<Hook> {
    let program = program.display();
    let mut hooks = Vec::new();
    let bash = [".bashrc", ".bash_profile", ".bash_login", ".profile"];
    if let Some(file) = bash.map(|name| home.join(name)).into_iter().find(|file| file.is_file()) {
        let line = format!("complete -o default -C {program} formwork");
        hooks.push(Hook { file, line, is_own: false });
    }
    let file = home.join(".zshrc");
    if file.is_file() {
        let line = format!(
            "autoload -U +X bashcompinit && bashcompinit; complete -o default -o nospace -C {program} formwork"
        );
        hooks.push(Hook { file, line, is_own: false });
    }
    let fish = home.join(".config/fish");
    if fish.is_dir() {
        let line = FISH.replace("PROGRAM", &program.to_string());
        hooks.push(Hook { file: fish.join("completions/formwork.fish"), line, is_own: true });
    }
    hooks
}

impl Hook {
    fn is_installed(&self) -> bool {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        if self.is_own { !text.is_empty() } else { text.lines().any(|line| line == self.line) }
    }

    fn install(&self) -> io::Result<()> {
        if self.is_own {
            fs::create_dir_all(self.file.parent().unwrap_or(Path::new(".")))?;
            return fs::write(&self.file, &self.line);
        }
        let mut text = fs::read_to_string(&self.file)?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        fs::write(&self.file, format!("{text}{}\n", self.line))
    }

    fn uninstall(&self) -> io::Result<()> {
        if self.is_own {
            return fs::remove_file(&self.file);
        }
        let text = fs::read_to_string(&self.file)?;
        let kept = text.split_inclusive('\n').filter(|line| line.trim_end() != self.line);
        let kept: String = kept.collect();
        fs::write(&self.file, kept)
    }
}

/// Sets up the shells of the user, or takes that back.
pub(crate) fn set_up(install: bool, env: &Env) -> Exit {
    let Some((home, program)) = env.home.clone().zip(std::env::current_exe().ok()) else {
        complain("Error: HOME names no folder, so no shell can be set up.\n");
        return Exit::Failed;
    };
    let hooks = hooks(&home, &program);
    if hooks.is_empty() {
        complain(&format!(
            "Error: {} has no .bashrc, .bash_profile, .bash_login, .profile, .zshrc or .config/fish, so no shell can be set up. Create the file of your shell and run the command again.\n",
            home.display()
        ));
        return Exit::Failed;
    }
    let mut exit = Exit::Done;
    for hook in hooks {
        let file = hook.file.display();
        let done = match (install, hook.is_installed()) {
            (true, true) => Err(format!("already installed in {file}")),
            (false, false) => Err(format!("not installed in {file}")),
            (true, false) => hook.install().map_err(|error| format!("{file}: {error}")),
            (false, true) => hook.uninstall().map_err(|error| format!("{file}: {error}")),
        };
        match done {
            Ok(()) if install => out(&format!("Completion is set up in {file}.\n")),
            Ok(()) => out(&format!("Completion is removed from {file}.\n")),
            Err(why) => {
                complain(&format!("Error: {why}.\n"));
                exit = Exit::Failed;
            }
        }
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_shells_are_as_before_once_completion_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        fs::write(home.join(".bashrc"), "alias a=b\n").unwrap();
        fs::write(home.join(".zshrc"), "").unwrap();
        fs::create_dir_all(home.join(".config/fish")).unwrap();
        let hooks = hooks(home, Path::new("/opt/formwork"));
        assert_eq!(hooks.len(), 3);
        for hook in &hooks {
            assert!(!hook.is_installed());
            hook.install().unwrap();
            assert!(hook.is_installed());
        }
        let bash = fs::read_to_string(home.join(".bashrc")).unwrap();
        assert_eq!(bash, "alias a=b\ncomplete -o default -C /opt/formwork formwork\n");
        for hook in &hooks {
            hook.uninstall().unwrap();
            assert!(!hook.is_installed());
        }
        assert_eq!(fs::read_to_string(home.join(".bashrc")).unwrap(), "alias a=b\n");
    }

    #[test]
    fn bash_gets_what_replaces_the_end_of_the_word() {
        let check = |line: &str, word: &str, expected: &str| {
            assert_eq!(for_bash(line, vec![word.to_owned()]), [expected], "{line}");
        };
        check("formwork plan -target=a", "-target=a.b", "a.b");
        check("formwork state rm a", "a.b[\"c\"]", "'a.b[\"c\"]'");
        check("formwork state rm 'a", "a.b[\"c\"]", "a.b[\"c\"]");
        check("formwork pl", "plan", "plan");
    }
}
