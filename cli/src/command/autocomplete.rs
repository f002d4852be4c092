//! Shell completion: answers completion requests of shells, and installs the completion scripts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::addr::ConfigResourceAddr;
use formwork_core::config::Config;
use formwork_value::quote::shell_word;
use formwork_value::{Diagnostic, Diagnostics};

use super::output::stored_state_file;
use super::parser::built_parser_description;
use crate::command_line::{self, CompletionNameKind, StatePaths};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::{print_diagnostic, print_out};
use crate::workspace::Workspace;

/// Prints the candidates for a line up to the cursor, one per line.
pub(crate) async fn print_candidates(line: &str, env: &Env) -> Exit {
    let cursor = env.comp_point.and_then(|n| line.char_indices().nth(n)).map(|(index, _)| index);
    let line = &line[..cursor.unwrap_or(line.len())];
    // The directory is read only if its names are needed: a state can be large.
    let mut is_asked = false;
    let mut candidates =
        command_line::completion_candidates(&built_parser_description(), line, &mut |_| {
            is_asked = true;
            Vec::new()
        });
    if is_asked {
        let directory = match command_line::chdir_dir_of_line(line).map(std::env::set_current_dir) {
            None | Some(Ok(())) => CompletableNames::read(env).await,
            Some(Err(_)) => CompletableNames::default(),
        };
        candidates =
            command_line::completion_candidates(&built_parser_description(), line, &mut |names| {
                directory.completion_names(names)
            });
    }
    if env.is_bash {
        candidates = escape_for_bash(line, candidates);
    }
    print_out(&candidates.iter().map(|candidate| format!("{candidate}\n")).collect::<String>());
    Exit::Done
}

/// The candidates as bash requires them: bash splits words at `=` and `:`, and does not quote.
fn escape_for_bash(line: &str, candidates: Vec<String>) -> Vec<String> {
    let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    let prefix_len = word.rfind(['=', ':']).map_or(0, |index| index + 1);
    let is_quoted = word.contains(['\'', '"']);
    // If a name closed the user's quotes, the rest of it would be executed as a command. Names in a state or
    // a configuration can contain any character.
    let stays_quoted = |word: &String| !is_quoted || !word.contains(['\'', '$', '`', '\\', '!']);
    candidates
        .into_iter()
        // Each line is one candidate.
        .filter(|word| !word.contains(char::is_control))
        .filter_map(|word| Some(word.get(prefix_len..)?.to_owned()))
        .filter(stays_quoted)
        .map(|word| if is_quoted { word } else { shell_word(&word) })
        .collect()
}

/// Names to complete from the working directory. Errors are not reported: the names are omitted.
#[derive(Default)]
struct CompletableNames {
    addresses: Vec<String>,
    workspaces: Vec<String>,
    outputs: Vec<String>,
    variables: Vec<String>,
}

impl CompletableNames {
    async fn read(env: &Env) -> Self {
        let mut directory = Self::default();
        let mut diags = Diagnostics::new();
        let Ok(mut workspace) = Workspace::open(env, &mut diags) else { return directory };
        let config = workspace.read_config(&mut diags).ok();
        if let Some(config) = &config {
            directory.outputs.extend(config.root.outputs.keys().map(ToString::to_string));
            directory.variables.extend(config.root.variables.keys().map(ToString::to_string));
            directory.addresses.extend(config_addresses(config));
        }
        // Completion must not wait for a server.
        let backend = config.as_ref().and_then(|config| config.root.settings.backend.as_ref());
        if backend.is_some_and(|backend| &*backend.kind != "local" || backend.provider.is_some()) {
            return directory;
        }
        if let Ok(backend) = super::workspace::workspace_backend(&mut diags, &mut workspace).await {
            directory.workspaces = backend.workspaces().await.unwrap_or_default();
        }
        let state_paths = StatePaths::default();
        if let Ok(Some(file)) = stored_state_file(&mut diags, &mut workspace, &state_paths).await {
            for (resource, resource_state) in &file.state.resources {
                directory.addresses.push(resource.to_string());
                let instances =
                    resource_state.instances.keys().map(|key| resource.instance_addr(key.clone()));
                directory.addresses.extend(instances.map(|addr| addr.to_string()));
            }
        }
        directory
    }

