//! `formwork login` and `formwork logout`: API tokens of hosts, stored where Terraform stores them.

use formwork_value::diag::{Blame, Sources, Summary};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::question::{NoAnswer, Prompt, ask_user};

use crate::env::Env;
use crate::exit::Exit;
use crate::fetch::host::Hosts;
use crate::fetch::http::Client;
use crate::fetch::login::{LoginService, PendingLogin};
use crate::fetch::token_store::{self, TokenSource};
use crate::messages;
use crate::settings::Settings;
use crate::signals::SignalGuard;
use crate::view::human::diagnostic;
use crate::view::{Paint, Screen, print_err, print_out};

/// Arguments of `login` and `logout`.
#[derive(Debug, clap::Args)]
pub(crate) struct HostArgs {
    /// The host. Default: app.terraform.io.
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<String>,
}

/// The default host.
const DEFAULT_LOGIN_HOST: &str = "app.terraform.io";
/// Maximum size of a user description.
const MAX_ACCOUNT_DETAILS_SIZE: u64 = 1 << 20;

/// Runs `login`.
pub(super) async fn login(args: &HostArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    let screen = Screen::of(env);
    let result = log_in(&mut diags, args, env, &screen).await;
    print_diagnostics_and_exit(&screen, &diags, result)
}

/// Runs `logout`.
pub(super) fn logout(args: &HostArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    let screen = Screen::of(env);
    let result = log_out(&mut diags, args, env, &screen);
    print_diagnostics_and_exit(&screen, &diags, result)
}

fn print_diagnostics_and_exit(
    screen: &Screen,
    diags: &Diagnostics,
    result: Result<(), Reported>,
) -> Exit {
    let rendered = diagnostic::render_all_diagnostics(screen, &Sources::new(), diags, false);
    print_out(&rendered.warnings);
    print_err(&rendered.errors);
    if result.is_ok() { Exit::Done } else { Exit::Failed }
}

fn report_login_error(
    diags: &mut Diagnostics,
    summary: impl Into<Summary>,
    detail: impl Into<String>,
) -> Reported {
    diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::Environment))
}

/// Returns the host and the CLI configuration.
fn resolve_host_and_settings(
    diags: &mut Diagnostics,
    args: &HostArgs,
    env: &Env,
) -> Result<(String, Settings), Reported> {
    let host = args.host.as_deref().unwrap_or(DEFAULT_LOGIN_HOST).to_lowercase();
    // The host is validated as the first part of a source address.
    let sample = format!("{host}/a/b").parse::<formwork_core::addr::ProviderAddr>();
    if let Err(error) = sample {
        let detail = format!("The given hostname {host:?} is not valid: {error}");
        return Err(report_login_error(diags, messages::INVALID_HOSTNAME, detail));
    }
    let settings = Settings::load(env).map_err(|error| {
        report_login_error(diags, messages::SETTINGS_CANNOT_BE_READ, error.to_string())
    })?;
    Ok((host, settings))
}

