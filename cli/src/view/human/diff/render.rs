//! Renders a computed difference.

use formwork_lang::stack::with_stack;
use formwork_value::Value;

use super::node::{BlockNodes, DiffNode, NamedNodes, NodeForm, ValueSides};
use super::{AlignedName, ChangeSign, DiffRenderer};
use crate::view::Paint;
use crate::view::human::value::{
    SENSITIVE_PLACEHOLDER, UNKNOWN_PLACEHOLDER, quote_if_needed, quote_text, render_scalar,
};

/// Attributes that are shown even if they are unchanged, because they identify objects.
const IDENTIFYING_ATTRIBUTES: [&str; 3] = ["id", "name", "tags"];

/// Options for rendering a value.
#[derive(Clone, Copy, Default)]
pub(super) struct RenderOptions {
    /// Column of the closing bracket.
    pub(super) indent: usize,
    /// Whether parts that stay are shown too.
    pub(super) keeps: bool,
    /// Whether to omit `-> null` after a removed value.
    pub(super) omits_null: bool,
    /// Whether this value is annotated with `forces replacement` because of its parent.
    pub(super) forces: bool,
    /// Whether this value is not annotated, because its parent is.
    pub(super) hides_forces: bool,
}

impl RenderOptions {
    /// The options of a part.
    pub(super) fn of_part(self) -> Self {
        Self { forces: false, hides_forces: false, ..self }
    }

    /// The options of a part that is enclosed in brackets on separate lines.
    fn indented(self) -> Self {
        Self { indent: self.indent + 4, ..self }
    }

    fn without_null(self) -> Self {
        Self { omits_null: true, ..self.of_part() }
    }

    fn with_unchanged_shown(self) -> Self {
        Self { keeps: true, ..self.of_part() }
    }
}

/// Brackets around the parts of a value.
struct Brackets {
    open: char,
    close: char,
    /// Whether the parts are annotated with `forces replacement`, instead of the value.
    parts_force: bool,
}

impl Brackets {
    fn new(open: char, close: char) -> Self {
        Self { open, close, parts_force: false }
    }
}

