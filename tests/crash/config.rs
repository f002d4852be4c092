//! Random configurations, each derived from the one before: objects are added, changed, replaced
//! in either order and removed; kept objects are renamed, moved into a module and out of it, and changed
//! from an instance by number into one by name.

mod group;
mod text;

use std::collections::BTreeMap;

use self::group::Group;
pub(crate) use self::text::Files;
use crate::rng::Rng;

/// Number of resources outside of groups.
const N_STANDALONE: u64 = 24;
/// The first number of resources after the groups, which may be linked to them.
const FIRST_AFTER_GROUPS: u64 = 16;

/// A configuration.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    standalone: BTreeMap<u64, StandaloneResource>,
    groups: [Group; 3],
    /// Moves to another address than before. The earlier address of everything is certain.
    moves: Vec<(String, String)>,
    /// Number of configurations before this one.
    generation: u64,
    /// Whether resources may change their order of replacement.
    turns: bool,
}

/// A resource with one object. Its number is its name and determines its type.
#[derive(Clone, Debug)]
struct StandaloneResource {
    label: String,
    is_inside: bool,
    creates_first: bool,
    traits: ObjectTraits,
    link: Link,
}

/// Expected attributes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectTraits {
    pub(crate) size: u64,
    pub(crate) kind: u64,
}

/// Target of an object's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Nothing,
    Standalone(u64),
    Group(usize),
}

/// An expected object.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedObject {
    /// Address in the configuration.
    pub(crate) addr: String,
    pub(crate) name: String,
    pub(crate) traits: ObjectTraits,
    /// The name of the object whose id is its link, if it is linked to one.
    pub(crate) link: Option<String>,
}

impl ObjectTraits {
    fn random(rng: &mut Rng) -> Self {
        Self { size: rng.below(3), kind: rng.below(2) }
    }
}

/// Whether there is only one object of its name, which is how it is found.
fn is_named(number: u64) -> bool {
    number.is_multiple_of(4)
}

fn type_of(number: u64) -> &'static str {
    if is_named(number) { "crash_named" } else { "crash_numbered" }
}

impl StandaloneResource {
    fn addr(&self, number: u64) -> String {
        let module = if self.is_inside { "module.m." } else { "" };
        format!("{module}{}.{}", type_of(number), self.label)
    }
}

impl Config {
    /// An empty configuration. Resources may change their order of replacement if they
    /// may ever; with some engines that can bring about a cycle.
    pub(crate) fn empty(turns: bool) -> Self {
        let groups = std::array::from_fn(Group::empty);
        Self { standalone: BTreeMap::new(), groups, moves: Vec::new(), generation: 0, turns }
    }

    /// The next configuration after this one was applied completely.
    pub(crate) fn next(&self, rng: &mut Rng) -> Self {
        let settled = Self { moves: Vec::new(), ..self.clone() };
        settled.mutate(rng, false)
    }

    /// The next configuration when it is unknown how far this one was applied.
    pub(crate) fn next_while_unknown(&self, rng: &mut Rng) -> Self {
        self.mutate(rng, true)
    }

    fn mutate(&self, rng: &mut Rng, is_open: bool) -> Self {
        let generation = self.generation + 1;
        let mut moves = self.moves.clone();
        let mut standalone: BTreeMap<u64, StandaloneResource> = BTreeMap::new();
        for number in 0..N_STANDALONE {
            let before = self.standalone.get(&number);
            // Only one object of a name can exist. If it is removed and added again before it is certain
            // that it is gone, it is in its own way, with any engine.
            let stays = is_open && is_named(number) && before.is_some();
            if !stays && !rng.chance(2, 3) {
                continue;
            }
            let mut resource = StandaloneResource {
                label: format!("n{number}_v{generation}"),
                is_inside: rng.chance(1, 4),
                creates_first: self.creates_first(number, rng),
                traits: ObjectTraits::random(rng),
                link: Link::Nothing,
            };
            if let Some(before) = before {
                let moves_away = rng.chance(1, 3);
                if !moves_away {
                    (resource.label, resource.is_inside) = (before.label.clone(), before.is_inside);
                } else if is_named(number) || rng.chance(5, 6) {
                    moves.push((before.addr(number), resource.addr(number)));
                }
            }
            resource.link = link(rng, number, &resource, &standalone);
            standalone.insert(number, resource);
        }
        let groups =
            std::array::from_fn(|index| self.groups[index].mutate(rng, generation, &mut moves));
        Self { standalone, groups, moves, generation, turns: self.turns }
    }

    /// Whether its successor is created first. Only one object of a name can exist, and with some
    /// engines a resource that changes its order may be in a cycle with its dependents.
    fn creates_first(&self, number: u64, rng: &mut Rng) -> bool {
        number % 4 == 1 || (self.turns && number % 4 == 3 && rng.chance(1, 2))
    }

    /// The same configuration with each resource in its initial order of replacement.
    pub(crate) fn without_turns(&self) -> Self {
        let mut config = self.clone();
        for (number, resource) in &mut config.standalone {
            resource.creates_first = *number % 4 == 1;
        }
        config
    }

    /// Every object that there is to be.
    pub(crate) fn expected(&self) -> Vec<ExpectedObject> {
        let standalone = self.standalone.iter().map(|(number, resource)| ExpectedObject {
            addr: resource.addr(*number),
            name: format!("n{number}"),
            traits: resource.traits,
            link: match resource.link {
                Link::Standalone(target) => Some(format!("n{target}")),
                Link::Nothing | Link::Group(_) => None,
            },
        });
        standalone.chain(self.groups.iter().flat_map(Group::expected)).collect()
    }

    /// The addresses of some resources and instances, to be named in an option.
    pub(crate) fn some_addresses(&self, rng: &mut Rng, max: u64) -> Vec<String> {
        let expected = self.expected();
        let n = 1 + rng.below(max);
        let pick = |rng: &mut Rng| {
            let index = rng.below(expected.len() as u64);
            expected.get(usize::try_from(index).ok()?).map(|object| object.addr.clone())
        };
        let mut picked: Vec<String> = (0..n).filter_map(|_| pick(rng)).collect();
        picked.sort();
        picked.dedup();
        picked
    }
}

/// A link to an earlier object. A resource with `create_before_destroy` makes its dependencies
/// create first as well, so it only needs those that do so anyway, unless orders may change.
fn link(
    rng: &mut Rng,
    number: u64,
    resource: &StandaloneResource,
    before: &BTreeMap<u64, StandaloneResource>,
) -> Link {
    if !rng.chance(1, 2) {
        return Link::Nothing;
    }
    let is_first = number % 4 == 1;
    if number >= FIRST_AFTER_GROUPS && !resource.is_inside && rng.chance(1, 3) {
        return Link::Group(if is_first { group::CREATES_FIRST } else { 0 });
    }
    let fits = |(candidate, it): &(&u64, &StandaloneResource)| {
        // Objects inside the module cannot refer to objects outside.
        !is_named(**candidate)
            && (!resource.is_inside || it.is_inside)
            && (!is_first || *candidate % 4 == 1)
    };
    let fitting: Vec<u64> = before.iter().filter(fits).map(|(candidate, _)| *candidate).collect();
    match usize::try_from(rng.below(fitting.len() as u64)) {
        Ok(index) if index < fitting.len() => Link::Standalone(fitting[index]),
        _ => Link::Nothing,
    }
}