    fn completion_names(&self, names: CompletionNameKind) -> Vec<String> {
        match names {
            CompletionNameKind::Addresses => self.addresses.clone(),
            CompletionNameKind::Workspaces => self.workspaces.clone(),
            CompletionNameKind::Outputs => self.outputs.clone(),
            CompletionNameKind::Variables => self.variables.clone(),
        }
    }
}

/// The addresses of the resources and modules of a configuration.
fn config_addresses(config: &Config) -> Vec<String> {
    let resources = config.all_resources().map(|(node, resource)| {
        let (module, resource) = (node.path.clone(), resource.name.clone());
        ConfigResourceAddr { module, resource }.to_string()
    });
    let calls = config.root.calls.keys().map(|name| format!("module.{name}"));
    resources.chain(calls).collect()
}

/// A startup file of a shell, and the lines that enable completion.
struct ShellHook {
    file: PathBuf,
    /// The lines to add to the file.
    script: String,
    /// Whether the file contains only these lines.
    is_own: bool,
}

const BASH_COMPLETION: &str = include_str!("autocomplete/completion.bash");
const ZSH_COMPLETION: &str = include_str!("autocomplete/completion.zsh");
const FISH_COMPLETION: &str = include_str!("autocomplete/completion.fish");

/// The script of a shell, for a program at this path.
fn shell_script(template: &str, program: &Path) -> String {
    let program = program.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    match program.chars().all(is_plain) {
        true => template.replace("PROGRAM", &program),
        false => template.replace("PROGRAM", &format!("'{}'", program.replace('\'', r"'\''"))),
    }
}

/// Directories of shell startup files.
struct ShellDirs<'a> {
    home: &'a Path,
    /// The startup file of zsh.
    zsh: &'a Path,
    fish: PathBuf,
}

impl<'a> ShellDirs<'a> {
    fn of(env: &'a Env) -> Option<Self> {
        let home = env.home.as_deref()?;
        let dir_in_env =
            |name| env.environment.get(name).filter(|it| !it.is_empty()).map(Path::new);
        let config = dir_in_env("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        let fish = config.map_or_else(|| home.join(".config"), Path::to_owned).join("fish");
        Some(Self { home, zsh: dir_in_env("ZDOTDIR").unwrap_or(home), fish })
    }

    /// The startup files and hooks of the user's shells.
    fn shell_hooks(&self, program: &Path) -> Vec<ShellHook> {
        let mut hooks = Vec::new();
        let bash = [".bashrc", ".bash_profile", ".bash_login", ".profile"];
        let mut bash = bash.map(|name| self.home.join(name)).into_iter();
        if let Some(file) = bash.find(|file| file.is_file()) {
            hooks.push(ShellHook {
                file,
                script: shell_script(BASH_COMPLETION, program),
                is_own: false,
            });
        }
        let file = self.zsh.join(".zshrc");
        if file.is_file() {
            // Without `compinit`, zsh completes only file names.
            let script = format!(
                "(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit -i }}\n{}compdef _formwork formwork\n",
                shell_script(ZSH_COMPLETION, program)
            );
            hooks.push(ShellHook { file, script, is_own: false });
        }
        if self.fish.is_dir() {
            let file = self.fish.join("completions/formwork.fish");
            hooks.push(ShellHook {
                file,
                script: shell_script(FISH_COMPLETION, program),
                is_own: true,
            });
        }
        hooks
    }
}

impl ShellHook {
    fn is_installed(&self) -> bool {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        if self.is_own { !text.is_empty() } else { text.contains(&self.script) }
    }

    fn install(&self) -> io::Result<()> {
        if self.is_own {
            fs::create_dir_all(self.file.parent().unwrap_or(Path::new(".")))?;
            return fs::write(&self.file, &self.script);
        }
        let mut text = fs::read_to_string(&self.file)?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        fs::write(&self.file, text + &self.script)
    }

