//! Loads files into a [`Config`]. Nothing is evaluated beyond constants.
//!
//! Errors come in stages, and a later stage is not entered with errors of an earlier one: first
//! syntax errors and invalid contents of blocks, then names that are not declared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use formwork_lang::content::resolve_undecided_members;
use formwork_lang::syntax::{Block, Body, add_source, parse_file, parse_json};
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::module_draft::{ModuleDir, ModuleDraft};
use super::override_files::{self, is_override_file_name};
use super::syntax_error_blocks::{
    BlocksWithSyntaxErrors, are_all_within_blocks, take_blocks_with_syntax_errors,
};
use super::{
    Config, ConfigFiles, Module, ModuleCallSource, ModuleDirs, ModuleNode, call_arguments,
    call_limits, check_imports, fill_references, opentofu_files, provider_passing, terraform_block,
    validate_references,
};
use crate::addr::ModulePath;
use crate::messages;

/// The files from which a configuration is read, and the directories of its modules.
#[derive(Clone, Copy)]
pub struct ConfigSource<'p> {
    /// The files.
    pub files: &'p dyn ConfigFiles,
    /// The directory of the root module.
    pub dir: &'p Path,
    /// Directories of the called modules.
    pub directories: &'p dyn ModuleDirs,
}

impl Config {
    /// Reads the configuration in a directory, and the modules it calls. The sources keep the file
    /// contents, even on failure, so that messages can show them.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, a block is malformed, a called module is not
    /// installed, a module requires another version of the engine, or a name is not declared.
    pub fn load(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        config_source: ConfigSource<'_>,
    ) -> Result<Self, Reported> {
        let mut load_diags = Diagnostics::new();
        let config = load_module_tree(&mut load_diags, sources, config_source);
        let config = config.and_then(|(config, dangling)| {
            // Checked first: in the required version, everything else may be valid.
            config.check_required_versions(&mut load_diags)?;
            let calls = config.check_module_calls(&mut load_diags);
            load_diags.append(dangling).and(calls).map(|()| config)
        });
        diags.append(sort_diagnostics_by_position(load_diags))?;
        config
    }

    /// Reads the modules and providers that a configuration needs. Its expressions and calls are
    /// not checked: the modules and providers required for that may not be installed yet.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, a block is malformed, a called module is not installed, or
    /// does not get the providers that it requires. Required versions of the engine are checked by
    /// [`Config::check_required_versions`].
    pub fn load_for_requirements(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        config_source: ConfigSource<'_>,
    ) -> Result<Self, Reported> {
        let mut load_diags = Diagnostics::new();
        let config = load_modules(&mut load_diags, sources, config_source);
        diags.append(sort_diagnostics_by_position(load_diags))?;
        config.map(|(config, _)| config)
    }

    /// Reads a configuration whose references, module calls and provider configurations are still to be
    /// checked by validation. Returns it with the errors in its references. If there are any, it can be
    /// used for nothing else.
    ///
    /// # Errors
    /// As [`Config::load`], but for required versions of the engine, undeclared names, module calls
    /// and provider configurations.
    pub fn load_unvalidated(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        config_source: ConfigSource<'_>,
    ) -> Result<(Self, Diagnostics), Reported> {
        let mut load_diags = Diagnostics::new();
        let config = load_module_tree(&mut load_diags, sources, config_source);
        diags.append(sort_diagnostics_by_position(load_diags))?;
        config.map(|(config, dangling)| (config, sort_diagnostics_by_position(dangling)))
    }

    /// Checks that this engine meets the `required_version` of every module.
    ///
    /// # Errors
    /// When a module requires another version.
    pub fn check_required_versions(&self, diags: &mut Diagnostics) -> Result<(), Reported> {
        diags.append(self.unmet_versions.clone())
    }

