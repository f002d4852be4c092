//! Arguments of `#[attr(…)]` and `#[block(…)]`. Knows the valid combinations, not the meanings.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitInt, LitStr, Meta, Path, Result, Token};

/// Party that sets an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Required,
    Optional,
    Computed,
    OptionalComputed,
}

/// Whether an import must provide a part of the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdentityRequirement {
    Required,
    Optional,
}

/// Arguments on a field.
#[derive(Default)]
pub(crate) struct FieldArgs {
    pub(crate) is_block: bool,
    pub(crate) role: Option<Role>,
    pub(crate) name: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) deprecated: Option<LitStr>,
    pub(crate) replace_if: Option<Path>,
    pub(crate) one_of: Vec<LitStr>,
    pub(crate) range: Option<Expr>,
    pub(crate) length: Option<Expr>,
    pub(crate) check: Option<Path>,
    pub(crate) identity: Option<IdentityRequirement>,
    pub(crate) min: Option<LitInt>,
    pub(crate) max: Option<LitInt>,
    pub(crate) replace: bool,
    pub(crate) keep: bool,
    pub(crate) sensitive: bool,
    pub(crate) write_only: bool,
    pub(crate) fills: bool,
    pub(crate) group: bool,
    pub(crate) flatten: bool,
    pub(crate) import: bool,
    pub(crate) local: bool,
    /// All words so far.
    heard: Vec<String>,
}

