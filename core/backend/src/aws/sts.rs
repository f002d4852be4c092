//! Calls of the Security Token Service: credentials of a role, and the account of credentials.

use quick_xml::de::from_str;
use reqsign_aws_v4::Credential;
use reqsign_core::{Context, Error, Result};
use serde::Deserialize;
use ureq::http::{Request, header};

use super::{AwsErrorResponse, sign_request};
use crate::web::percent_encode;

/// The Security Token Service.
#[derive(Clone, Debug)]
pub(crate) struct StsClient {
    /// The URL.
    pub(crate) endpoint: String,
    /// The region that requests are signed for.
    pub(crate) region: String,
}

/// A role to assume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoleToAssume {
    /// Its name.
    pub(crate) arn: String,
    /// The duration of the session in seconds.
    pub(crate) duration: Option<u64>,
    /// The external ID that the owner of the role requires.
    pub(crate) external_id: Option<String>,
    /// A policy, in JSON, that restricts the session.
    pub(crate) policy: Option<String>,
    /// The ARNs of policies that restrict the session.
    pub(crate) policy_arns: Vec<String>,
    /// The name of the session.
    pub(crate) session_name: Option<String>,
    /// The identity that appears in logs.
    pub(crate) source_identity: Option<String>,
    /// The tags of the session.
    pub(crate) tags: Vec<(String, String)>,
    /// The keys of tags that are passed on to further sessions.
    pub(crate) transitive_tag_keys: Vec<String>,
}

#[derive(Deserialize)]
struct AssumeRoleResponse {
    #[serde(rename = "AssumeRoleResult", alias = "AssumeRoleWithWebIdentityResult")]
    result: AssumeRoleResult,
}

#[derive(Deserialize)]
struct AssumeRoleResult {
    #[serde(rename = "Credentials")]
    credentials: SessionCredentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SessionCredentials {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: String,
}

#[derive(Deserialize)]
struct IdentityResponse {
    #[serde(rename = "GetCallerIdentityResult")]
    result: IdentityResult,
}

#[derive(Deserialize)]
struct IdentityResult {
    #[serde(rename = "Account")]
    account: String,
}

impl RoleToAssume {
    /// The parameters of the call, in the AWS query protocol.
    fn query_parameters(&self, action: &str) -> Vec<(String, String)> {
        // The service requires a session name.
        let session = self.session_name.as_deref().unwrap_or("formwork");
        let mut pairs = vec![
            ("Action".to_owned(), action.to_owned()),
            ("Version".to_owned(), "2011-06-15".to_owned()),
            ("RoleArn".to_owned(), self.arn.clone()),
            ("RoleSessionName".to_owned(), session.to_owned()),
        ];
        let duration = self.duration.map(|seconds| seconds.to_string());
        let optional = [
            ("DurationSeconds", &duration),
            ("ExternalId", &self.external_id),
            ("Policy", &self.policy),
            ("SourceIdentity", &self.source_identity),
        ];
        for (name, value) in optional {
            pairs.extend(value.iter().map(|value| (name.to_owned(), value.clone())));
        }
        // The query protocol numbers list items from 1.
        for (i, arn) in (1..).zip(&self.policy_arns) {
            pairs.push((format!("PolicyArns.member.{i}.arn"), arn.clone()));
        }
        for (i, (key, value)) in (1..).zip(&self.tags) {
            pairs.push((format!("Tags.member.{i}.Key"), key.clone()));
            pairs.push((format!("Tags.member.{i}.Value"), value.clone()));
        }
        for (i, key) in (1..).zip(&self.transitive_tag_keys) {
            pairs.push((format!("TransitiveTagKeys.member.{i}"), key.clone()));
        }
        pairs
    }
}

impl StsClient {
    /// Returns credentials of a role that the given credentials may assume.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(crate) async fn assume_role(
        &self,
        context: &Context,
        role: &RoleToAssume,
        credential: &Credential,
    ) -> Result<Credential> {
        let text =
            self.call_api(context, &role.query_parameters("AssumeRole"), Some(credential)).await?;
        parse_session_credential(&text)
    }

