//! Prints addresses exactly as they are written in the language and in the state file.

use std::fmt::{Display, Formatter, Result};

use formwork_lang::print_value::escape_literal;

use super::{
    ConfigResourceAddr, DeposedKey, InstanceAddr, InstanceKey, LocalProviderConfig, ModuleAddr,
    ModulePath, ModuleStep, ProviderAddr, ProviderConfigAddr, ResourceAddr, ResourceMode,
    ResourceName,
};

/// Returns a string as a quoted literal of the language. Characters with a special meaning inside
/// quotes are escaped.
#[must_use]
pub fn quote_string(text: &str) -> String {
    format!("\"{}\"", escape_literal(text))
}

impl Display for InstanceKey {
    /// Prints the key in brackets; nothing for [`InstanceKey::None`].
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::None => Ok(()),
            Self::Int(at) => write!(f, "[{at}]"),
            Self::Str(key) => write!(f, "[{}]", quote_string(key)),
        }
    }
}

impl Display for ModulePath {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, name) in self.0.iter().enumerate() {
            let dot = if at > 0 { "." } else { "" };
            write!(f, "{dot}module.{name}")?;
        }
        Ok(())
    }
}

impl Display for ModuleStep {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "module.{}{}", self.name, self.key)
    }
}

impl Display for ModuleAddr {
    /// Prints nothing for the root module.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, step) in self.0.iter().enumerate() {
            let dot = if at > 0 { "." } else { "" };
            write!(f, "{dot}{step}")?;
        }
        Ok(())
    }
}

impl Display for ResourceMode {
    /// Prints the keyword before the resource type in an address; nothing for managed resources.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Managed => "",
            Self::Data => "data.",
            Self::Ephemeral => "ephemeral.",
        })
    }
}

impl Display for ResourceName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}.{}", self.mode(), self.resource_type(), self.name())
    }
}

impl Display for ConfigResourceAddr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let dot = if self.module.is_root() { "" } else { "." };
        write!(f, "{}{dot}{}", self.module, self.resource)
    }
}

impl Display for ResourceAddr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let dot = if self.module.is_root() { "" } else { "." };
        write!(f, "{}{dot}{}", self.module, self.resource)
    }
}

impl Display for InstanceAddr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let dot = if self.module.is_root() { "" } else { "." };
        write!(f, "{}{dot}{}{}", self.module, self.resource, self.key)
    }
}

impl Display for DeposedKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.0)
    }
}

impl Display for ProviderAddr {
    /// Prints the canonical form, with the host: `registry.terraform.io/hashicorp/null`.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}/{}/{}", self.host(), self.namespace(), self.provider_type())
    }
}

impl Display for LocalProviderConfig {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.name)?;
        match &self.alias {
            Some(alias) => write!(f, ".{alias}"),
            None => Ok(()),
        }
    }
}

impl Display for ProviderConfigAddr {
    /// Prints the form of the state file: `module.a.provider["host/namespace/type"].alias`.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let dot = if self.module.is_root() { "" } else { "." };
        write!(f, "{}{dot}provider[\"{}\"]", self.module, self.provider)?;
        match &self.alias {
            Some(alias) => write!(f, ".{alias}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_value::Str;
    use std::sync::Arc;

    #[test]
    fn addresses_print_as_they_are_written() {
        let step = |name: &str, key| ModuleStep { name: Str::new(name), key };
        let addr = InstanceAddr {
            module: ModuleAddr(Arc::new(vec![
                step("a", InstanceKey::Str("x".into())),
                step("b", InstanceKey::None),
            ])),
            resource: ResourceName::new(ResourceMode::Data, "aws_x", "y"),
            key: InstanceKey::Int(0),
        };
        assert_eq!(addr.to_string(), r#"module.a["x"].module.b.data.aws_x.y[0]"#);
        assert_eq!(
            addr.resource_addr().config_addr().to_string(),
            "module.a.module.b.data.aws_x.y"
        );
    }

    #[test]
    fn keys_are_quoted_like_strings_of_the_language() {
        let cases = [
            ("", r#""""#),
            ("${x}", r#""$${x}""#),
            ("%{x}", r#""%%{x}""#),
            ("$x%", r#""$x%""#),
            ("a\nb\tc", r#""a\nb\tc""#),
            ("\"\\", r#""\"\\""#),
            ("\u{7}\u{200d}", r#""\u0007\u200d""#),
            ("e\u{308}\u{301}日😀 ", "\"e\u{308}\u{301}日😀 \""),
            ("\u{a0}\u{e0001}", r#""\u00a0\U000e0001""#),
        ];
        for (text, printed) in cases {
            assert_eq!(quote_string(text), printed, "{text:?}");
        }
    }
}
