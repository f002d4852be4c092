//! Source positions: the source texts and spans in them, with lines and columns computed on demand.

use std::sync::{Arc, OnceLock};

use unicode_segmentation::UnicodeSegmentation as _;

/// Identifies one source text within a [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

/// A half-open range of bytes in one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The source text.
    pub source: SourceId,
    /// Byte offset of the first byte.
    pub start: u32,
    /// Byte offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span. `start` must not be after `end`.
    #[must_use]
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        // Half the size of two `usize`: every node of a tree has a span, and no source is 4 GiB
        // long.
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { source, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// Returns the smallest span that covers both; the other must be of the same source.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Returns whether the other span is within this one.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }

    /// Returns the empty span directly after this one.
    #[must_use]
    pub fn empty_span_after(self) -> Self {
        Self { start: self.end, ..self }
    }

    /// Returns the range of bytes as `usize`, for slicing the text.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A human-readable position: line and column from 1, columns in grapheme clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in grapheme clusters, from 1.
    pub column: u32,
    /// Byte offset, from 0.
    pub byte: u32,
}

#[derive(Debug)]
struct Source {
    name: String,
    text: Arc<str>,
    secret: bool,
    /// Byte offset at which each line starts, computed on first use.
    lines: OnceLock<Vec<u32>>,
    /// See [`Sources::block_headings`].
    headings: OnceLock<Vec<(Span, String)>>,
}

/// The source texts that spans point into.
#[derive(Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// Creates an empty collection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source text under its display name, usually a path relative to the working directory.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        self.push(name.into(), text.into(), false)
    }

    /// Adds a source text that must not be shown, because it contains a secret.
    pub fn add_secret(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        self.push(name.into(), text.into(), true)
    }

    fn push(&mut self, name: String, text: Arc<str>, secret: bool) -> SourceId {
        let id = SourceId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        let (lines, headings) = (OnceLock::new(), OnceLock::new());
        self.list.push(Source { name, text, secret, lines, headings });
        id
    }

    /// Returns whether only the name of a source may be shown.
    #[must_use]
    pub fn is_secret(&self, id: SourceId) -> bool {
        self.list.get(id.0 as usize).is_some_and(|source| source.secret)
    }

    /// Returns the name given to [`Sources::add`].
    #[must_use]
    pub fn name(&self, id: SourceId) -> &str {
        self.list.get(id.0 as usize).map_or("", |source| &source.name)
    }

    /// Returns the whole text of a source.
    #[must_use]
    pub fn source_text(&self, id: SourceId) -> &str {
        self.list.get(id.0 as usize).map_or("", |source| &source.text)
    }

    /// Returns the headings of the blocks of a source, with their ranges. `find` parses the source. It
    /// is called once for all problems in it.
    pub fn block_headings(
        &self,
        id: SourceId,
        find: impl FnOnce() -> Vec<(Span, String)>,
    ) -> &[(Span, String)] {
        self.list.get(id.0 as usize).map_or(&[], |source| source.headings.get_or_init(find))
    }

    /// Returns the text of a span, or an empty string if the span does not fit.
    #[must_use]
    pub fn text_of_span(&self, span: Span) -> &str {
        self.source_text(span.source).get(span.range()).unwrap_or("")
    }

    /// Returns the position at which a span starts.
    #[must_use]
    pub fn start_position(&self, span: Span) -> Position {
        self.position(span.source, span.start)
    }

    /// Returns the position after the end of a span.
    #[must_use]
    pub fn end_position(&self, span: Span) -> Position {
        self.position(span.source, span.end)
    }

    /// Returns the text of a line, from 1, without its line ending.
    #[must_use]
    pub fn line_text(&self, id: SourceId, line: u32) -> &str {
        let Some(source) = self.list.get(id.0 as usize) else { return "" };
        let lines = source.line_starts();
        let at = (line.saturating_sub(1)) as usize;
        let Some(&start) = lines.get(at) else { return "" };
        let end = lines.get(at + 1).map_or(source.text.len(), |&next| next as usize);
        source.text.get(start as usize..end).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    fn position(&self, id: SourceId, byte: u32) -> Position {
        let Some(source) = self.list.get(id.0 as usize) else {
            return Position { line: 1, column: 1, byte };
        };
        let lines = source.line_starts();
        let line = lines.partition_point(|&start| start <= byte).max(1);
        let start = lines.get(line - 1).copied().unwrap_or(0) as usize;
        let mut end = (byte as usize).min(source.text.len());
        // A provider or a caller may specify an offset inside a character, where a slice would panic.
        while !source.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = source.text.get(start..end).unwrap_or("");
        // Columns count grapheme clusters, as HCL does.
        let column = if before.is_ascii() && !before.contains('\r') {
            before.len()
        } else {
            before.graphemes(true).count()
        };
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
            byte,
        }
    }
}

impl Source {
    fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let mut starts = vec![0];
            starts.extend(
                self.text
                    .bytes()
                    .enumerate()
                    .filter(|(_, byte)| *byte == b'\n')
                    .map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)),
            );
            starts
        })
    }
}
