//! Reads of a root module what its encryption needs, whatever is wrong with the rest.

use std::path::Path;

use formwork_lang::syntax::Block;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::super::ConfigFiles;
use super::super::draft::{ModuleDraft, ModuleFolder};
use super::{Module, is_config_file_name, parse_folder, sort_by_place};

/// The blocks that encryption is set up with.
const NEEDED_BLOCKS: [&str; 3] = ["terraform", "variable", "locals"];

/// Reads the settings, variables and local values of the root module in a folder, for its encryption
/// alone. A saved plan carries its configuration, so what is wrong with other blocks of the folder
/// does not matter.
///
/// # Errors
/// When the folder may ask for encryption, and a `terraform` block or the place of the blocks in a
/// file cannot be read.
pub fn load_encryption_module(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    dir: &Path,
) -> Result<Module, Reported> {
    let mut draft = ModuleDraft::new(ModuleFolder { dir, is_root: true });
    if !may_ask_for_encryption(files, dir) {
        return Ok(draft.into_module());
    }
    let mut found = Diagnostics::new();
    let parsed = match parse_folder(&mut found, sources, files, dir) {
        Ok(parsed) => parsed,
        Err(reported) => return diags.append(found).and(Err(reported)),
    };
    let is_settings = |block: &&Block| block.kind.name.as_str() == "terraform";
    let broken = parsed.broken.blocks.iter().filter(|block| !is_settings(block));
    let broken: Vec<Span> = broken.map(|block| block.span).collect();
    let blocks = parsed.bodies.iter().flat_map(|body| &body.blocks);
    let settings: Vec<Span> = blocks.filter(is_settings).map(|block| block.span).collect();
    let mut wrong = Diagnostics::new();
    for mut body in parsed.bodies {
        body.blocks.retain(|block| NEEDED_BLOCKS.contains(&block.kind.name.as_str()));
        draft.read_file(&mut wrong, sources, body);
    }
    let is_within = |problem: &Diagnostic, blocks: &[Span]| {
        problem.subject.is_some_and(|place| blocks.iter().any(|block| block.covers(place)))
    };
    let syntax = found.into_iter().filter(|problem| !is_within(problem, &broken));
    let content = wrong.into_iter().filter(|problem| is_within(problem, &settings));
    let mut matters = Diagnostics::new();
    for problem in syntax.chain(content).filter(Diagnostic::is_error) {
        let _ = matters.push(problem);
    }
    diags.append(sort_by_place(matters))?;
    Ok(draft.into_module())
}

/// Whether a file of the configuration has the word, or cannot be read.
fn may_ask_for_encryption(files: &dyn ConfigFiles, dir: &Path) -> bool {
    let Ok(names) = files.list(dir) else { return true };
    names.iter().filter(|name| is_config_file_name(name)).any(|name| {
        let has = |content: &[u8], word: &[u8]| content.windows(word.len()).any(|it| it == word);
        // JSON can write letters by their numbers.
        files.read(&dir.join(name)).map_or(true, |content| {
            has(&content, b"encryption") || (name.ends_with(".json") && has(&content, b"\\u"))
        })
    })
}
