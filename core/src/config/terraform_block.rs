//! `terraform` blocks: versions, providers, and the location of the state.

use std::path::Path;

use formwork_lang::content::{BodySchema, into_content, into_just_attributes};
use formwork_lang::eval::first_token_span;
use formwork_lang::syntax::{Attribute, Block, Body, Expr, ExprKind, Ident};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Value};

use super::arguments::{format_span, unsupported_feature_error};
use super::encryption::{self, EncryptionBlock};
use super::override_files::is_override_file_name;
use super::provider::check_local_name;
use super::state_block::{StateBlock, StateBlockKind, duplicate_state_block_error};
use super::{
    Config, LocalProviderConfig, ModuleSettings, ProviderAddr, ProviderMeta, RequiredProvider,
    StateBackendBlock, constant, state_store, traversal,
};
use crate::messages;
use crate::version::{
    ConstraintError, LANGUAGE_VERSION, LooseConstraints, LooseVersion, VersionConstraints,
};

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[("required_version", false), ("experiments", false), ("language", false)],
    blocks: &[
        ("required_providers", &[]),
        ("backend", &["type"]),
        ("cloud", &[]),
        ("state_store", &["type"]),
        ("provider_meta", &["provider"]),
        ("encryption", &[]),
    ],
};

impl StateBackendBlock {
    /// Whether this is a `cloud` block.
    #[must_use]
    pub fn is_cloud(&self) -> bool {
        self.kind == "cloud"
    }

    /// Evaluates the arguments, which are constants, against the schema of the backend.
    ///
    /// # Errors
    /// When an argument is not in the schema, or its value does not have the required type.
    pub fn evaluate_arguments(
        &self,
        diags: &mut Diagnostics,
        schema: &formwork_value::schema::Block,
    ) -> Result<Value, Reported> {
        evaluate_constant_body(diags, &self.body, schema)
    }
}

impl Config {
    /// The backend block, if the root module has one.
    #[must_use]
    pub fn backend(&self) -> Option<&StateBackendBlock> {
        self.root.settings.backend.as_ref()
    }
}

impl ModuleSettings {
    /// The provider address of a local name of this module.
    #[must_use]
    pub fn provider_for_local_name(&self, name: &Str) -> ProviderAddr {
        match self.required_providers.get(name) {
            Some(required) => required.source.clone(),
            None => ProviderAddr::implied_by_name(name),
        }
    }

    /// Metadata that the module sends to a provider, if any.
    #[must_use]
    pub fn provider_meta_for(&self, provider: &ProviderAddr) -> Option<&ProviderMeta> {
        // By address, because one provider may have several local names.
        self.metas
            .iter()
            .find(|(name, _)| self.provider_for_local_name(name) == *provider)
            .map(|(_, meta)| meta)
    }

    /// Reads a `terraform` block into the settings.
    pub(super) fn read_terraform_block(
        &mut self,
        diags: &mut Diagnostics,
        sources: &Sources,
        block: Block,
    ) {
        let mut content = into_content(diags, block.body, &BODY_SCHEMA);
        if let Some(attribute) = content.take_attribute("required_version")
            && let Ok(version) = read_required_version(diags, &attribute.expr)
        {
            self.required_version.push(version);
        }
        if let Some(attribute) = content.take_attribute("experiments") {
            let detail = "Experimental features are intended only for gathering early feedback on new language designs, and so are available only in alpha releases of Terraform. Remove the argument.";
            let problem = Diagnostic::error(messages::MODULE_USES_EXPERIMENTAL_FEATURES, detail);
            let _ = diags.error(problem.at(attribute.name.span));
        }
        if let Some(attribute) = content.take_attribute("language") {
            check_language_argument(diags, &attribute.expr);
        }
        for block in content.blocks {
            match block.kind.name.as_str() {
                "required_providers" => self.read_required_providers(diags, sources, block),
                "backend" | "cloud" | "state_store" => self.read_backend(diags, sources, block),
                "provider_meta" => self.read_provider_meta(diags, sources, block),
                "encryption" => self.read_encryption(diags, sources, block),
                kind => {
                    let feature = format!("A `{kind}` block");
                    let _ = diags.error(unsupported_feature_error(&feature, block.header));
                }
            }
        }
    }

