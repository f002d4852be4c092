//! Documents of OCI registries: manifests, tag lists and error responses. This module sends no requests.

use serde::Deserialize;

use super::{Digest, OciError};

/// The media type of an index, which lists manifests.
pub(crate) const INDEX_MEDIA_TYPE: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of an image manifest, which describes one artifact.
pub(crate) const IMAGE_MEDIA_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of the package in an artifact.
const PACKAGE_MEDIA_TYPE: &str = "archive/zip";

/// An image manifest or an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Manifest {
    media_type: String,
    artifact_type: String,
    /// The manifests that an index lists.
    manifests: Option<Vec<Descriptor>>,
    /// The content of an artifact.
    layers: Option<Vec<Descriptor>>,
}

/// The description of an object in the same repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Descriptor {
    pub(crate) media_type: String,
    digest: String,
    pub(crate) size: u64,
    pub(crate) artifact_type: String,
    pub(crate) platform: Option<DescriptorPlatform>,
}

/// The platform in a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct DescriptorPlatform {
    pub(crate) os: String,
    pub(crate) architecture: String,
    #[serde(rename = "os.version")]
    pub(crate) os_version: String,
}

/// A kind of artifact, with the types that its manifest must have.
pub(crate) struct ArtifactKind {
    pub(crate) media_type: &'static str,
    pub(crate) artifact_type: &'static str,
    /// The name of the kind in messages, with its article.
    pub(crate) name: &'static str,
}

/// Artifact types and their names for messages.
const KNOWN_ARTIFACT_TYPES: [(&str, &str); 3] = [
    ("application/vnd.opentofu.provider", "a provider"),
    ("application/vnd.opentofu.provider-target", "a provider for one platform"),
    ("application/vnd.opentofu.modulepkg", "a module package"),
];

impl Descriptor {
    /// Returns the digest of the object.
    ///
    /// # Errors
    /// The digest is malformed or its algorithm is not supported.
    pub(crate) fn digest(&self) -> Result<Digest, OciError> {
        Digest::parse(&self.digest)
    }
}

impl Manifest {
    /// Parses a manifest. `sent_as` is the media type in the response.
    pub(super) fn parse(bytes: &[u8], sent_as: &str) -> Result<Self, String> {
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let sent_as = sent_as.split(';').next().unwrap_or_default().trim();
        // Otherwise, two programs could interpret the same bytes as different manifests.
        if sent_as != manifest.media_type {
            return Err(format!(
                "the response has the media type {sent_as:?}, but the manifest specifies {:?}",
                manifest.media_type
            ));
        }
        Ok(manifest)
    }

    /// Checks the kind of the artifact.
    ///
    /// # Errors
    /// The artifact is of a different kind.
    pub(crate) fn check_kind(&self, kind: &ArtifactKind) -> Result<(), OciError> {
        let ArtifactKind { media_type, artifact_type, name } = kind;
        if self.artifact_type != *artifact_type {
            let known_type = KNOWN_ARTIFACT_TYPES
                .iter()
                .find(|(known_type, _)| *known_type == self.artifact_type);
            let described = match known_type {
                Some((_, described)) => format!("the artifact is {described}, not {name}"),
                None if self.artifact_type.is_empty() => {
                    format!("the artifact has no type, as container images do; it is not {name}")
                }
                None => format!("the artifact is of the type {:?}, not {name}", self.artifact_type),
            };
            return Err(OciError::Content(format!(
                "{described}; its manifest must have the artifact type {artifact_type:?}"
            )));
        }
        if self.media_type != *media_type {
            return Err(OciError::Content(format!(
                "the manifest has the media type {:?}, and that of {name} must be {media_type:?}",
                self.media_type
            )));
        }
        Ok(())
    }

    /// The manifests that an index lists.
    pub(crate) fn manifests(&self) -> &[Descriptor] {
        self.manifests.as_deref().unwrap_or_default()
    }

    /// Returns the package of an artifact: its only layer that is a zip archive. Other layers are ignored.
    ///
    /// # Errors
    /// The manifest has no layer that is a zip archive, or several.
    pub(crate) fn package_layer(&self) -> Result<&Descriptor, OciError> {
        let layers = self.layers.as_deref().unwrap_or_default();
        let mut packages = layers.iter().filter(|layer| layer.media_type == PACKAGE_MEDIA_TYPE);
        match (packages.next(), packages.next()) {
            (Some(package), None) => Ok(package),
            (Some(_), Some(_)) => Err(OciError::Content(format!(
                "the manifest has several layers of the type {PACKAGE_MEDIA_TYPE:?}, but only one is allowed; push the artifact again with one archive"
            ))),
            (None, _) => {
                let types: Vec<String> =
                    layers.iter().map(|layer| format!("{:?}", layer.media_type)).collect();
                let types = if types.is_empty() { "none".to_owned() } else { types.join(", ") };
                Err(OciError::Content(format!(
                    "the manifest has no layer of the type {PACKAGE_MEDIA_TYPE:?} (its layers: {types}); push the artifact again as FILE.zip:{PACKAGE_MEDIA_TYPE}"
                )))
            }
        }
    }
}

#[derive(Deserialize)]
struct TagList {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// Parses one page of a tag list.
pub(super) fn parse_tags(bytes: &[u8]) -> Result<Vec<String>, String> {
    let page: TagList = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    Ok(page.tags.unwrap_or_default())
}

#[derive(Deserialize)]
struct RegistryRefusal {
    errors: Vec<RefusalReason>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RefusalReason {
    code: Option<String>,
    message: Option<String>,
}

/// Parses the codes and messages of an error response, if it has the format of OCI registries. Missing
/// codes and messages are empty.
pub(super) fn parse_errors(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let refusal: RegistryRefusal = serde_json::from_slice(bytes).ok()?;
    let text = Option::unwrap_or_default;
    Some(refusal.errors.into_iter().map(|error| (text(error.code), text(error.message))).collect())
}

/// Parses arbitrary text as each document of a registry.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_documents(text: &str) {
    let bytes = text.as_bytes();
    for media_type in [INDEX_MEDIA_TYPE, IMAGE_MEDIA_TYPE] {
        if let Ok(manifest) = Manifest::parse(bytes, media_type) {
            let kind = ArtifactKind {
                media_type,
                artifact_type: KNOWN_ARTIFACT_TYPES[0].0,
                name: KNOWN_ARTIFACT_TYPES[0].1,
            };
            drop(manifest.check_kind(&kind));
            drop(manifest.package_layer().and_then(Descriptor::digest));
            manifest.manifests().iter().for_each(|descriptor| drop(descriptor.digest()));
        }
    }
    drop((parse_tags(bytes), parse_errors(bytes)));
    drop(super::next_page_link(text));
    drop(super::AuthChallenge::parse(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_of_a_refusal_are_optional() {
        let reason = |code: &str, message: &str| (code.to_owned(), message.to_owned());
        for (text, expected) in [
            (r#"{"errors": [{"code": "A", "message": "b"}]}"#, Some(vec![reason("A", "b")])),
            (
                r#"{"errors": [{"code": "DENIED", "message": null}]}"#,
                Some(vec![reason("DENIED", "")]),
            ),
            (r#"{"errors": [{"code": null, "message": "b"}]}"#, Some(vec![reason("", "b")])),
            (
                r#"{"errors": [{"code": "A", "detail": {}}, {}]}"#,
                Some(vec![reason("A", ""), reason("", "")]),
            ),
            (r#"{"errors": null}"#, None),
            ("<html>", None),
        ] {
            assert_eq!(parse_errors(text.as_bytes()), expected, "{text}");
        }
    }
}
