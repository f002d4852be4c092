//! Azure clouds: the addresses of their services, built in or from a metadata service.

use serde::Deserialize;
use ureq::http::{Request, StatusCode};

use crate::cause::Cause;
use crate::config_error::ConfigError;
use crate::web::HttpClient;

/// The addresses of the services of one cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AzureCloud {
    /// The URL of the token service, without a trailing slash.
    pub(super) login: String,
    /// The URL of the Resource Manager, without a trailing slash.
    pub(super) manager: String,
    /// The domain of the storage services.
    pub(super) storage: String,
}

/// The choice of a cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CloudSource {
    /// A built-in cloud.
    BuiltIn(AzureCloud),
    /// The host of the metadata service that describes the cloud.
    Metadata(String),
}

impl AzureCloud {
    /// Finds a cloud by name.
    ///
    /// # Errors
    /// Returns an error if no cloud has this name.
    pub(super) fn find_by_name(name: &str) -> Result<Self, ConfigError> {
        let (login, manager, storage) = match name.to_lowercase().as_str() {
            "public" | "global" => {
                ("login.microsoftonline.com", "management.azure.com", "core.windows.net")
            }
            "china" => {
                ("login.chinacloudapi.cn", "management.chinacloudapi.cn", "core.chinacloudapi.cn")
            }
            "usgovernment" | "usgovernmentl4" | "dod" | "usgovernmentl5" => (
                "login.microsoftonline.us",
                "management.usgovcloudapi.net",
                "core.usgovcloudapi.net",
            ),
            _ => {
                return Err(ConfigError::new(format!(
                    "no environment was found with the name {name:?}: use \"public\", \"usgovernment\" or \"china\""
                )));
            }
        };
        Ok(Self {
            login: format!("https://{login}"),
            manager: format!("https://{manager}"),
            storage: storage.to_owned(),
        })
    }
}

/// The used part of a metadata service's response.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CloudMetadata {
    authentication: CloudAuthentication,
    resource_manager: String,
    suffixes: DomainSuffixes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CloudAuthentication {
    login_endpoint: String,
}

#[derive(Deserialize)]
struct DomainSuffixes {
    storage: String,
}

impl CloudSource {
    /// Returns the cloud, and queries the metadata service if one is set.
    ///
    /// # Errors
    /// Returns an error if the metadata service does not respond as expected.
    pub(super) async fn resolve(&self, client: &HttpClient) -> Result<AzureCloud, Cause> {
        let host = match self {
            Self::BuiltIn(cloud) => return Ok(cloud.clone()),
            Self::Metadata(host) => host,
        };
        let url = format!("https://{host}/metadata/endpoints?api-version=2022-09-01");
        let answer = client.send(&Request::get(&url).body(Vec::new())?).await?;
        if answer.status != StatusCode::OK {
            return Err(answer.unexpected_response_cause("GET", &url));
        }
        parse_metadata(&answer.body).map_err(|error| {
            format!("GET {url}: the response cannot be read: {error}; check metadata_host").into()
        })
    }
}

fn parse_metadata(body: &[u8]) -> Result<AzureCloud, serde_json::Error> {
    // Some metadata services send a byte order mark before the JSON, which JSON does not allow.
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let CloudMetadata { authentication, resource_manager, suffixes } =
        serde_json::from_slice(body)?;
    let trimmed = |url: &str| url.trim_end_matches('/').to_owned();
    Ok(AzureCloud {
        login: trimmed(&authentication.login_endpoint),
        manager: trimmed(&resource_manager),
        storage: suffixes.storage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cloud_is_built_in_or_described_by_its_metadata() {
        let text = "\u{feff}{\"authentication\":{\"loginEndpoint\":\"https://login.microsoftonline.com/\"},\"resourceManager\":\"https://management.azure.com/\",\"suffixes\":{\"storage\":\"core.windows.net\"},\"name\":\"AzureCloud\"}";
        assert_eq!(
            parse_metadata(text.as_bytes()).unwrap(),
            AzureCloud::find_by_name("Public").unwrap()
        );
        assert!(parse_metadata(b"[]").is_err());
        assert!(AzureCloud::find_by_name("german").unwrap_err().message.contains("usgovernment"));
    }
}
