//! Tool calls that repeat: turn after turn the same calls, with the same arguments and the same results.
//!
//! Only hashes are kept. A turn is the set of its calls, because parallel calls end in any order. A new call or a new
//! result ends the repetition.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use super::wire::digest::hash_of;

/// The longest round of turns that is recognized: A B A B … is a round of two.
const MAX_ROUND: usize = 4;
/// The maximum number of calls of one turn that are compared, far more than a model makes.
const MAX_CALLS: usize = 256;

/// Tool calls that have repeated up to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// The number of times that the round occurred in a row, at least two.
    pub times: u64,
    /// The number of different calls in one round.
    pub calls: usize,
    /// The number of the turn in which the repetition began. Another repetition has another number.
    pub began: u64,
}

/// Follows the turns of a child.
#[derive(Debug, Default)]
pub(super) struct Loops {
    /// The calls of the current turn that have ended, with their results.
    turn: BTreeSet<u64>,
    /// The last turns, newest first, each with its number of calls.
    turns: VecDeque<(u64, usize)>,
    turns_seen: u64,
    /// Per round length: the number of turns in a row that equal the turn one round before. The first entry is for
    /// rounds of one turn.
    equal: [u64; MAX_ROUND],
}

impl Loops {
    /// Notes that a call has ended.
    pub(super) fn call_ended(&mut self, call: u64, result: u64) {
        if self.turn.len() < MAX_CALLS {
            self.turn.insert(hash_of(&(call, result)));
        }
    }

    /// Notes that the current turn has ended, if it had any calls.
    pub(super) fn turn_ended(&mut self) {
        if self.turn.is_empty() {
            return;
        }
        let turn = (hash_of(&self.turn), self.turn.len());
        self.turn.clear();
        for (before, equal) in self.equal.iter_mut().enumerate() {
            *equal = if self.turns.get(before) == Some(&turn) { *equal + 1 } else { 0 };
        }
        self.turns.truncate(MAX_ROUND - 1);
        self.turns.push_front(turn);
        self.turns_seen += 1;
    }

    /// Returns the round that has repeated most often. If several have, returns the shortest.
    pub(super) fn repeats(&self) -> Option<Repeats> {
        let rounds = self.equal.iter().zip(1u64..).map(|(equal, length)| (equal / length + 1, length));
        let (times, length) =
            rounds.min_by_key(|(times, _)| Reverse(*times)).filter(|(times, _)| *times > 1)?;
        let began = self.turns_seen - length - self.equal[usize::try_from(length).ok()? - 1];
        let calls = self.turns.iter().zip(0..length).map(|((_, calls), _)| calls).sum();
        Some(Repeats { times, calls, began })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays turns, each the letters of its calls; a letter's case is its result.
    fn repeats(turns: &str) -> Option<(u64, usize)> {
        let mut loops = Loops::default();
        for turn in turns.split(' ') {
            for call in turn.chars() {
                loops.call_ended(hash_of(&call.to_ascii_lowercase()), hash_of(&call.is_uppercase()));
            }
            loops.turn_ended();
        }
        loops.repeats().map(|Repeats { times, calls, .. }| (times, calls))
    }

    #[test]
    fn a_repeated_round_of_up_to_four_turns_is_recognized() {
        for (label, turns, expected) in [
            ("no call", "", None),
            ("one call", "a", None),
            ("the same call", "a a a", Some((3, 1))),
            ("another result", "a a A", None),
            ("a result that changes each time", "a A a A a", Some((2, 2))),
            ("two in turn", "a b a b a b", Some((3, 2))),
            ("two in turn, half a round more", "a b a b a b a", Some((3, 2))),
            ("three in turn", "a b c a b c", Some((2, 3))),
            ("four in turn", "a b c d a b c d", Some((2, 4))),
            ("five in turn", "a b c d e a b c d e", None),
            ("something new in between", "a a b a a", Some((2, 1))),
            ("something before", "x y a a a a", Some((4, 1))),
            ("a turn without calls", "a  a a", Some((3, 1))),
            ("calls side by side, in any order", "ab ba ab", Some((3, 2))),
            ("side by side, with something new", "ab ac ad", None),
            ("many of the same at once are one turn", "aaaaaaaa", None),
            ("and their number does not matter", "a aa aaa", Some((3, 1))),
        ] {
            assert_eq!(repeats(turns), expected, "{label}");
        }
    }

    #[test]
    fn a_thousand_calls_in_a_turn_take_no_more_room() {
        let mut loops = Loops::default();
        for call in 0..1000 {
            loops.call_ended(call, 0);
        }
        assert_eq!(loops.turn.len(), MAX_CALLS);
    }
}