    /// Returns credentials of a role that a token of another identity provider permits to assume.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(crate) async fn assume_role_with_web_identity(
        &self,
        context: &Context,
        role: &RoleToAssume,
        token: &str,
    ) -> Result<Credential> {
        let mut parameters = role.query_parameters("AssumeRoleWithWebIdentity");
        // A token file may end with a line break, which is not part of the token.
        parameters.push(("WebIdentityToken".to_owned(), token.trim().to_owned()));
        // The token proves the identity of the caller, so the call has no signature.
        parse_session_credential(&self.call_api(context, &parameters, None).await?)
    }

    /// Returns the account that credentials belong to.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(crate) async fn caller_account(
        &self,
        context: &Context,
        credential: &Credential,
    ) -> Result<String> {
        let parameters = [
            ("Action".to_owned(), "GetCallerIdentity".to_owned()),
            ("Version".to_owned(), "2011-06-15".to_owned()),
        ];
        let text = self.call_api(context, &parameters, Some(credential)).await?;
        let response: IdentityResponse = from_str(&text).map_err(invalid_response_error)?;
        Ok(response.result.account)
    }

    async fn call_api(
        &self,
        context: &Context,
        parameters: &[(String, String)],
        credential: Option<&Credential>,
    ) -> Result<String> {
        let body: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("{name}={}", percent_encode(value)))
            .collect();
        let request = Request::post(self.endpoint.trim_end_matches('/').to_owned() + "/")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded; charset=utf-8")
            .body(body.join("&").into_bytes())
            .map_err(|error| Error::config_invalid(format!("{}: {error}", self.endpoint)))?;
        let request = match credential {
            Some(credential) => sign_request(credential, "sts", &self.region, request).await?,
            None => request,
        };
        let response = context.http_send_as_string(request.map(Into::into)).await?;
        if response.status().is_success() {
            return Ok(response.into_body());
        }
        let (parts, body) = response.into_parts();
        // All callers put the action first.
        let action = parameters.first().map_or("", |(_, action)| action.as_str());
        let answer = crate::web::HttpResponse {
            status: parts.status,
            headers: parts.headers,
            body: body.into_bytes(),
            follows_unclear_attempt: false,
            refusal: String::new(),
            redirected_to: None,
        };
        let reason = match AwsErrorResponse::parse(&answer) {
            Some(AwsErrorResponse { code, message }) => format!("{code}: {message}"),
            None => answer.status.to_string(),
        };
        Err(Error::permission_denied(format!("{action} at {} failed: {reason}", self.endpoint)))
    }
}

fn invalid_response_error(error: quick_xml::DeError) -> Error {
    Error::unexpected(format!("the response of the Security Token Service cannot be read: {error}"))
}

fn parse_session_credential(text: &str) -> Result<Credential> {
    let response: AssumeRoleResponse = from_str(text).map_err(invalid_response_error)?;
    let credentials = response.result.credentials;
    Ok(Credential {
        access_key_id: credentials.access_key_id,
        secret_access_key: credentials.secret_access_key,
        session_token: Some(credentials.session_token),
        // The field is a point in time, not a duration, like the element in the response.
        expires_in: Some(credentials.expiration.parse()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_requested_with_all_arguments() {
        let role = RoleToAssume {
            arn: "arn:aws:iam::1:role/r".to_owned(),
            duration: Some(900),
            external_id: Some("x".to_owned()),
            policy_arns: vec!["p".to_owned()],
            tags: vec![("k".to_owned(), "v".to_owned())],
            transitive_tag_keys: vec!["k".to_owned()],
            ..RoleToAssume::default()
        };
        let pairs = role.query_parameters("AssumeRole");
        let text: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            text.join("&"),
            "Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::1:role/r&RoleSessionName=formwork&DurationSeconds=900&ExternalId=x&PolicyArns.member.1.arn=p&Tags.member.1.Key=k&Tags.member.1.Value=v&TransitiveTagKeys.member.1=k"
        );
    }
}
