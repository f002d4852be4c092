//! Cost of the conformance suite at level 0, for a provider with few types and one with many.

use std::error::Error;
use std::time::Duration;

use formwork_sdk::prelude::*;

use crate::options::Options;
use crate::probe::{MeasuredCommand, measure as run};
use crate::programs::Programs;
use crate::sdk::{Measured, SERVE};

/// A number of types, and the seconds that their check may take.
const SIZES: [(usize, f64); 2] = [(20, 60.0), (1_000, 600.0)];
/// Maximum memory of the checker, in megabytes.
const MEMORY: f64 = 200.0;
/// Beginning of the name of a plugin with many types; their number follows.
const WIDE: &str = "wide-";

/// An object with attributes of every kind.
#[derive(Clone, Model)]
struct Item {
    /// The id.
    #[attr(computed, keep)]
    id: String,
    /// The name.
    #[attr(required)]
    name: String,
    /// The kind.
    #[attr(optional, replace)]
    kind: Option<String>,
    /// The size.
    #[attr(default = 1)]
    size: i64,
    /// The tags.
    #[attr(optional)]
    tags: Option<Set<String>>,
    /// The password.
    #[attr(optional, sensitive)]
    password: Option<String>,
    /// The rules.
    #[block]
    rules: Vec<Rule>,
}

/// A rule of an object.
#[derive(Clone, Debug, Nested)]
struct Rule {
    /// The port.
    #[attr(required)]
    port: i64,
    /// The protocol.
    #[attr(default = "tcp")]
    protocol: String,
}

struct Items;

impl Resource for Items {
    type Model = Item;

    async fn create(&self, call: Create<Item>) -> Answer<ItemComputed> {
        Ok(ItemComputed { id: format!("id of {}", call.planned.name) })
    }
}

/// The plugin of a name, if it is one with many types.
pub(crate) fn provider(name: &str) -> Option<ProviderDef> {
    let n_types: usize = name.strip_prefix(WIDE)?.parse().ok()?;
    let empty = ProviderDef::new("registry.terraform.io/acme/wide");
    Some((0..n_types).fold(empty, |def, index| def.resource(&format!("wide_item{index}"), Items)))
}

/// Measures each selected row.
pub(crate) fn measure(
    options: &Options,
    programs: &Programs,
) -> Result<Vec<Measured>, Box<dyn Error>> {
    let mut measured = Vec::new();
    if !options.selects("conformance") {
        return Ok(measured);
    }
    let plugin = std::env::current_exe()?.display().to_string();
    let directory = tempfile::tempdir()?;
    for (n_types, limit) in SIZES {
        let sample = run(&MeasuredCommand {
            program: &programs.ours,
            args: &["provider", "check", &plugin, "-level=0", "-seed=1", "-json"],
            directory: directory.path(),
            env: &[(SERVE, format!("{WIDE}{n_types}"))],
            cap: Duration::from_secs(1_200),
        })?;
        measured.push(Measured {
            name: format!("conformance of {n_types} types"),
            of: format!("{:.1} s of CPU with the provider", sample.cpu),
            result: sample.wall,
            min: None,
            max: Some(limit),
        });
        measured.push(Measured {
            name: format!("conformance of {n_types} types, memory"),
            of: "megabytes of the larger process".to_owned(),
            result: sample.peak / 1e6,
            min: None,
            max: Some(MEMORY),
        });
    }
    Ok(measured)
}
