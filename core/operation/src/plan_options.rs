//! Checks for plan options that exclude each other, for the command line and for programs that embed the
//! engine.

use formwork_core::plan::{PlanMode, PlanOptions};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;

/// Checks that the options of a plan do not exclude each other. Each operation that plans runs this check
/// itself. A program that calls it earlier gets the errors before a state is locked.
///
/// ```
/// use formwork_core::plan::{PlanMode, PlanOptions};
/// use formwork_operation::plan_options::check_plan_options;
/// use formwork_value::Diagnostics;
///
/// let mut diags = Diagnostics::new();
/// let mut options = PlanOptions { mode: PlanMode::RefreshOnly, ..PlanOptions::default() };
/// assert!(check_plan_options(&mut diags, &options).is_ok());
/// options.skip_refresh = true;
/// assert!(check_plan_options(&mut diags, &options).is_err());
/// ```
///
/// # Errors
/// Returns the errors of [`check_refresh_option`], [`check_target_options`] and
/// [`check_replace_option`].
pub fn check_plan_options(diags: &mut Diagnostics, options: &PlanOptions) -> Result<(), Reported> {
    check_refresh_option(diags, options)?;
    check_target_options(diags, options)?;
    check_replace_option(diags, options)
}

/// Checks that a refresh-only plan refreshes objects.
///
/// # Errors
/// Returns an error if such a plan skips the refresh.
pub fn check_refresh_option(
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<(), Reported> {
    // An import creates such a plan on purpose, because it only adds an object. It does not call this
    // function.
    if options.mode != PlanMode::RefreshOnly || !options.skip_refresh {
        return Ok(());
    }
    Err(diags.error(Diagnostic::error(
        messages::INCOMPATIBLE_REFRESH_OPTIONS,
        "It doesn't make sense to use -refresh-only at the same time as -refresh=false, because there would then be nothing to do.",
    )))
}

/// Checks that a plan has either targets or excludes.
///
/// # Errors
/// Returns an error if the plan has both targets and excludes.
pub fn check_target_options(
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<(), Reported> {
    // For an instance in both lists it would be unclear whether it is planned.
    if options.targets.is_empty() || options.excludes.is_empty() {
        return Ok(());
    }
    let detail =
        "The options -target and -exclude limit the plan in opposite ways. Use only one of them.";
    Err(diags.error(Diagnostic::error(messages::INVALID_COMBINATION_OF_ARGUMENTS, detail)))
}

/// Checks that a run that creates no objects has no objects to replace.
///
/// # Errors
/// Returns an error if such a run has the option `-replace`.
pub fn check_replace_option(
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<(), Reported> {
    // The plan would ignore the option, and the user would believe that the object was replaced.
    if options.mode == PlanMode::Normal || options.replace.is_empty() {
        return Ok(());
    }
    Err(diags.error(Diagnostic::error(
        messages::UNSUPPORTED_PLAN_MODE,
        "The option -replace creates a new object, so it cannot be combined with -destroy or -refresh-only.",
    )))
}
