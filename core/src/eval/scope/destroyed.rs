//! The scope of destroy-time provisioners: only values from the address of the object
//! and the state. The configuration may have changed since, and the objects it refers to may already
//! be deleted.

use std::path::Path;

use formwork_lang::functions::{Function, FunctionHost, builtin_names, find_builtin};
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::Ident;
use formwork_value::{Diagnostic, Diagnostics, Reported, Value};

use super::{expect_attribute, resolve_terraform_attribute};
use crate::addr::InstanceKey;
use crate::config::bad_reference;
use crate::eval::HostValues;
use crate::messages;

/// The scope of names beside an object that is about to be destroyed.
pub struct DestroyedObjectScope<'a> {
    /// The world outside.
    pub world: &'a HostValues,
    /// The directory of the module; `None` for the root module.
    pub directory: Option<&'a Path>,
    /// The instance key.
    pub key: &'a InstanceKey,
    /// The value of `self`.
    pub object: &'a Value,
}

impl Scope for DestroyedObjectScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        if root.name == "self" {
            return Ok((self.object.clone(), 0));
        }
        let name = expect_attribute(diags, root, steps.first())?;
        let span = root.span.to(name.span);
        let value = match (root.name.as_str(), name.name.as_str(), self.key) {
            ("path", _, _) => {
                self.world.resolve_path_attribute(diags, self.directory, name, span)?
            }
            ("terraform", _, _) => resolve_terraform_attribute(diags, self.world, name, span)?,
            ("count", "index", InstanceKey::Int(index)) => Value::Number((*index).into()),
            ("each", "key", InstanceKey::Str(key)) => Value::String(key.clone()),
            ("count", _, _) => {
                return Err(diags.error(bad_reference::count_without_count_error(span)));
            }
            ("each", _, _) => {
                return Err(
                    diags.error(bad_reference::each_without_for_each_error(&name.name, span))
                );
            }
            _ => {
                let detail = format!(
                    "`{}` may no longer exist when this runs. Use `self`, `count.index` or `each.key`.",
                    root.name
                );
                let summary = messages::INVALID_REFERENCE_FROM_DESTROY_PROVISIONER;
                return Err(diags.error(Diagnostic::error(summary, detail).at(span)));
            }
        };
        Ok((value, 1))
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        find_builtin(name).map(|function| function as &dyn Function)
    }

    fn function_names(&self) -> Vec<String> {
        builtin_names()
    }

    fn host(&self) -> FunctionHost<'_> {
        self.world.function_host()
    }
}
