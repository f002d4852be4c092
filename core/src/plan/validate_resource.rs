//! Validation of one resource. Everything that can be judged on its own is, in Terraform's order; a
//! part that depends on a broken one is not.

use formwork_value::{Diagnostics, Marks, Reported, Value};

use super::attribute_references::{check_ignored_parts, warn_of_redundant_ignores};
use super::resource_vertex::ResourceVertex;
use crate::addr::ResourceMode;
use crate::config::{Repetition, import_problem};
use crate::eval::check_references::{ReferenceLocation, decode_body_checked};
use crate::eval::conditions::validate_conditions;
use crate::eval::import::expand_import;
use crate::eval::{ModuleResults, ModuleScope, RepetitionData, expand};
use crate::instance_steps::{
    ProvisionedResource, check_ephemeral_values, check_ignored_changes, check_provisioners,
    point_diagnostics_at_parts,
};
use crate::provider::{CallContext, ProviderClient, ResourceType, unsupported_type_error};
use crate::shared_graph::ValidationContext;

/// A resource in the single module instance of validation.
#[derive(Clone, Copy)]
struct ValidatedResource<'p> {
    vertex: &'p ResourceVertex<'p>,
    ty: Option<&'p ResourceType>,
    module: &'p ModuleResults,
    scope: &'p ModuleScope<'p>,
}

impl ValidationContext<'_> {
    /// Checks a resource and its imports. Returns the configuration, if the provider accepted it
    /// without a word.
    pub(super) async fn validate_resource(
        self,
        diags: &mut Diagnostics,
        vertex: &ResourceVertex<'_>,
    ) -> Result<Option<Value>, Reported> {
        let (session, config) = (self.session, vertex.config);
        let name = &vertex.addr.resource;
        let client = session.pool.unconfigured_client(diags, &vertex.provider.provider).await?;
        let Some(client) = client else { return Ok(None) };
        let ty = client.loaded_schemas().find_resource_type(name.mode(), name.resource_type());
        // Every call represents one instance, since the number of instances is not known yet.
        let modules = session.results.module_instances(&vertex.node.path);
        let Some(&module) = modules.first() else { return Ok(None) };
        let placeholder = match (&ty, &config.repetition) {
            (Some(ty), Repetition::Single) => {
                mark_if_ephemeral_mode(name.mode(), Value::unknown(ty.ty.clone()))
            }
            // Not marked: each instance is ephemeral, and the collection of them is not.
            _ => Value::dynamic(),
        };
        if let Some(results) = module.resource_results(name) {
            results.set_placeholder(placeholder.clone());
        }
        let mut resource_diags = Diagnostics::new();
        let _ = self.validate_imports(&mut resource_diags, vertex).await;
        // The block of one that is generated is made only when the object was found.
        if vertex.generated {
            return diags.append(resource_diags).map(|()| None);
        }
        let unknown = RepetitionData::unknown_of_kind(&config.repetition);
        let site = ReferenceLocation { resource: Some(name), ..ReferenceLocation::default() };
        let scope = self.module_scope(module).with_repetition(unknown).at_location(site);
        let validated = ValidatedResource { vertex, ty: ty.as_deref(), module, scope: &scope };
        let accepted = self.validate_block(&mut resource_diags, validated, &client).await;
        let conditions = |diags: &mut Diagnostics| {
            let lifecycle = &config.lifecycle;
            let before = validate_conditions(diags, &scope, &lifecycle.preconditions);
            let scope = scope.clone().with_self(placeholder.clone());
            validate_conditions(diags, &scope, &lifecycle.postconditions).and(before)
        };
        let _ = session.evaluate_with_functions(&mut resource_diags, conditions).await;
        if let Some(ty) = &ty {
            // Here only, where no value is known: what a provisioner refers to may be there when it runs,
            // such as a file that the run creates, and without an instance it never runs.
            let scope = self.module_scope(module).at_location(site);
            let resource = ProvisionedResource { config, ty: &ty.ty };
            let _ = check_provisioners(session, &mut resource_diags, resource, &scope).await;
        }
        diags.append(resource_diags)?;
        accepted
    }

    /// Checks the blocks that import objects into a resource, up to the first that is wrong.
    async fn validate_imports(
        self,
        diags: &mut Diagnostics,
        vertex: &ResourceVertex<'_>,
    ) -> Result<(), Reported> {
        let root = self.module_scope(self.session.results.root());
        let config = self.session.config;
        let imports = |diags: &mut Diagnostics| {
            let mut imports = vertex.imports.iter();
            imports.try_for_each(|import| match import_problem(config, import) {
                Some(problem) => Err(diags.error(problem)),
                None => expand_import(diags, &root, config, import).map(drop),
            })
        };
        self.session.evaluate_with_functions(diags, imports).await
    }

    /// Checks the repetition of a resource and its arguments, and has the provider validate them.
    async fn validate_block(
        self,
        diags: &mut Diagnostics,
        validated: ValidatedResource<'_>,
        client: &ProviderClient,
    ) -> Result<Option<Value>, Reported> {
        let (session, config) = (self.session, validated.vertex.config);
        let outer = self.module_scope(validated.module);
        let repetition =
            |diags: &mut Diagnostics| expand::check_repetition(diags, &outer, &config.repetition);
        let repetition = session.evaluate_with_functions(diags, repetition).await;
        let objects = outer.check_whole_object_references(diags, &config.depends_on);
        let Some(ty) = validated.ty else {
            let name = &validated.vertex.addr.resource;
            return Err(diags.error(unsupported_type_error(
                client.loaded_schemas(),
                name,
                config.type_span,
            )));
        };
        let value = |diags: &mut Diagnostics| {
            decode_body_checked(diags, &config.body, ty.schema_block(), validated.scope)
        };
        let value = session.evaluate_with_functions(diags, value).await?;
        let ephemeral = check_ephemeral_values(diags, config, ty.schema_block(), &value);
        let ignored =
            check_ignored_changes(diags, &config.lifecycle.ignore_changes, ty.schema_block());
        let parts = check_ignored_parts(diags, &config.lifecycle.ignore_changes, ty.schema_block());
        if ignored.is_ok() && parts.is_ok() {
            let ignored = &config.lifecycle.ignore_changes;
            warn_of_redundant_ignores(diags, ignored, ty.schema_block(), config.type_span);
        }
        let about = CallContext { addr: &validated.vertex.addr, block: Some(config.span) };
        let mut provider_diags = Diagnostics::new();
        let verdict = client.validate_resource_config(&mut provider_diags, ty, &value, about).await;
        // What is known and was accepted here need not be shown to the provider again for the plan.
        let is_accepted = provider_diags.is_empty() && value.is_wholly_known();
        point_diagnostics_at_parts(&mut provider_diags, &config.body, config.span);
        diags.append(provider_diags).and(verdict)?;
        repetition.map(drop).and(objects).and(ephemeral).and(ignored).and(parts)?;
        Ok(is_accepted.then_some(value))
    }
}

/// Marks a placeholder for an object of this mode that is not known yet.
fn mark_if_ephemeral_mode(mode: ResourceMode, value: Value) -> Value {
    match mode {
        ResourceMode::Ephemeral => value.mark(Marks::EPHEMERAL),
        ResourceMode::Managed | ResourceMode::Data => value,
    }
}
