//! `time`: moments that are given are the same for both programs, others are not looked at.

use super::super::row::{Import, Other, Provider, Replace, Resource, Update};

const TRIGGERS: &str = "nothing but triggers does it, which no import knows";

pub(super) fn provider() -> Provider {
    Provider {
        source: "hashicorp/time",
        fixture: "resource \"time_static\" \"now\" {\n}\n".to_owned(),
        files: &[],
        resources: vec![
            Resource {
                kind: "time_offset",
                create: "  base_rfc3339 = \"2024-02-29T12:00:00Z\"\n  offset_years = 50",
                update: Update::InPlace(
                    "  base_rfc3339 = \"2024-02-29T12:00:00Z\"\n  offset_years = 60",
                ),
                replace: Replace::OnRequest(TRIGGERS),
                import: Import::By("{base_rfc3339},{offset_years},,,,,"),
                generated: &[],
            },
            Resource {
                kind: "time_rotating",
                create: "  rfc3339        = \"2024-02-29T12:00:00Z\"\n  rotation_years = 50",
                update: Update::InPlace(
                    "  rfc3339        = \"2024-02-29T12:00:00Z\"\n  rotation_years = 60",
                ),
                replace: Replace::By(
                    "  rfc3339        = \"2023-02-28T12:00:00Z\"\n  rotation_years = 60",
                ),
                import: Import::By("{rfc3339},{rotation_years},,,,"),
                generated: &[],
            },
            Resource {
                kind: "time_sleep",
                create: "  create_duration = \"1ms\"",
                update: Update::InPlace(
                    "  create_duration  = \"1ms\"\n  destroy_duration = \"2ms\"",
                ),
                replace: Replace::OnRequest(TRIGGERS),
                import: Import::By("{create_duration},{destroy_duration}"),
                generated: &["id"],
            },
            Resource {
                kind: "time_static",
                create: "  triggers = { a = \"b\" }",
                update: Update::Replaces(
                    "  rfc3339 = \"2024-02-29T12:00:00Z\"",
                    "another moment is another object",
                ),
                replace: Replace::By("  rfc3339 = \"2023-02-28T12:00:00+01:00\""),
                import: Import::By("{rfc3339}"),
                generated: &[
                    "day", "hour", "id", "minute", "month", "rfc3339", "second", "unix", "year",
                ],
            },
        ],
        other_types: vec![
            Other::Function("duration_parse", "\"1h2m3.5s\""),
            Other::Function("rfc3339_parse", "\"2024-02-29T12:00:00+01:00\""),
            Other::Function("unix_timestamp_parse", "1700000000"),
        ],
    }
}
