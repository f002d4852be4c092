//! Addresses that `-target` and similar options accept: a module, a resource, or one instance.

use std::fmt::{Display, Formatter};

use super::{ConfigResourceAddr, InstanceAddr, InstanceKey, ModuleAddr, ResourceAddr};

/// A part of a configuration that an option picks out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Everything in a module instance and below it; in every instance of the call if the last step
    /// has no key.
    Module(ModuleAddr),
    /// Every instance of a resource.
    Resource(ResourceAddr),
    /// A resource instance.
    Instance(InstanceAddr),
}

impl Target {
    /// Whether an instance is picked.
    #[must_use]
    pub fn contains(&self, addr: &InstanceAddr) -> bool {
        match self {
            Self::Instance(target) => target == addr,
            Self::Resource(target) => {
                target.module == addr.module && target.resource == addr.resource
            }
            Self::Module(target) => {
                let Some((last, before)) = target.0.split_last() else { return true };
                let steps = &addr.module.0;
                // Only the last step may match all instances of its call: the steps before it have
                // to match with their keys.
                steps.starts_with(before)
                    && steps.get(before.len()).is_some_and(|step| {
                        step.name == last.name
                            && (last.key == InstanceKey::None || step.key == last.key)
                    })
            }
        }
    }

    /// Whether some instance of a resource as written may be picked, in whichever instance of its
    /// module.
    #[must_use]
    pub fn may_contain_config_resource(&self, addr: &ConfigResourceAddr) -> bool {
        let in_module = |module: &ModuleAddr| {
            let steps = module.0.iter().map(|step| &step.name);
            module.0.len() <= addr.module.0.len()
                && steps.eq(addr.module.0[..module.0.len()].iter())
        };
        match self {
            Self::Instance(InstanceAddr { module, resource, .. })
            | Self::Resource(ResourceAddr { module, resource }) => {
                *resource == addr.resource
                    && module.0.len() == addr.module.0.len()
                    && in_module(module)
            }
            Self::Module(module) => in_module(module),
        }
    }

    /// Whether every instance of a resource as written is picked, in every instance of its module.
    #[must_use]
    pub fn contains_config_resource(&self, addr: &ConfigResourceAddr) -> bool {
        let module = match self {
            Self::Instance(_) => return false,
            Self::Resource(ResourceAddr { module, .. }) | Self::Module(module) => module,
        };
        // The last step of a module without a key matches all instances of the call; a resource is
        // in the one instance of a module that it names.
        module.0.iter().all(|step| step.key == InstanceKey::None)
            && self.may_contain_config_resource(addr)
    }

    /// Whether some instance of a resource is picked, or would be if it existed.
    #[must_use]
    pub fn may_contain_resource(&self, addr: &ResourceAddr) -> bool {
        match self {
            Self::Instance(target) => {
                target.module == addr.module && target.resource == addr.resource
            }
            Self::Resource(target) => target == addr,
            Self::Module(_) => self.contains(&addr.instance_addr(InstanceKey::None)),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Module(module) => module.fmt(f),
            Self::Resource(resource) => resource.fmt(f),
            Self::Instance(instance) => instance.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_contains_everything_below_it() {
        let contains = |target: &str, addr: &str| {
            target.parse::<Target>().unwrap().contains(&addr.parse().unwrap())
        };
        let table = [
            ("a.b", "a.b[0]", true),
            ("a.b", "a.b", true),
            ("a.b[0]", "a.b[1]", false),
            ("a.b", "module.m.a.b", false),
            ("module.m", "module.m.a.b", true),
            ("module.m", "module.m[2].module.n.a.b[1]", true),
            ("module.m[1]", "module.m[2].a.b", false),
            ("module.m.module.n", "module.m.a.b", false),
            ("data.a.b", "a.b", false),
        ];
        for (target, addr, expected) in table {
            assert_eq!(contains(target, addr), expected, "{target} contains {addr}");
        }
    }
}
