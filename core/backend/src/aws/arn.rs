//! Amazon Resource Names (ARNs).

/// Returns the resource part of an ARN.
pub(crate) fn arn_resource(arn: &str) -> Option<&str> {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    match parts.as_slice() {
        ["arn", _, _, _, _, resource] => Some(resource),
        _ => None,
    }
}
