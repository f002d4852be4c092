//! Regenerates the protobuf code of the plugin protocol, without protoc.
