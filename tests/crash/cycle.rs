//! A sequence of kills: a configuration is applied or destroyed, the engine is killed, and run again
//! until it is done, possibly with another configuration; then the real objects are compared with what
//! it records and what was configured.

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::time::Duration;

use crate::config::Config;
use crate::directory::{CommandResult, Directory, Moment};
use crate::observation::{self, unfulfilled};
use crate::operation::Operation;
use crate::operator::{self, Decisions};
use crate::options::{Options, Program};
use crate::rng::Rng;

/// Number of runs of a command before it counts as stuck.
const ATTEMPTS: usize = 8;

/// Results of all kills.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) kills: usize,
    /// Kills in the middle of a write.
    pub(crate) kills_at_writes: usize,
    /// Kills of a provider.
    pub(crate) kills_of_providers: usize,
    /// Network cuts instead of kills.
    pub(crate) cuts: usize,
    /// Number of times that another program continued after this one had ended.
    pub(crate) between: usize,
    /// Objects that exist and are in no state.
    pub(crate) lost: usize,
    /// Lost objects that exist a second time.
    pub(crate) duplicated: usize,
    /// Torn state files after a kill.
    pub(crate) torn: usize,
    /// Number of times that repeated runs of the engine did not succeed.
    pub(crate) stuck: usize,
    /// Objects that are not as they were to be, or that are known and do not exist.
    pub(crate) mismatched: usize,
    /// Configurations that were abandoned, because their orders of replacement cause a cycle.
    pub(crate) turned: usize,
    /// Operations that the engine reported as in flight.
    pub(crate) named: usize,
    /// Operations whose object the engine found by itself.
    pub(crate) resolved: usize,
    /// Operations that a person had to decide.
    pub(crate) decided: usize,
    /// The most operations that a person had to decide after one kill.
    pub(crate) max_decided: usize,
    /// The commands by which a person settled them.
    pub(crate) commands: usize,
    /// The most such commands for one kill.
    pub(crate) max_commands: usize,
}

impl Tally {
    /// Whether there is no failure.
    pub(crate) fn is_clean(&self) -> bool {
        let Self { lost, duplicated, torn, stuck, mismatched, .. } = self;
        [lost, duplicated, torn, stuck, mismatched].iter().all(|count| **count == 0)
    }

    fn count(&mut self, decisions: Decisions) {
        self.decided += decisions.operations;
        self.max_decided = self.max_decided.max(decisions.operations);
        self.commands += decisions.commands;
    }

    fn count_result(&mut self, result: &CommandResult) {
        self.named += result.text.matches("An operation was interrupted").count();
        self.resolved += result.text.matches("An interrupted operation was resolved").count();
    }
}

/// A program that is killed, and where it is.
struct CrashRun<'p> {
    directory: Directory<'p>,
    program: &'p Program,
    options: &'p Options,
    rng: Rng,
    /// Duration of a usual run.
    usual_duration: Duration,
    config: Config,
    tally: Tally,
}

/// Kills a program the requested number of times.
pub(crate) fn run_all_kills(program: &Program, options: &Options) -> Result<Tally, Box<dyn Error>> {
    let mut crash_run = CrashRun {
        directory: Directory::new(program, options)?,
        program,
        options,
        rng: Rng::new(options.seed),
        usual_duration: Duration::ZERO,
        config: Config::empty(program.is_ours() && options.between.is_none()),
        tally: Tally::default(),
    };
    crash_run.change_config(false)?;
    let usual = crash_run.directory.run(&Operation::Apply.args(true))?;
    if !usual.succeeded {
        return Err(format!("{} cannot apply anything:\n{}", program.name(), usual.text).into());
    }
    crash_run.usual_duration = usual.took;
    let mut n_reported = 0;
    while crash_run.tally.kills < options.kills {
        crash_run.run_one_kill()?;
        crash_run.let_other_program_continue()?;
        if crash_run.tally.kills / 25 > n_reported {
            n_reported = crash_run.tally.kills / 25;
            writeln!(std::io::stderr(), "{}: {:?}", program.name(), crash_run.tally)?;
        }
    }
    Ok(crash_run.tally)
}