    /// Checks the arguments of module calls, then the provider configurations that they pass, and
    /// then that every resource has one. As in Terraform, errors of one check end the others.
    ///
    /// # Errors
    /// When a check fails.
    pub fn check_module_calls(&self, diags: &mut Diagnostics) -> Result<(), Reported> {
        let mut check_diags = Diagnostics::new();
        // Otherwise the consequences of a wrong argument or a missing configuration would be reported as well.
        for check in [
            call_arguments::check_call_arguments,
            provider_passing::check_passed_are_configured,
            provider_passing::check_resource_providers,
        ] {
            if !check_diags.has_errors() {
                check(&mut check_diags, self);
            }
        }
        diags.append(check_diags)
    }
}

/// Reads only the root module of the configuration in a directory, for its backend and encryption. The
/// modules it calls, the version it requires and the references of its expressions may be invalid: the
/// state can still be read. Warnings are left to a caller that reads the whole configuration.
///
/// # Errors
/// When a file cannot be read or parsed, or a block is malformed: the state might be anywhere.
pub fn load_root_module(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    dir: &Path,
) -> Result<Module, Reported> {
    let mut load_diags = Diagnostics::new();
    let module = parse_dir(&mut load_diags, sources, files, dir).and_then(|parsed| {
        load_diags.fail_if_errors()?;
        decode_module(&mut load_diags, sources, parsed, ModuleDir { dir, is_root: true })
    });
    if module.is_err() {
        let _ = diags.append(sort_diagnostics_by_position(load_diags));
    }
    module
}

/// Sorts messages by file and position.
pub(super) fn sort_diagnostics_by_position(diags: Diagnostics) -> Diagnostics {
    let mut list: Vec<Diagnostic> = diags.into_iter().collect();
    list.sort_by_key(|diagnostic| diagnostic.subject);
    let mut sorted = Diagnostics::new();
    for diagnostic in list {
        let _ = sorted.push(diagnostic);
    }
    sorted
}

/// Reads a configuration. Errors in its references are returned separately from all others.
fn load_module_tree(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    config_source: ConfigSource<'_>,
) -> Result<(Config, Diagnostics), Reported> {
    let (mut config, mut dangling) = load_modules(diags, sources, config_source)?;
    for node in &config.nodes {
        validate_references::check_references(&mut dangling, node);
    }
    check_imports::check_import_providers(diags, &config);
    if let Err(reported) = diags.fail_if_errors() {
        return diags.append(dangling).and(Err(reported));
    }
    config.dangles = dangling.has_errors();
    Ok((config, dangling))
}

/// Reads the modules and the calls between them. Errors about invalid references are returned separately
/// from all others.
fn load_modules(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    config_source: ConfigSource<'_>,
) -> Result<(Config, Diagnostics), Reported> {
    let mut loader = ModuleLoader {
        config_source,
        sources,
        read: BTreeMap::new(),
        nodes: Vec::new(),
        unreadable: Diagnostics::new(),
        unmet_versions: Diagnostics::new(),
    };
    let (root, n_files) = loader.load_module(diags, config_source.dir, true)?;
    diags.fail_if_errors()?;
    loader.add_called_modules(diags, root.clone());
    let ModuleLoader { nodes, unreadable, unmet_versions, .. } = loader;
    let unwritten = BTreeMap::new();
    let mut config = Config {
        root,
        nodes,
        unwritten,
        n_files,
        unmet_versions,
        dangles: false,
        module_overrides: Vec::new(),
    };
    // Called modules that could not be read are left out; everything else is checked.
    check_imports::report_imports_in_called_modules(diags, &config);
    provider_passing::resolve_passed_providers(diags, &mut config);
    diags.fail_if_errors()?;
    Ok((config, unreadable))
}

/// A module, and the facts about its files as a whole.
pub(super) struct LoadedModule {
    pub(super) module: Module,
    /// Number of files it was read from.
    n_files: usize,
    /// Requirements on the engine's version that are not met.
    pub(super) unmet_versions: Diagnostics,
}