async fn log_in(
    diags: &mut Diagnostics,
    args: &HostArgs,
    env: &Env,
    screen: &Screen,
) -> Result<(), Reported> {
    if !env.input {
        let detail = "The \"formwork login\" command uses interactive prompts to obtain and record credentials, so it can't be run with input disabled.\n\nTo configure credentials in a non-interactive context, write existing credentials directly to a CLI configuration file.";
        return Err(report_login_error(diags, messages::LOGIN_IS_INTERACTIVE_COMMAND, detail));
    }
    let (host, settings) = resolve_host_and_settings(diags, args, env)?;
    let http = Client::new(env.proxies(), std::thread::sleep);
    let hosts = Hosts::new(env, &settings);
    let services = hosts.login_services(&http, &host).map_err(|error| {
        report_login_error(
            diags,
            messages::SERVICE_DISCOVERY_FAILED_FOR.with(&[&host]),
            format!("{error}."),
        )
    })?;
    let source = token_store::token_source(env, &settings, &host);
    if source == TokenSource::Settings {
        let detail = "The \"formwork login\" command cannot log in because credentials for this host are already configured in a CLI configuration file.\n\nTo log in, first revoke the existing credentials and remove that block from the CLI configuration.";
        return Err(report_login_error(
            diags,
            messages::CREDENTIALS_FOR_ARE_MANUALLY_CONFIGURED.with(&[&host]),
            detail,
        ));
    }
    let token = match (services.login, services.tokens) {
        (Some(service), _) if service.by_code => {
            let request = TokenConsentRequest { host: &host, mechanism: "OAuth", source: &source };
            ask_consent(diags, screen, &request).await?;
            log_in_by_code(diags, &http, &host, service).await?
        }
        (Some(_), _) => {
            let detail = format!(
                "The given hostname {host:?} does not allow any OAuth grant types that are supported by this version of Formwork."
            );
            return Err(report_login_error(
                diags,
                messages::HOST_DOES_NOT_SUPPORT_TERRAFORM_LOGIN,
                detail,
            ));
        }
        (None, Some(tokens)) => {
            let request =
                TokenConsentRequest { host: &host, mechanism: "your browser", source: &source };
            ask_consent(diags, screen, &request).await?;
            log_in_by_pasted_token(
                diags,
                screen,
                &TokensApi { http: &http, host: &host, url: &tokens },
            )
            .await?
        }
        (None, None) => {
            let detail = format!(
                "The given hostname {host:?} does not support creating Terraform authorization tokens."
            );
            return Err(report_login_error(
                diags,
                messages::HOST_DOES_NOT_SUPPORT_TERRAFORM_TOKENS_API,
                detail,
            ));
        }
    };
    token_store::store_or_remove_token(&source, &host, Some(&token)).map_err(|error| {
        let detail = format!(
            "The given host returned an API token, but Formwork failed to save it: {error}."
        );
        report_login_error(diags, messages::FAILED_TO_SAVE_API_TOKEN, detail)
    })?;
    let rule = "-".repeat(81);
    let success = screen.paint(Paint::BoldGreen, "Success!");
    print_out(&format!(
        "\n{rule}\n\n{success} Formwork has obtained and saved an API token.\n\nThe new API token will be used for any future command that must make\nauthenticated requests to {host}.\n\n"
    ));
    Ok(())
}

/// A token request that requires the user's consent.
struct TokenConsentRequest<'a> {
    host: &'a str,
    mechanism: &'a str,
    /// The file or helper that stores the token.
    source: &'a TokenSource<'a>,
}

/// Prints the next steps, and prompts for consent.
async fn ask_consent(
    diags: &mut Diagnostics,
    screen: &Screen,
    request: &TokenConsentRequest<'_>,
) -> Result<(), Reported> {
    let TokenConsentRequest { host, mechanism, source } = *request;
    let mut text = format!("Formwork will request an API token for {host} using {mechanism}.\n\n");
    if mechanism == "OAuth" {
        text.push_str("This will work only if you are able to use a web browser on this computer to\ncomplete a login process. If not, you must obtain an API token by another\nmeans and configure it in the CLI configuration manually.\n\n");
    }
    match source {
        TokenSource::Helper(helper) => text.push_str(&format!("If login is successful, Formwork will store the token in the configured\n{:?} credentials helper for use by subsequent commands.\n\n", helper.name)),
        TokenSource::File { path, .. } => text.push_str(&format!("If login is successful, Formwork will store the token in plain text in\nthe following file for use by subsequent commands:\n    {}\n\n", path.display())),
        TokenSource::Settings | TokenSource::None => {}
    }
    print_out(&text);
    let question = Prompt {
        title: "Do you want to proceed?",
        explanation: "Only 'yes' will be accepted to confirm.",
        secret: false,
    };
    match ask_user(screen, question).await {
        Ok(answer) if answer.eq_ignore_ascii_case("yes") => Ok(()),
        Ok(_) | Err(NoAnswer::Ended) => Err(report_login_error(
            diags,
            messages::LOGIN_CANCELLED,
            "Nothing was requested or saved.",
        )),
        Err(NoAnswer::Interrupted) => Err(report_interrupted(diags)),
    }
}

fn report_interrupted(diags: &mut Diagnostics) -> Reported {
    report_login_error(diags, messages::LOGIN_INTERRUPTED, "Nothing was saved.")
}