    fn read_required_providers(
        &mut self,
        diags: &mut Diagnostics,
        sources: &Sources,
        block: Block,
    ) {
        if let Some(first) = self.required_providers_span {
            let _ = diags.error(
                Diagnostic::error(
                    messages::DUPLICATE_REQUIRED_PROVIDERS_CONFIGURATION,
                    format!(
                        "A module may have only one required providers configuration. The required providers were previously configured at {}.",
                        format_span(sources, first)
                    ),
                )
                .at(block.header),
            );
            return;
        }
        self.required_providers_span = Some(block.header);
        for attribute in &into_just_attributes(diags, block.body) {
            if let Ok(required) = read_required_provider(diags, attribute) {
                self.required_providers.insert(attribute.name.name.clone(), required);
            }
        }
    }

    /// Reads the metadata that the module sends to a provider.
    fn read_provider_meta(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let Some(name) = block.labels.first() else { return };
        // Both before returning, so that one run reports both.
        let named = check_local_name(diags, name, block.header);
        let constant = check_constant_arguments(diags, block.body.clone());
        if named.and(constant).is_err() {
            return;
        }
        if let Some(existing) = self.metas.get(&name.name) {
            let detail = format!(
                "A provider_meta block for provider {:?} was already declared at {}. Providers may only have one provider_meta block per module.",
                name.name.as_str(),
                format_span(sources, existing.span)
            );
            let problem = Diagnostic::error(messages::DUPLICATE_PROVIDER_META_BLOCK, detail);
            let _ = diags.error(problem.at(block.header));
            return;
        }
        let meta = ProviderMeta { body: block.body, span: block.header, name_span: name.span };
        self.metas.insert(name.name.clone(), meta);
    }

    /// Reads the encryption of states and plans. Of an override file it is merged over the first one.
    fn read_encryption(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let header = block.header;
        let Ok(read) = EncryptionBlock::from_block(diags, block) else { return };
        match &mut self.encryption {
            None => self.encryption = Some(read),
            Some(first) => {
                let name = Path::new(sources.name(header.source));
                let name = name.file_name().unwrap_or_default().to_string_lossy();
                if is_override_file_name(&name) && first.span.source != header.source {
                    first.merge(read);
                } else {
                    let _ = diags
                        .error(encryption::duplicate_encryption_error(sources, first.span, header));
                }
            }
        }
    }

    fn read_backend(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let header = StateBlock::from_block(&block);
        if let Some(first) = self.backend.as_ref().map(StateBlock::from_backend) {
            let _ = diags.error(duplicate_state_block_error(sources, first, header));
            return;
        }
        if header.kind == StateBlockKind::StateStore {
            // The errors of the block were reported.
            self.backend = state_store::read_state_store_block(diags, sources, block).ok();
            return;
        }
        // A `cloud` block has no label, and no backend has that name.
        let kind = block.labels.first().unwrap_or(&block.kind).name.clone();
        self.backend =
            Some(StateBackendBlock { kind, body: block.body, span: block.header, provider: None });
    }
}

/// Reports an edition of the language other than the only existing one.
fn check_language_argument(diags: &mut Diagnostics, expr: &Expr) {
    let summary = match expr.as_keyword() {
        Some("TF2021") => return,
        Some(_) => messages::UNSUPPORTED_LANGUAGE_EDITION,
        None => messages::INVALID_LANGUAGE_EDITION,
    };
    let detail = "The only edition of the language is TF2021, which is the default.";
    let _ = diags.error(Diagnostic::error(summary, detail).at(expr.span));
}

/// Evaluates a body of constants against a schema.
///
/// # Errors
/// When an argument is not in the schema, or its value does not have the required type.
pub fn evaluate_constant_body(
    diags: &mut Diagnostics,
    body: &Body,
    schema: &formwork_value::schema::Block,
) -> Result<Value, Reported> {
    formwork_lang::decode::evaluate_body(diags, body, schema, &constant::EmptyScope)
}

