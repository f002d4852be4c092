//! Results of the conditions of a configuration, as stored in states and plans. Evaluates nothing.

use std::fmt::{Display, Formatter};

use bytes::Bytes;
use formwork_value::Str;
use serde::{Deserialize, Serialize};

use crate::addr::{
    ConfigResourceAddr, InstanceAddr, InstanceKey, ModuleAddr, ModulePath, ResourceMode,
    ResourceName,
};

/// The results for everything that has conditions, in the order of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResults(pub Vec<CheckResult>);

/// The results for one block with conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The module it is written in.
    pub module: ModulePath,
    /// The object that has the conditions.
    pub subject: CheckSubject,
    /// The worst status of its objects.
    pub status: CheckStatus,
    /// The instances of the subject; `None` while they are unknown.
    pub objects: Option<Vec<CheckedObject>>,
}

/// An object that has conditions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckSubject {
    /// A `check` block.
    Check(Str),
    /// An output.
    Output(Str),
    /// A resource.
    Resource(ResourceName),
    /// A variable.
    Variable(Str),
}

/// The results for one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedObject {
    /// The module it is in.
    pub module: ModuleAddr,
    /// Key of the instance of a resource.
    pub key: InstanceKey,
    /// The worst of its conditions.
    pub status: CheckStatus,
    /// The messages of the failed conditions.
    pub messages: Vec<String>,
}

/// The status of conditions; later variants are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// All conditions are met.
    Pass,
    /// The result is not known yet.
    Unknown,
    /// A condition is not met.
    Fail,
    /// The evaluation of a condition failed.
    Error,
}

impl CheckStatus {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Pass, "pass"),
        (Self::Unknown, "unknown"),
        (Self::Fail, "fail"),
        (Self::Error, "error"),
    ];

    /// The word for it in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(status, _)| *status == self).map_or("", |(_, word)| word)
    }

    fn from_status_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, other)| *other == word).map(|(status, _)| *status)
    }
}

impl CheckSubject {
    /// The word for its kind in state files.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Check(_) => "check",
            Self::Output(_) => "output",
            Self::Resource(_) => "resource",
            Self::Variable(_) => "var",
        }
    }
}

impl CheckSubject {
    /// Whether it is a data source.
    #[must_use]
    pub fn is_data(&self) -> bool {
        matches!(self, Self::Resource(name) if name.mode() == ResourceMode::Data)
    }
}

impl Display for CheckSubject {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resource(name) => name.fmt(f),
            Self::Check(name) | Self::Output(name) | Self::Variable(name) => {
                write!(f, "{}.{name}", self.kind_name())
            }
        }
    }
}

impl CheckResult {
    /// The address of the block.
    #[must_use]
    pub fn block_addr(&self) -> String {
        let dot = if self.module.is_root() { "" } else { "." };
        format!("{}{dot}{}", self.module, self.subject)
    }

    /// Forgets the results of the conditions of some objects, but not the objects.
    pub fn reset_statuses(&mut self, is_reset: impl Fn(&CheckedObject) -> bool) {
        let objects = self.objects.iter_mut().flatten();
        for object in objects.filter(|object| is_reset(object)) {
            object.status = CheckStatus::Unknown;
            object.messages.clear();
        }
    }

    /// The address of one of the objects.
    #[must_use]
    pub fn object_addr(&self, object: &CheckedObject) -> String {
        let dot = if object.module.is_root() { "" } else { "." };
        format!("{}{dot}{}{}", object.module, self.subject, object.key)
    }
}

#[derive(Serialize, Deserialize)]
struct CheckResultJson {
    object_kind: String,
    config_addr: String,
    status: String,
    objects: Option<Vec<CheckedObjectJson>>,
}

#[derive(Serialize, Deserialize)]
struct CheckedObjectJson {
    object_addr: String,
    status: String,
    // Terraform omits an empty list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failure_messages: Vec<String>,
}

impl CheckResults {
    /// Forgets the results of some objects of a subject, in all modules.
    pub fn reset_statuses(
        &mut self,
        subject: &CheckSubject,
        is_reset: impl Fn(&CheckedObject) -> bool,
    ) {
        for result in self.0.iter_mut().filter(|result| result.subject == *subject) {
            result.reset_statuses(&is_reset);
        }
    }

