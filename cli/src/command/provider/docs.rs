//! `formwork provider docs`: writes or checks the pages of a provider. The schema is requested from the
//! running provider, so the provider can be written in any language.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_CONFIG_FILE_LEN, read_text};
use formwork_plugin_protocol::client::{Executable, Plugin, Settings, shutdown_all};
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_plugin_protocol::{Failure, ProviderExt as _};
use formwork_value::diag::{Blame, Sources};
use formwork_value::quote::shell_word;
use formwork_value::schema::Schema;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::check_examples;
use super::page::{PageSubject, block_page, function_page};
use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::operation_report::OperationReport;
use crate::view::{Screen, print_out};

/// Generate the documentation of a provider from its schema, or check its examples.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "target/debug/terraform-provider-weather",
    "Write the pages of a provider to docs."
))]
pub(crate) struct ProviderDocsArgs {
    /// The provider: a program called terraform-provider-NAME.
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,
    /// Directory for the pages.
    #[arg(long, value_name = "DIR", default_value = "docs")]
    pub(crate) out: PathBuf,
    /// Directory of the examples.
    #[arg(long, value_name = "DIR", default_value = "examples")]
    pub(crate) examples: PathBuf,
    /// Write nothing. Plan every example, and compare the pages with newly generated ones.
    #[arg(long)]
    pub(crate) check: bool,
}

/// Runs the command.
pub(super) async fn run(args: &ProviderDocsArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    let mut sources = Sources::new();
    let result = write_docs(&mut diags, &mut sources, args).await;
    let report = OperationReport::new(Screen::of(env), false, env.compact_warnings);
    report.report_diagnostics(&sources, &diags);
    match result {
        Ok(text) if !diags.has_errors() => {
            print_out(&format!("{text}\n"));
            Exit::Done
        }
        _ => Exit::Failed,
    }
}

async fn write_docs(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    args: &ProviderDocsArgs,
) -> Result<String, Reported> {
    let program = args.program.canonicalize().map_err(|error| {
        let detail = format!("{} cannot be opened: {error}.", args.program.display());
        diags.error(Diagnostic::error(messages::NO_SUCH_PROGRAM, detail))
    })?;
    let name = provider_name_of_program(diags, &program)?;
    let plugin = launch_provider(&program, &name)
        .await
        .map_err(|failure| report_unusable_provider(diags, &failure))?;
    let schema = plugin.provider().schema().await;
    shutdown_all([&plugin]).await;
    let schema = schema.map_err(|failure| report_unusable_provider(diags, &failure))?;
    let pages = render_pages(&schema, &name, &args.examples);
    if !args.check {
        for (path, text) in &pages {
            write_page(diags, &args.out.join(path), text)?;
        }
        return Ok(format!("Wrote {} pages to {}.", pages.len(), args.out.display()));
    }
    for (path, text) in &pages {
        let path = args.out.join(path);
        if read_text(&path, MAX_CONFIG_FILE_LEN).ok().as_deref() != Some(text) {
            let detail = format!(
                "{} differs from the schema and the examples. Regenerate it with: formwork provider docs {}",
                path.display(),
                shell_word(&args.program.display().to_string())
            );
            let _receipt = diags.error(Diagnostic::error(messages::PAGE_IS_OUT_DATE, detail));
        }
    }
    let n_examples = check_examples::plan_examples(diags, sources, &program, &args.examples).await;
    Ok(format!("{} pages are up to date, {n_examples} examples can be planned.", pages.len()))
}

async fn launch_provider(program: &Path, name: &str) -> Result<Plugin, Failure> {
    let executable = Executable {
        name: name.to_owned(),
        path: program.to_owned(),
        arg0: None,
        identity: None,
        env: Vec::new(),
        withheld: Vec::new(),
    };
    Plugin::launch(&executable, &Settings::TERRAFORM_DEFAULTS).await
}

/// Name of the provider: the suffix of its program name, up to a version.
fn provider_name_of_program(diags: &mut Diagnostics, program: &Path) -> Result<String, Reported> {
    let file = program.file_name().unwrap_or_default().to_string_lossy();
    match file.strip_prefix("terraform-provider-").and_then(|rest| rest.split('_').next()) {
        Some(name) if !name.is_empty() => Ok(name.to_owned()),
        _ => {
            let detail = format!("{file:?} is not terraform-provider-NAME.");
            Err(diags.error(Diagnostic::error(messages::NOT_NAME_PROVIDER, detail)))
        }
    }
}

fn report_unusable_provider(diags: &mut Diagnostics, failure: &Failure) -> Reported {
    let problem = Diagnostic::error(messages::PROVIDER_CANNOT_BE_ASKED, failure.to_string());
    diags.error(problem.blamed_on(Blame::Provider))
}

/// The pages by their path below the documentation directory.
fn render_pages(
    schema: &ProviderSchema,
    provider: &str,
    examples: &Path,
) -> BTreeMap<PathBuf, String> {
    let read = |path: PathBuf| read_text(&examples.join(path), MAX_CONFIG_FILE_LEN).ok();
    let subject = |name, kind, example: String, import: String| PageSubject {
        name,
        kind,
        provider,
        example: read(PathBuf::from(example)),
        import: read(PathBuf::from(import)),
    };
    let short = |name: &str| {
        name.strip_prefix(provider)
            .and_then(|rest| rest.strip_prefix('_'))
            .unwrap_or(name)
            .to_owned()
    };
    let index = subject(provider, "", "provider/provider.tf".to_owned(), String::new());
    let mut pages =
        BTreeMap::from([(PathBuf::from("index.md"), block_page(&index, &schema.provider.block))]);
    let groups: [(&str, &str, &str, &BTreeMap<String, Schema>); 5] = [
        ("resources", "Resource", "resource.tf", &schema.resources),
        ("data-sources", "Data Source", "data-source.tf", &schema.data_sources),
        (
            "ephemeral-resources",
            "Ephemeral Resource",
            "ephemeral-resource.tf",
            &schema.ephemeral_resources,
        ),
        ("list-resources", "List Resource", "list-resource.tf", &schema.list_resources),
        ("actions", "Action", "action.tf", &schema.actions),
    ];
    for (directory, kind, file, items) in groups {
        for (name, schema) in items {
            let example = format!("{directory}/{name}/{file}");
            let subject = subject(name, kind, example, format!("{directory}/{name}/import.sh"));
            let path = Path::new(directory).join(format!("{}.md", short(name)));
            pages.insert(path, block_page(&subject, &schema.block));
        }
    }
    for (name, function) in &schema.functions {
        let example = format!("functions/{name}/function.tf");
        let subject = subject(name, "Function", example, String::new());
        let path = Path::new("functions").join(format!("{name}.md"));
        pages.insert(path, function_page(&subject, function));
    }
    pages
}

fn write_page(diags: &mut Diagnostics, path: &Path, text: &str) -> Result<(), Reported> {
    let directory = path.parent().map_or(Ok(()), fs::create_dir_all);
    directory.and_then(|()| fs::write(path, text)).map_err(|error| {
        let detail = format!("{} cannot be written: {error}.", path.display());
        diags.error(Diagnostic::error(messages::UNABLE_TO_WRITE_PAGE, detail))
    })
}