impl FieldArgs {
    /// Reads all `#[attr(…)]` and `#[block(…)]` among `attributes`.
    pub(crate) fn from_attributes(attributes: &[Attribute]) -> Result<Self> {
        let mut args = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("attr") {
                attribute.parse_nested_meta(|meta| {
                    args.parse_unrepeated_argument(&meta, Self::parse_attr_argument)
                })?;
            } else if attribute.path().is_ident("block") {
                args.is_block = true;
                // `#[block]` without arguments has nothing to parse.
                if !matches!(attribute.meta, Meta::Path(_)) {
                    attribute.parse_nested_meta(|meta| {
                        args.parse_unrepeated_argument(&meta, Self::parse_block_argument)
                    })?;
                }
            }
        }
        Ok(args)
    }

    fn parse_unrepeated_argument(
        &mut self,
        meta: &ParseNestedMeta<'_>,
        hear: fn(&mut Self, &ParseNestedMeta<'_>) -> Result<()>,
    ) -> Result<()> {
        let word = argument_name_or_empty(meta);
        // Without this, the last one would win without a word.
        if self.heard.contains(&word) {
            return Err(meta.error(format!("`{word}` is repeated")));
        }
        self.heard.push(word);
        hear(self, meta)
    }

    fn parse_attr_argument(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match argument_name_or_empty(meta).as_str() {
            "required" => self.set_role_once(meta, Role::Required)?,
            "optional" => self.set_role_once(meta, Role::Optional)?,
            "computed" => self.set_role_once(meta, Role::Computed)?,
            "optional_computed" => self.set_role_once(meta, Role::OptionalComputed)?,
            "flatten" => self.flatten = true,
            "keep" => self.keep = true,
            "sensitive" => self.sensitive = true,
            "write_only" => self.write_only = true,
            "default" => self.default = Some(parse_default_or_type_default(meta)?),
            "import" => self.import = true,
            "replace_if" => self.replace_if = Some(meta.value()?.parse()?),
            "one_of" => self.one_of = parse_nonempty_string_list(meta)?,
            "range" => self.range = Some(meta.value()?.parse()?),
            "identity" => self.identity = Some(parse_identity_requirement(meta)?),
            _ => self.parse_attr_or_block_argument(meta, "attr")?,
        }
        Ok(())
    }

    fn parse_block_argument(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match argument_name_or_empty(meta).as_str() {
            "min" => self.min = Some(meta.value()?.parse()?),
            "max" => self.max = Some(meta.value()?.parse()?),
            "group" => self.group = true,
            _ => self.parse_attr_or_block_argument(meta, "block")?,
        }
        Ok(())
    }

    fn parse_attr_or_block_argument(
        &mut self,
        meta: &ParseNestedMeta<'_>,
        outer: &str,
    ) -> Result<()> {
        match argument_name_or_empty(meta).as_str() {
            "replace" => self.replace = true,
            "local" => self.local = true,
            "fills" => self.fills = true,
            "name" => self.name = Some(meta.value()?.parse()?),
            "deprecated" => self.deprecated = Some(meta.value()?.parse()?),
            "length" => self.length = Some(meta.value()?.parse()?),
            "check" => self.check = Some(meta.value()?.parse()?),
            word => return Err(meta.error(unknown_word_message(word, outer))),
        }
        Ok(())
    }

    fn set_role_once(&mut self, meta: &ParseNestedMeta<'_>, role: Role) -> Result<()> {
        match self.role.replace(role) {
            None => Ok(()),
            Some(_) => Err(meta.error(
                "an attribute has one role; use `optional_computed` if both author and provider \
                 may set it",
            )),
        }
    }

    /// Returns the role of an attribute after checking that the words go together.
    pub(crate) fn role_if_words_fit(&self, span: Span) -> Result<Role> {
        let refuse = |reason| Err(syn::Error::new(span, reason));
        let role = match (self.role, &self.default) {
            // A default appears in the plan, and hosts accept such a value for computed attributes
            // only.
            (None, Some(_)) => Role::OptionalComputed,
            (Some(role), _) => role,
            (None, None) => {
                return refuse(
                    "missing role: write #[attr(required)], optional, computed, optional_computed, or \
                     default = …; nested blocks are marked #[block]",
                );
            }
        };
        let is_computed = matches!(role, Role::Computed | Role::OptionalComputed);
        if self.default.is_some() && role != Role::OptionalComputed {
            return refuse("`default` needs the role `optional_computed`, or none");
        }
        if self.keep && !is_computed {
            return refuse("`keep` needs a role in which the provider sets the value");
        }
        if self.keep && self.default.is_some() {
            return refuse("`default` and `keep` both set the value of an unset attribute");
        }
        // Terraform refuses a schema that has both.
        if self.write_only && is_computed {
            return refuse("`write_only` is for values that only the author sets");
        }
        if self.write_only && self.identity.is_some() {
            return refuse("a write-only attribute cannot be part of the identity");
        }
        if self.write_only && self.import {
            return refuse("a write-only attribute cannot be the import id");
        }
        if self.write_only && (self.replace || self.replace_if.is_some()) {
            return refuse(
                "changes of a write-only attribute cannot be detected; add `replace` to an \
                 attribute that changes with it, such as a version",
            );
        }
        if self.replace && self.replace_if.is_some() {
            return refuse("`replace` and `replace_if` exclude each other");
        }
        if role == Role::Computed && self.has_checks() {
            return refuse("only values of the author are checked; this is set by the provider");
        }
        if self.fills && role == Role::Computed {
            return refuse("`fills` has no effect here; the provider sets all of it");
        }
        Ok(role)
    }

    /// Checks that the words about a block go together.
    pub(crate) fn check_words_fit_block(&self, span: Span) -> Result<()> {
        let refuse = |reason| Err(syn::Error::new(span, reason));
        if self.role.is_some() || self.default.is_some() || self.keep || self.write_only {
            return refuse("a block has no role; its attributes have roles");
        }
        if self.sensitive || self.identity.is_some() {
            return refuse("a block is neither sensitive nor an identity; its attributes may be");
        }
        if let (Some(min), Some(max)) = (&self.min, &self.max) {
            let (min_blocks, max_blocks): (u64, u64) = (min.base10_parse()?, max.base10_parse()?);
            if min_blocks > max_blocks {
                return Err(syn::Error::new(min.span(), "the minimum is more than the maximum"));
            }
        }
        Ok(())
    }

    /// Rejects words that belong to the attributes of the other model.
    pub(crate) fn check_words_fit_flattened(&self, span: Span) -> Result<()> {
        let refuse = |reason| Err(syn::Error::new(span, reason));
        if self.is_block || !matches!(self.role, None | Some(Role::Computed)) {
            return refuse("the attributes of a flattened model have roles of their own");
        }
        let is_more = self.default.is_some()
            || self.name.is_some()
            || self.deprecated.is_some()
            || self.identity == Some(IdentityRequirement::Optional)
            || self.import
            || self.replace_if.is_some()
            || self.has_checks();
        if is_more || self.keep || self.replace || self.sensitive || self.write_only {
            return refuse(
                "with `flatten` only `fills` or `computed`, and `identity` are allowed; the \
                 attributes have the other properties",
            );
        }
        match self.fills && self.role.is_some() {
            true => refuse("`fills` has no effect here; the provider sets all of it"),
            false => Ok(()),
        }
    }

    fn has_checks(&self) -> bool {
        !self.one_of.is_empty()
            || self.range.is_some()
            || self.length.is_some()
            || self.check.is_some()
    }
}