/// Reads the module in a directory: the root, or a called one, without references of its expressions.
pub(super) fn read_module(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    directory: ModuleDir<'_>,
) -> Result<LoadedModule, Reported> {
    let (mut parse_diags, mut unmet_versions) = (Diagnostics::new(), Diagnostics::new());
    let parsed = parse_dir(&mut parse_diags, sources, files, directory.dir);
    let module = parsed.and_then(|parsed| {
        terraform_block::check_engine_version(&mut unmet_versions, &parsed.bodies);
        let n_files = parsed.bodies.len();
        let complete = parse_diags.fail_if_errors();
        let module = decode_module(&mut parse_diags, sources, parsed, directory);
        complete.and(module).map(|module| (module, n_files))
    });
    // Apparent errors may be valid in the required version.
    if module.is_err() && unmet_versions.has_errors() {
        parse_diags = unmet_versions.clone();
    }
    let _ = diags.append(parse_diags);
    module.map(|(module, n_files)| LoadedModule { module, n_files, unmet_versions })
}

fn decode_module(
    diags: &mut Diagnostics,
    sources: &Sources,
    parsed: ParsedDir,
    directory: ModuleDir<'_>,
) -> Result<Module, Reported> {
    let mut module_diags = parsed.misplaced;
    let mut draft = ModuleDraft::new(directory);
    for body in parsed.bodies {
        draft.read_file(&mut module_diags, sources, body);
    }
    draft.report_syntax_error_blocks(&mut module_diags, sources, &parsed.broken);
    let mut module = draft.into_module();
    let _ = module.settings.resolve_state_store_provider(&mut module_diags);
    check_imports::report_duplicate_import_targets(&mut module_diags, sources, &module.imports);
    check_imports::reject_provider_of_module_import(&mut module_diags, &module.imports);
    diags.append(module_diags)?;
    Ok(module)
}

/// Reads modules, each once, and puts them where they are called.
struct ModuleLoader<'l> {
    config_source: ConfigSource<'l>,
    sources: &'l mut Sources,
    /// The modules read, by directory; `None` for a module that could not be read.
    read: BTreeMap<PathBuf, Option<Arc<Module>>>,
    nodes: Vec<ModuleNode>,
    /// Errors about references that cannot be read, reported together with those about undeclared
    /// names.
    unreadable: Diagnostics,
    /// Requirements on the engine's version that are not met.
    unmet_versions: Diagnostics,
}

impl ModuleLoader<'_> {
    /// Reads the module in a directory, and the references of its expressions.
    fn load_module(
        &mut self,
        diags: &mut Diagnostics,
        dir: &Path,
        is_root: bool,
    ) -> Result<(Arc<Module>, usize), Reported> {
        let directory = ModuleDir { dir, is_root };
        let read = read_module(diags, self.sources, self.config_source.files, directory)?;
        let LoadedModule { mut module, n_files, unmet_versions } = read;
        let _ = self.unmet_versions.append(unmet_versions);
        fill_references::fill_references(&mut self.unreadable, &mut module);
        Ok((Arc::new(module), n_files))
    }

    /// Adds the root and everything called from it, callers first.
    fn add_called_modules(&mut self, diags: &mut Diagnostics, root: Arc<Module>) {
        self.add_module_node(ModulePath::root(), root, None);
        let mut at = 0;
        while at < self.nodes.len() {
            let caller = self.nodes[at].module.clone();
            for call in caller.calls.values() {
                if self.nodes.len() >= call_limits::MAX_MODULES {
                    let _ = diags.error(call_limits::too_many_modules_error(&call.site));
                    return;
                }
                let path = self.nodes[at].path.child_path(&call.site.name);
                if let Ok(module) = self.load_called_module(diags, at, &path, &call.site) {
                    let child = self.add_module_node(path, module, Some(at));
                    self.nodes[at].children.insert(call.site.name.clone(), child);
                }
            }
            at += 1;
        }
    }

    fn add_module_node(
        &mut self,
        path: ModulePath,
        module: Arc<Module>,
        caller: Option<usize>,
    ) -> usize {
        let index = self.nodes.len();
        let (children, passed) = (BTreeMap::new(), BTreeMap::new());
        self.nodes.push(ModuleNode { index, path, module, caller, children, passed });
        index
    }

    /// Loads the module of a call.
    fn load_called_module(
        &mut self,
        diags: &mut Diagnostics,
        caller: usize,
        path: &ModulePath,
        site: &ModuleCallSource,
    ) -> Result<Arc<Module>, Reported> {
        let dir = &self.nodes[caller].module.dir;
        let dir =
            self.config_source.directories.dir_of_call(path, site, dir).map_err(|missing| {
                diags.error(Diagnostic::error(missing.summary, missing.detail).at(missing.span))
            })?;
        // Compared by directory, because each module in a cycle of calls has a different path.
        let mut above = Some(caller);
        while let Some(at) = above {
            if self.nodes[at].module.dir == dir {
                return Err(diags.error(call_limits::recursive_call_error(
                    site,
                    path,
                    &self.nodes[at].path,
                )));
            }
            above = self.nodes[at].caller;
        }
        if path.0.len() > call_limits::MAX_CALL_DEPTH {
            return Err(diags.error(call_limits::call_too_deep_error(site)));
        }
        if let Some(known) = self.read.get(&dir) {
            // The errors of an unreadable module were reported at its first call.
            return known
                .clone()
                .ok_or_else(|| diags.error(call_limits::module_already_failed_error(site, &dir)));
        }
        let mut module_diags = Diagnostics::new();
        let mut module = self.load_module(&mut module_diags, &dir, false).map(|(module, _)| module);
        // Listed again only after a failure, so that a directory is normally listed once.
        if module.is_err() && self.config_source.files.list(&dir).is_err() {
            module = Err(diags.error(call_limits::missing_module_dir_error(site, &dir)));
        } else {
            let _ = diags.append(module_diags);
        }
        self.read.insert(dir, module.as_ref().ok().cloned());
        module
    }
}

