//! Options of a plan that exclude each other, for the command line and for programs that embed the engine.

use formwork_core::plan::{PlanMode, PlanOptions};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;

/// Checks that no options of a plan exclude each other. Each operation that plans checks this itself. A program
/// that calls it before has the errors before a state is locked.
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
/// As [`check_refresh_option`], [`check_target_options`] and [`check_replace_option`].
pub fn check_plan_options(diags: &mut Diagnostics, options: &PlanOptions) -> Result<(), Reported> {
    check_refresh_option(diags, options)?;
    check_target_options(diags, options)?;
    check_replace_option(diags, options)
}

/// Checks that a plan which only refreshes does so.
///
/// # Errors
/// When it reads no objects.
pub fn check_refresh_option(
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<(), Reported> {
    // An import makes such a plan on purpose, because it only adds an object. It does not come through here.
    if options.mode != PlanMode::RefreshOnly || !options.skip_refresh {
        return Ok(());
    }
    Err(diags.error(Diagnostic::error(
        messages::INCOMPATIBLE_REFRESH_OPTIONS,
        "It doesn't make sense to use -refresh-only at the same time as -refresh=false, because there would then be nothing to do.",
    )))
}

/// Checks that a plan is limited in one way.
///
/// # Errors
/// When it has both targets and excludes.
pub fn check_target_options(
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<(), Reported> {
    // Of an instance in both lists it would be unclear whether it is planned.
    if options.targets.is_empty() || options.excludes.is_empty() {
        return Ok(());
    }
    let detail = "The options -target and -exclude say what is in the plan and what is not: use one of them.";
    Err(diags.error(Diagnostic::error(messages::INVALID_COMBINATION_OF_ARGUMENTS, detail)))
}

/// Checks that no object is to be replaced by a run that creates none.
///
/// # Errors
/// When one is.
pub fn check_replace_option(
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<(), Reported> {
    // The plan would pass over the option, and the user would take the object for replaced.
    if options.mode == PlanMode::Normal || options.replace.is_empty() {
        return Ok(());
    }
    Err(diags.error(Diagnostic::error(
        messages::UNSUPPORTED_PLAN_MODE,
        "The option -replace asks for a new object, so it goes together with neither -destroy nor -refresh-only.",
    )))
}
