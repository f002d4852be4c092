//! The two versions of the protocol as two tables of method paths. Says nothing of messages.

use crate::handshake::Protocol;

/// A method of the provider service, by its name in protocol 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    GetMetadata,
    GetProviderSchema,
    GetResourceIdentitySchemas,
    GetFunctions,
    ValidateProviderConfig,
    ConfigureProvider,
    StopProvider,
    ValidateResourceConfig,
    UpgradeResourceState,
    UpgradeResourceIdentity,
    ReadResource,
    PlanResourceChange,
    ApplyResourceChange,
    ImportResourceState,
    MoveResourceState,
    GenerateResourceConfig,
    ValidateDataResourceConfig,
    ReadDataSource,
    ValidateEphemeralResourceConfig,
    OpenEphemeralResource,
    RenewEphemeralResource,
    CloseEphemeralResource,
    ValidateListResourceConfig,
    ListResource,
    CallFunction,
    ValidateActionConfig,
    PlanAction,
    InvokeAction,
    ValidateStateStoreConfig,
    ConfigureStateStore,
    ReadStateBytes,
    WriteStateBytes,
    LockState,
    UnlockState,
    GetStates,
    DeleteState,
}

const V5: [(Call, &str); 28] = [
    (Call::GetMetadata, "/tfplugin5.Provider/GetMetadata"),
    (Call::GetProviderSchema, "/tfplugin5.Provider/GetSchema"),
    (Call::GetResourceIdentitySchemas, "/tfplugin5.Provider/GetResourceIdentitySchemas"),
    (Call::GetFunctions, "/tfplugin5.Provider/GetFunctions"),
    (Call::ValidateProviderConfig, "/tfplugin5.Provider/PrepareProviderConfig"),
    (Call::ConfigureProvider, "/tfplugin5.Provider/Configure"),
    (Call::StopProvider, "/tfplugin5.Provider/Stop"),
    (Call::ValidateResourceConfig, "/tfplugin5.Provider/ValidateResourceTypeConfig"),
    (Call::UpgradeResourceState, "/tfplugin5.Provider/UpgradeResourceState"),
    (Call::UpgradeResourceIdentity, "/tfplugin5.Provider/UpgradeResourceIdentity"),
    (Call::ReadResource, "/tfplugin5.Provider/ReadResource"),
    (Call::PlanResourceChange, "/tfplugin5.Provider/PlanResourceChange"),
    (Call::ApplyResourceChange, "/tfplugin5.Provider/ApplyResourceChange"),
    (Call::ImportResourceState, "/tfplugin5.Provider/ImportResourceState"),
    (Call::MoveResourceState, "/tfplugin5.Provider/MoveResourceState"),
    (Call::GenerateResourceConfig, "/tfplugin5.Provider/GenerateResourceConfig"),
    (Call::ValidateDataResourceConfig, "/tfplugin5.Provider/ValidateDataSourceConfig"),
    (Call::ReadDataSource, "/tfplugin5.Provider/ReadDataSource"),
    (Call::ValidateEphemeralResourceConfig, "/tfplugin5.Provider/ValidateEphemeralResourceConfig"),
    (Call::OpenEphemeralResource, "/tfplugin5.Provider/OpenEphemeralResource"),
    (Call::RenewEphemeralResource, "/tfplugin5.Provider/RenewEphemeralResource"),
    (Call::CloseEphemeralResource, "/tfplugin5.Provider/CloseEphemeralResource"),
    (Call::ValidateListResourceConfig, "/tfplugin5.Provider/ValidateListResourceConfig"),
    (Call::ListResource, "/tfplugin5.Provider/ListResource"),
    (Call::CallFunction, "/tfplugin5.Provider/CallFunction"),
    (Call::ValidateActionConfig, "/tfplugin5.Provider/ValidateActionConfig"),
    (Call::PlanAction, "/tfplugin5.Provider/PlanAction"),
    (Call::InvokeAction, "/tfplugin5.Provider/InvokeAction"),
];

