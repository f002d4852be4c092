//! One life after the other: a configuration is applied, the engine is killed, and run again until it
//! is done; then what exists is held against what it believes.

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::time::Duration;

use crate::chance::Chance;
use crate::config;
use crate::folder::{Ended, Folder, Moment};
use crate::options::{Options, Program};
use crate::{person, sight};

/// How often a command is run again before it counts as stuck.
const ATTEMPTS: usize = 6;

/// What came of all kills.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) kills: usize,
    /// Those that came in the middle of a write.
    pub(crate) kills_at_writes: usize,
    /// Objects that exist and that no state knows of.
    pub(crate) lost: usize,
    /// Those of them that exist a second time.
    pub(crate) duplicated: usize,
    /// State files that were not whole after a kill.
    pub(crate) torn: usize,
    /// Times when running the engine again did not come to an end.
    pub(crate) stuck: usize,
    /// Operations that the engine said were in flight.
    pub(crate) named: usize,
    /// Those whose object the engine found by itself.
    pub(crate) found: usize,
    /// Those that a person had to decide.
    pub(crate) decided: usize,
}

impl Tally {
    /// Whether nothing went wrong.
    pub(crate) fn is_clean(&self) -> bool {
        [self.lost, self.duplicated, self.torn, self.stuck].iter().all(|count| *count == 0)
    }

    fn hear(&mut self, ended: &Ended) {
        self.named += ended.text.matches("An operation was interrupted").count();
        self.found += ended.text.matches("An interrupted operation was resolved").count();
    }
}

const APPLY: [&str; 3] = ["apply", "-auto-approve", "-input=false"];

/// Kills a program as often as was asked for.
pub(crate) fn play(program: &Program, options: &Options) -> Result<Tally, Box<dyn Error>> {
    let folder = Folder::new(program, options)?;
    let mut chance = Chance::new(options.seed);
    let mut tally = Tally::default();
    folder.configure(&config::random(&mut chance))?;
    let usual = folder.run(&APPLY)?;
    if !usual.succeeded {
        return Err(format!("{} cannot apply anything:\n{}", program.name(), usual.text).into());
    }
    while tally.kills < options.kills {
        one(&folder, (program, &mut chance), usual.took, &mut tally)?;
        if tally.kills.is_multiple_of(25) {
            writeln!(std::io::stderr(), "{}: {tally:?}", program.name())?;
        }
    }
    Ok(tally)
}

fn one(
    folder: &Folder<'_>,
    (program, chance): (&Program, &mut Chance),
    usual: Duration,
    tally: &mut Tally,
) -> Result<(), Box<dyn Error>> {
    folder.configure(&config::random(chance))?;
    let mut n_attempts = 0;
    // One in three is killed a second time, while it takes up what the first left.
    let mut n_kills = if chance.is(1, 3) { 2 } else { 1 };
    let mut last = String::new();
    let done = loop {
        n_attempts += 1;
        if n_attempts > ATTEMPTS {
            break false;
        }
        let ended = if n_kills > 0 {
            n_kills -= 1;
            let moment = moment(folder, (program, chance), usual)?;
            let ended = folder.run_until(&APPLY, moment)?;
            tally.kills += usize::from(ended.killed);
            let writing = ended.killed && matches!(moment, Moment::Writing(_));
            tally.kills_at_writes += usize::from(writing);
            tally.torn += sight::torn(&folder.work());
            ended
        } else {
            folder.run(&APPLY)?
        };
        if ended.killed {
            continue;
        }
        tally.hear(&ended);
        if ended.succeeded {
            break true;
        }
        last = ended.text;
        if program.is_ours() {
            tally.decided += person::decide(folder)?;
        }
    };
    compare(folder, tally)?;
    if !done {
        tally.stuck += 1;
        if folder.is_kept() {
            return Err(format!("it is stuck in {}:\n{last}", folder.work().display()).into());
        }
        folder.start_over()?;
    }
    Ok(())
}

/// When the next kill is due: at any time of a usual run, or, where the engine dies of it, at any byte
/// of what it writes.
fn moment(
    folder: &Folder<'_>,
    (program, chance): (&Program, &mut Chance),
    usual: Duration,
) -> std::io::Result<Moment> {
    if program.is_ours() && chance.is(1, 2) {
        let state = folder.work().join("terraform.tfstate");
        let length = fs::metadata(state).map_or(0, |found| found.len());
        return Ok(Moment::Writing(300 + chance.below(3 * length + 4096)));
    }
    let most = u64::try_from(usual.as_micros()).unwrap_or(u64::MAX);
    Ok(Moment::After(Duration::from_micros(chance.below(most))))
}

/// Holds what exists against what the state knows, and puts right what is wrong, so that it is counted
/// once.
fn compare(folder: &Folder<'_>, tally: &mut Tally) -> Result<(), Box<dyn Error>> {
    let state = fs::read_to_string(folder.work().join("terraform.tfstate")).unwrap_or_default();
    let known = sight::ids(&state);
    let world = sight::world(&folder.world());
    for (id, name) in world.iter().filter(|(id, _)| !known.contains(*id)) {
        tally.lost += 1;
        let twin = |(other, its_name): (&String, &String)| other != id && its_name == name;
        tally.duplicated += usize::from(world.iter().any(twin));
        if folder.is_kept() {
            return Err(format!("{id} is lost, see {}", folder.work().display()).into());
        }
        fs::remove_file(folder.world().join(format!("{id}.object")))?;
    }
    Ok(())
}