/// A relation among attributes: its word, and their names.
pub(crate) struct Relation {
    pub(crate) kind: &'static str,
    pub(crate) names: Vec<Ident>,
}

/// Arguments on a struct.
#[derive(Default)]
pub(crate) struct StructArgs {
    pub(crate) deprecated: Option<LitStr>,
    pub(crate) relations: Vec<Relation>,
    /// Foreign struct that this one is made from.
    pub(crate) from: Option<Path>,
    /// Foreign struct that the author's attributes are converted into.
    pub(crate) into: Option<Path>,
}

impl StructArgs {
    /// Reads all `#[attr(…)]` among `attributes`.
    pub(crate) fn from_attributes(attributes: &[Attribute]) -> Result<Self> {
        let mut args = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("attr")) {
            attribute.parse_nested_meta(|meta| args.parse_struct_argument(&meta))?;
        }
        Ok(args)
    }

    fn parse_struct_argument(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let kind = match argument_name_or_empty(meta).as_str() {
            "deprecated" => {
                self.deprecated = Some(meta.value()?.parse()?);
                return Ok(());
            }
            "from" => {
                self.from = Some(meta.value()?.parse()?);
                return Ok(());
            }
            "into" => {
                self.into = Some(meta.value()?.parse()?);
                return Ok(());
            }
            "conflicts" => "Conflicts",
            "exactly_one_of" => "ExactlyOneOf",
            "at_least_one_of" => "AtLeastOneOf",
            "together" => "Together",
            _ => return Err(meta.error("not a word of `attr` on a struct")),
        };
        let content;
        syn::parenthesized!(content in meta.input);
        let names = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
        let names: Vec<Ident> = names.into_iter().collect();
        // With one name, a relation always holds, or is the same as `required`.
        if names.len() < 2 {
            return Err(meta.error("give two attributes or more"));
        }
        self.relations.push(Relation { kind, names });
        Ok(())
    }
}

