//! URLs of buckets, and of objects in them.

use std::net::IpAddr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::Uri;

use crate::aws::partition::AwsPartition;

/// The characters that are percent-encoded in the path of an object.
const OBJECT_PATH_ENCODE_SET: AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The form of a bucket's URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BucketAddressing {
    /// The custom URL of the service, if it is not that of AWS.
    pub(super) endpoint: Option<String>,
    /// Whether the bucket is part of the path, not of the host name.
    pub(super) path_style: bool,
    /// Whether to use the FIPS endpoint.
    pub(super) fips: bool,
    /// Whether to use the dual-stack endpoint, with IPv4 and IPv6.
    pub(super) dualstack: bool,
}

impl BucketAddressing {
    /// Returns the URL of a bucket, without a trailing slash.
    pub(super) fn bucket_url(&self, bucket: &str, region: &str) -> String {
        let service = match &self.endpoint {
            Some(endpoint) => endpoint.trim_end_matches('/').to_owned(),
            None => {
                let fips = if self.fips { "-fips" } else { "" };
                let dualstack = if self.dualstack { ".dualstack" } else { "" };
                let suffix = AwsPartition::from_region(region).suffix;
                format!("https://s3{fips}{dualstack}.{region}.{suffix}")
            }
        };
        let (scheme, host) = service.split_once("://").unwrap_or(("https", &service));
        // No certificate covers a name with dots, and an IP address has no subdomains.
        let dotted = scheme == "https" && bucket.contains('.');
        if self.path_style || dotted || is_ip_address(&service) {
            return format!("{scheme}://{host}/{bucket}");
        }
        format!("{scheme}://{bucket}.{host}")
    }
}

/// Whether the host of a URL is an IP address, not a name.
fn is_ip_address(url: &str) -> bool {
    let host = url.parse::<Uri>().ok().and_then(|url| url.host().map(str::to_owned));
    host.is_some_and(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok())
}

/// Returns the path of an object in a URL.
pub(super) fn encode_object_path(key: &str) -> String {
    utf8_percent_encode(key, &OBJECT_PATH_ENCODE_SET).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_a_host_unless_its_name_is_not_a_host_name() {
        let default = BucketAddressing::default();
        let check = |addressing: &BucketAddressing, bucket: &str| {
            addressing.bucket_url(bucket, "eu-west-1")
        };
        assert_eq!(check(&default, "b"), "https://b.s3.eu-west-1.amazonaws.com");
        assert_eq!(check(&default, "b.c"), "https://s3.eu-west-1.amazonaws.com/b.c");
        let path = BucketAddressing { path_style: true, ..default.clone() };
        assert_eq!(check(&path, "b"), "https://s3.eu-west-1.amazonaws.com/b");
        let with_endpoint =
            |url: &str| BucketAddressing { endpoint: Some(url.to_owned()), ..default.clone() };
        assert_eq!(check(&with_endpoint("http://127.0.0.1:9000/"), "b"), "http://127.0.0.1:9000/b");
        assert_eq!(check(&with_endpoint("http://[::1]:9000"), "b"), "http://[::1]:9000/b");
        assert_eq!(check(&with_endpoint("https://minio.example"), "b"), "https://b.minio.example");
        let fips = BucketAddressing { fips: true, dualstack: true, ..default };
        assert_eq!(check(&fips, "b"), "https://b.s3-fips.dualstack.eu-west-1.amazonaws.com");
        assert_eq!(
            fips.bucket_url("b", "cn-north-1"),
            "https://b.s3-fips.dualstack.cn-north-1.amazonaws.com.cn"
        );
    }

    #[test]
    fn keys_are_encoded_for_the_path() {
        assert_eq!(encode_object_path("env:/ä b/a+b"), "env%3A/%C3%A4%20b/a%2Bb");
    }
}
