//! State store messages.

use super::payload::{encode_absent_as_null, payload_from_wire};
use super::{InvalidMessage, UnencodableMessage, diag};
use crate::message::state_store::{
    ConfigureStoreRequest, ConfigureStoreResponse, LockResponse, StateChunk, StateRef,
    StatesResponse,
};
use crate::wire::generated::tfplugin6 as v6;

impl TryFrom<ConfigureStoreRequest> for v6::configure_state_store::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ConfigureStoreRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            type_name: request.type_name,
            capabilities: Some(v6::StateStoreClientCapabilities { chunk_size: request.chunk_size }),
        })
    }
}

impl From<v6::configure_state_store::Request> for ConfigureStoreRequest {
    fn from(wire: v6::configure_state_store::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: payload_from_wire(wire.config),
            chunk_size: wire.capabilities.unwrap_or_default().chunk_size,
        }
    }
}

impl From<ConfigureStoreResponse> for v6::configure_state_store::Response {
    fn from(response: ConfigureStoreResponse) -> Self {
        Self {
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            capabilities: Some(v6::StateStoreServerCapabilities {
                chunk_size: response.chunk_size,
            }),
        }
    }
}

impl From<v6::configure_state_store::Response> for ConfigureStoreResponse {
    fn from(wire: v6::configure_state_store::Response) -> Self {
        Self {
            chunk_size: wire.capabilities.unwrap_or_default().chunk_size,
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl From<StateRef> for v6::read_state_bytes::Request {
    fn from(state: StateRef) -> Self {
        Self { type_name: state.type_name, state_id: state.state_id }
    }
}

impl From<v6::read_state_bytes::Request> for StateRef {
    fn from(wire: v6::read_state_bytes::Request) -> Self {
        Self { type_name: wire.type_name, state_id: wire.state_id }
    }
}

impl From<StateRef> for v6::delete_state::Request {
    fn from(state: StateRef) -> Self {
        Self { type_name: state.type_name, state_id: state.state_id }
    }
}

impl From<v6::delete_state::Request> for StateRef {
    fn from(wire: v6::delete_state::Request) -> Self {
        Self { type_name: wire.type_name, state_id: wire.state_id }
    }
}

impl From<StateChunk> for v6::read_state_bytes::Response {
    fn from(chunk: StateChunk) -> Self {
        Self {
            bytes: chunk.bytes,
            total_length: chunk.total_length,
            range: Some(v6::StateRange { start: chunk.start, end: chunk.end }),
            diagnostics: diag::encode_diagnostics(chunk.diagnostics),
        }
    }
}

impl From<v6::read_state_bytes::Response> for StateChunk {
    fn from(wire: v6::read_state_bytes::Response) -> Self {
        let range = wire.range.unwrap_or_default();
        Self {
            bytes: wire.bytes,
            total_length: wire.total_length,
            start: range.start,
            end: range.end,
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

/// Writes a state in chunks. Only the first names the state; an empty state is one empty chunk.
pub(crate) fn encode_state_chunks(
    state: StateRef,
    chunks: Vec<StateChunk>,
) -> Vec<v6::write_state_bytes::RequestChunk> {
    let meta = v6::RequestChunkMeta { type_name: state.type_name, state_id: state.state_id };
    let mut encoded: Vec<_> = chunks
        .into_iter()
        .map(|chunk| v6::write_state_bytes::RequestChunk {
            meta: None,
            bytes: chunk.bytes,
            total_length: chunk.total_length,
            range: Some(v6::StateRange { start: chunk.start, end: chunk.end }),
        })
        .collect();
    // Without any chunk, no message would name the state.
    if encoded.is_empty() {
        encoded.push(v6::write_state_bytes::RequestChunk::default());
    }
    // Protocol 6: the name is in the first chunk only.
    if let Some(first_chunk) = encoded.first_mut() {
        first_chunk.meta = Some(meta);
    }
    encoded
}

/// A state being written, whose pieces are being received.
#[derive(Debug, Default)]
pub(crate) struct IncomingStateChunks {
    state: Option<StateRef>,
    chunks: Vec<StateChunk>,
    n_bytes: i64,
}

impl IncomingStateChunks {
    /// The largest state taken in.
    const MAX_STATE_BYTES: i64 = 1 << 30;

    /// Adds one chunk.
    ///
    /// # Errors
    /// When the first chunk does not name the state, or the chunks are longer than announced or
    /// than the limit: they are held in memory.
    pub(crate) fn push(
        &mut self,
        chunk: v6::write_state_bytes::RequestChunk,
    ) -> Result<(), InvalidMessage> {
        if self.state.is_none() {
            let meta =
                chunk.meta.ok_or_else(|| InvalidMessage::new("the first chunk names no state"))?;
            self.state = Some(StateRef { type_name: meta.type_name, state_id: meta.state_id });
        }
        let length = i64::try_from(chunk.bytes.len()).unwrap_or(i64::MAX);
        self.n_bytes = self.n_bytes.saturating_add(length);
        // The announced length is only a claim, so the length is limited.
        let limit = chunk.total_length.min(Self::MAX_STATE_BYTES);
        if self.n_bytes > limit {
            return Err(InvalidMessage::new(format!("the state is longer than {limit} bytes")));
        }
        let range = chunk.range.unwrap_or_default();
        self.chunks.push(StateChunk {
            bytes: chunk.bytes,
            total_length: chunk.total_length,
            start: range.start,
            end: range.end,
            diagnostics: Vec::new(),
        });
        Ok(())
    }

    /// Returns the state's name and chunks.
    ///
    /// # Errors
    /// When there was no chunk.
    pub(crate) fn into_state_ref_and_chunks(
        self,
    ) -> Result<(StateRef, Vec<StateChunk>), InvalidMessage> {
        let state = self.state.ok_or_else(|| InvalidMessage::new("a state without any piece"))?;
        Ok((state, self.chunks))
    }
}

impl From<LockResponse> for v6::lock_state::Response {
    fn from(response: LockResponse) -> Self {
        Self {
            lock_id: response.lock_id,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
        }
    }
}

impl From<v6::lock_state::Response> for LockResponse {
    fn from(wire: v6::lock_state::Response) -> Self {
        Self { lock_id: wire.lock_id, diagnostics: diag::decode_diagnostics(wire.diagnostics) }
    }
}

impl From<StatesResponse> for v6::get_states::Response {
    fn from(response: StatesResponse) -> Self {
        Self {
            state_id: response.state_ids,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
        }
    }
}

impl From<v6::get_states::Response> for StatesResponse {
    fn from(wire: v6::get_states::Response) -> Self {
        Self { state_ids: wire.state_id, diagnostics: diag::decode_diagnostics(wire.diagnostics) }
    }
}
