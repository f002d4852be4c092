//! `import` blocks: an object that is already there belongs to an address from now on. Keys and ids
//! may be known only when values are.

use std::sync::Arc;

use formwork_lang::content::{BodySchema, Content, into_content};
use formwork_lang::syntax::{Block, Expr, ExprKind};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use super::{Module, ProviderAddr, Repetition, traversal};
use crate::addr::{
    AddressStep, ConfigResourceAddr, InstanceAddr, InstanceKey, LocalProviderConfig, ModuleAddr,
    ModulePath, ModuleStep, Reference, ResourceMode, ResourceName, Target,
};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[
        ("to", true),
        ("id", false),
        ("identity", false),
        ("for_each", false),
        ("provider", false),
    ],
    blocks: &[],
};

/// An `import` block.
#[derive(Clone, Debug)]
pub struct ImportBlock {
    /// The module calls on the way to the resource, each with its key as written.
    pub calls: Vec<(Str, Option<Expr>)>,
    /// The resource in its module.
    pub resource: ResourceName,
    /// The instance key, as written.
    pub key: Option<Expr>,
    /// The key by which the provider finds the object.
    pub by: ImportKeyExpr,
    /// The repetition of the block, never `count`.
    pub repetition: Repetition,
    /// The provider configuration, where it is written here: for a resource that is not.
    pub provider: Option<(LocalProviderConfig, Span)>,
    /// All references in `id` and `for_each`.
    pub references: Vec<Reference>,
    /// The address.
    pub to: Span,
    /// The block's header.
    pub span: Span,
}

/// The key by which a provider finds an object.
#[derive(Clone, Debug)]
pub enum ImportKeyExpr {
    /// A string in a format that the provider defines.
    Id(Expr),
    /// An object with the attributes that the resource type has for that.
    Identity(Expr),
}

impl ImportKeyExpr {
    /// The expression, of any kind.
    #[must_use]
    pub fn expression(&self) -> &Expr {
        let (Self::Id(expr) | Self::Identity(expr)) = self;
        expr
    }
}

impl ImportBlock {
    /// The resource as written.
    #[must_use]
    pub fn config_addr(&self) -> ConfigResourceAddr {
        let calls = self.calls.iter().map(|(name, _)| name.clone());
        let module = ModulePath(Arc::new(calls.collect()));
        ConfigResourceAddr { module, resource: self.resource.clone() }
    }

    /// The address of the provider that imports the object, as the module of the block declares it.
    #[must_use]
    pub fn provider_in_module(&self, module: &Module) -> ProviderAddr {
        match &self.provider {
            Some((local, _)) => module.settings.provider_for_local_name(&local.name),
            None => module.settings.provider_for_local_name(
                &LocalProviderConfig::implied_by_resource(&self.resource).name,
            ),
        }
    }

    /// Whether all repetitions of the block have the same target.
    #[must_use]
    pub fn has_constant_target(&self) -> bool {
        is_constant_key(self.key.as_ref())
            && self.calls.iter().all(|(_, key)| is_constant_key(key.as_ref()))
    }

    /// The instance, with the keys that are constant.
    #[must_use]
    pub fn addr_with_constant_keys(&self) -> InstanceAddr {
        let steps = self.calls.iter().map(|(name, key)| ModuleStep {
            name: name.clone(),
            key: constant_instance_key(key.as_ref()),
        });
        let module = ModuleAddr(Arc::new(steps.collect()));
        let key = constant_instance_key(self.key.as_ref());
        InstanceAddr { module, resource: self.resource.clone(), key }
    }
}

/// Whether a key is the same in all that the block is repeated for.
fn is_constant_key(expr: Option<&Expr>) -> bool {
    expr.is_none() || constant_instance_key(expr) != InstanceKey::None
}

/// The key that an expression is; none if it is not constant.
fn constant_instance_key(expr: Option<&Expr>) -> InstanceKey {
    let Some(expr) = expr else { return InstanceKey::None };
    match (expr.as_string_literal(), &expr.kind) {
        (Some(text), _) => InstanceKey::Str(text.clone()),
        (None, ExprKind::Number(at)) => match at.to_i64().map(u64::try_from) {
            Some(Ok(at)) => InstanceKey::Int(at),
            _ => InstanceKey::None,
        },
        _ => InstanceKey::None,
    }
}

