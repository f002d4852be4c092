//! The faults of the bad provider, by name.
//!
//! `provider/bad` implements each fault, and `scenario` checks its consequences.

macro_rules! menu {
    ($($(#[doc = $what:literal])* $fault:ident = $name:literal,)*) => {
        /// A way to misbehave. The provider's process takes it from `BAD_FAULT`, a single object
        /// from its attribute `fault`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[doc = $what])* $fault,)*
        }

        impl Fault {
            /// All faults, in the order of a provider's lifetime.
            pub const ALL: &[Self] = &[$(Self::$fault),*];

            /// The name by which it is ordered.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$fault => $name,)*
                }
            }
        }
    };
}

menu! {
    /// Prints a greeting instead of a handshake.
    StartJunk = "start-junk",
    /// Prints a log line and then a valid handshake.
    StartLogLine = "start-log-line",
    /// Ends immediately, with output on stderr and status 7.
    StartExit = "start-exit",
    /// Ends immediately, with status 0 and without output.
    StartExitZero = "start-exit-zero",
    /// Is killed by a signal before the handshake.
    StartKilled = "start-killed",
    /// Panics before the handshake.
    StartPanics = "start-panics",
    /// Never prints anything.
    StartSilent = "start-silent",
    /// Prints half a handshake without end of line, and waits.
    StartHalfLine = "start-half-line",
    /// Prints a line that does not end.
    StartLongLine = "start-long-line",
    /// Speaks version 2 of the handshake.
    StartCoreVersion = "start-core-version",
    /// Speaks version 4 of the provider protocol.
    StartProtocol = "start-protocol",
    /// Speaks the transport from before gRPC.
    StartNetRpc = "start-netrpc",
    /// Listens on an unknown network.
    StartNetwork = "start-network",
    /// Says that it listens on another machine.
    StartRemote = "start-remote",
    /// Returns no certificate although TLS was requested.
    StartNoCertificate = "start-no-certificate",
    /// Gives a certificate that is not base64.
    StartBadCertificate = "start-bad-certificate",
    /// Gives the certificate of another process.
    StartForeignCertificate = "start-foreign-certificate",
    /// Names a port without a listener.
    StartDeadPort = "start-dead-port",
    /// Names a socket that does not exist.
    StartNoSocket = "start-no-socket",
    /// Accepts the connection and sends nothing.
    StartMute = "start-mute",
    /// Waits for a line on stdin before it starts.
    StartReadsStdin = "start-reads-stdin",

    /// Ends in the call for its schema.
    SchemaDies = "schema-dies",
    /// Panics in the call for its schema.
    SchemaPanics = "schema-panics",
    /// Answers with an error about its schema.
    SchemaError = "schema-error",
    /// Refuses its schema with a gRPC status.
    SchemaStatus = "schema-status",
    /// Has no schema call.
    SchemaUnimplemented = "schema-unimplemented",
    /// Has an attribute with an invalid name.
    SchemaBadName = "schema-bad-name",
    /// Has a block that must occur more often than it may.
    SchemaMinAboveMax = "schema-min-above-max",
    /// Has a schema larger than any host accepts.
    SchemaHuge = "schema-huge",
    /// Has an attribute whose type is not JSON.
    SchemaTypeNotJson = "schema-type-not-json",
    /// Has an attribute of an unknown type.
    SchemaTypeUnknown = "schema-type-unknown",
    /// Has an attribute of a type nested without measure.
    SchemaTypeDeep = "schema-type-deep",
    /// Has a resource type without content.
    SchemaNoBlock = "schema-no-block",
    /// Has one attribute twice.
    SchemaDuplicate = "schema-duplicate",
    /// Has an attribute with a reserved name.
    SchemaReservedName = "schema-reserved-name",
    /// Does not respond to the call for its schema.
    SchemaHangs = "schema-hangs",
    /// Has blocks nested without measure.
    SchemaBlocksDeep = "schema-blocks-deep",
    /// Has no schema for its own configuration.
    SchemaNoProvider = "schema-no-provider",
    /// Has an attribute that is required, optional and computed.
    SchemaRoles = "schema-roles",
    /// Has an attribute without a type.
    SchemaNoType = "schema-no-type",
    /// Has a set of blocks with an attribute of any type.
    SchemaSetOfAny = "schema-set-of-any",
    /// Has another schema in each process.
    SchemaFickle = "schema-fickle",

    /// Rejects its configuration.
    ConfigureError = "configure-error",
    /// Ends when configured.
    ConfigureDies = "configure-dies",
    /// Refuses its configuration with a gRPC status.
    ConfigureStatus = "configure-status",
    /// Does not answer when configured.
    ConfigureHangs = "configure-hangs",

    /// Rejects the resource's configuration.
    ValidateError = "validate-error",
    /// Warns about the resource's configuration, with control characters.
    ValidateWarning = "validate-warning",
    /// Ends when it validates.
    ValidateDies = "validate-dies",

    /// Brings a stored object to the newest schema as garbage.
    UpgradeGarbage = "upgrade-garbage",
    /// Brings a stored object to the newest schema as nothing.
    UpgradeAbsent = "upgrade-absent",
    /// Ends when it upgrades.
    UpgradeDies = "upgrade-dies",

    /// Reads garbage.
    ReadGarbage = "read-garbage",
    /// Reads a number where text is due.
    ReadWrongType = "read-wrong-type",
    /// Reads an unknown value.
    ReadUnknown = "read-unknown",
    /// Refuses to read, with a gRPC status.
    ReadStatus = "read-status",
    /// Refuses the first read with the status that it is unavailable.
    ReadBusy = "read-busy",
    /// Answers a read with an error.
    ReadError = "read-error",
    /// Ends when it reads.
    ReadDies = "read-dies",
    /// Reports that the object does not exist, although it does.
    ReadNull = "read-null",
    /// Answers a read without an object.
    ReadAbsent = "read-absent",
    /// Defers a read, although the host did not allow it.
    ReadDefers = "read-defers",
    /// Reads an identity, although its type has none.
    ReadIdentity = "read-identity",
    /// Does not answer when it reads.
    ReadHangs = "read-hangs",

    /// Imports nothing and returns no diagnostic.
    ImportNothing = "import-nothing",
    /// Imports garbage.
    ImportGarbage = "import-garbage",
    /// Ends when it imports.
    ImportDies = "import-dies",
    /// Imports an object of another type.
    ImportOtherType = "import-other-type",

    /// Plans garbage.
    PlanGarbage = "plan-garbage",
    /// Plans a collection that claims four thousand million elements.
    PlanBomb = "plan-bomb",
    /// Plans a value nested without measure.
    PlanDeep = "plan-deep",
    /// Answers a plan without an object.
    PlanAbsent = "plan-absent",
    /// Plans null for a configured object.
    PlanNull = "plan-null",
    /// Plans a number where text is due.
    PlanWrongType = "plan-wrong-type",
    /// Plans another value than the author wrote.
    PlanChangesConfig = "plan-changes-config",
    /// Plans a value that only the author may set.
    PlanSetsUnset = "plan-sets-unset",
    /// Plans a value that may only be received.
    PlanWriteOnly = "plan-write-only",
    /// Wants a replacement because of an attribute it does not have.
    PlanReplaceNowhere = "plan-replace-nowhere",
    /// Plans something else each time.
    PlanFickle = "plan-fickle",
    /// Plans a change of an object that has just been created.
    PlanRestless = "plan-restless",
    /// Answers a plan with an error.
    PlanError = "plan-error",
    /// Refuses to plan, with a gRPC status.
    PlanStatus = "plan-status",
    /// Panics when it plans.
    PlanPanics = "plan-panics",
    /// Ends when it plans.
    PlanDies = "plan-dies",
    /// Defers a plan, although the host did not allow it.
    PlanDefers = "plan-defers",
    /// Does not answer when it plans.
    PlanHangs = "plan-hangs",

    /// Applies nothing and reports it.
    ApplyRefuses = "apply-refuses",
    /// Applies, and answers garbage.
    ApplyGarbage = "apply-garbage",
    /// Applies, and answers without an object.
    ApplyAbsent = "apply-absent",
    /// Applies, and answers that there is nothing.
    ApplyNull = "apply-null",
    /// Applies, and returns an error without an object, not even null.
    ApplyErrorAbsent = "apply-error-absent",
    /// Applies, and leaves out the id.
    ApplyNoId = "apply-no-id",
    /// Applies, and returns a list as the id.
    ApplyWrongId = "apply-wrong-id",
    /// Applies, and leaves the id unknown.
    ApplyUnknownId = "apply-unknown-id",
    /// Applies in part, and returns an error and an object without its id.
    ApplyErrorNoId = "apply-error-no-id",
    /// Applies, and returns an object that ends in the middle of its id.
    ApplyCut = "apply-cut",
    /// Waits for the call to stop, then answers with an error and null.
    ApplyAborts = "apply-aborts",
    /// Applies, and leaves out an attribute.
    ApplyMissing = "apply-missing",
    /// Applies, and returns a number where text is due.
    ApplyWrongType = "apply-wrong-type",
    /// Applies, and leaves a value unknown.
    ApplyUnknown = "apply-unknown",
    /// Applies, and returns a write-only value.
    ApplyWriteOnly = "apply-write-only",
    /// Applies something else than was planned.
    ApplyDiffers = "apply-differs",
    /// Applies in part, and returns an error and what there is.
    ApplyErrorPartial = "apply-error-partial",
    /// Applies, and returns an error and no object.
    ApplyErrorNull = "apply-error-null",
    /// Applies, and ends.
    ApplyExits = "apply-exits",
    /// Applies, and panics.
    ApplyPanics = "apply-panics",
    /// Applies, and is killed by a signal.
    ApplyKilled = "apply-killed",
    /// Applies, and answers with a gRPC status.
    ApplyStatus = "apply-status",
    /// Applies, and answers more bytes than any host accepts.
    ApplyTooLarge = "apply-too-large",
    /// Applies, and returns text that is not UTF-8.
    ApplyInvalidText = "apply-invalid-text",
    /// Applies, and returns a diagnostic of an unknown severity.
    ApplyStrangeSeverity = "apply-strange-severity",
    /// Applies, and returns a warning with terminal control sequences.
    ApplyEscapes = "apply-escapes",
    /// Applies, and returns twenty thousand warnings.
    ApplyManyWarnings = "apply-many-warnings",
    /// Applies, and returns a very long text.
    ApplyLongText = "apply-long-text",
    /// Applies, and returns an identity, although its type has none.
    ApplyIdentity = "apply-identity",
    /// Applies, and closes its socket and all connections, but continues to run.
    ApplyHangsUp = "apply-hangs-up",
    /// Applies, and does not answer.
    ApplyHangs = "apply-hangs",

    /// Destroys, and returns an object.
    DestroyReturns = "destroy-returns",
    /// Destroys, and answers without an object, not even null.
    DestroyAbsent = "destroy-absent",
    /// Destroys nothing and reports it.
    DestroyError = "destroy-error",
    /// Ends in a destroy call, before the object is deleted.
    DestroyDies = "destroy-dies",

    /// Reads data that is garbage.
    DataGarbage = "data-garbage",
    /// Reads data that is nothing.
    DataNull = "data-null",
    /// Reads data that is not known.
    DataUnknown = "data-unknown",
    /// Ends when it reads data.
    DataDies = "data-dies",
    /// Defers reading data, although the host did not allow it.
    DataDefers = "data-defers",

    /// Answers the call of a function with an error.
    FunctionError = "function-error",
    /// Refuses the call of a function, with a gRPC status.
    FunctionStatus = "function-status",
    /// Returns garbage from a function.
    FunctionGarbage = "function-garbage",
    /// Returns a list from a function that returns text.
    FunctionWrongType = "function-wrong-type",
    /// Returns an unknown value from a function, for known arguments.
    FunctionUnknown = "function-unknown",
    /// Returns something else from a function each time.
    FunctionFickle = "function-fickle",
    /// Ends when a function is called.
    FunctionDies = "function-dies",
    /// Does not answer when a function is called.
    FunctionHangs = "function-hangs",

    /// Answers the opening of an ephemeral resource with an error.
    OpenError = "open-error",
    /// Refuses to open, with a gRPC status.
    OpenStatus = "open-status",
    /// Opens garbage.
    OpenGarbage = "open-garbage",
    /// Opens nothing and returns no diagnostic.
    OpenNull = "open-null",
    /// Opens with an unknown result.
    OpenUnknown = "open-unknown",
    /// Opens with another value than the author wrote.
    OpenChangesConfig = "open-changes-config",
    /// Defers opening, although the host did not allow it.
    OpenDefers = "open-defers",
    /// Ends when it opens.
    OpenDies = "open-dies",
    /// Does not answer when it opens.
    OpenHangs = "open-hangs",
    /// Answers a renewal with an error.
    RenewError = "renew-error",
    /// Refuses to renew, with a gRPC status.
    RenewStatus = "renew-status",
    /// Ends when it renews.
    RenewDies = "renew-dies",
    /// Does not answer when it renews.
    RenewHangs = "renew-hangs",
    /// Answers the closing of an ephemeral resource with an error.
    CloseError = "close-error",
    /// Refuses to close, with a gRPC status.
    CloseStatus = "close-status",
    /// Ends when it closes.
    CloseDies = "close-dies",
    /// Does not answer when it closes.
    CloseHangs = "close-hangs",

    /// Writes much to stderr, in short lines and in a long one.
    ProcessStderr = "process-stderr",
    /// Writes a line without end to stdout, after the handshake.
    ProcessStdout = "process-stdout",
    /// Leaves a child process that holds its stderr open.
    ProcessChild = "process-child",
    /// Leaves many child processes, and children of those.
    ProcessForks = "process-forks",
    /// Leaves a child process in a session of its own that holds nothing open.
    ProcessDetaches = "process-detaches",
    /// Continues after the call to end.
    ProcessStays = "process-stays",
    /// Does not respond to the call to stop.
    StopHangs = "stop-hangs",
}

impl Fault {
    /// Whether a go-between commits it, which works in plain text only.
    #[must_use]
    pub fn needs_plain_text(self) -> bool {
        matches!(
            self,
            Self::SchemaTypeNotJson
                | Self::SchemaTypeUnknown
                | Self::SchemaTypeDeep
                | Self::SchemaNoBlock
                | Self::SchemaDuplicate
                | Self::SchemaNoProvider
                | Self::SchemaRoles
                | Self::SchemaNoType
                | Self::ApplyHangsUp
                | Self::ApplyInvalidText
                | Self::ApplyStrangeSeverity
        )
    }

    /// Returns the fault of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_found_by_its_name() {
        for fault in Fault::ALL {
            assert_eq!(Fault::named(fault.name()), Some(*fault), "{}", fault.name());
        }
        assert_eq!(Fault::named("nothing"), None);
    }
}