/// The files of a directory.
struct ParsedDir {
    /// Contents of the files, with override files merged in.
    bodies: Vec<Body>,
    /// Blocks that could not be parsed as a whole.
    broken: BlocksWithSyntaxErrors,
    /// Errors about members that are not valid in the file, or that override nothing. The rest is
    /// valid without them.
    misplaced: Diagnostics,
}

/// Parses every configuration file of a directory, in the order of names. Override files are merged in.
fn parse_dir(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    dir: &Path,
) -> Result<ParsedDir, Reported> {
    let names = list_sorted(diags, files, dir)?;
    opentofu_files::warn_of_opentofu_files(diags, dir, &names);
    let names = names.iter().filter(|name| is_config_file_name(name));
    let (later, first): (Vec<_>, Vec<_>) = names.partition(|name| is_override_file_name(name));
    let (mut parse_diags, mut misplaced) = (Diagnostics::new(), Diagnostics::new());
    let mut read = |diags: &mut Diagnostics, misplaced: &mut Diagnostics, names: Vec<&String>| {
        let (mut bodies, mut broken) =
            (Vec::with_capacity(names.len()), BlocksWithSyntaxErrors::default());
        let mut is_known = true;
        for name in names {
            let is_json = name.ends_with(".json");
            let mut wrong = Diagnostics::new();
            let mut body = parse_config_file(&mut wrong, sources, files, &dir.join(name));
            if let Some(body) = body.as_mut().filter(|_| wrong.has_errors()) {
                broken.add_file(take_blocks_with_syntax_errors(body, &wrong), &wrong);
            }
            is_known &= body.is_some() && are_all_within_blocks(&wrong, &broken.blocks);
            let _ = diags.append(wrong);
            if let Some(body) = body.as_mut().filter(|_| is_json) {
                // The top level of a file has the same schema in every file.
                resolve_undecided_members(misplaced, body, &super::module_draft::BODY_SCHEMA);
            }
            bodies.extend(body);
        }
        (bodies, broken, is_known)
    };
    let (mut bodies, broken, is_known) = read(&mut parse_diags, &mut misplaced, first);
    let (mut overrides, names_only, _) = read(&mut parse_diags, &mut misplaced, later);
    // Without all blocks known, it cannot be decided whether a block overrides nothing.
    if is_known {
        let as_file = |blocks: Vec<Block>| {
            let body = blocks.first().map(|block| Body::empty(block.span, block.header));
            body.map(|body| Body { blocks, ..body })
        };
        // There must be a block to override, whatever the contents of this one.
        overrides.extend(names_only.blocks.into_iter().filter_map(|block| {
            let body = Body::empty(block.span, block.header);
            as_file(vec![Block { body, ..block }])
        }));
        // Blocks that cannot be read may be overridden, but nothing comes of it.
        let n_bodies = bodies.len();
        bodies.extend(as_file(broken.blocks.clone()));
        override_files::merge_override_files(&mut misplaced, sources, &mut bodies, overrides);
        bodies.truncate(n_bodies);
    }
    let _ = diags.append(parse_diags);
    Ok(ParsedDir { bodies, broken, misplaced })
}

