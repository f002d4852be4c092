//! Refuses objects that are too large to be sent to their provider again.

use bytes::Bytes;
use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message_limits::StoredSizes;
use formwork_value::codec::{json, msgpack};
use formwork_value::{Diagnostic, Diagnostics, Path, Plain, Reported, Str, Type, Value};

use super::{ProviderClient, ResponseContext};
use crate::messages;
use crate::provider::ResourceType;

/// The object in a response.
#[derive(Clone, Copy)]
pub(crate) struct ObjectInResponse<'a> {
    /// The object as received.
    pub(crate) payload: &'a Payload,
    /// The decoded object.
    pub(crate) value: &'a Plain,
    /// The private data of the provider.
    pub(crate) private: &'a Bytes,
}

impl ProviderClient {
    /// Checks that an object can be sent to the provider again once it is stored.
    ///
    /// # Errors
    /// Returns an error if the object with its private data exceeds the message limit.
    pub(crate) fn check_object_size(
        &self,
        diags: &mut Diagnostics,
        answer: ObjectInResponse<'_>,
        context: ResponseContext<'_>,
    ) -> Result<(), Reported> {
        let ResponseContext { call, ty, about } = context;
        let limit = self.calls.message_limit;
        let ObjectInResponse { payload, value, private } = answer;
        let stored = StoredSizes { object: payload.encoded_len(), private: private.len() };
        if stored.fits_in_request(limit, || encoded_json_len(ty, value)) {
            return Ok(());
        }
        let detail = format!(
            "The response of provider {} to {call} for {} has an object of {} bytes with private data of {} bytes. A request with this object would exceed the message limit of {limit} bytes, so it could not be read, changed or destroyed.",
            self.addr(),
            about.addr,
            stored.object,
            stored.private
        );
        let problem = Diagnostic::error(messages::OBJECT_IS_TOO_LARGE_TO_BE_STORED, detail);
        Err(diags.error(problem.at_opt(about.block).about(about.addr.to_string())))
    }

    /// Returns an object without its largest attributes, so that it can be sent again, and the names of
    /// these attributes. Each gets its planned value, if that is smaller, and null otherwise. The `id`
    /// is kept.
    pub(crate) fn remove_large_attributes(
        &self,
        ty: &ResourceType,
        planned: &Plain,
        object: &Plain,
    ) -> (Plain, Vec<Str>) {
        let Type::Object(shape) = &ty.ty else { return (object.clone(), Vec::new()) };
        let size =
            |value: &Value, ty: &Type| msgpack::encode(value, ty).map_or(0, |bytes| bytes.len());
        let sized = shape.attributes.iter().filter_map(|(name, ty)| {
            let path = Path::root().attribute(name.clone());
            let length = size(path.find(object.value())?, ty);
            (name.as_str() != "id").then_some((length, name, ty, path))
        });
        let mut sized: Vec<_> = sized.collect();
        // Popped from the end: the largest are removed first, so that as few attributes as possible are
        // lost.
        sized.sort_by_key(|(length, ..)| *length);
        let (mut smallest, mut large) = (object.clone(), Vec::new());
        while let Some((length, name, ty_of, path)) = sized.pop()
            && !self.fits_into_message(ty, &smallest)
        {
            let planned = path.find(planned.value()).filter(|value| value.is_wholly_known());
            let smaller = planned.filter(|value| size(value, ty_of) < length).cloned();
            let smaller = smaller.unwrap_or_else(|| Value::null(ty_of.clone()));
            if let Some(without) = smallest.value().replace_at(&path, |_| smaller.clone()) {
                smallest = without.split_marks().0;
                large.push(name.clone());
            }
        }
        (smallest, large)
    }

    fn fits_into_message(&self, ty: &ResourceType, object: &Plain) -> bool {
        let payload = Payload::Value(object.clone(), ty.ty.clone());
        let stored = StoredSizes { object: payload.encoded_len(), private: 0 };
        stored.fits_in_request(self.calls.message_limit, || encoded_json_len(ty, object))
    }
}

fn encoded_json_len(ty: &ResourceType, object: &Plain) -> usize {
    json::encode(object.value(), &ty.ty).map_or(0, |text| text.len())
}