    /// Encodes the results for a state file; `None` if there are no results.
    #[must_use]
    pub fn to_json(&self) -> Option<Bytes> {
        if self.0.is_empty() {
            return None;
        }
        let results: Vec<CheckResultJson> = self.0.iter().map(result_to_json).collect();
        serde_json::to_vec(&results).ok().map(Bytes::from)
    }

    /// Reads the output of [`CheckResults::to_json`], or of Terraform.
    #[must_use]
    pub fn from_json(text: &[u8]) -> Self {
        // Parts that cannot be understood are left out: they are only results of an earlier run.
        let results: Vec<CheckResultJson> = serde_json::from_slice(text).unwrap_or_default();
        Self(results.into_iter().filter_map(result_from_json).collect())
    }
}

fn result_to_json(result: &CheckResult) -> CheckResultJson {
    let object = |object: &CheckedObject| CheckedObjectJson {
        object_addr: result.object_addr(object),
        status: object.status.as_str().to_owned(),
        failure_messages: object.messages.clone(),
    };
    // A resource without instances is written like one of which none is known.
    let objects = result.objects.as_ref().filter(|objects| !objects.is_empty());
    CheckResultJson {
        object_kind: result.subject.kind_name().to_owned(),
        config_addr: result.block_addr(),
        status: result.status.as_str().to_owned(),
        objects: objects.map(|objects| objects.iter().map(object).collect()),
    }
}

fn result_from_json(json: CheckResultJson) -> Option<CheckResult> {
    let status = CheckStatus::from_status_word(&json.status)?;
    let (module, subject) = if json.object_kind == "resource" {
        let addr: ConfigResourceAddr = json.config_addr.parse().ok()?;
        (addr.module, CheckSubject::Resource(addr.resource))
    } else {
        let (module, name) = split_check_address(&json.config_addr, &json.object_kind)?;
        let subject = match json.object_kind.as_str() {
            "check" => CheckSubject::Check(name),
            "output" => CheckSubject::Output(name),
            _ => CheckSubject::Variable(name),
        };
        (module.path(), subject)
    };
    let object = |json: CheckedObjectJson| {
        let (module, key) = match &subject {
            CheckSubject::Resource(_) => {
                let addr: InstanceAddr = json.object_addr.parse().ok()?;
                (addr.module, addr.key)
            }
            other => {
                (split_check_address(&json.object_addr, other.kind_name())?.0, InstanceKey::None)
            }
        };
        let status = CheckStatus::from_status_word(&json.status)?;
        Some(CheckedObject { module, key, status, messages: json.failure_messages })
    };
    // A resource without instances is written without a list. Its conditions are met, while those of
    // unknown instances are unknown.
    let listed = json.objects.or_else(|| (status == CheckStatus::Pass).then(Vec::new));
    let objects = listed.map(|objects| objects.into_iter().filter_map(object).collect());
    Some(CheckResult { module, subject, status, objects })
}

/// Splits `module.a.check.b` into module and name.
fn split_check_address(addr: &str, kind: &str) -> Option<(ModuleAddr, Str)> {
    // Keys of modules may contain dots, but a name never does.
    let (before, name) = addr.rsplit_once('.')?;
    let module = before.strip_suffix(kind)?;
    Some((module.trim_end_matches('.').parse().ok()?, name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_as_they_were_written() {
        let text = r#"[{"object_kind":"check","config_addr":"module.a.check.c","status":"fail","objects":[{"object_addr":"module.a[\"x.y\"].check.c","status":"fail","failure_messages":["no"]}]},{"object_kind":"resource","config_addr":"t.r","status":"pass","objects":[{"object_addr":"t.r[0]","status":"pass"}]},{"object_kind":"output","config_addr":"output.o","status":"unknown","objects":null},{"object_kind":"var","config_addr":"var.v","status":"error","objects":[{"object_addr":"var.v","status":"error"}]}]"#;
        let results = CheckResults::from_json(text.as_bytes());
        assert_eq!(results.to_json().unwrap(), text.as_bytes());
        assert_eq!(CheckResults::from_json(b"nonsense"), CheckResults::default());
    }
}
