//! The provenance statement of a release: its files, sources and tools, as in-toto and SLSA have it.
//!
//! The statement is not signed: a release is signed by its publisher.

use serde_json::{Value, json};

use crate::Failure;
use crate::dist::Written;
use crate::pack::sha256;
use crate::source::Source;

/// The statement about these files.
pub(crate) fn statement(source: &Source, files: &[Written]) -> Result<String, Failure> {
    let subjects: Vec<Value> = files
        .iter()
        .map(|file| json!({"name": file.name, "digest": {"sha256": file.sha256}}))
        .collect();
    let lock = sha256(&std::fs::read(source.root.join("Cargo.lock"))?);
    let mut materials = vec![json!({"name": "Cargo.lock", "digest": {"sha256": lock}})];
    if let Some(commit) = &source.commit {
        materials.push(json!({"name": "formwork", "digest": {"gitCommit": commit}}));
    }
    let statement = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "https://formwork.invalid/cargo-xtask-dist/v1",
                "externalParameters": {"version": source.version, "target": source.platform.triple},
                "internalParameters": {"rustc": source.rustc, "sourceDateEpoch": source.epoch},
                "resolvedDependencies": materials,
            },
            "runDetails": {"builder": {"id": "https://formwork.invalid/cargo-xtask"}},
        },
    });
    Ok(format!("{statement:#}\n"))
}