/// Reports everything in a body that is not an argument with a constant value.
fn check_constant_arguments(diags: &mut Diagnostics, body: Body) -> Result<(), Reported> {
    let mut argument_diags = Diagnostics::new();
    for attribute in into_just_attributes(&mut argument_diags, body) {
        // The errors of the argument are in `argument_diags`.
        drop(constant::constant_value(&mut argument_diags, &attribute.expr));
    }
    diags.append(argument_diags)
}

fn read_required_version(diags: &mut Diagnostics, expr: &Expr) -> Result<(String, Span), Reported> {
    let constraints = read_loose_constraint(diags, expr)?;
    Ok((constraints.map(|constraints| constraints.to_string()).unwrap_or_default(), expr.span))
}

/// Reports every constraint on the engine's version that this one does not meet.
pub(super) fn check_engine_version(diags: &mut Diagnostics, files: &[Body]) {
    // Reads only `terraform` blocks, so that it works on configurations from the future.
    let engine = LooseVersion::from(&LANGUAGE_VERSION);
    let blocks = files.iter().flat_map(|file| &file.blocks);
    for block in blocks.filter(|block| block.kind.name == "terraform") {
        if let Some(attribute) = block.body.find_attribute("required_version") {
            // A malformed constraint is reported when the block is read.
            let Some(text) = attribute.expr.as_string_literal() else { continue };
            let Ok(constraints) = text.parse::<LooseConstraints>() else { continue };
            if constraints.has_prerelease() {
                let detail = format!(
                    "`{text}` names a prerelease. Prereleases of the engine cannot be \
                     required. Remove the part after the numbers."
                );
                let problem =
                    Diagnostic::error(messages::INVALID_REQUIRED_VERSION_CONSTRAINT, detail);
                let _ = diags.error(problem.at(attribute.expr.span));
            } else if !constraints.allows_version(&engine) {
                let _ = diags.error(
                    Diagnostic::error(
                        messages::UNSUPPORTED_TERRAFORM_CORE_VERSION,
                        format!(
                            "This configuration requires Terraform `{text}`. This program is compatible \
                             with Terraform {LANGUAGE_VERSION}. Change the constraint if that is enough \
                             for the configuration."
                        ),
                    )
                    .at(attribute.span),
                );
            }
        }
    }
}

/// Reads constraints on the version of a provider, as they are written; none of an expression that
/// could not be parsed, which was reported then.
fn read_provider_constraint(diags: &mut Diagnostics, expr: &Expr) -> Result<String, Reported> {
    let text = match constant::constant_value(diags, expr)? {
        Value::String(text) => text.as_str().to_owned(),
        Value::Unknown(..) => return Ok(String::new()),
        _ => {
            let detail = "Version constraints are a string, such as \"~> 3.0\".";
            let problem = Diagnostic::error(messages::INVALID_VERSION_CONSTRAINT, detail);
            return Err(diags.error(problem.at(first_token_span(expr))));
        }
    };
    check_provider_constraint(diags, &text, expr.span).map(|()| text)
}

/// Reports a string that is not a provider version constraint.
pub(super) fn check_provider_constraint(
    diags: &mut Diagnostics,
    text: &str,
    span: Span,
) -> Result<(), Reported> {
    let bad = match text.parse::<VersionConstraints>() {
        // Only the lock file may omit the constraints.
        Ok(constraints) if constraints.is_empty() => ConstraintError::Empty,
        Ok(_) => return Ok(()),
        Err(bad) => bad,
    };
    Err(diags.error(invalid_constraint_error(text, &bad, span)))
}

/// Reads constraints on the version of a module or of the engine; `None` for an expression that could
/// not be parsed, which was reported then.
pub(super) fn read_loose_constraint(
    diags: &mut Diagnostics,
    expr: &Expr,
) -> Result<Option<LooseConstraints>, Reported> {
    let Some(text) = constant::constant_string_unless_unparsed(diags, expr)? else {
        return Ok(None);
    };
    let read = text.parse().map(Some);
    read.map_err(|bad| diags.error(invalid_constraint_error(&text, &bad, expr.span)))
}