fn argument_name_or_empty(meta: &ParseNestedMeta<'_>) -> String {
    // A path of several segments is not a word: the empty one is refused as unknown.
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

/// Words only for attributes, only for blocks, and for both.
const ATTR_ONLY_WORDS: [&str; 14] = [
    "required",
    "optional",
    "computed",
    "optional_computed",
    "default",
    "keep",
    "identity",
    "import",
    "sensitive",
    "write_only",
    "one_of",
    "range",
    "replace_if",
    "flatten",
];
const BLOCK_ONLY_WORDS: [&str; 3] = ["min", "max", "group"];
const ATTR_AND_BLOCK_WORDS: [&str; 7] =
    ["replace", "fills", "name", "deprecated", "length", "check", "local"];

/// Words for the whole struct, above it.
const STRUCT_ONLY_WORDS: [&str; 6] =
    ["conflicts", "exactly_one_of", "at_least_one_of", "together", "from", "into"];

/// The error for an unknown word, with the list of known ones.
fn unknown_word_message(word: &str, outer: &str) -> String {
    // The word is valid elsewhere, so a list of words would not help.
    if STRUCT_ONLY_WORDS.contains(&word) {
        return format!(
            "`{word}` belongs to the whole struct: write #[attr({word} …)] above the struct"
        );
    }
    if outer == "block" && ["required", "optional"].contains(&word) {
        return "a block has no role; its type and `min` set the number of blocks".to_owned();
    }
    let own_words: &[&str] = if outer == "block" { &BLOCK_ONLY_WORDS } else { &ATTR_ONLY_WORDS };
    let all_words: Vec<_> = own_words.iter().chain(&ATTR_AND_BLOCK_WORDS).copied().collect();
    format!("`{word}` is not a word of `{outer}`; expected one of {}", all_words.join(", "))
}

/// The value of `default`; otherwise the default of the type.
fn parse_default_or_type_default(meta: &ParseNestedMeta<'_>) -> Result<Expr> {
    match meta.input.peek(Token![=]) {
        true => meta.value()?.parse(),
        // A full path, because names may mean something else in the author's crate.
        false => Ok(syn::parse_quote!(::core::default::Default::default())),
    }
}

fn parse_nonempty_string_list(meta: &ParseNestedMeta<'_>) -> Result<Vec<LitStr>> {
    let input = meta.value()?;
    let content;
    syn::bracketed!(content in input);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?;
    // An empty list would refuse every value.
    if texts.is_empty() {
        return Err(meta.error("list the valid strings"));
    }
    Ok(texts.into_iter().collect())
}

fn parse_identity_requirement(meta: &ParseNestedMeta<'_>) -> Result<IdentityRequirement> {
    if !meta.input.peek(syn::token::Paren) {
        return Ok(IdentityRequirement::Required);
    }
    let content;
    syn::parenthesized!(content in meta.input);
    let word: Ident = content.parse()?;
    if word == "optional" {
        Ok(IdentityRequirement::Optional)
    } else {
        Err(syn::Error::new(word.span(), "write `identity`, or `identity(optional)`"))
    }
}

/// The doc comment among `attributes`, without the space that follows each `///`.
pub(crate) fn doc_comment(attributes: &[Attribute]) -> String {
    let texts = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    // A comment in `/** */` is one attribute with several lines.
    let text = texts.collect::<Vec<_>>().join("\n");
    // Only the space after the slashes: what is indented further has a meaning in Markdown.
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    without_rust_examples(lines).join("\n").trim().to_owned()
}

/// The lines outside of examples in Rust, which are for the author of the provider and not for its users.
fn without_rust_examples<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut kept_lines: Vec<&str> = Vec::new();
    // Whether the code block around the line is in Rust; `None` outside of code blocks.
    let mut rust_fence: Option<bool> = None;
    for line in lines {
        let start = line.trim_start();
        let info_string = start.strip_prefix("```").or_else(|| start.strip_prefix("~~~"));
        let is_in_rust = match (info_string, rust_fence) {
            (Some(_), Some(is_rust)) => {
                rust_fence = None;
                is_rust
            }
            (Some(info_string), None) => *rust_fence.insert(is_rust_fence(info_string)),
            (None, rust_fence) => rust_fence.unwrap_or(false),
        };
        // An empty line around an example that is left out would remain as a second one.
        let is_second_empty = rust_fence.is_none()
            && line.is_empty()
            && kept_lines.last().is_none_or(|it| it.is_empty());
        if !is_in_rust && !is_second_empty {
            kept_lines.push(line);
        }
    }
    kept_lines
}

/// Whether rustdoc takes a code block for Rust, by the words after its fence.
fn is_rust_fence(info_string: &str) -> bool {
    const WORDS: [&str; 7] = [
        "rust",
        "no_run",
        "should_panic",
        "ignore",
        "compile_fail",
        "test_harness",
        "standalone_crate",
    ];
    info_string.split([',', ' ', '\t']).filter(|word| !word.is_empty()).all(|word| {
        let is_error_code = word.len() == 5 && word.starts_with('E');
        let is_prefixed = word.starts_with("edition20") || word.starts_with("ignore-");
        WORDS.contains(&word) || is_prefixed || is_error_code
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn rust_examples_are_not_part_of_a_description() {
        let attributes: [Attribute; 12] = [
            parse_quote!(#[doc = " The size."]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = " ```"]),
            parse_quote!(#[doc = " let size = 1;"]),
            parse_quote!(#[doc = " ```"]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = " ```terraform"]),
            parse_quote!(#[doc = " size = 1"]),
            parse_quote!(#[doc = " ```"]),
            parse_quote!(#[doc = " ```rust,no_run"]),
            parse_quote!(#[doc = " let size = 2;"]),
            parse_quote!(#[doc = " ```"]),
        ];
        let described = "The size.\n\n```terraform\nsize = 1\n```";
        assert_eq!(doc_comment(&attributes), described);
        for fence in ["```", "```compile_fail,E0277", "~~~edition2024", "```ignore-windows rust"] {
            let end = &fence[..3];
            let text = format!("The size.\n\n{fence}\nlet size = 1;\n{end}\n\nIn bytes.");
            let doc_attributes: [Attribute; 1] = [parse_quote!(#[doc = #text])];
            assert_eq!(doc_comment(&doc_attributes), "The size.\n\nIn bytes.", "{fence}");
        }
    }
}
