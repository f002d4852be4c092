//! The `time` provider: moments that are kept, waiting, and the parts of moments.

mod moment;
mod offset;
mod parse_functions;
mod rotating;
mod sleep;
mod static_time;

use formwork_sdk::ProviderDef;
use time::OffsetDateTime;

use moment::Clock;

/// The provider.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "telling the time is what this provider is for")]
pub fn provider() -> ProviderDef {
    provider_with_clock(OffsetDateTime::now_utc)
}

/// The provider, with its clock.
fn provider_with_clock(clock: Clock) -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/time")
        .resource("time_offset", offset::OffsetResource { clock })
        .resource("time_rotating", rotating::RotatingResource { clock })
        .resource("time_sleep", sleep::SleepResource { clock })
        .resource("time_static", static_time::StaticTimeResource { clock })
        .function::<parse_functions::DurationParse>("duration_parse")
        .function::<parse_functions::Rfc3339Parse>("rfc3339_parse")
        .function::<parse_functions::UnixTimestampParse>("unix_timestamp_parse")
}
