//! Evaluates the encryption of states and plans: for each target its methods with the key providers that
//! they use, all arguments as values. Types and arguments of them are the caller's to check.

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_lang::eval::evaluate;
use formwork_lang::refs::{TraversalStep, as_traversal};
use formwork_lang::syntax::{Attribute, Expr, ExprKind, parse_expression};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Value};

use super::static_scope::StaticScope;
use crate::config::encryption::{EncryptionBlock, EncryptionPart, EncryptionTargetBlock};
use crate::messages;

/// The type of the method that leaves files as they are.
pub const UNENCRYPTED_METHOD_TYPE: &str = "unencrypted";

/// The evaluated encryption of a configuration.
#[derive(Debug, Default)]
pub struct EncryptionSettings {
    /// The methods for states.
    pub state: Option<Vec<MethodSettings>>,
    /// The methods for saved plans.
    pub plan: Option<Vec<MethodSettings>>,
    /// The methods for states of other configurations.
    pub remote_default: Option<Vec<MethodSettings>>,
    /// The methods for the states of single data sources, by their addresses.
    pub remotes: BTreeMap<String, Vec<MethodSettings>>,
}

/// A method with its arguments.
#[derive(Clone, Debug)]
pub struct MethodSettings {
    /// The type of the block.
    pub kind: Str,
    /// The name of the block.
    pub name: Str,
    /// The evaluated arguments, by name.
    pub arguments: BTreeMap<Str, EvaluatedArgument>,
    /// The block's header.
    pub span: Span,
}

/// A key provider with its arguments.
#[derive(Debug)]
pub struct KeyProviderSettings {
    /// The type of the block.
    pub kind: Str,
    /// The name of the block.
    pub name: Str,
    /// The key of its metadata in encrypted files.
    pub metadata_key: String,
    /// The evaluated arguments, by name.
    pub arguments: BTreeMap<Str, EvaluatedArgument>,
    /// The block's header.
    pub span: Span,
}

/// An argument of a key provider or method.
#[derive(Clone, Debug)]
pub struct EvaluatedArgument {
    /// The value of the argument.
    pub value: ArgumentValue,
    /// The span of the argument name.
    pub span: Span,
}

/// The value of an argument of a key provider or method.
#[derive(Clone, Debug)]
pub enum ArgumentValue {
    /// A value, without marks.
    Value(Value),
    /// The keys of a key provider.
    Keys(Arc<KeyProviderSettings>),
}

impl EncryptionSettings {
    /// Evaluates a block. Only methods and key providers that a target uses are evaluated.
    ///
    /// # Errors
    /// When a target has no method, a name is not declared, key providers depend on each other in a cycle, or
    /// an argument has no known value.
    pub fn evaluate(
        diags: &mut Diagnostics,
        block: &EncryptionBlock,
        scope: &StaticScope<'_>,
    ) -> Result<Self, Reported> {
        let mut block_diags = Diagnostics::new();
        warn_of_unencrypted_method(&mut block_diags, block);
        let mut evaluator =
            EncryptionEvaluator { block, scope, known: BTreeMap::new(), pending: Vec::new() };
        let mut methods = |target: &Option<EncryptionTargetBlock>| {
            target.as_ref().map(|target| {
                evaluator.evaluate_target(&mut block_diags, target).unwrap_or_default()
            })
        };
        let (state, plan) = (methods(&block.state), methods(&block.plan));
        let remote_default = methods(&block.remote_default);
        let remotes = block.remotes.iter().map(|(name, target)| {
            let methods = evaluator.evaluate_target(&mut block_diags, target).unwrap_or_default();
            (name.to_string(), methods)
        });
        let remotes = remotes.collect();
        diags.append(block_diags)?;
        Ok(Self { state, plan, remote_default, remotes })
    }
}

fn warn_of_unencrypted_method(diags: &mut Diagnostics, block: &EncryptionBlock) {
    for _ in block.methods.iter().filter(|method| method.kind == UNENCRYPTED_METHOD_TYPE) {
        let detail = "Method unencrypted is present in configuration. This is a security risk and should only be enabled during migrations.";
        let problem = Diagnostic::warning(messages::UNENCRYPTED_METHOD_CONFIGURED, detail);
        diags.warn(problem.at(block.span));
    }
}

