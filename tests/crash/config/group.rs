//! A resource with several objects, distinguished by number or by name.

use std::collections::BTreeMap;

use super::{ExpectedObject, ObjectTraits};
use crate::rng::Rng;

/// The group with `create_before_destroy`.
pub(super) const CREATES_FIRST: usize = 1;

/// Maximum number of objects.
const MOST: u64 = 4;

/// A group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    index: usize,
    pub(super) label: String,
    pub(super) is_counted: bool,
    pub(super) members: BTreeMap<u64, Member>,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Instance key, unless the members are counted.
    pub(super) key: String,
    pub(super) traits: ObjectTraits,
}

impl Group {
    /// One without objects.
    pub(super) fn empty(index: usize) -> Self {
        Self { index, label: format!("g{index}"), is_counted: true, members: BTreeMap::new() }
    }

    pub(super) fn creates_first(&self) -> bool {
        self.index == CREATES_FIRST
    }

    /// The name of a member.
    pub(super) fn name(&self, number: u64) -> String {
        format!("g{}-{number}", self.index)
    }

    /// The group after a change. A member with another address is added to the moves, or is created
    /// again.
    pub(super) fn mutate(
        &self,
        rng: &mut Rng,
        generation: u64,
        moves: &mut Vec<(String, String)>,
    ) -> Self {
        let turns = rng.chance(1, 3);
        let is_counted = self.is_counted != turns;
        // An address that something has left is never used again: nothing could be there while the
        // configuration contains the move.
        let renamed = (is_counted && turns) || rng.chance(1, 8);
        let label = match renamed {
            true => format!("g{}_v{generation}", self.index),
            false => self.label.clone(),
        };
        let mut group = Self { index: self.index, label, is_counted, members: BTreeMap::new() };
        let n_counted = rng.below(MOST + 1);
        let moves_along = rng.chance(5, 6);
        for number in 0..MOST {
            let is_there = if is_counted { number < n_counted } else { rng.chance(2, 3) };
            if !is_there {
                continue;
            }
            let before = self.members.get(&number).filter(|_| !self.is_counted && !is_counted);
            let key = match before {
                Some(before) if !rng.chance(1, 4) => before.key.clone(),
                _ => format!("k{number}v{generation}"),
            };
            group.members.insert(number, Member { key, traits: ObjectTraits::random(rng) });
            if self.members.contains_key(&number) {
                let (from, to) = (self.addr(number), group.addr(number));
                if from != to && moves_along {
                    moves.push((from, to));
                }
            }
        }
        group
    }

    /// The address of one of its members.
    fn addr(&self, number: u64) -> String {
        let Self { label, is_counted, members, .. } = self;
        match members.get(&number).filter(|_| !is_counted) {
            Some(member) => format!("crash_numbered.{label}[{:?}]", member.key),
            None => format!("crash_numbered.{label}[{number}]"),
        }
    }

    /// Every object that there is to be.
    pub(super) fn expected(&self) -> impl Iterator<Item = ExpectedObject> {
        self.members.iter().map(|(number, member)| ExpectedObject {
            addr: self.addr(*number),
            name: self.name(*number),
            traits: member.traits,
            link: None,
        })
    }
}