fn invalid_constraint_error(text: &str, bad: &ConstraintError, span: Span) -> Diagnostic {
    let detail = format!(
        "This string does not use correct version constraint syntax. `{text}` was found: {bad}."
    );
    Diagnostic::error(messages::INVALID_VERSION_CONSTRAINT, detail).at(span)
}

fn read_required_provider(
    diags: &mut Diagnostics,
    attribute: &Attribute,
) -> Result<RequiredProvider, Reported> {
    let name = &attribute.name;
    // Not returned immediately, so that the errors of the entry are reported as well.
    let named = check_local_name(diags, name, name.span);
    let required = match &attribute.expr.kind {
        ExprKind::Object(_) => read_required_provider_object(diags, name, &attribute.expr)?,
        ExprKind::Text(..) | ExprKind::Template(_) | ExprKind::Json(_) => RequiredProvider {
            source: ProviderAddr::implied_by_name(&name.name),
            constraint: read_provider_constraint(diags, &attribute.expr)?,
            aliases: Vec::new(),
            span: attribute.span,
        },
        _ => return Err(diags.error(invalid_required_provider_error(attribute.expr.span))),
    };
    named.map(|()| required)
}

fn invalid_required_provider_error(span: Span) -> Diagnostic {
    Diagnostic::error(
        messages::INVALID_REQUIRED_PROVIDERS_OBJECT,
        "An entry of `required_providers` is an object with `source` and `version`, such as \
         { source = \"hashicorp/random\", version = \"~> 3.0\" }.",
    )
    .at(span)
}

/// Reads `{ source = "…", version = "…" }`.
fn read_required_provider_object(
    diags: &mut Diagnostics,
    name: &Ident,
    expr: &Expr,
) -> Result<RequiredProvider, Reported> {
    let ExprKind::Object(items) = &expr.kind else {
        return Err(diags.error(invalid_required_provider_error(expr.span)));
    };
    let mut item_diags = Diagnostics::new();
    let mut required = RequiredProvider {
        source: ProviderAddr::implied_by_name(&name.name),
        constraint: String::new(),
        aliases: Vec::new(),
        span: name.span.to(expr.span),
    };
    for item in items {
        let key = item.key.as_string_literal().map_or("", |key| key.as_str());
        match key {
            "source" => {
                if let Ok(source) = read_provider_source(&mut item_diags, &item.value) {
                    required.source = source;
                }
            }
            "version" => {
                if let Ok(text) = read_provider_constraint(&mut item_diags, &item.value) {
                    required.constraint = text;
                }
            }
            "configuration_aliases" => {
                required.aliases = read_configuration_aliases(&mut item_diags, name, &item.value);
            }
            _ => {
                let _ = item_diags.error(invalid_required_provider_error(item.key.span));
            }
        }
    }
    diags.append(item_diags).map(|()| required)
}

/// Reads `configuration_aliases`. Invalid entries are reported and left out.
fn read_configuration_aliases(
    diags: &mut Diagnostics,
    name: &Ident,
    expr: &Expr,
) -> Vec<LocalProviderConfig> {
    let items = traversal::expect_list_entries(diags, expr.clone()).unwrap_or_default();
    let mut aliases = Vec::with_capacity(items.len());
    for item in &items {
        let Ok(local) = traversal::parse_provider_expr(diags, "configuration_aliases", item) else {
            continue;
        };
        if local.name == name.name {
            aliases.push(local);
        } else {
            let detail = format!(
                "An entry of `configuration_aliases` is the local name `{}`, optionally followed by a dot and an alias, such as `{0}.other`.",
                name.name
            );
            let problem = Diagnostic::error(messages::INVALID_CONFIGURATION_ALIASES_VALUE, detail);
            let _ = diags.error(problem.at(item.span));
        }
    }
    aliases
}

fn read_provider_source(diags: &mut Diagnostics, expr: &Expr) -> Result<ProviderAddr, Reported> {
    let Some(text) = expr.as_string_literal() else {
        return Err(diags.error(
            Diagnostic::error(messages::INVALID_SOURCE, "A source is a constant string.")
                .at(expr.span),
        ));
    };
    text.parse().map_err(|bad: crate::addr::AddressError| {
        diags.error(Diagnostic::error(bad.summary, bad.detail).at(expr.span))
    })
}
