//! The two versions of the protocol as two tables of method paths, without messages.

use crate::handshake::Protocol;
use crate::provider::Method;

const METHOD_PATHS_V5: [(Method, &str); 28] = [
    (Method::GetMetadata, "/tfplugin5.Provider/GetMetadata"),
    (Method::GetProviderSchema, "/tfplugin5.Provider/GetSchema"),
    (Method::GetResourceIdentitySchemas, "/tfplugin5.Provider/GetResourceIdentitySchemas"),
    (Method::GetFunctions, "/tfplugin5.Provider/GetFunctions"),
    (Method::ValidateProviderConfig, "/tfplugin5.Provider/PrepareProviderConfig"),
    (Method::ConfigureProvider, "/tfplugin5.Provider/Configure"),
    (Method::StopProvider, "/tfplugin5.Provider/Stop"),
    (Method::ValidateResourceConfig, "/tfplugin5.Provider/ValidateResourceTypeConfig"),
    (Method::UpgradeResourceState, "/tfplugin5.Provider/UpgradeResourceState"),
    (Method::UpgradeResourceIdentity, "/tfplugin5.Provider/UpgradeResourceIdentity"),
    (Method::ReadResource, "/tfplugin5.Provider/ReadResource"),
    (Method::PlanResourceChange, "/tfplugin5.Provider/PlanResourceChange"),
    (Method::ApplyResourceChange, "/tfplugin5.Provider/ApplyResourceChange"),
    (Method::ImportResourceState, "/tfplugin5.Provider/ImportResourceState"),
    (Method::MoveResourceState, "/tfplugin5.Provider/MoveResourceState"),
    (Method::GenerateResourceConfig, "/tfplugin5.Provider/GenerateResourceConfig"),
    (Method::ValidateDataResourceConfig, "/tfplugin5.Provider/ValidateDataSourceConfig"),
    (Method::ReadDataSource, "/tfplugin5.Provider/ReadDataSource"),
    (
        Method::ValidateEphemeralResourceConfig,
        "/tfplugin5.Provider/ValidateEphemeralResourceConfig",
    ),
    (Method::OpenEphemeralResource, "/tfplugin5.Provider/OpenEphemeralResource"),
    (Method::RenewEphemeralResource, "/tfplugin5.Provider/RenewEphemeralResource"),
    (Method::CloseEphemeralResource, "/tfplugin5.Provider/CloseEphemeralResource"),
    (Method::ValidateListResourceConfig, "/tfplugin5.Provider/ValidateListResourceConfig"),
    (Method::ListResource, "/tfplugin5.Provider/ListResource"),
    (Method::CallFunction, "/tfplugin5.Provider/CallFunction"),
    (Method::ValidateActionConfig, "/tfplugin5.Provider/ValidateActionConfig"),
    (Method::PlanAction, "/tfplugin5.Provider/PlanAction"),
    (Method::InvokeAction, "/tfplugin5.Provider/InvokeAction"),
];

