//! Text in its usual layout: spaces, indentation, alignment, and a few old forms.
//!
//! Works on tokens, not on the tree: nothing is lost, and what the layout says nothing about stays as
//! the author wrote it. Knows no files.

mod line_layout;
mod spaced_token;
mod syntax_rewrites;
mod token_spacing;

use formwork_value::diag::{SourceId, Sources};
use formwork_value::{Diagnostics, Reported};

use crate::syntax::parse_file;

/// Returns the text of a configuration file in its usual layout. Doing it twice changes nothing more.
///
/// # Errors
/// When the text cannot be parsed: without a tree nothing is known to be a space.
pub fn format_source(
    diags: &mut Diagnostics,
    sources: &Sources,
    source: SourceId,
) -> Result<String, Reported> {
    let mut own = Diagnostics::new();
    let body = parse_file(&mut own, sources, source);
    diags.append(own)?;
    let text = sources.source_text(source);
    let mut pieces =
        spaced_token::cut_spaced_tokens(text, &syntax_rewrites::find_rewrites(text, &body));
    line_layout::set_token_spaces(&mut pieces);
    Ok(spaced_token::join_spaced_tokens(&pieces))
}

#[cfg(test)]
mod tests;
