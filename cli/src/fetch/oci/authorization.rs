//! Authorization of requests to OCI registries: the challenge of a registry, and the token of its token
//! service. Credentials are sent only to their registry and its token service, and only over https or to
//! the local host.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::http::{self, HttpError, HttpResponse};
use super::super::login::encode_parameters;
use super::credentials::{LoginSecret, RegistryLogin};
use super::{OciError, RefusalExplanation, Repository};
use crate::redact;

/// Maximum length of a token service's response, in bytes.
const MAX_TOKEN_ANSWER_SIZE: u64 = 1 << 20;
/// The client ID for token services.
const TOKEN_CLIENT_ID: &str = "formwork";

/// The credentials that a registry requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AuthChallenge {
    /// A user name and a password.
    Basic,
    /// A token from a token service.
    Bearer { realm: String, service: String, scope: String },
}

impl AuthChallenge {
    /// Parses the `WWW-Authenticate` header. Returns `None` if its scheme is not supported.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let parameters = parse_parameters(rest);
        let take = |name: &str| {
            let parameter =
                parameters.iter().find(|(parameter, _)| parameter.eq_ignore_ascii_case(name));
            parameter.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        Some(Self::Bearer { realm: take("realm"), service: take("service"), scope: take("scope") })
    }
}

/// Parses the parameters of a challenge: `name="value"` or `name=value`, separated by commas.
fn parse_parameters(text: &str) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']).to_owned();
        let mut value = String::new();
        if let Some(quoted) = after.trim_start().strip_prefix('"') {
            let mut characters = quoted.chars();
            loop {
                match characters.next() {
                    None | Some('"') => break,
                    Some('\\') => value.extend(characters.next()),
                    Some(character) => value.push(character),
                }
            }
            rest = characters.as_str();
        } else {
            let (plain, after) = after.split_once(',').unwrap_or((after, ""));
            value.push_str(plain.trim());
            rest = after;
        }
        parameters.push((name, value));
    }
    parameters
}

impl Repository<'_> {
    /// Returns the `Authorization` header for a challenge.
    pub(super) fn authorization_header(
        &self,
        challenge: &AuthChallenge,
    ) -> Result<String, OciError> {
        let login = self.logins.find(self.addr).map_err(OciError::Unauthorized)?;
        match challenge {
            AuthChallenge::Basic => match &login {
                None => Err(self.unauthorized_error(None)),
                Some(RegistryLogin {
                    secret: LoginSecret::Password { username, password },
                    ..
                }) => Ok(basic_header(username, password)),
                Some(RegistryLogin { origin, secret: LoginSecret::Tokens { .. } }) => {
                    Err(OciError::Unauthorized(format!(
                        "the registry {} requires a user name and a password, but {origin} provides a token",
                        self.addr.registry
                    )))
                }
            },
            AuthChallenge::Bearer { realm, service, scope } => {
                if let Some(RegistryLogin {
                    secret: LoginSecret::Tokens { access: Some(access), .. },
                    ..
                }) = &login
                {
                    return Ok(format!("Bearer {access}"));
                }
                if !may_request_token(realm, self.addr.server()) {
                    return Err(OciError::Unauthorized(format!(
                        "the token service of the registry {} is not encrypted, so no credentials are sent to it: {:?}",
                        self.addr.registry,
                        redact::redact_address(realm)
                    )));
                }
                let scopes = self.token_scopes(scope);
                let answer = self.request_token(realm, service, &scopes, login.as_ref());
                let answer = answer.map_err(|error| self.token_request_error(error))?;
                self.parse_token(answer).map(|token| format!("Bearer {token}"))
            }
        }
    }

    /// Returns the scopes of a token: read access to this repository, and those that the registry requires.
    fn token_scopes(&self, requested_scope: &str) -> Vec<String> {
        let mut scopes = vec![format!("repository:{}:pull", self.addr.path)];
        for scope in requested_scope.split(' ').filter(|scope| !scope.is_empty()) {
            if !scopes.iter().any(|existing| existing == scope) {
                scopes.push(scope.to_owned());
            }
        }
        scopes
    }

    fn request_token(
        &self,
        realm: &str,
        service: &str,
        scopes: &[String],
        login: Option<&RegistryLogin>,
    ) -> Result<HttpResponse, HttpError> {
        let authorization = match login.map(|login| &login.secret) {
            Some(LoginSecret::Tokens { refresh, .. }) => {
                let scope = scopes.join(" ");
                let form = encode_parameters(&[
                    ("grant_type", "refresh_token"),
                    ("refresh_token", refresh),
                    ("service", service),
                    ("client_id", TOKEN_CLIENT_ID),
                    ("scope", &scope),
                ]);
                return self.http.post_form(realm, &form);
            }
            Some(LoginSecret::Password { username, password }) => {
                Some(basic_header(username, password))
            }
            None => None,
        };
        let mut query: Vec<(&str, &str)> = Vec::new();
        if !service.is_empty() {
            query.push(("service", service));
        }
        query.extend(scopes.iter().map(|scope| ("scope", scope.as_str())));
        let separator = if realm.contains('?') { '&' } else { '?' };
        let url = format!("{realm}{separator}{}", encode_parameters(&query));
        self.http.get_with_retries(&url, authorization.as_deref(), self.retry_policy)
    }

    fn token_request_error(&self, error: HttpError) -> OciError {
        if error.is_about_credentials() {
            return self.unauthorized_error(None);
        }
        let Self { addr, .. } = self;
        OciError::Unauthorized(format!(
            "the token service of the registry {} returned no token: {error}",
            addr.registry
        ))
    }

    /// Parses the token in the response of a token service.
    fn parse_token(&self, answer: HttpResponse) -> Result<String, OciError> {
        let bytes = answer.read_bytes(MAX_TOKEN_ANSWER_SIZE)?;
        let document: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
        let field = |name: &str| {
            let token = document.as_ref()?.get(name)?.as_str()?;
            (!token.is_empty() && token.bytes().all(|c| c.is_ascii_graphic())).then_some(token)
        };
        let token = field("access_token").or_else(|| field("token")).map(str::to_owned);
        token.ok_or_else(|| {
            OciError::Unauthorized(format!(
                "the response of the token service of the registry {} contains no token",
                self.addr.registry
            ))
        })
    }

    /// Returns the error for missing or insufficient credentials, with a remedy.
    pub(super) fn unauthorized_error(&self, explanation: Option<RefusalExplanation>) -> OciError {
        let registry = &self.addr.registry;
        let explanation = super::explanation_text(explanation);
        // The lookup has already succeeded, or the message does not need its result.
        let reason = match self.logins.find(self.addr) {
            Ok(Some(RegistryLogin { origin, .. })) => format!(
                "the registry {registry} rejected the credentials from {origin}{explanation}; renew them, or grant them access to {}",
                self.addr
            ),
            _ => format!(
                "the registry {registry} requires credentials{explanation}; add a block oci_credentials {registry:?} to the CLI configuration, or log in with a program that stores credentials for containers, such as `docker login {registry}`"
            ),
        };
        OciError::Unauthorized(reason)
    }
}

