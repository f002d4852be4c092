//! States in blobs of Azure, with Terraform on the same server: azurite. Its account is reached under
//! the name that it would have in Azure, through a proxy.

use super::{RESOURCE, shared_scripts};
use crate::harness::Workdir;
use crate::harness::azure::{ACCOUNT, Azure, CONTAINER, KEY};

/// The arguments of a state with a key, and with credentials.
fn arguments(key: &str, credentials: &str) -> String {
    format!(
        "    storage_account_name = \"{ACCOUNT}\"\n    container_name = \"{CONTAINER}\"\n    key = \"{key}\"\n    {credentials}\n"
    )
}

fn with_key(key: &str) -> String {
    arguments(key, &format!("access_key = \"{KEY}\""))
}

fn config(azure: &Azure, arguments: &str, resource: &str) -> String {
    let environment = azure.environment();
    format!("terraform {{\n  backend \"azurerm\" {{\n{arguments}  }}\n}}\n{resource}{environment}")
}

#[test]
fn either_program_continues_after_the_other_over_azurerm() {
    let Some(azure) = Azure::start() else { return };
    let snapshot = format!("access_key = \"{KEY}\"\n    snapshot = true");
    for arguments in [with_key("a b/\u{e4}+(1).tfstate"), arguments("snapshot", &snapshot)] {
        shared_scripts::alternate_programs(&|resource| config(&azure, &arguments, resource));
    }
    shared_scripts::nothing_is_overwritten(&|resource| config(&azure, &with_key("over"), resource));
}

#[test]
fn states_over_azurerm_are_encrypted() {
    let Some(azure) = Azure::start() else { return };
    shared_scripts::states_are_encrypted(
        &|resource| config(&azure, &with_key("sealed"), resource),
        shared_scripts::encrypting_turns(),
    );
    shared_scripts::new_workspaces_are_encrypted(
        &|resource| config(&azure, &with_key("sealed"), resource),
        shared_scripts::encrypting_turns(),
    );
}

#[test]
fn leases_of_azurerm_exclude_the_other_program() {
    let Some(azure) = Azure::start() else { return };
    shared_scripts::locks_exclude(&|resource| config(&azure, &with_key("locked"), resource));
    shared_scripts::locks_end_by_force(
        &|resource| config(&azure, &with_key("forced"), resource),
        &["terraform", "formwork"],
    );
}

#[test]
fn workspaces_and_outputs_of_azurerm_are_seen_by_both_programs() {
    let Some(azure) = Azure::start() else { return };
    shared_scripts::workspaces_are_shared(&|resource| config(&azure, &with_key("ws"), resource));
    let arguments = with_key("out");
    shared_scripts::outputs_are_read(
        &|resource| config(&azure, &arguments, resource),
        &format!(
            "backend = \"azurerm\"\n  config = {{\n{arguments}  }}\n}}\n{}//- rest.tf\nlocals {{",
            azure.environment()
        ),
    );
}

#[test]
fn the_run_of_a_lost_machine_is_taken_over_over_azurerm() {
    let Some(azure) = Azure::start() else { return };
    shared_scripts::a_run_of_a_lost_machine_is_taken_over(&|resource| {
        config(&azure, &with_key("lost"), resource)
    });
}

#[test]
fn credentials_of_azurerm_are_signatures_secrets_tokens_and_listed_keys() {
    let Some(azure) = Azure::start() else { return };
    let principal = "tenant_id = \"tenant-1\"\n    client_id = \"client-1\"\n    ";
    let secret = "client_secret = \"hush\"";
    let oidc = "use_oidc = true\n    oidc_token = \"assertion-1\"";
    let workflow = "use_oidc = true\n    oidc_request_url = \"https://login.microsoftonline.com/oidc?a=b\"\n    oidc_request_token = \"request-1\"";
    let listed = "resource_group_name = \"group-1\"\n    subscription_id = \"sub-1\"\n    client_secret = \"hush\"";
    let credentials = [
        format!("sas_token = \"?{}\"", azure.sas),
        format!("{principal}use_azuread_auth = true\n    {secret}"),
        format!("{principal}use_azuread_auth = true\n    {oidc}"),
        format!("{principal}use_azuread_auth = true\n    {workflow}"),
        format!("{principal}{listed}"),
    ];
    for (i, credential) in credentials.iter().enumerate() {
        let arguments = arguments(&format!("way-{i}"), credential);
        shared_scripts::alternate_programs(&|resource| config(&azure, &arguments, resource));
    }
    let wrong_secret = format!("{principal}use_azuread_auth = true\n    client_secret = \"wrong\"");
    let workdir = Workdir::new(&config(&azure, &arguments("wrong", &wrong_secret), RESOURCE));
    let refused = workdir.formwork("init").run();
    refused.code(1).says("AADSTS7000215").says("check tenant_id, client_id and client_secret");
}

#[test]
fn a_container_that_does_not_exist_and_a_key_that_is_wrong_are_named() {
    let Some(azure) = Azure::start() else { return };
    let absent = with_key("x").replace(CONTAINER, "elsewhere");
    let refused = Workdir::new(&config(&azure, &absent, RESOURCE)).formwork("init").run();
    refused.code(1).says("ContainerNotFound").says("check container_name");
    let wrong_key = with_key("x").replace("Eby8", "Abcd");
    let refused = Workdir::new(&config(&azure, &wrong_key, RESOURCE)).formwork("init").run();
    refused.code(1).says("check access_key or sas_token").says_not("Abcd");
}
