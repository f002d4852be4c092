//! Groups of regions of AWS, and the URLs of their services.

/// A group of regions with hosts of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AwsPartition {
    /// The end of the names of its hosts.
    pub(crate) suffix: &'static str,
}

impl AwsPartition {
    /// The group of a region.
    pub(crate) fn from_region(region: &str) -> Self {
        let suffixes = [
            ("cn-", "amazonaws.com.cn"),
            ("us-isob-", "sc2s.sgov.gov"),
            ("us-isof-", "csp.hci.ic.gov"),
            ("eu-isoe-", "cloud.adc-e.uk"),
            ("us-iso-", "c2s.ic.gov"),
        ];
        let found = suffixes.iter().find(|(prefix, _)| region.starts_with(prefix));
        Self { suffix: found.map_or("amazonaws.com", |(_, suffix)| suffix) }
    }

    /// The URL of a service.
    pub(crate) fn service_url(self, service: &str, region: &str, fips: bool) -> String {
        let fips = if fips { "-fips" } else { "" };
        format!("https://{service}{fips}.{region}.{}", self.suffix)
    }
}