/// Reads an `import` block. Returns `None` for an invalid block, which was reported.
pub(super) fn read_import_block(diags: &mut Diagnostics, block: Block) -> Option<ImportBlock> {
    // Only JSON leaves members of a body undecided.
    let is_json = !block.body.undecided.is_empty();
    let mut content = into_content(diags, block.body, &BODY_SCHEMA);
    let for_each = content.take_attribute("for_each").map(|attribute| attribute.expr);
    let provider = content.take_attribute("provider").map(|attribute| {
        let local = traversal::parse_provider_expr(diags, "provider", &attribute.expr)?;
        Ok::<_, Reported>((local, attribute.name.span.to(attribute.expr.span)))
    });
    // Before `to`, which ends the reading if it is missing: both are reported.
    let by = read_import_key(diags, &mut content);
    let to = content.take_attribute("to")?;
    let argument_span = to.name.span.to(to.expr.span);
    let to = to.expr;
    if is_json && !matches!(to.kind, ExprKind::Json(_)) {
        let detail = "A single address is required, in quotes.";
        let problem = Diagnostic::error(messages::INVALID_REFERENCE_EXPRESSION, detail);
        let _ = diags.error(problem.at(to.span));
        return None;
    }
    // In JSON an address is text, and only here it is known to be an expression.
    let to = to.into_native_expr(diags).ok()?;
    let repetition = for_each.map_or(Repetition::Single, Repetition::ForEach);
    let (calls, resource, key) = parse_import_target(diags, &to, argument_span).ok()?;
    Some(ImportBlock {
        calls,
        resource,
        key,
        by: by.ok()?,
        repetition,
        provider: provider.transpose().ok()?,
        references: Vec::new(),
        to: to.span,
        span: block.header,
    })
}

/// Reads the import key. Exactly one of `id` and `identity` must be set.
fn read_import_key(
    diags: &mut Diagnostics,
    content: &mut Content,
) -> Result<ImportKeyExpr, Reported> {
    let id = content.take_attribute("id").map(|attribute| attribute.expr);
    let identity = content.take_attribute("identity").map(|attribute| attribute.expr);
    match (id, identity) {
        (Some(id), None) => Ok(ImportKeyExpr::Id(id)),
        (None, Some(identity)) => Ok(ImportKeyExpr::Identity(identity)),
        (Some(_), Some(identity)) => {
            let detail = "Set either `id` or `identity`, not both.";
            let problem = Diagnostic::error(messages::INVALID_COMBINATION_OF_ARGUMENTS, detail);
            Err(diags.error(problem.at(identity.span)))
        }
        (None, None) => {
            let detail = "The argument \"id\" is required, but no definition was found.";
            let problem = Diagnostic::error(messages::MISSING_REQUIRED_ARGUMENT, detail);
            Err(diags.error(problem.at(content.missing)))
        }
    }
}

type ImportTargetParts = (Vec<(Str, Option<Expr>)>, ResourceName, Option<Expr>);

/// Takes an address apart. Only the keys may be computed, and only in a block that is repeated.
fn parse_import_target(
    diags: &mut Diagnostics,
    expr: &Expr,
    argument: Span,
) -> Result<ImportTargetParts, Reported> {
    let mut keys = Vec::new();
    let steps = split_address_expr(expr, &mut keys);
    let Some(steps) = steps else {
        let problem = Diagnostic::error(
            messages::STATIC_REFERENCE_REQUIRED,
            traversal::STATIC_REFERENCE_RULE,
        );
        return Err(diags.error(problem.at(expr.span)));
    };
    let target = Target::from_steps(&steps)
        .map_err(|bad| diags.error(Diagnostic::error(bad.summary, bad.detail).at(expr.span)))?;
    // Each key is replaced by its index in the list.
    let take = |key: &InstanceKey| match key {
        InstanceKey::Int(at) => usize::try_from(*at).ok().and_then(|at| keys.get(at)).cloned(),
        InstanceKey::None | InstanceKey::Str(_) => None,
    };
    let (module, resource, key) = match target {
        Target::Instance(addr) => (addr.module, addr.resource, addr.key),
        Target::Resource(addr) => (addr.module, addr.resource, InstanceKey::None),
        Target::Module(_) => {
            let detail = "This address names a module. An import requires a resource instance: \
                          add a resource type and a name after the module.";
            return Err(
                diags.error(Diagnostic::error(messages::INVALID_ADDRESS, detail).at(expr.span))
            );
        }
    };
    if resource.mode() != ResourceMode::Managed {
        let detail = format!("Only managed resources can be imported. `{resource}` is not one.");
        return Err(
            diags.error(Diagnostic::error(messages::INVALID_IMPORT_ADDRESS, detail).at(argument))
        );
    }
    let calls = module.0.iter().map(|step| (step.name.clone(), take(&step.key))).collect();
    Ok((calls, resource, take(&key)))
}

/// Splits an address whose keys are expressions. The keys are appended to a list, and each step has the
/// index of its key there.
fn split_address_expr(expr: &Expr, keys: &mut Vec<Expr>) -> Option<Vec<AddressStep>> {
    let mut reversed = Vec::new();
    let mut inner = expr;
    loop {
        match &inner.kind {
            ExprKind::Attribute { operand, name } => {
                reversed.push(AddressStep::Name(name.name.clone()));
                inner = operand;
            }
            ExprKind::Index { operand, key, .. } => {
                reversed.push(AddressStep::Key(InstanceKey::Int(keys.len() as u64)));
                keys.push((**key).clone());
                inner = operand;
            }
            _ => {
                reversed.push(AddressStep::Name(inner.as_keyword()?.into()));
                reversed.reverse();
                return Some(reversed);
            }
        }
    }
}