    fn uninstall(&self) -> io::Result<()> {
        if self.is_own {
            return fs::remove_file(&self.file);
        }
        let text = fs::read_to_string(&self.file)?;
        fs::write(&self.file, text.replace(&self.script, ""))
    }
}

/// Adds the hooks to the startup files of the user's shells, or removes them.
pub(crate) fn install_or_uninstall_hooks(install: bool, env: &Env) -> Exit {
    let directories = ShellDirs::of(env).zip(std::env::current_exe().ok());
    let Some((directories, program)) = directories else {
        return report_completion_failure(
            "HOME is not a directory, so completion cannot be set up.",
        );
    };
    let hooks = directories.shell_hooks(&program);
    if hooks.is_empty() {
        return report_completion_failure(&format!(
            "{} has no .bashrc, .bash_profile, .bash_login, .profile, .zshrc or .config/fish, so completion cannot be set up. Create the startup file of your shell and run the command again.",
            directories.home.display()
        ));
    }
    let mut exit = Exit::Done;
    for hook in hooks {
        let file = hook.file.display();
        let result = match (install, hook.is_installed()) {
            (true, true) => Err(format!("Completion is already set up in {file}.")),
            (false, false) => Err(format!("Completion is not set up in {file}.")),
            (true, false) => hook.install().map_err(|error| format!("{file}: {error}.")),
            (false, true) => hook.uninstall().map_err(|error| format!("{file}: {error}.")),
        };
        match result {
            Ok(()) if install => print_out(&format!("Completion was set up in {file}.\n")),
            Ok(()) => print_out(&format!("Completion was removed from {file}.\n")),
            Err(reason) => exit = report_completion_failure(&reason),
        }
    }
    exit
}

fn report_completion_failure(detail: &str) -> Exit {
    print_diagnostic(&Diagnostic::error(messages::COMPLETION_NOT_CHANGED, detail));
    Exit::Failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_completion_restores_shell_startup_files() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        fs::write(home.join(".bashrc"), "alias a=b\n").unwrap();
        fs::write(home.join(".zshrc"), "").unwrap();
        fs::create_dir_all(home.join(".config/fish")).unwrap();
        let directories = ShellDirs { home, zsh: home, fish: home.join(".config/fish") };
        let hooks = directories.shell_hooks(Path::new("/opt/formwork"));
        assert_eq!(hooks.len(), 3);
        for hook in &hooks {
            assert!(!hook.is_installed());
            hook.install().unwrap();
            assert!(hook.is_installed());
        }
        let bash = fs::read_to_string(home.join(".bashrc")).unwrap();
        assert!(bash.starts_with("alias a=b\n# The program"), "{bash}");
        assert!(bash.contains(" /opt/formwork 2>/dev/null)"), "{bash}");
        for hook in &hooks {
            hook.uninstall().unwrap();
            assert!(!hook.is_installed());
        }
        assert_eq!(fs::read_to_string(home.join(".bashrc")).unwrap(), "alias a=b\n");
    }

    #[test]
    fn bash_receives_the_replacement_of_the_end_of_the_word() {
        let check = |line: &str, word: &str, expected: &str| {
            assert_eq!(escape_for_bash(line, vec![word.to_owned()]), [expected], "{line}");
        };
        check("formwork plan -target=a", "-target=a.b", "a.b");
        check("formwork state rm a", "a.b[\"c\"]", "'a.b[\"c\"]'");
        check("formwork state rm 'a", "a.b[\"c\"]", "a.b[\"c\"]");
        check("formwork pl", "plan", "plan");
        check("formwork output ", "a;id", "'a;id'");
        check("formwork state rm a", "a.b[\"'$(id)'\"]", r#"'a.b["'\''$(id)'\''"]'"#);
    }

    #[test]
    fn no_candidate_closes_the_users_quotes_or_contains_a_line_break() {
        for (line, word) in [
            ("formwork state rm 'a", "a.b[\"'; id; '\"]"),
            ("formwork state rm \"a", "a.b[\"$(id)\"]"),
            ("formwork state rm a", "a.b[\"x\nid\"]"),
        ] {
            assert!(escape_for_bash(line, vec![word.to_owned()]).is_empty(), "{line}");
        }
    }
}