const METHOD_PATHS_V6: [(Method, &str); 36] = [
    (Method::GetMetadata, "/tfplugin6.Provider/GetMetadata"),
    (Method::GetProviderSchema, "/tfplugin6.Provider/GetProviderSchema"),
    (Method::GetResourceIdentitySchemas, "/tfplugin6.Provider/GetResourceIdentitySchemas"),
    (Method::GetFunctions, "/tfplugin6.Provider/GetFunctions"),
    (Method::ValidateProviderConfig, "/tfplugin6.Provider/ValidateProviderConfig"),
    (Method::ConfigureProvider, "/tfplugin6.Provider/ConfigureProvider"),
    (Method::StopProvider, "/tfplugin6.Provider/StopProvider"),
    (Method::ValidateResourceConfig, "/tfplugin6.Provider/ValidateResourceConfig"),
    (Method::UpgradeResourceState, "/tfplugin6.Provider/UpgradeResourceState"),
    (Method::UpgradeResourceIdentity, "/tfplugin6.Provider/UpgradeResourceIdentity"),
    (Method::ReadResource, "/tfplugin6.Provider/ReadResource"),
    (Method::PlanResourceChange, "/tfplugin6.Provider/PlanResourceChange"),
    (Method::ApplyResourceChange, "/tfplugin6.Provider/ApplyResourceChange"),
    (Method::ImportResourceState, "/tfplugin6.Provider/ImportResourceState"),
    (Method::MoveResourceState, "/tfplugin6.Provider/MoveResourceState"),
    (Method::GenerateResourceConfig, "/tfplugin6.Provider/GenerateResourceConfig"),
    (Method::ValidateDataResourceConfig, "/tfplugin6.Provider/ValidateDataResourceConfig"),
    (Method::ReadDataSource, "/tfplugin6.Provider/ReadDataSource"),
    (
        Method::ValidateEphemeralResourceConfig,
        "/tfplugin6.Provider/ValidateEphemeralResourceConfig",
    ),
    (Method::OpenEphemeralResource, "/tfplugin6.Provider/OpenEphemeralResource"),
    (Method::RenewEphemeralResource, "/tfplugin6.Provider/RenewEphemeralResource"),
    (Method::CloseEphemeralResource, "/tfplugin6.Provider/CloseEphemeralResource"),
    (Method::ValidateListResourceConfig, "/tfplugin6.Provider/ValidateListResourceConfig"),
    (Method::ListResource, "/tfplugin6.Provider/ListResource"),
    (Method::CallFunction, "/tfplugin6.Provider/CallFunction"),
    (Method::ValidateActionConfig, "/tfplugin6.Provider/ValidateActionConfig"),
    (Method::PlanAction, "/tfplugin6.Provider/PlanAction"),
    (Method::InvokeAction, "/tfplugin6.Provider/InvokeAction"),
    (Method::ValidateStateStoreConfig, "/tfplugin6.Provider/ValidateStateStoreConfig"),
    (Method::ConfigureStateStore, "/tfplugin6.Provider/ConfigureStateStore"),
    (Method::ReadStateBytes, "/tfplugin6.Provider/ReadStateBytes"),
    (Method::WriteStateBytes, "/tfplugin6.Provider/WriteStateBytes"),
    (Method::LockState, "/tfplugin6.Provider/LockState"),
    (Method::UnlockState, "/tfplugin6.Provider/UnlockState"),
    (Method::GetStates, "/tfplugin6.Provider/GetStates"),
    (Method::DeleteState, "/tfplugin6.Provider/DeleteState"),
];

impl Protocol {
    fn method_table(self) -> &'static [(Method, &'static str)] {
        match self {
            Self::V5 => &METHOD_PATHS_V5,
            Self::V6 => &METHOD_PATHS_V6,
        }
    }

    /// The path of a method; none if the version lacks it.
    pub(crate) fn method_path(self, method: Method) -> Option<&'static str> {
        // Both tables are in the order of the enum, and protocol 5 lacks only the last ones.
        self.method_table().get(method as usize).map(|(_, path)| *path)
    }

    /// The method of a path; `None` if the version has no such method.
    pub(crate) fn method_at_path(self, path: &str) -> Option<Method> {
        self.method_table()
            .iter()
            .find(|(_, candidate)| *candidate == path)
            .map(|(method, _)| *method)
    }

    /// The name of a method as this version has it, for messages.
    pub(crate) fn method_name(self, method: Method) -> &'static str {
        let path =
            self.method_path(method).or_else(|| Self::V6.method_path(method)).unwrap_or_default();
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
            let methods: BTreeSet<_> =
                protocol.method_table().iter().map(|(_, path)| (*path).to_owned()).collect();
            assert_eq!(methods, declared(description, package));
        }
    }

    #[test]
    fn every_row_is_at_the_index_of_its_method() {
        for protocol in [Protocol::V5, Protocol::V6] {
            for (method, path) in protocol.method_table() {
                assert_eq!(protocol.method_path(*method), Some(*path));
                assert_eq!(protocol.method_at_path(path), Some(*method));
            }
        }
    }

    #[test]
    fn a_method_has_its_name_in_each_version() {
        assert_eq!(Protocol::V5.method_name(Method::GetProviderSchema), "GetSchema");
        assert_eq!(Protocol::V6.method_name(Method::GetProviderSchema), "GetProviderSchema");
        assert_eq!(Protocol::V5.method_name(Method::LockState), "LockState");
    }
}
