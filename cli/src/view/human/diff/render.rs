//! Text of a computed difference.

use formwork_lang::stack::with_stack;
use formwork_value::Value;

use super::node::{Blocks, Form, Node, Parts, Sides};
use super::{Differ, Name, Sign};
use crate::view::Paint;
use crate::view::human::value::{SENSITIVE, UNKNOWN, bare, quoted, scalar};

/// Attributes that are shown also when they stay, because people know objects by them.
const NAMES: [&str; 3] = ["id", "name", "tags"];

/// The forms of a text.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    /// Column of the closing bracket.
    pub(super) at: usize,
    /// Whether parts that stay are shown too.
    pub(super) keeps: bool,
    /// Whether a value that goes does not end in `-> null`.
    pub(super) omits_null: bool,
    /// Whether this value says that it forces a replacement, because of the value around it.
    pub(super) forces: bool,
    /// Whether this value does not say so, because the value around it does.
    pub(super) hides_forces: bool,
}

impl Options {
    /// The options of a part.
    pub(super) fn of_part(self) -> Self {
        Self { forces: false, hides_forces: false, ..self }
    }

    /// The options of a part that stands between brackets of its own line.
    fn indented(self) -> Self {
        Self { at: self.at + 4, ..self }
    }

    fn without_null(self) -> Self {
        Self { omits_null: true, ..self.of_part() }
    }

    fn keeping(self) -> Self {
        Self { keeps: true, ..self.of_part() }
    }
}

/// Brackets around the parts of a value.
struct Brackets {
    open: char,
    close: char,
    /// Whether the parts say that they force a replacement, and not the value.
    parts_force: bool,
}

impl Brackets {
    fn new(open: char, close: char) -> Self {
        Self { open, close, parts_force: false }
    }
}