/// Lists a directory in the order of names: the order of the file system differs between machines.
fn list_sorted(
    diags: &mut Diagnostics,
    files: &dyn ConfigFiles,
    dir: &Path,
) -> Result<Vec<String>, Reported> {
    let mut names = files.list(dir).map_err(|error| {
        let detail = format!("The directory `{}` cannot be read: {error}.", dir.display());
        let problem = Diagnostic::error(messages::FAILED_TO_READ_MODULE_DIRECTORY, detail);
        diags.error(problem.blamed_on(Blame::Environment))
    })?;
    names.sort();
    Ok(names)
}

/// Whether a file belongs to the configuration. Leftovers of editors do not.
#[must_use]
pub fn is_config_file_name(name: &str) -> bool {
    !super::files::is_editor_leftover(name) && (name.ends_with(".tf") || name.ends_with(".tf.json"))
}

pub(super) fn parse_config_file(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    path: &Path,
) -> Option<Body> {
    let name = display_path(path);
    let content = match files.read(path) {
        Ok(content) => content,
        Err(error) => {
            let _ = diags.error(
                Diagnostic::error(
                    messages::FAILED_TO_READ_FILE,
                    format!("`{name}` cannot be read: {error}."),
                )
                .blamed_on(Blame::Environment),
            );
            return None;
        }
    };
    let is_json = name.ends_with(".json");
    let source = add_source(diags, sources, name, content);
    Some(if is_json {
        parse_json(diags, sources, source)
    } else {
        parse_file(diags, sources, source)
    })
}

/// The name of a file for display: relative to the working directory.
pub(super) fn display_path(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::super::config_from_text::{InMemoryFiles, format_diagnostics};
    use super::*;

    /// The kind of the backend, or the summary of the error.
    fn check(more: &str, expected: &str) {
        let fixture = format!("terraform {{\n  backend \"local\" {{}}\n}}\n{more}\n");
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let files = InMemoryFiles::from_fixture(&fixture);
        let module = load_root_module(&mut diags, &mut sources, &files, Path::new("."));
        let backend = match module.map(|module| module.settings.backend) {
            Ok(backend) => backend.map_or("none".to_owned(), |backend| backend.kind.to_string()),
            Err(_) => format_diagnostics(&sources, &diags),
        };
        assert!(backend.lines().next().is_some_and(|line| line.ends_with(expected)), "{backend}");
    }

    #[test]
    fn state_location_is_read_despite_other_errors() {
        // Commands on the state need nothing else of the configuration.
        check("", "local");
        check("output \"p\" {\n  value = local.nope\n}", "local");
        check("module \"m\" {\n  source = \"./not-there\"\n}", "local");
        check("terraform {\n  required_version = \">= 99.0\"\n}", "local");
    }

    #[test]
    fn state_location_is_not_guessed() {
        check("output \"p\" {\n  value = 1\n  nope  = 1\n}", "Unsupported argument");
        check("output \"p\" {", "Unclosed configuration block");
        check("terraform {\n  backend \"s3\" {}\n}", "Duplicate backend configuration");
    }
}