const V6: [(Call, &str); 36] = [
    (Call::GetMetadata, "/tfplugin6.Provider/GetMetadata"),
    (Call::GetProviderSchema, "/tfplugin6.Provider/GetProviderSchema"),
    (Call::GetResourceIdentitySchemas, "/tfplugin6.Provider/GetResourceIdentitySchemas"),
    (Call::GetFunctions, "/tfplugin6.Provider/GetFunctions"),
    (Call::ValidateProviderConfig, "/tfplugin6.Provider/ValidateProviderConfig"),
    (Call::ConfigureProvider, "/tfplugin6.Provider/ConfigureProvider"),
    (Call::StopProvider, "/tfplugin6.Provider/StopProvider"),
    (Call::ValidateResourceConfig, "/tfplugin6.Provider/ValidateResourceConfig"),
    (Call::UpgradeResourceState, "/tfplugin6.Provider/UpgradeResourceState"),
    (Call::UpgradeResourceIdentity, "/tfplugin6.Provider/UpgradeResourceIdentity"),
    (Call::ReadResource, "/tfplugin6.Provider/ReadResource"),
    (Call::PlanResourceChange, "/tfplugin6.Provider/PlanResourceChange"),
    (Call::ApplyResourceChange, "/tfplugin6.Provider/ApplyResourceChange"),
    (Call::ImportResourceState, "/tfplugin6.Provider/ImportResourceState"),
    (Call::MoveResourceState, "/tfplugin6.Provider/MoveResourceState"),
    (Call::GenerateResourceConfig, "/tfplugin6.Provider/GenerateResourceConfig"),
    (Call::ValidateDataResourceConfig, "/tfplugin6.Provider/ValidateDataResourceConfig"),
    (Call::ReadDataSource, "/tfplugin6.Provider/ReadDataSource"),
    (Call::ValidateEphemeralResourceConfig, "/tfplugin6.Provider/ValidateEphemeralResourceConfig"),
    (Call::OpenEphemeralResource, "/tfplugin6.Provider/OpenEphemeralResource"),
    (Call::RenewEphemeralResource, "/tfplugin6.Provider/RenewEphemeralResource"),
    (Call::CloseEphemeralResource, "/tfplugin6.Provider/CloseEphemeralResource"),
    (Call::ValidateListResourceConfig, "/tfplugin6.Provider/ValidateListResourceConfig"),
    (Call::ListResource, "/tfplugin6.Provider/ListResource"),
    (Call::CallFunction, "/tfplugin6.Provider/CallFunction"),
    (Call::ValidateActionConfig, "/tfplugin6.Provider/ValidateActionConfig"),
    (Call::PlanAction, "/tfplugin6.Provider/PlanAction"),
    (Call::InvokeAction, "/tfplugin6.Provider/InvokeAction"),
    (Call::ValidateStateStoreConfig, "/tfplugin6.Provider/ValidateStateStoreConfig"),
    (Call::ConfigureStateStore, "/tfplugin6.Provider/ConfigureStateStore"),
    (Call::ReadStateBytes, "/tfplugin6.Provider/ReadStateBytes"),
    (Call::WriteStateBytes, "/tfplugin6.Provider/WriteStateBytes"),
    (Call::LockState, "/tfplugin6.Provider/LockState"),
    (Call::UnlockState, "/tfplugin6.Provider/UnlockState"),
    (Call::GetStates, "/tfplugin6.Provider/GetStates"),
    (Call::DeleteState, "/tfplugin6.Provider/DeleteState"),
];

impl Protocol {
    fn table(self) -> &'static [(Call, &'static str)] {
        match self {
            Self::V5 => &V5,
            Self::V6 => &V6,
        }
    }

    /// The path of a method; none if the version lacks it.
    pub(crate) fn path(self, call: Call) -> Option<&'static str> {
        // Both tables are in the order of the enum, and protocol 5 lacks only the last ones.
        self.table().get(call as usize).map(|(_, path)| *path)
    }

    /// The method behind a path; none if the version has no such method.
    pub(crate) fn call(self, path: &str) -> Option<Call> {
        self.table().iter().find(|(_, own)| *own == path).map(|(call, _)| *call)
    }

    /// The name of a method as this version has it, for messages.
    pub(crate) fn name(self, call: Call) -> &'static str {
        let path = self.path(call).or_else(|| Self::V6.path(call)).unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The paths of the methods that a description declares.
    fn declared(description: &str, package: &str) -> BTreeSet<String> {
        let service = description.split("service Provider {").nth(1).unwrap();
        service
            .split("\n}")
            .next()
            .unwrap()
            .lines()
            .filter_map(|line| line.trim().strip_prefix("rpc ")?.split('(').next())
            .map(|method| format!("/{package}.Provider/{method}"))
            .collect()
    }

    #[test]
    fn the_tables_name_exactly_the_methods_of_the_descriptions() {
        for (protocol, package, description) in [
            (Protocol::V5, "tfplugin5", include_str!("../../proto/tfplugin5.proto")),
            (Protocol::V6, "tfplugin6", include_str!("../../proto/tfplugin6.proto")),
        ] {
            let ours: BTreeSet<_> =
                protocol.table().iter().map(|(_, path)| (*path).to_owned()).collect();
            assert_eq!(ours, declared(description, package));
        }
    }

    #[test]
    fn every_row_stands_at_the_place_of_its_call() {
        for protocol in [Protocol::V5, Protocol::V6] {
            for (call, path) in protocol.table() {
                assert_eq!(protocol.path(*call), Some(*path));
                assert_eq!(protocol.call(path), Some(*call));
            }
        }
    }

    #[test]
    fn a_call_has_the_name_its_version_gives_it() {
        assert_eq!(Protocol::V5.name(Call::GetProviderSchema), "GetSchema");
        assert_eq!(Protocol::V6.name(Call::GetProviderSchema), "GetProviderSchema");
        assert_eq!(Protocol::V5.name(Call::LockState), "LockState");
    }
}