impl DiffRenderer<'_> {
    /// Renders a value whose first line continues the current line.
    pub(super) fn render(&self, node: &DiffNode<'_>, options: RenderOptions) -> String {
        with_stack(|| self.render_form(node, options))
    }

    fn render_form(&self, node: &DiffNode<'_>, options: RenderOptions) -> String {
        let note = self.replacement_note(node.forces, options);
        let null = self.removal_suffix(node.sign, options);
        match &node.form {
            NodeForm::Scalar(sides) => self.render_scalar(node, *sides, options),
            NodeForm::List { elements, context } => {
                self.render_list(node, elements, *context, options)
            }
            NodeForm::Set { elements, nested } => self.render_set(node, elements, *nested, options),
            NodeForm::Map { elements, nested } => self.render_map(node, elements, *nested, options),
            NodeForm::Object { attributes, nested } => {
                self.render_members(node, attributes, *nested, options)
            }
            NodeForm::Block { attributes, blocks } => {
                self.render_block(node, attributes, blocks, options)
            }
            NodeForm::Sensitive { .. } => format!("{SENSITIVE_PLACEHOLDER}{null}{note}"),
            NodeForm::SensitiveBlock { .. } => {
                let margin = " ".repeat(options.indent);
                format!(
                    "{{{note}\n{margin}  # At least one attribute in this block is (or was) sensitive,\n{margin}  # so its contents will not be displayed.\n{margin}}}"
                )
            }
            NodeForm::Unknown(before) => match before {
                Some(before) if node.sign != ChangeSign::Add => {
                    let hides_forces = node.forces;
                    let options = RenderOptions { hides_forces, ..options.without_null() };
                    format!("{} -> {UNKNOWN_PLACEHOLDER}{note}", self.render(before, options))
                }
                _ => format!("{UNKNOWN_PLACEHOLDER}{note}"),
            },
            NodeForm::TypeChange(before, after) => {
                let options = RenderOptions { omits_null: true, ..options };
                let arrow = self.screen.paint(Paint::Yellow, "->");
                let [before, after] = [before, after].map(|part| self.render(part, options));
                format!("{before} {arrow} {after}")
            }
            NodeForm::WriteOnly { sensitive } => {
                let kind = if *sensitive { "sensitive, write-only" } else { "write-only" };
                format!("({kind} attribute){null}{note}")
            }
        }
    }

    fn render_scalar(
        &self,
        node: &DiffNode<'_>,
        sides: ValueSides<'_>,
        options: RenderOptions,
    ) -> String {
        let ValueSides { before, after } = sides;
        let text = |value: Option<&Value>| match value {
            // A negative zero is rendered without its sign in plans, and with it in states.
            Some(Value::Number(number)) if self.signs && number.is_zero() => "0".into(),
            Some(Value::String(text)) => quote_text(text),
            Some(value) => render_scalar(value),
            None => self.screen.paint(Paint::Dim, "null"),
        };
        if let Some(text) = self.render_long_or_json_string(node, sides, options) {
            return text;
        }
        let note = self.replacement_note(node.forces, options);
        match node.sign {
            ChangeSign::Add | ChangeSign::Keep => format!("{}{note}", text(after)),
            ChangeSign::Remove if before.is_none() => format!("{}{note}", text(before)),
            ChangeSign::Remove => {
                format!("{}{}{note}", text(before), self.removal_suffix(node.sign, options))
            }
            ChangeSign::Change => {
                let arrow = self.screen.paint(Paint::Yellow, "->");
                format!("{} {arrow} {}{note}", text(before), text(after))
            }
        }
    }

    /// Renders a value with parts: the brackets around the lines of the parts, or only the brackets without
    /// parts.
    fn render_enclosed(
        &self,
        node: &DiffNode<'_>,
        brackets: Brackets,
        options: RenderOptions,
        lines: Option<String>,
    ) -> String {
        let Brackets { open, close, parts_force } = brackets;
        let note = self.replacement_note(node.forces && !parts_force, options);
        let null = self.removal_suffix(node.sign, options);
        match lines {
            None => format!("{open}{close}{null}{note}"),
            Some(lines) => {
                format!("{open}{note}\n{lines}{}{close}{null}", " ".repeat(options.indent))
            }
        }
    }

    fn render_list(
        &self,
        node: &DiffNode<'_>,
        elements: &[DiffNode<'_>],
        context: bool,
        options: RenderOptions,
    ) -> String {
        let lines =
            (!elements.is_empty()).then(|| self.render_list_elements(elements, context, options));
        self.render_enclosed(node, Brackets::new('[', ']'), options, lines)
    }

    /// The lines of the elements of a list.
    fn render_list_elements(
        &self,
        elements: &[DiffNode<'_>],
        context: bool,
        options: RenderOptions,
    ) -> String {
        let indent = options.indent + 4;
        let mut text = String::new();
        // The unchanged elements since the last change.
        let mut hidden: Vec<&DiffNode<'_>> = Vec::new();
        let mut is_next = false;
        for element in elements {
            let stays = element.sign == ChangeSign::Keep;
            if stays && !is_next && !options.keeps {
                hidden.push(element);
                continue;
            }
            let part = if stays && context {
                options.with_unchanged_shown()
            } else {
                options.without_null()
            };
            is_next = context && !stays;
            if context && let Some((last, before)) = std::mem::take(&mut hidden).split_last() {
                text.push_str(&self.hidden_count_line(before.len(), "element", indent));
                text.push_str(&self.render_element_line(last, options.with_unchanged_shown()));
            }
            text.push_str(&self.render_element_line(element, part));
        }
        text + &self.hidden_count_line(hidden.len(), "element", indent)
    }

    /// The line of an element of a value with these options.
    fn render_element_line(&self, node: &DiffNode<'_>, options: RenderOptions) -> String {
        let options = options.indented();
        let text = format!("{},", self.render(node, options));
        self.sensitivity_warning(node, options.indent)
            + &self.line_with_sign(node.sign, &text, options.indent)
    }

    fn render_set(
        &self,
        node: &DiffNode<'_>,
        elements: &[DiffNode<'_>],
        nested: bool,
        options: RenderOptions,
    ) -> String {
        let lines = (!elements.is_empty()).then(|| {
            let part = RenderOptions { forces: node.forces && nested, ..options.without_null() };
            let is_shown =
                |element: &&DiffNode<'_>| element.sign != ChangeSign::Keep || options.keeps;
            let shown_elements = elements.iter().filter(is_shown);
            let lines: Vec<String> =
                shown_elements.map(|element| self.render_element_line(element, part)).collect();
            let hidden =
                self.hidden_count_line(elements.len() - lines.len(), "element", options.indent + 4);
            lines.concat() + &hidden
        });
        let brackets = Brackets { parts_force: nested, ..Brackets::new('[', ']') };
        self.render_enclosed(node, brackets, options, lines)
    }

    fn render_map(
        &self,
        node: &DiffNode<'_>,
        elements: &NamedNodes<'_>,
        nested: bool,
        options: RenderOptions,
    ) -> String {
        let lines = (!elements.is_empty()).then(|| {
            let part = RenderOptions {
                omits_null: nested || node.sign == ChangeSign::Remove,
                forces: node.forces && nested,
                ..options.of_part()
            };
            self.render_map_elements(elements, !nested, part.indented())
        });
        let brackets = Brackets { parts_force: nested, ..Brackets::new('{', '}') };
        self.render_enclosed(node, brackets, options, lines)
    }

    /// The lines of the elements of a map.
    fn render_map_elements(
        &self,
        elements: &NamedNodes<'_>,
        aligned: bool,
        options: RenderOptions,
    ) -> String {
        let names: Vec<String> = elements.iter().map(|(key, _)| quote_text(key)).collect();
        let width = if aligned { name_column_width(&names) } else { 0 };
        let (mut text, mut n_hidden) = (String::new(), 0);
        for (name, (_, element)) in names.iter().zip(elements) {
            if element.sign == ChangeSign::Keep && !options.keeps {
                n_hidden += 1;
                continue;
            }
            let comma = if matches!(element.form, NodeForm::Object { .. }) { "," } else { "" };
            let space = " ".repeat(width.saturating_sub(name.chars().count()));
            let value = self.render(element, options);
            text.push_str(&self.sensitivity_warning(element, options.indent));
            let line = format!("{name}{space} = {value}{comma}");
            text.push_str(&self.line_with_sign(element.sign, &line, options.indent));
        }
        text + &self.hidden_count_line(n_hidden, "element", options.indent)
    }

    fn render_members(
        &self,
        node: &DiffNode<'_>,
        attributes: &NamedNodes<'_>,
        nested: bool,
        options: RenderOptions,
    ) -> String {
        let lines = (!attributes.is_empty()).then(|| {
            let part = RenderOptions { omits_null: !nested, ..options.of_part() };
            self.render_attributes(attributes, part.indented())
        });
        self.render_enclosed(node, Brackets::new('{', '}'), options, lines)
    }

    /// The lines of the attributes of an object or a block.
    fn render_attributes(&self, attributes: &NamedNodes<'_>, options: RenderOptions) -> String {
        let names: Vec<String> = attributes.iter().map(|(name, _)| quote_if_needed(name)).collect();
        // Hidden attributes count as well, so that the column does not depend on the changes.
        let width = name_column_width(&names);
        let (mut text, mut n_hidden) = (String::new(), 0);
        for (label, (name, node)) in names.iter().zip(attributes) {
            let is_name = IDENTIFYING_ATTRIBUTES.contains(&name.as_str());
            if node.sign == ChangeSign::Keep && !options.keeps && !is_name {
                n_hidden += 1;
                continue;
            }
            let part = RenderOptions { keeps: options.keeps || is_name, ..options };
            text.push_str(&self.render_named_member(
                AlignedName { text: label, width },
                node,
                part,
            ));
        }
        text + &self.hidden_count_line(n_hidden, "attribute", options.indent)
    }

    /// The lines of one member.
    pub(super) fn render_named_member(
        &self,
        name: AlignedName<'_>,
        node: &DiffNode<'_>,
        options: RenderOptions,
    ) -> String {
        let AlignedName { text: name, width } = name;
        let space = " ".repeat(width.saturating_sub(name.chars().count()));
        let text = format!("{name}{space} = {}", self.render(node, options));
        self.sensitivity_warning(node, options.indent)
            + &self.line_with_sign(node.sign, &text, options.indent)
    }

    fn render_block(
        &self,
        node: &DiffNode<'_>,
        attributes: &NamedNodes<'_>,
        blocks: &[BlockNodes<'_>],
        options: RenderOptions,
    ) -> String {
        let note = self.replacement_note(node.forces, options);
        if attributes.is_empty() && blocks.is_empty() {
            return format!("{{}}{note}");
        }
        let part = options.of_part().indented();
        let mut text = self.render_attributes(attributes, part);
        let space = if attributes.is_empty() { "" } else { "\n" };
        let mut n_hidden = 0;
        for group in blocks {
            let (lines, n) = self.render_blocks(group, node.sign, part);
            if !lines.is_empty() {
                text.push_str(space);
                text.push_str(&lines);
            }
            n_hidden += n;
        }
        if n_hidden > 0 {
            text.push('\n');
            text.push_str(&self.hidden_count_line(n_hidden, "block", part.indent));
        }
        format!("{{{note}\n{text}{}}}", " ".repeat(options.indent))
    }

    /// The lines of the blocks of one type, and the number of hidden blocks.
    fn render_blocks(
        &self,
        group: &BlockNodes<'_>,
        owner: ChangeSign,
        options: RenderOptions,
    ) -> (String, usize) {
        let indent = options.indent;
        let (mut text, mut n_hidden) = (String::new(), 0);
        let unknown = DiffNode { form: NodeForm::Unknown(None), sign: owner, forces: false };
        let unknown = group.unknown.then_some((None, &unknown));
        let known_blocks = group.blocks.iter().map(|(label, node)| (*label, node));
        for (label, node) in unknown.into_iter().chain(known_blocks) {
            let hidden = hidden_block_node(group, node);
            let node = hidden.as_ref().unwrap_or(node);
            if node.sign == ChangeSign::Keep && !options.keeps {
                n_hidden += 1;
                continue;
            }
            let label = label.map_or_else(String::new, |label| format!(" {:?}", label.as_str()));
            let part = RenderOptions { forces: group.forces, ..options };
            let body = self.render(node, part);
            text.push_str(&self.sensitivity_warning(node, indent));
            let line = format!("{}{label} {body}", quote_if_needed(group.name));
            text.push_str(&self.line_with_sign(node.sign, &line, indent));
        }
        (text, n_hidden)
    }

    /// Suffix of a removed value.
    pub(super) fn removal_suffix(&self, sign: ChangeSign, options: RenderOptions) -> String {
        match sign {
            ChangeSign::Remove if !options.omits_null => {
                format!(" {}", self.screen.paint(Paint::Dim, "-> null"))
            }
            _ => String::new(),
        }
    }

    /// The note after a value, or after its opening bracket, if it forces a replacement.
    pub(super) fn replacement_note(&self, forces: bool, options: RenderOptions) -> String {
        match (forces || options.forces) && !options.hides_forces {
            true => self.screen.paint(Paint::Red, " # forces replacement"),
            false => String::new(),
        }
    }

    /// Number of omitted unchanged parts.
    pub(super) fn hidden_count_line(&self, n: usize, noun: &str, indent: usize) -> String {
        if n == 0 {
            return String::new();
        }
        let plural = if n == 1 { "" } else { "s" };
        let text = format!("# ({n} unchanged {noun}{plural} hidden)");
        format!("{}{}\n", " ".repeat(indent), self.screen.paint(Paint::Dim, &text))
    }

    /// The warning that a value becomes sensitive, or is no longer sensitive.
    pub(super) fn sensitivity_warning(&self, node: &DiffNode<'_>, indent: usize) -> String {
        let (thing, inner, before, after) = match node.form {
            NodeForm::Sensitive { inner, before, after } => {
                ("attribute value", inner, before, after)
            }
            NodeForm::SensitiveBlock { inner, before, after } => ("block", inner, before, after),
            _ => return String::new(),
        };
        if before == after || matches!(inner, ChangeSign::Add | ChangeSign::Remove) {
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
        let is_same = inner == ChangeSign::Keep && thing != "block";
        let end = if is_same { " The value is unchanged." } else { "" };
        let margin = " ".repeat(indent.saturating_sub(2));
        let title = self.screen.paint(Paint::Yellow, "Warning");
        format!("{margin}# {title}: this {thing} {first}\n{margin}# {second}{end}\n")
    }
}

/// The replacement for the node of a block that is hidden because its whole group is.
fn hidden_block_node<'v>(group: &BlockNodes<'_>, node: &DiffNode<'_>) -> Option<DiffNode<'v>> {
    let (before, after) = group.sensitive;
    let is_hidden = match node.sign {
        ChangeSign::Add => after,
        ChangeSign::Remove => before,
        ChangeSign::Change | ChangeSign::Keep => before || after,
    };
    let sign = match node.sign {
        ChangeSign::Keep if before != after => ChangeSign::Change,
        sign => sign,
    };
    let form = NodeForm::SensitiveBlock { inner: node.sign, before, after };
    is_hidden.then_some(DiffNode { form, sign, forces: node.forces })
}

/// Width of the column of names. As in Terraform, the longest is the one with the most bytes.
fn name_column_width(names: &[String]) -> usize {
    names.iter().map(String::len).max().unwrap_or(0)
}
