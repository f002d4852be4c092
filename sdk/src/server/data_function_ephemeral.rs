//! Calls that manage no object: data sources, functions, and ephemeral resources.

use std::collections::BTreeMap;
use std::time::SystemTime;

use bytes::Bytes;
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::ephemeral::{OpenRequest, RenewOrCloseRequest};
use formwork_plugin_protocol::message::function::{CallRequest, FunctionError};
use formwork_plugin_protocol::message::read_data::ReadDataRequest;
use formwork_plugin_protocol::message::schema::FunctionSignature;
use formwork_plugin_protocol::{Payload, contract};
use formwork_value::Value;

use super::decode_and_check::ReturnedObject;
use super::{Server, decode_and_check};
use crate::call::Call;
use crate::context::Private;
use crate::ephemeral::Expiry;
use crate::function::{self, GivenArguments};
use crate::schema::Shape;
use crate::{Answer, Problem, plan};

/// Result of an opened ephemeral resource, with its lease and private data.
pub(super) struct OpenEphemeralAnswer {
    pub(super) result: Payload,
    pub(super) private: Bytes,
    pub(super) renew_at: Option<SystemTime>,
}

impl Default for OpenEphemeralAnswer {
    fn default() -> Self {
        Self { result: Payload::Absent, private: Bytes::new(), renew_at: None }
    }
}

impl Server {
    pub(super) async fn handle_read_data(
        &self,
        call: &Call,
        request: &ReadDataRequest,
    ) -> Answer<Payload> {
        let data_source = self.find_data_source(&request.type_name)?;
        let config = decode_and_check::decode_value(data_source.shape(), &request.config)?;
        let shape = data_source.shape();
        let planned = plan_create_by_rules(shape, &config);
        let call = call.with_configured_timeout(&config, "read");
        let context =
            self.new_context(&call, &Bytes::new(), &request.provider_meta, request.client)?;
        let read_value =
            call.run_unless_stopped(data_source.read(&planned, context.clone())).await?;
        let object = plan::fill_unknown(&planned, &read_value);
        let returned = ReturnedObject { handler: "read", call: contract::Call::ReadData, object };
        Ok(decode_and_check::encode_checked(&call, shape, returned))
    }

    pub(super) fn function_signatures(&self) -> BTreeMap<String, FunctionSignature> {
        let functions = self.provider.functions.iter();
        functions.map(|(name, function)| (name.clone(), function.signature().0)).collect()
    }

    pub(super) fn handle_call_function(
        &self,
        request: &CallRequest,
    ) -> Result<Payload, FunctionError> {
        let function_error = |text| FunctionError { text, argument: None };
        let Some(function) = self.provider.functions.get(&request.name) else {
            return Err(function_error(format!(
                "the provider has no function called {:?}",
                request.name
            )));
        };
        let signature = function.signature().0;
        let types = signature.parameters.iter().map(|parameter| &parameter.ty);
        // A variadic parameter takes all further arguments.
        let rest = signature.variadic.iter().map(|parameter| &parameter.ty).cycle();
        if request.arguments.len() < signature.parameters.len() {
            return Err(function_error(format!(
                "{} arguments are needed",
                signature.parameters.len()
            )));
        }
        let argument_error = |problem: Problem| function::to_function_error(&signature, &problem);
        let mut values = Vec::new();
        for (index, (argument, ty)) in request.arguments.iter().zip(types.chain(rest)).enumerate() {
            let value = argument.decode(ty);
            let value =
                value.map_err(|error| argument_error(Problem::from(error).of_argument(index)))?;
            values.push(value.into_value());
        }
        let result = function.call(&GivenArguments(values)).map_err(argument_error)?;
        // Functions have no marks, so none are removed here.
        Ok(Payload::Value(result.split_marks().0, signature.returns))
    }

    pub(super) fn handle_validate_ephemeral(
        &self,
        call: &Call,
        request: &ValidateRequest,
    ) -> Answer<()> {
        let ephemeral = self.find_ephemeral(&request.type_name)?;
        let config = decode_and_check::decode_and_check_config(
            call,
            ephemeral.shape(),
            &request.config,
            request.client,
        )?;
        ephemeral.validate(&config, call.clone())
    }

    pub(super) async fn handle_open_ephemeral(
        &self,
        call: &Call,
        request: &OpenRequest,
    ) -> Answer<OpenEphemeralAnswer> {
        let ephemeral = self.find_ephemeral(&request.type_name)?;
        let shape = ephemeral.shape();
        let config = decode_and_check::decode_value(shape, &request.config)?;
        let planned = plan_create_by_rules(shape, &config);
        let call = call.with_configured_timeout(&config, "open");
        let context = self.new_context(&call, &Bytes::new(), &Payload::Absent, request.client)?;
        let lasts = Expiry::default();
        let open = ephemeral.open(&planned, context.clone(), lasts.clone());
        let result = call.run_unless_stopped(open).await?;
        let object = plan::fill_unknown(&planned, &result);
        let config = decode_and_check::plain(&config);
        let opened = contract::Call::Open { config: &config };
        let returned = ReturnedObject { handler: "open", call: opened, object };
        Ok(OpenEphemeralAnswer {
            result: decode_and_check::encode_checked(&call, shape, returned),
            private: context.private.to_bytes(),
            renew_at: lasts.take(),
        })
    }

    pub(super) async fn handle_renew_ephemeral(
        &self,
        call: &Call,
        request: &RenewOrCloseRequest,
    ) -> Answer<(Bytes, Option<SystemTime>)> {
        let ephemeral = self.find_ephemeral(&request.type_name)?;
        let (private, lasts) = (Private::from_bytes(&request.private), Expiry::default());
        // Not interrupted by a stop: the resource is in use until it is closed.
        ephemeral.renew(private.clone(), lasts.clone(), call.clone()).await?;
        Ok((private.to_bytes(), lasts.take()))
    }

    pub(super) async fn handle_close_ephemeral(
        &self,
        call: &Call,
        request: &RenewOrCloseRequest,
    ) -> Answer<()> {
        let ephemeral = self.find_ephemeral(&request.type_name)?;
        // Not interrupted by a stop: the resource would stay open.
        ephemeral.close(Private::from_bytes(&request.private), call.clone()).await
    }
}

/// Proposed value of a creation: the configuration with defaults, and unknown computed values.
fn plan_create_by_rules(shape: &Shape, config: &Value) -> Value {
    plan::plan_by_rules(shape, &Value::null(shape.ty().clone()), config, config)
}

/// Placeholder of a deferred answer: the configuration, and unknown computed values.
pub(super) fn deferred_placeholder(shape: &Shape, config: &Payload) -> Option<Payload> {
    let config = decode_and_check::decode_value(shape, config).ok()?;
    Some(decode_and_check::encode_value(shape, &plan_create_by_rules(shape, &config)))
}
