//! Our providers: thin binaries over the SDK.