/// Whether a request to the token service of a registry is allowed: over https, or to the local host if the
/// registry is local too. A remote registry must not reach services of the local host.
fn may_request_token(realm: &str, registry: &str) -> bool {
    let (scheme, _) = realm.split_once("://").unwrap_or_default();
    let is_local = || http::is_encrypted_or_local(&format!("http://{registry}"));
    http::is_encrypted_or_local(realm) && (scheme.eq_ignore_ascii_case("https") || is_local())
}

fn basic_header(username: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{username}:{password}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_service_is_encrypted_or_on_the_machine_of_the_registry() {
        for (realm, registry, may) in [
            ("https://auth.example/token", "h.example", true),
            ("HTTPS://localhost/token", "h.example:5000", true),
            ("http://auth.example/token", "h.example", false),
            ("http://localhost/token", "h.example", false),
            ("http://127.0.0.1:80/token", "localhost.example:5000", false),
            ("http://127.0.0.1:80/token", "localhost:5000", true),
            ("http://localhost/token", "[::1]:5000", true),
            ("http://auth.example/token", "localhost:5000", false),
            ("", "localhost", false),
        ] {
            assert_eq!(may_request_token(realm, registry), may, "{realm} {registry}");
        }
    }

    #[test]
    fn challenges_are_parsed_in_every_notation() {
        let bearer = |realm: &str, service: &str, scope: &str| {
            let [realm, service, scope] = [realm, service, scope].map(str::to_owned);
            Some(AuthChallenge::Bearer { realm, service, scope })
        };
        let table = [
            ("Basic realm=\"x\"", Some(AuthChallenge::Basic)),
            ("basic", Some(AuthChallenge::Basic)),
            (
                "Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:a/b:pull,push x\"",
                bearer("https://a/t", "s", "repository:a/b:pull,push x"),
            ),
            ("bearer  Service = s , realm=https://a/t", bearer("https://a/t", "s", "")),
            ("Bearer realm=\"a\\\"b", bearer("a\"b", "", "")),
            ("Bearer", bearer("", "", "")),
            ("Negotiate", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(AuthChallenge::parse(text), expected, "{text}");
        }
    }
}