async fn log_in_by_code(
    diags: &mut Diagnostics,
    http: &Client,
    host: &str,
    service: LoginService,
) -> Result<String, Reported> {
    let started = PendingLogin::start_listener(service).await;
    let login = started.map_err(|error| {
        let detail = format!("The login process uses OAuth, which requires starting a temporary HTTP server on localhost. However, {error} to create such a server.");
        report_login_error(diags, messages::CANNOT_START_TEMPORARY_LOGIN_SERVER, detail)
    })?;
    let signals = SignalGuard::start_listening();
    print_out(&format!(
        "Open the following URL to access the login page for {host}:\n    {}\n\nFormwork will now wait for the host to signal that login was successful.\n\n",
        login.login_url()
    ));
    let report_error = |diags: &mut Diagnostics, error: String| {
        let detail = format!("The remote server did not assign an auth token: {error}.");
        report_login_error(diags, messages::FAILED_TO_OBTAIN_AUTH_TOKEN, detail)
    };
    let mut signals = signals.map_err(|error| report_error(diags, error.to_string()))?;
    let code = tokio::select! {
        code = login.wait_for_code() => code.map_err(|error| report_error(diags, error.to_string()))?,
        () = signals.next() => return Err(report_interrupted(diags)),
    };
    drop(signals);
    login
        .exchange_code_for_token(http, &code)
        .map_err(|error| report_error(diags, error.to_string()))
}

/// The tokens API of a host.
struct TokensApi<'a> {
    http: &'a Client,
    host: &'a str,
    url: &'a str,
}

async fn log_in_by_pasted_token(
    diags: &mut Diagnostics,
    screen: &Screen,
    api: &TokensApi<'_>,
) -> Result<String, Reported> {
    let TokensApi { http, host, url } = *api;
    let rule = "-".repeat(81);
    print_out(&format!(
        "\n{rule}\n\nOpen the following URL to access the tokens page for {host}:\n    https://{host}/app/settings/tokens?source=terraform-login\n\n{rule}\n\nGenerate a token using your browser, and copy-paste it into this prompt.\n\n"
    ));
    let title = format!("Token for {host}:");
    let token = ask_user(screen, Prompt { title: &title, explanation: "", secret: true }).await;
    let token = match token {
        Ok(token) => token.trim().to_owned(),
        Err(NoAnswer::Ended) => {
            let detail = "No token was entered, so nothing was saved.";
            return Err(report_login_error(diags, messages::FAILED_TO_RETRIEVE_TOKEN, detail));
        }
        Err(NoAnswer::Interrupted) => return Err(report_interrupted(diags)),
    };
    let url = format!("{url}account/details");
    let user = http.get(&url, Some(&format!("Bearer {token}")));
    let user =
        user.and_then(|answer| answer.read_text(MAX_ACCOUNT_DETAILS_SIZE)).map_err(|error| {
            let (summary, detail) = if error.is_about_credentials() {
                (messages::TOKEN_IS_INVALID, format!("{host} does not accept the token: {error}."))
            } else {
                (messages::FAILED_TO_RETRIEVE_USER_ACCOUNT_DETAILS, format!("{error}."))
            };
            report_login_error(diags, summary, detail)
        })?;
    let user: serde_json::Value = serde_json::from_str(&user).unwrap_or_default();
    let name = user.pointer("/data/attributes/username").and_then(|name| name.as_str());
    print_out(&format!("\nRetrieved token for user {}\n", name.unwrap_or_default()));
    Ok(token)
}

fn log_out(
    diags: &mut Diagnostics,
    args: &HostArgs,
    env: &Env,
    screen: &Screen,
) -> Result<(), Reported> {
    let (host, settings) = resolve_host_and_settings(diags, args, env)?;
    let source = token_store::token_source(env, &settings, &host);
    match &source {
        TokenSource::Settings => {
            let detail = "The \"formwork logout\" command cannot log out because credentials for this host are manually configured in a CLI configuration file.\n\nTo log out, revoke the existing credentials and remove that block from the CLI configuration.";
            let summary = messages::CREDENTIALS_FOR_ARE_MANUALLY_CONFIGURED.with(&[&host]);
            return Err(report_login_error(diags, summary, detail));
        }
        TokenSource::None | TokenSource::File { is_stored: false, .. } => {
            print_out(&format!("No credentials for {host} are stored.\n\n"));
            return Ok(());
        }
        TokenSource::Helper(helper) => print_out(&format!(
            "Removing the stored credentials for {host} from the configured\n{:?} credentials helper.\n\n",
            helper.name
        )),
        TokenSource::File { path, .. } => print_out(&format!(
            "Removing the stored credentials for {host} from the following file:\n    {}\n\n",
            path.display()
        )),
    }
    token_store::store_or_remove_token(&source, &host, None).map_err(|error| {
        let detail = format!("Unable to remove stored API token: {error}");
        report_login_error(diags, messages::FAILED_TO_REMOVE_API_TOKEN, detail)
    })?;
    let success = screen.paint(Paint::BoldGreen, "Success!");
    print_out(&format!("{success} Formwork has removed the stored API token for {host}.\n\n"));
    Ok(())
}