struct EncryptionEvaluator<'a> {
    block: &'a EncryptionBlock,
    scope: &'a StaticScope<'a>,
    /// The key providers that are evaluated, by type and name.
    known: BTreeMap<(Str, Str), Arc<KeyProviderSettings>>,
    /// The addresses of those that are being evaluated, to find circles.
    pending: Vec<(Str, Str)>,
}

impl EncryptionEvaluator<'_> {
    /// The methods of a target, the one that encrypts first.
    fn evaluate_target(
        &mut self,
        diags: &mut Diagnostics,
        target: &EncryptionTargetBlock,
    ) -> Result<Vec<MethodSettings>, Reported> {
        let mut methods = Vec::new();
        let mut next = Some(target);
        while let Some(current) = next {
            methods.push(self.evaluate_method(diags, current)?);
            next = current.fallback.as_deref();
        }
        // In a fallback too, as in OpenTofu: it would accept a file that is not encrypted.
        if target.enforced && methods.iter().any(|method| method.kind == UNENCRYPTED_METHOD_TYPE) {
            let detail = "Unable to use unencrypted method since the enforced flag is set. Remove the method from the target, or `enforced`.";
            let problem = Diagnostic::error(messages::UNENCRYPTED_METHOD_IS_FORBIDDEN, detail);
            return Err(diags.error(problem.at(target.span.unwrap_or(self.block.span))));
        }
        Ok(methods)
    }

    fn evaluate_method(
        &mut self,
        diags: &mut Diagnostics,
        target: &EncryptionTargetBlock,
    ) -> Result<MethodSettings, Reported> {
        let span = target.span.unwrap_or(self.block.span);
        let Some(expr) = &target.method else {
            let detail = "A target of the encryption has no method. Add an argument such as: method = method.aes_gcm.NAME";
            return Err(diags
                .error(Diagnostic::error(messages::MISSING_ENCRYPTION_METHOD, detail).at(span)));
        };
        let Some((kind, name)) = parse_encryption_reference(expr, "method") else {
            let detail = "A method is a reference of the form method.TYPE.NAME, such as method.aes_gcm.main.";
            let problem = Diagnostic::error(messages::INVALID_ENCRYPTION_METHOD_IDENTIFIER, detail);
            return Err(diags.error(problem.at(span)));
        };
        let block = self.block;
        let declared = block.methods.iter().find(|it| it.kind == kind && it.name == name);
        let Some(method) = declared else {
            let detail = format!(
                "There is no method {:?} {:?} block declared in the encryption block.",
                kind.as_str(),
                name.as_str()
            );
            let problem =
                Diagnostic::error(messages::REFERENCE_TO_UNDECLARED_ENCRYPTION_METHOD, detail);
            return Err(diags.error(problem.at(span)));
        };
        let arguments = self.evaluate_arguments(diags, method)?;
        Ok(MethodSettings { kind, name, arguments, span: method.span })
    }

    fn evaluate_arguments(
        &mut self,
        diags: &mut Diagnostics,
        part: &EncryptionPart,
    ) -> Result<BTreeMap<Str, EvaluatedArgument>, Reported> {
        let mut arguments = BTreeMap::new();
        for argument in &part.arguments {
            let (value, span) =
                (self.evaluate_argument(diags, part, argument)?, argument.name.span);
            arguments.insert(argument.name.name.clone(), EvaluatedArgument { value, span });
        }
        Ok(arguments)
    }

    fn evaluate_argument(
        &mut self,
        diags: &mut Diagnostics,
        part: &EncryptionPart,
        argument: &Attribute,
    ) -> Result<ArgumentValue, Reported> {
        // Before the evaluation, in which the name would mean nothing.
        if let Some((kind, name)) = parse_encryption_reference(&argument.expr, "key_provider") {
            return self
                .evaluate_key_provider(diags, kind, name, part.span)
                .map(ArgumentValue::Keys);
        }
        let value = evaluate(diags, &argument.expr, self.scope)?;
        let value = value.split_marks().0.into_value();
        if let Value::String(text) = &value
            && let Some((kind, name)) = parse_quoted_key_provider(text)
        {
            return self
                .evaluate_key_provider(diags, kind, name, part.span)
                .map(ArgumentValue::Keys);
        }
        if !value.is_wholly_known() {
            let detail = format!(
                "The argument {:?} is not known before the state is read.",
                argument.name.name.as_str()
            );
            let problem = Diagnostic::error(messages::UNKNOWN_VALUE_IN_ENCRYPTION_BLOCK, detail);
            return Err(diags.error(problem.at(part.span)));
        }
        Ok(ArgumentValue::Value(value))
    }

    fn evaluate_key_provider(
        &mut self,
        diags: &mut Diagnostics,
        kind: Str,
        name: Str,
        span: Span,
    ) -> Result<Arc<KeyProviderSettings>, Reported> {
        let addr = (kind, name);
        let address = |(kind, name): &(Str, Str)| format!("key_provider.{kind}.{name}");
        if self.pending.contains(&addr) {
            let chain: Vec<String> = self.pending.iter().chain([&addr]).map(address).collect();
            let detail = format!(
                "Key providers depend on each other in a cycle: {}. Remove one of the references.",
                chain.join(" -> ")
            );
            let problem = Diagnostic::error(messages::CIRCULAR_REFERENCE_DETECTED, detail);
            return Err(diags.error(problem.at(span)));
        }
        if let Some(known) = self.known.get(&addr) {
            return Ok(Arc::clone(known));
        }
        let block = self.block;
        let mut all = block.key_providers.iter();
        let Some(part) = all.find(|part| (&part.kind, &part.name) == (&addr.0, &addr.1)) else {
            let detail = format!(
                "There is no key_provider {:?} {:?} block declared in the encryption block.",
                addr.0.as_str(),
                addr.1.as_str()
            );
            let problem = Diagnostic::error(messages::REFERENCE_TO_UNDECLARED_KEY_PROVIDER, detail);
            return Err(diags.error(problem.at(span)));
        };
        self.pending.push(addr.clone());
        let arguments = self.evaluate_arguments(diags, part);
        // Also after an error, or a later target would be blamed for a circle.
        self.pending.pop();
        let metadata_key = part.alias.clone().unwrap_or_else(|| address(&addr));
        let (kind, name) = addr.clone();
        let span = part.span;
        let arguments = arguments?;
        let settings = KeyProviderSettings { kind, name, metadata_key, arguments, span };
        let settings = Arc::new(settings);
        self.known.insert(addr, Arc::clone(&settings));
        Ok(settings)
    }
}

/// The type and the name in `ROOT.TYPE.NAME`. In JSON, OpenTofu's documentation writes a reference as an
/// interpolation: `"${ROOT.TYPE.NAME}"`.
fn parse_encryption_reference(expr: &Expr, root: &str) -> Option<(Str, Str)> {
    let expr = match &expr.kind {
        ExprKind::Json(json) => match &json.template.kind {
            ExprKind::Wrap(interpolated) => interpolated,
            _ => expr,
        },
        _ => expr,
    };
    let traversal = as_traversal(expr).filter(|traversal| traversal.root.name == root)?;
    match traversal.steps.as_slice() {
        [TraversalStep::Attribute(kind), TraversalStep::Attribute(name)] => {
            Some((kind.name.clone(), name.name.clone()))
        }
        _ => None,
    }
}

/// The key provider that a string names: JSON has no other syntax for references.
fn parse_quoted_key_provider(text: &str) -> Option<(Str, Str)> {
    let mut sources = Sources::new();
    let source = sources.add("", text.strip_prefix("key_provider.").map(|_| text)?);
    let expr = parse_expression(&mut Diagnostics::new(), &sources, source).ok()?;
    parse_encryption_reference(&expr, "key_provider")
}
