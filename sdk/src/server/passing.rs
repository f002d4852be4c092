//! The calls that leave nothing behind: functions, and ephemeral resources.

use std::collections::BTreeMap;

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::ephemeral::{KeepRequest, OpenRequest};
use formwork_plugin_protocol::message::function::{CallRequest, FunctionError};
use formwork_plugin_protocol::message::schema::FunctionSignature;
use formwork_value::{Diagnostics, Value};

use super::{Server, check};
use crate::ephemeral::Keep;
use crate::function::{Arguments, Refusal};
use crate::{Answer, plan};

impl Server {
    pub(super) fn signatures(&self) -> BTreeMap<String, FunctionSignature> {
        let functions = self.provider.functions.iter();
        functions.map(|(name, function)| (name.clone(), function.signature().0)).collect()
    }

    pub(super) fn result_of(&self, request: &CallRequest) -> Result<Payload, FunctionError> {
        let Some(function) = self.provider.functions.get(&request.name) else {
            let text = format!("the provider has no function called {:?}", request.name);
            return Err(Refusal::new(text).0);
        };
        let signature = function.signature().0;
        let types = signature.parameters.iter().map(|parameter| &parameter.ty);
        let rest = signature.variadic.iter().map(|parameter| &parameter.ty).cycle();
        if request.arguments.len() < signature.parameters.len() {
            let text = format!("{} arguments are needed", signature.parameters.len());
            return Err(Refusal::new(text).0);
        }
        let mut values = Vec::new();
        for (at, (argument, ty)) in request.arguments.iter().zip(types.chain(rest)).enumerate() {
            let value = argument.decode(ty);
            let value = value.map_err(|error| Refusal::of_argument(at, error.to_string()).0)?;
            values.push(value.into_value());
        }
        let result: Value = function.call(&Arguments(values)).map_err(|refusal| refusal.0)?;
        // Functions make no marks, so nothing is taken off here.
        Ok(Payload::Value(result.split_marks().0, signature.returns))
    }

    pub(super) fn validate_ephemeral(
        &self,
        diags: &mut Diagnostics,
        request: &ValidateRequest,
    ) -> Answer<()> {
        let ephemeral = self.ephemeral(diags, &request.type_name)?;
        let config = check::decoded(diags, ephemeral.shape(), &request.config)?;
        check::config(diags, ephemeral.shape(), &config, request.client)?;
        ephemeral.validate(diags, &config)
    }

    pub(super) async fn opened(
        &self,
        diags: &mut Diagnostics,
        request: &OpenRequest,
    ) -> Answer<(Payload, Keep)> {
        let ephemeral = self.ephemeral(diags, &request.type_name)?;
        let config = check::decoded(diags, ephemeral.shape(), &request.config)?;
        let shape = ephemeral.shape();
        let planned = super::fresh(shape, &config);
        let opened = ephemeral.open(diags, &planned).await?;
        let result = plan::carried(&planned, &opened.value);
        Ok((check::known(diags, shape, "open", result), opened.keep))
    }

    pub(super) async fn renewed(
        &self,
        diags: &mut Diagnostics,
        request: KeepRequest,
    ) -> Answer<Keep> {
        let ephemeral = self.ephemeral(diags, &request.type_name)?;
        ephemeral.renew(diags, request.private).await
    }

    pub(super) async fn closed(&self, diags: &mut Diagnostics, request: KeepRequest) -> Answer<()> {
        let ephemeral = self.ephemeral(diags, &request.type_name)?;
        ephemeral.close(diags, request.private).await
    }
}
