//! Names of modules and of the instances of modules and resources.

use std::cmp::Ordering;
use std::sync::{Arc, LazyLock};

use formwork_value::Str;

/// The key of an instance of a repeated resource or module.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceKey {
    // The order of the variants is that of `state list`: no key, then numbers, then strings.
    /// Not repeated.
    #[default]
    None,
    /// An index of `count`.
    Int(u64),
    /// A key of `for_each`.
    Str(Str),
}

/// A module as written: the names of the calls from the root down. Empty for the root. Modules order
/// from the outside in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModulePath(pub Arc<Vec<Str>>);

/// An instance of a module: calls with their keys from the root down. Empty for the root. Modules
/// order from the outside in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleAddr(pub Arc<Vec<ModuleStep>>);

/// A step of a [`ModuleAddr`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleStep {
    /// The name of the call.
    pub name: Str,
    /// The key of the instance.
    pub key: InstanceKey,
}

impl ModulePath {
    /// The root module.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The name of this module in messages.
    #[must_use]
    pub fn display_name(&self) -> String {
        if self.is_root() { "the root module".to_owned() } else { self.to_string() }
    }

    /// A module called from this one.
    #[must_use]
    pub fn child_path(&self, name: &Str) -> Self {
        let mut names = self.0.to_vec();
        names.push(name.clone());
        Self(Arc::new(names))
    }
}

impl ModuleAddr {
    /// The root module.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The module without instance keys.
    #[must_use]
    pub fn path(&self) -> ModulePath {
        if self.is_root() {
            return ModulePath::root();
        }
        ModulePath(Arc::new(self.0.iter().map(|step| step.name.clone()).collect()))
    }
}

impl ModuleAddr {
    /// The instance of a module called from this one.
    #[must_use]
    pub fn child_addr(&self, name: impl Into<Str>, key: InstanceKey) -> Self {
        let mut steps = self.0.to_vec();
        steps.push(ModuleStep { name: name.into(), key });
        Self(Arc::new(steps))
    }

    /// The address without the key of its last step.
    #[must_use]
    pub fn without_last_key(&self) -> Self {
        let mut steps = self.0.to_vec();
        if let Some(last) = steps.last_mut() {
            last.key = InstanceKey::None;
        }
        Self(Arc::new(steps))
    }
}

/// The root module, which nearly every address names: all of them share one list.
impl Default for ModulePath {
    fn default() -> Self {
        static ROOT: LazyLock<Arc<Vec<Str>>> = LazyLock::new(Arc::default);
        Self(ROOT.clone())
    }
}

/// The root module, which nearly every address names: all of them share one list.
impl Default for ModuleAddr {
    fn default() -> Self {
        static ROOT: LazyLock<Arc<Vec<ModuleStep>>> = LazyLock::new(Arc::default);
        Self(ROOT.clone())
    }
}

impl PartialOrd for ModulePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ModulePath {
    fn cmp(&self, other: &Self) -> Ordering {
        // The length first: an outer module is ordered before the modules that it calls.
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

impl PartialOrd for ModuleAddr {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ModuleAddr {
    fn cmp(&self, other: &Self) -> Ordering {
        // The length first, as for `ModulePath`: lists go from the outside in.
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::InstanceAddr;

    #[test]
    fn addresses_order_outside_in_and_numbers_before_strings() {
        let sorted = [
            "data.b.b",
            "a.b",
            "a.b[2]",
            "a.b[10]",
            "a.b[\"1\"]",
            "a.c",
            "module.z.a.a",
            "module.z[0].a.a",
            "module.a.module.a.a.a",
        ];
        let mut addrs: Vec<InstanceAddr> =
            sorted.iter().map(|text| text.parse().unwrap()).collect();
        addrs.reverse();
        addrs.sort();
        assert_eq!(addrs.iter().map(ToString::to_string).collect::<Vec<_>>(), sorted);
    }
}
