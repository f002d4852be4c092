//! What `#[attr(…)]` says about a field or a struct. Knows which words go together, not what they do.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path, Result};

/// Who sets the attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Required,
    Optional,
    Computed,
    OptionalComputed,
}

impl Role {
    fn is_computed(self) -> bool {
        matches!(self, Self::Computed | Self::OptionalComputed)
    }
}

/// What `#[attr(…)]` says.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) role: Option<Role>,
    pub(crate) name: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) deprecated: Option<LitStr>,
    pub(crate) replace_if: Option<Path>,
    pub(crate) replace: bool,
    pub(crate) keep: bool,
    pub(crate) sensitive: bool,
    pub(crate) write_only: bool,
}

impl Said {
    /// Reads all `#[attr(…)]` among `attributes`.
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut said = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("attr")) {
            attribute.parse_nested_meta(|meta| said.hear(&meta))?;
        }
        Ok(said)
    }

    fn hear(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match word.as_str() {
            "required" => self.set_role(meta, Role::Required)?,
            "optional" => self.set_role(meta, Role::Optional)?,
            "computed" => self.set_role(meta, Role::Computed)?,
            "optional_computed" => self.set_role(meta, Role::OptionalComputed)?,
            "replace" => self.replace = true,
            "keep" => self.keep = true,
            "sensitive" => self.sensitive = true,
            "write_only" => self.write_only = true,
            "name" => self.name = Some(meta.value()?.parse()?),
            "default" => self.default = Some(meta.value()?.parse()?),
            "deprecated" => self.deprecated = Some(meta.value()?.parse()?),
            "replace_if" => self.replace_if = Some(meta.value()?.parse()?),
            _ => return Err(meta.error("not a word that `attr` knows")),
        }
        Ok(())
    }

    fn set_role(&mut self, meta: &ParseNestedMeta<'_>, role: Role) -> Result<()> {
        match self.role.replace(role) {
            None => Ok(()),
            Some(_) => Err(meta.error(
                "an attribute has one role; say `optional_computed` if both author and provider \
                 may set it",
            )),
        }
    }

    /// Returns the role of a field after checking that the words go together.
    pub(crate) fn checked_role(&self, at: Span) -> Result<Role> {
        let refuse = |why| Err(syn::Error::new(at, why));
        let Some(role) = self.role else {
            return refuse(
                "say who sets it: #[attr(required)], optional, computed or optional_computed",
            );
        };
        if self.default.is_some() && role != Role::OptionalComputed {
            return refuse("`default` needs the role `optional_computed`");
        }
        if self.keep && !role.is_computed() {
            return refuse("`keep` needs a role in which the provider sets the value");
        }
        if self.keep && self.default.is_some() {
            return refuse("`default` and `keep` both say what an unset attribute is");
        }
        if self.write_only && role.is_computed() {
            return refuse("`write_only` is for values that only the author sets");
        }
        if self.replace && self.replace_if.is_some() {
            return refuse("`replace` leaves nothing for `replace_if` to decide");
        }
        Ok(role)
    }
}

/// The doc comment among `attributes`, without the space that follows each `///`.
pub(crate) fn doc_comment(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned()).collect();
    lines.join("\n").trim().to_owned()
}