impl CrashRun<'_> {
    fn run_one_kill(&mut self) -> Result<(), Box<dyn Error>> {
        let mut operation = Operation::random(&mut self.rng, &self.config);
        if operation.needs_new_config() {
            self.change_config(false)?;
        }
        if let Some(preparation) = operation.preparation()
            && !self.directory.run(&preparation)?.succeeded
        {
            operation = Operation::Apply;
        }
        // One in three is killed a second time, during the recovery from the first kill.
        let mut n_kills = if self.rng.chance(1, 3) { 2 } else { 1 };
        let n_planned = n_kills;
        let mut commands = 0;
        let mut last = String::new();
        let mut is_done = false;
        for attempt in 0..ATTEMPTS {
            let args = operation.args(attempt == 0);
            let result = if n_kills > 0 {
                n_kills -= 1;
                self.kill_during(&args)?
            } else {
                self.directory.run(&args)?
            };
            if !result.killed {
                self.tally.count_result(&result);
                // An operation that the next run may settle by itself is not decided yet.
                let is_due = result.succeeded || result.text.contains("needs a decision");
                let decisions = match self.program.is_ours() && is_due {
                    true => operator::decide_open_operations(&self.directory, &mut self.rng)?,
                    false => Decisions::default(),
                };
                self.tally.count(decisions);
                commands += decisions.commands;
                if result.succeeded && decisions.operations == 0 {
                    is_done = true;
                    break;
                }
                if result.text.contains("Error: Cycle") {
                    // Some configurations cannot follow others in one step, and this is what the message
                    // says to do then.
                    self.config = self.config.without_turns();
                    self.directory.configure(&self.config.files())?;
                    self.tally.turned += 1;
                }
                last = result.text;
            }
            if n_kills == 0 && attempt < 2 && operation.needs_new_config() && self.rng.chance(1, 3)
            {
                self.change_config(true)?;
                operation = Operation::Apply;
            }
        }
        let commands_per_kill = commands.div_ceil(n_planned);
        self.tally.max_commands = self.tally.max_commands.max(commands_per_kill);
        if !is_done {
            self.tally.stuck += 1;
            if self.directory.is_kept() {
                let work = self.directory.work();
                return Err(format!("it is stuck in {}:\n{last}", work.display()).into());
            }
        }
        self.compare(is_done && operation.fulfils())?;
        if !is_done {
            self.directory.start_over()?;
            self.directory.configure(&self.config.files())?;
        }
        Ok(())
    }

    /// Changes the configuration, possibly before the state is certain.
    fn change_config(&mut self, is_open: bool) -> std::io::Result<()> {
        self.config = match is_open {
            true => self.config.next_while_unknown(&mut self.rng),
            false => self.config.next(&mut self.rng),
        };
        self.directory.configure(&self.config.files())
    }

    fn kill_during(&mut self, args: &[String]) -> std::io::Result<CommandResult> {
        let moment = self.moment();
        let result = self.directory.run_until(args, moment)?;
        self.tally.kills +=
            usize::from(result.killed || result.n_providers_killed > 0 || result.was_cut);
        self.tally.cuts += usize::from(result.was_cut);
        let writing = result.killed && matches!(moment, Moment::Writing(_));
        self.tally.kills_at_writes += usize::from(writing);
        self.tally.kills_of_providers += usize::from(result.n_providers_killed > 0);
        self.tally.torn += observation::count_torn_files(&self.directory.work());
        let is_cut_off = result.was_cut && !result.succeeded;
        if (result.killed || is_cut_off) && self.options.destroys_local {
            self.directory.delete()?;
            self.directory.configure(&self.config.files())?;
        }
        Ok(result)
    }

    /// When the next kill is due: at any time of a usual run, of the engine or of its providers, or,
    /// where the engine dies of it, at any byte of what it writes. Or when the network is cut.
    fn moment(&mut self) -> Moment {
        let duration = u64::try_from(self.usual_duration.as_micros()).unwrap_or(u64::MAX);
        let rng = &mut self.rng;
        let mut time = || Duration::from_micros(rng.below(duration));
        let time = time();
        if self.options.cuts_network && rng.chance(1, 3) {
            let is_short = rng.chance(2, 3);
            let short = Duration::from_millis(rng.below(1000));
            let lasts = if is_short { short } else { Duration::MAX / 2 };
            return Moment::Network { after: time, lasts };
        }
        if rng.chance(1, 4) {
            return Moment::Provider(time);
        }
        if self.program.is_ours() && rng.chance(1, 2) {
            let state = self.directory.work().join("terraform.tfstate");
            let length = fs::metadata(state).map_or(0, |metadata| metadata.len());
            return Moment::Writing(300 + rng.below(3 * length + 4096));
        }
        Moment::After(time)
    }

    /// Sometimes lets another program continue.
    fn let_other_program_continue(&mut self) -> Result<(), Box<dyn Error>> {
        let Some(program) = self.options.between.as_ref().filter(|_| self.rng.chance(1, 3)) else {
            return Ok(());
        };
        self.change_config(false)?;
        let result = self.directory.run_of(program, &Operation::Apply.args(true))?;
        if !result.succeeded {
            let (name, work) = (program.name(), self.directory.work());
            let text = format!("{name} cannot go on in {}:\n{}", work.display(), result.text);
            return Err(text.into());
        }
        self.tally.between += 1;
        self.compare(true)?;
        Ok(())
    }

    /// Compares the real objects with the state and the configuration, and corrects what is
    /// wrong, so that it is counted once.
    fn compare(&mut self, fulfilled: bool) -> Result<(), Box<dyn Error>> {
        let (directory, tally) = (&self.directory, &mut self.tally);
        let state = directory.state()?;
        let known = observation::read_state_objects(&state);
        let objects = observation::read_real_objects(&directory.objects_directory());
        for (id, object) in objects.iter().filter(|(id, _)| !known.ids.contains(*id)) {
            tally.lost += 1;
            let twin = |(other_id, other_object): (&String, &serde_json::Value)| {
                other_id != id && other_object["name"] == object["name"]
            };
            tally.duplicated += usize::from(objects.iter().any(twin));
            if directory.is_kept() {
                return Err(format!("{id} is lost, see {}", directory.work().display()).into());
            }
            fs::remove_file(directory.objects_directory().join(format!("{id}.object")))?;
        }
        let mut mismatches: Vec<String> =
            known.ids.iter().filter(|id| !objects.contains_key(*id)).cloned().collect();
        if fulfilled {
            mismatches.extend(unfulfilled(&self.config.expected(), &objects, &known));
        }
        tally.mismatched += mismatches.len();
        if directory.is_kept() && !mismatches.is_empty() {
            return Err(format!("{mismatches:#?}, see {}", directory.work().display()).into());
        }
        Ok(())
    }
}
