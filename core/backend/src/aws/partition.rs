//! AWS partitions, and the URLs of their services.

/// A partition: a group of regions with its own host names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AwsPartition {
    /// The suffix of its host names.
    pub(crate) suffix: &'static str,
}

impl AwsPartition {
    /// Returns the partition of a region.
    pub(crate) fn from_region(region: &str) -> Self {
        let suffixes = [
            ("cn-", "amazonaws.com.cn"),
            ("us-isob-", "sc2s.sgov.gov"),
            ("us-isof-", "csp.hci.ic.gov"),
            ("eu-isoe-", "cloud.adc-e.uk"),
            ("us-iso-", "c2s.ic.gov"),
        ];
        let entry = suffixes.iter().find(|(prefix, _)| region.starts_with(prefix));
        Self { suffix: entry.map_or("amazonaws.com", |(_, suffix)| suffix) }
    }

    /// Returns the URL of a service.
    pub(crate) fn service_url(self, service: &str, region: &str, fips: bool) -> String {
        let fips = if fips { "-fips" } else { "" };
        format!("https://{service}{fips}.{region}.{}", self.suffix)
    }
}
