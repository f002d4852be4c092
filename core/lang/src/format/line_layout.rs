//! Lines: indentation, and alignment of parts of neighbouring lines.

use std::ops::Range;

use super::spaced_token::SpacedToken;
use super::token_spacing;
use crate::syntax::lex::TokenKind;

/// A line and its parts, as indices of pieces.
struct LineParts {
    /// The name of an argument, or the whole line.
    lead: Range<usize>,
    /// From the equals sign on, if the value ends on this line; otherwise empty.
    assign: Range<usize>,
    /// A comment at the end of a line that has other parts.
    comment: Option<usize>,
}

/// Sets the number of spaces before every piece.
pub(super) fn set_token_spaces(pieces: &mut [SpacedToken<'_>]) {
    let lines = split_lines(pieces);
    indent_lines(pieces, &lines);
    for line in &lines {
        space_tokens_of_part(pieces, &line.lead);
        space_tokens_of_part(pieces, &line.assign);
    }
    // Aligned last, because the width of a part includes the spaces in it.
    align_lines(pieces, &lines);
}

/// Splits pieces into lines. The end of the text does not belong to any line.
fn split_lines(pieces: &[SpacedToken<'_>]) -> Vec<LineParts> {
    let n_pieces = pieces.len() - usize::from(ends_with_end_of_text(pieces));
    let mut lines = Vec::new();
    let mut start = 0;
    for at in 0..n_pieces {
        if pieces[at].ends_line() {
            lines.push(parse_line(pieces, start..at + 1));
            start = at + 1;
        }
    }
    if start < n_pieces {
        lines.push(parse_line(pieces, start..n_pieces));
    }
    lines
}

fn ends_with_end_of_text(pieces: &[SpacedToken<'_>]) -> bool {
    pieces.last().is_some_and(|piece| piece.kind == TokenKind::EndOfText)
}

fn parse_line(pieces: &[SpacedToken<'_>], range: Range<usize>) -> LineParts {
    let last = range.end - 1;
    let comment = (range.len() > 1 && pieces[last].kind == TokenKind::Comment).then_some(last);
    let lead = range.start..comment.unwrap_or(range.end);
    // An equals sign at the start of a line has no name before it to align.
    let equals = lead.clone().skip(1).find(|at| pieces[*at].kind == TokenKind::Equals);
    // A value of several lines is not aligned with its neighbours.
    match equals {
        Some(equals) if net_bracket_change(&pieces[equals..lead.end]) == 0 => {
            LineParts { lead: lead.start..equals, assign: equals..lead.end, comment }
        }
        _ => LineParts { assign: lead.end..lead.end, lead, comment },
    }
}

/// Number of brackets opened minus the number closed.
fn net_bracket_change(pieces: &[SpacedToken<'_>]) -> isize {
    pieces.iter().map(SpacedToken::bracket_change).sum()
}

/// Indents each line by the lines that opened brackets around it: one step for each such line,
/// independent of the number of brackets that it opens.
fn indent_lines(pieces: &mut [SpacedToken<'_>], lines: &[LineParts]) {
    // Number of open brackets of each of those lines.
    let mut open: Vec<usize> = Vec::new();
    for line in lines {
        let first = line.lead.start;
        if pieces[first].kind == TokenKind::Newline {
            // An empty line keeps no trailing spaces.
            pieces[first].spaces = 0;
            continue;
        }
        let change = line_bracket_change(pieces, line);
        // A line that closes brackets has the level of the line that opened them. A line that opens
        // brackets indents only the lines below it.
        if change < 0 {
            pop_closed_brackets(&mut open, change.unsigned_abs());
        }
        pieces[first].spaces = 2 * open.len();
        if change > 0 {
            open.push(change.unsigned_abs());
        }
    }
}

/// Number of brackets a line opens or closes. The content of a heredoc does not count.
fn line_bracket_change(pieces: &[SpacedToken<'_>], line: &LineParts) -> isize {
    let up_to_heredoc = |part: &Range<usize>| {
        let part = &pieces[part.clone()];
        let end = part.iter().position(|piece| piece.kind == TokenKind::OpenHeredoc);
        net_bracket_change(&part[..end.unwrap_or(part.len())])
    };
    up_to_heredoc(&line.lead) + up_to_heredoc(&line.assign)
}

fn pop_closed_brackets(open: &mut Vec<usize>, mut n_closed: usize) {
    while let Some(innermost) = open.last_mut() {
        if n_closed < *innermost {
            *innermost -= n_closed;
            return;
        }
        n_closed -= *innermost;
        open.pop();
        if n_closed == 0 {
            return;
        }
    }
}

/// Sets the spaces between the pieces of a part of a line.
fn space_tokens_of_part(pieces: &mut [SpacedToken<'_>], part: &Range<usize>) {
    for at in part.clone().skip(1) {
        let before = (at - part.start >= 2).then(|| &pieces[at - 2]);
        pieces[at].spaces =
            usize::from(token_spacing::needs_space_between(before, &pieces[at - 1], &pieces[at]));
    }
}

/// Aligns the equals signs of neighbouring lines, and then their comments.
fn align_lines(pieces: &mut [SpacedToken<'_>], lines: &[LineParts]) {
    align_column(pieces, lines, |line| {
        (!line.assign.is_empty()).then(|| (line.lead.clone(), line.assign.start))
    });
    align_column(pieces, lines, |line| {
        line.comment.map(|comment| (line.lead.start..line.assign.end, comment))
    });
}

/// Aligns a piece in each run of lines that have it. `cell` returns the pieces before it, and the piece
/// itself.
fn align_column(
    pieces: &mut [SpacedToken<'_>],
    lines: &[LineParts],
    cell: impl Fn(&LineParts) -> Option<(Range<usize>, usize)>,
) {
    let cells: Vec<_> = lines.iter().map(cell).collect();
    // A line without the part ends the run, so an empty line separates groups, as in Terraform.
    for run in cells.split(Option::is_none) {
        let widths: Vec<(usize, usize)> = run
            .iter()
            .flatten()
            .map(|(before, at)| (pieces[before.clone()].iter().map(SpacedToken::width).sum(), *at))
            .collect();
        let widest = widths.iter().map(|(width, _)| *width).max().unwrap_or(0);
        for (width, at) in widths {
            pieces[at].spaces = widest - width + 1;
        }
    }
}