impl Differ<'_> {
    /// Renders a value whose first line stands where the caller is.
    pub(super) fn render(&self, node: &Node<'_>, options: Options) -> String {
        with_stack(|| self.render_form(node, options))
    }

    fn render_form(&self, node: &Node<'_>, options: Options) -> String {
        let note = self.note(node.forces, options);
        let null = self.null(node.sign, options);
        match &node.form {
            Form::Scalar(sides) => self.scalar(node, *sides, options),
            Form::List { elements, context } => self.list(node, elements, *context, options),
            Form::Set { elements, nested } => self.set(node, elements, *nested, options),
            Form::Map { elements, nested } => self.map(node, elements, *nested, options),
            Form::Object { attributes, nested } => self.members(node, attributes, *nested, options),
            Form::Block { attributes, blocks } => self.block(node, attributes, blocks, options),
            Form::Sensitive { .. } => format!("{SENSITIVE}{null}{note}"),
            Form::SensitiveBlock { .. } => {
                let margin = " ".repeat(options.at);
                format!(
                    "{{{note}\n{margin}  # At least one attribute in this block is (or was) sensitive,\n{margin}  # so its contents will not be displayed.\n{margin}}}"
                )
            }
            Form::Unknown(before) => match before {
                Some(before) if node.sign != Sign::Add => {
                    let hides_forces = node.forces;
                    let options = Options { hides_forces, ..options.without_null() };
                    format!("{} -> {UNKNOWN}{note}", self.render(before, options))
                }
                _ => format!("{UNKNOWN}{note}"),
            },
            Form::TypeChange(before, after) => {
                let options = Options { omits_null: true, ..options };
                let arrow = self.screen.paint(Paint::Yellow, "->");
                let [before, after] = [before, after].map(|part| self.render(part, options));
                format!("{before} {arrow} {after}")
            }
            Form::WriteOnly { sensitive } => {
                let kind = if *sensitive { "sensitive, write-only" } else { "write-only" };
                format!("({kind} attribute){null}{note}")
            }
        }
    }

    fn scalar(&self, node: &Node<'_>, sides: Sides<'_>, options: Options) -> String {
        let Sides { before, after } = sides;
        let text = |value: Option<&Value>| match value {
            // In a plan no zero has a sign; in a state that is shown it has.
            Some(Value::Number(number)) if self.signs && number.is_zero() => "0".into(),
            Some(Value::String(text)) => quoted(text),
            Some(value) => scalar(value),
            None => self.screen.paint(Paint::Dim, "null"),
        };
        if let Some(text) = self.text(node, sides, options) {
            return text;
        }
        let note = self.note(node.forces, options);
        match node.sign {
            Sign::Add | Sign::Keep => format!("{}{note}", text(after)),
            Sign::Remove if before.is_none() => format!("{}{note}", text(before)),
            Sign::Remove => {
                format!("{}{}{note}", text(before), self.null(node.sign, options))
            }
            Sign::Change => {
                let arrow = self.screen.paint(Paint::Yellow, "->");
                format!("{} {arrow} {}{note}", text(before), text(after))
            }
        }
    }

    /// Renders a value with parts: its brackets around their lines, or without any if it has none.
    fn enclosed(
        &self,
        node: &Node<'_>,
        brackets: Brackets,
        options: Options,
        lines: Option<String>,
    ) -> String {
        let Brackets { open, close, parts_force } = brackets;
        let note = self.note(node.forces && !parts_force, options);
        let null = self.null(node.sign, options);
        match lines {
            None => format!("{open}{close}{null}{note}"),
            Some(lines) => {
                format!("{open}{note}\n{lines}{}{close}{null}", " ".repeat(options.at))
            }
        }
    }

    fn list(
        &self,
        node: &Node<'_>,
        elements: &[Node<'_>],
        context: bool,
        options: Options,
    ) -> String {
        let lines = (!elements.is_empty()).then(|| self.elements(elements, context, options));
        self.enclosed(node, Brackets::new('[', ']'), options, lines)
    }

    /// The lines of the elements of a list.
    fn elements(&self, elements: &[Node<'_>], context: bool, options: Options) -> String {
        let at = options.at + 4;
        let mut text = String::new();
        // The elements that stay since the last change.
        let mut hidden: Vec<&Node<'_>> = Vec::new();
        let mut is_next = false;
        for element in elements {
            let stays = element.sign == Sign::Keep;
            if stays && !is_next && !options.keeps {
                hidden.push(element);
                continue;
            }
            let part = if stays && context { options.keeping() } else { options.without_null() };
            is_next = context && !stays;
            if context && let Some((last, before)) = std::mem::take(&mut hidden).split_last() {
                text.push_str(&self.hidden(before.len(), "element", at));
                text.push_str(&self.element(last, options.keeping()));
            }
            text.push_str(&self.element(element, part));
        }
        text + &self.hidden(hidden.len(), "element", at)
    }

    /// The line of an element of a value with these options.
    fn element(&self, node: &Node<'_>, options: Options) -> String {
        let options = options.indented();
        let text = format!("{},", self.render(node, options));
        self.warning(node, options.at) + &self.line(node.sign, &text, options.at)
    }

    fn set(
        &self,
        node: &Node<'_>,
        elements: &[Node<'_>],
        nested: bool,
        options: Options,
    ) -> String {
        let lines = (!elements.is_empty()).then(|| {
            let part = Options { forces: node.forces && nested, ..options.without_null() };
            let is_shown = |element: &&Node<'_>| element.sign != Sign::Keep || options.keeps;
            let shown = elements.iter().filter(is_shown);
            let lines: Vec<String> = shown.map(|element| self.element(element, part)).collect();
            let hidden = self.hidden(elements.len() - lines.len(), "element", options.at + 4);
            lines.concat() + &hidden
        });
        let brackets = Brackets { parts_force: nested, ..Brackets::new('[', ']') };
        self.enclosed(node, brackets, options, lines)
    }

    fn map(&self, node: &Node<'_>, elements: &Parts<'_>, nested: bool, options: Options) -> String {
        let lines = (!elements.is_empty()).then(|| {
            let part = Options {
                omits_null: nested || node.sign == Sign::Remove,
                forces: node.forces && nested,
                ..options.of_part()
            };
            self.keys(elements, !nested, part.indented())
        });
        let brackets = Brackets { parts_force: nested, ..Brackets::new('{', '}') };
        self.enclosed(node, brackets, options, lines)
    }

    /// The lines of the elements of a map.
    fn keys(&self, elements: &Parts<'_>, aligned: bool, options: Options) -> String {
        let names: Vec<String> = elements.iter().map(|(key, _)| quoted(key)).collect();
        let width = if aligned { width_of(&names) } else { 0 };
        let (mut text, mut n_hidden) = (String::new(), 0);
        for (name, (_, element)) in names.iter().zip(elements) {
            if element.sign == Sign::Keep && !options.keeps {
                n_hidden += 1;
                continue;
            }
            let comma = if matches!(element.form, Form::Object { .. }) { "," } else { "" };
            let space = " ".repeat(width.saturating_sub(name.chars().count()));
            let value = self.render(element, options);
            text.push_str(&self.warning(element, options.at));
            let line = format!("{name}{space} = {value}{comma}");
            text.push_str(&self.line(element.sign, &line, options.at));
        }
        text + &self.hidden(n_hidden, "element", options.at)
    }

    fn members(
        &self,
        node: &Node<'_>,
        attributes: &Parts<'_>,
        nested: bool,
        options: Options,
    ) -> String {
        let lines = (!attributes.is_empty()).then(|| {
            let part = Options { omits_null: !nested, ..options.of_part() };
            self.attributes(attributes, part.indented())
        });
        self.enclosed(node, Brackets::new('{', '}'), options, lines)
    }

    /// The lines of the attributes of an object or a block.
    fn attributes(&self, attributes: &Parts<'_>, options: Options) -> String {
        let names: Vec<String> = attributes.iter().map(|(name, _)| bare(name)).collect();
        // Those that are not shown make room as well: so the column stays where it is, whatever changes.
        let width = width_of(&names);
        let (mut text, mut n_hidden) = (String::new(), 0);
        for (shown, (name, node)) in names.iter().zip(attributes) {
            let is_name = NAMES.contains(&name.as_str());
            if node.sign == Sign::Keep && !options.keeps && !is_name {
                n_hidden += 1;
                continue;
            }
            let part = Options { keeps: options.keeps || is_name, ..options };
            text.push_str(&self.named(Name { text: shown, width }, node, part));
        }
        text + &self.hidden(n_hidden, "attribute", options.at)
    }

    /// The lines of one member.
    pub(super) fn named(&self, name: Name<'_>, node: &Node<'_>, options: Options) -> String {
        let Name { text: name, width } = name;
        let space = " ".repeat(width.saturating_sub(name.chars().count()));
        let text = format!("{name}{space} = {}", self.render(node, options));
        self.warning(node, options.at) + &self.line(node.sign, &text, options.at)
    }

    fn block(
        &self,
        node: &Node<'_>,
        attributes: &Parts<'_>,
        blocks: &[Blocks<'_>],
        options: Options,
    ) -> String {
        let note = self.note(node.forces, options);
        if attributes.is_empty() && blocks.is_empty() {
            return format!("{{}}{note}");
        }
        let part = options.of_part().indented();
        let mut text = self.attributes(attributes, part);
        let space = if attributes.is_empty() { "" } else { "\n" };
        let mut n_hidden = 0;
        for group in blocks {
            let (lines, n) = self.blocks(group, node.sign, part);
            if !lines.is_empty() {
                text.push_str(space);
                text.push_str(&lines);
            }
            n_hidden += n;
        }
        if n_hidden > 0 {
            text.push('\n');
            text.push_str(&self.hidden(n_hidden, "block", part.at));
        }
        format!("{{{note}\n{text}{}}}", " ".repeat(options.at))
    }

    /// The lines of the blocks of one type, and the number of those that are not shown.
    fn blocks(&self, group: &Blocks<'_>, owner: Sign, options: Options) -> (String, usize) {
        let at = options.at;
        let (mut text, mut n_hidden) = (String::new(), 0);
        let unknown = Node { form: Form::Unknown(None), sign: owner, forces: false };
        let unknown = group.unknown.then_some((None, &unknown));
        let known = group.blocks.iter().map(|(label, node)| (*label, node));
        for (label, node) in unknown.into_iter().chain(known) {
            let hidden = hidden_block(group, node);
            let node = hidden.as_ref().unwrap_or(node);
            if node.sign == Sign::Keep && !options.keeps {
                n_hidden += 1;
                continue;
            }
            let label = label.map_or_else(String::new, |label| format!(" {:?}", label.as_str()));
            let part = Options { forces: group.forces, ..options };
            let body = self.render(node, part);
            text.push_str(&self.warning(node, at));
            let line = format!("{}{label} {body}", bare(group.name));
            text.push_str(&self.line(node.sign, &line, at));
        }
        (text, n_hidden)
    }

    /// End of a value that goes.
    pub(super) fn null(&self, sign: Sign, options: Options) -> String {
        match sign {
            Sign::Remove if !options.omits_null => {
                format!(" {}", self.screen.paint(Paint::Dim, "-> null"))
            }
            _ => String::new(),
        }
    }

    /// Note behind a value, or behind the bracket that opens it, if it forces a replacement.
    pub(super) fn note(&self, forces: bool, options: Options) -> String {
        match (forces || options.forces) && !options.hides_forces {
            true => self.screen.paint(Paint::Red, " # forces replacement"),
            false => String::new(),
        }
    }

    /// Number of parts that were left out because they stay.
    pub(super) fn hidden(&self, n: usize, what: &str, at: usize) -> String {
        if n == 0 {
            return String::new();
        }
        let plural = if n == 1 { "" } else { "s" };
        let text = format!("# ({n} unchanged {what}{plural} hidden)");
        format!("{}{}\n", " ".repeat(at), self.screen.paint(Paint::Dim, &text))
    }

    /// Lines that say that a value is no longer shown, or is shown from now on.
    pub(super) fn warning(&self, node: &Node<'_>, at: usize) -> String {
        let (thing, inner, before, after) = match node.form {
            Form::Sensitive { inner, before, after } => ("attribute value", inner, before, after),
            Form::SensitiveBlock { inner, before, after } => ("block", inner, before, after),
            _ => return String::new(),
        };
        if before == after || matches!(inner, Sign::Add | Sign::Remove) {
            return String::new();
        }
        let (first, second) = if after {
            (
                "will be marked as sensitive and will not",
                "display in UI output after applying this change.",
            )
        } else {
            ("will no longer be marked as sensitive", "after applying this change.")
        };
        let is_same = inner == Sign::Keep && thing != "block";
        let end = if is_same { " The value is unchanged." } else { "" };
        let margin = " ".repeat(at.saturating_sub(2));
        let title = self.screen.paint(Paint::Yellow, "Warning");
        format!("{margin}# {title}: this {thing} {first}\n{margin}# {second}{end}\n")
    }
}

/// The node of a block in place of one that must not be shown because its whole group must not.
fn hidden_block<'v>(group: &Blocks<'_>, node: &Node<'_>) -> Option<Node<'v>> {
    let (before, after) = group.sensitive;
    let is_hidden = match node.sign {
        Sign::Add => after,
        Sign::Remove => before,
        Sign::Change | Sign::Keep => before || after,
    };
    let sign = match node.sign {
        Sign::Keep if before != after => Sign::Change,
        sign => sign,
    };
    let form = Form::SensitiveBlock { inner: node.sign, before, after };
    is_hidden.then_some(Node { form, sign, forces: node.forces })
}

/// Width of the column of names. As in Terraform, the longest is the one with the most bytes.
fn width_of(names: &[String]) -> usize {
    names.iter().map(String::len).max().unwrap_or(0)
}
