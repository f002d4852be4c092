//! Aligns two sequences: finds the unchanged, removed and added elements. Pure.

/// Change of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The element with these indexes before and after is unchanged.
    Keep(usize, usize),
    /// The element at this index is removed.
    Remove(usize),
    /// The element at this index is added.
    Add(usize),
}

/// Maximum size of the table for the longest common subsequence. For larger inputs, everything between the
/// first and the last difference counts as replaced: correct, but not minimal.
const MAX_LCS_TABLE: usize = 1 << 20;

/// Maximum table size for which the same longest common subsequence as Terraform's is found. For larger
/// inputs, common ends are kept first, which takes less time.
const MAX_EXACT_LCS_TABLE: usize = 1 << 16;

/// Aligns two sequences so that as many elements as possible are unchanged.
pub(super) fn align<T: PartialEq>(old: &[T], new: &[T]) -> Vec<Edit> {
    if old.len() * new.len() <= MAX_EXACT_LCS_TABLE {
        return edits_around_subsequence(&longest_common_subsequence(old, new), old, new);
    }
    align_between_ends(old, new)
}

/// A longest common subsequence, as indexes in the first sequence.
fn longest_common_subsequence<T: PartialEq>(old: &[T], new: &[T]) -> Vec<usize> {
    let row = old.len() + 1;
    // `longest[b][a]` is the length for the first b and a elements.
    let mut longest = vec![0_u32; row * (new.len() + 1)];
    let mut equal = vec![false; row * (new.len() + 1)];
    for b in 1..=new.len() {
        for a in 1..=old.len() {
            let cell = b * row + a;
            equal[cell] = old[a - 1] == new[b - 1];
            longest[cell] = match equal[cell] {
                true => longest[cell - row - 1] + 1,
                false => longest[cell - 1].max(longest[cell - row]),
            };
        }
    }
    let (mut a, mut b, mut indices) = (old.len(), new.len(), Vec::new());
    while a > 0 && b > 0 {
        let cell = b * row + a;
        if equal[cell] {
            indices.push(a - 1);
            (a, b) = (a - 1, b - 1);
        } else if longest[cell - 1] > longest[cell - row] {
            a -= 1;
        } else {
            b -= 1;
        }
    }
    indices.reverse();
    indices
}

/// Edits that keep a common subsequence, each element at its first index.
fn edits_around_subsequence<T: PartialEq>(common: &[usize], old: &[T], new: &[T]) -> Vec<Edit> {
    let (mut a, mut b, mut edits) = (0, 0, Vec::new());
    let ends = common.iter().map(|index| Some(&old[*index])).chain([None]);
    for kept_item in ends {
        while a < old.len() && kept_item != Some(&old[a]) {
            edits.push(Edit::Remove(a));
            a += 1;
        }
        while b < new.len() && kept_item != Some(&new[b]) {
            edits.push(Edit::Add(b));
            b += 1;
        }
        if a < old.len() && b < new.len() {
            edits.push(Edit::Keep(a, b));
            (a, b) = (a + 1, b + 1);
        }
    }
    edits
}

fn align_between_ends<T: PartialEq>(old: &[T], new: &[T]) -> Vec<Edit> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut edits: Vec<Edit> = (0..start).map(|index| Edit::Keep(index, index)).collect();
    edits.extend(align_middle(&old[start..old_end], &new[start..new_end]).into_iter().map(
        |edit| match edit {
            Edit::Keep(a, b) => Edit::Keep(a + start, b + start),
            Edit::Remove(index) => Edit::Remove(index + start),
            Edit::Add(index) => Edit::Add(index + start),
        },
    ));
    edits.extend((0..tail).map(|index| Edit::Keep(old_end + index, new_end + index)));
    edits
}

fn align_middle<T: PartialEq>(old: &[T], new: &[T]) -> Vec<Edit> {
    let all_replaced = old.is_empty() || new.is_empty() || old.len() * new.len() > MAX_LCS_TABLE;
    if all_replaced {
        let removed = (0..old.len()).map(Edit::Remove);
        return removed.chain((0..new.len()).map(Edit::Add)).collect();
    }
    // `longest[a][b]` is the length of the longest common subsequence of the rests that begin at a
    // and b.
    let row = new.len() + 1;
    let mut longest = vec![0_u32; row * (old.len() + 1)];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            longest[a * row + b] = if old[a] == new[b] {
                longest[(a + 1) * row + b + 1] + 1
            } else {
                longest[(a + 1) * row + b].max(longest[a * row + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut edits = Vec::new();
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            edits.push(Edit::Keep(a, b));
            (a, b) = (a + 1, b + 1);
        } else if b == new.len()
            || a < old.len() && longest[(a + 1) * row + b] >= longest[a * row + b + 1]
        {
            edits.push(Edit::Remove(a));
            a += 1;
        } else {
            edits.push(Edit::Add(b));
            b += 1;
        }
    }
    edits
}

/// Splits edits into unchanged and changed runs.
pub(super) fn split_runs(edits: &[Edit]) -> impl Iterator<Item = &[Edit]> {
    edits.chunk_by(|a, b| matches!(a, Edit::Keep(..)) == matches!(b, Edit::Keep(..)))
}

/// Whether a run is the first one, and whether it is the last one.
pub(super) struct EditRunPosition {
    pub(super) first: bool,
    pub(super) last: bool,
}

/// Hidden part of an unchanged run: all except `context` elements next to a difference.
pub(super) fn hidden_range(
    len: usize,
    context: usize,
    ends: EditRunPosition,
) -> std::ops::Range<usize> {
    let from = if ends.first { 0 } else { context.min(len) };
    let to = if ends.last { len } else { len.saturating_sub(context).max(from) };
    from..to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let text: String = align(&old, &new)
            .into_iter()
            .map(|edit| match edit {
                Edit::Keep(a, b) => {
                    assert_eq!(old[a], new[b]);
                    format!(" {}", old[a])
                }
                Edit::Remove(index) => format!("-{}", old[index]),
                Edit::Add(index) => format!("+{}", new[index]),
            })
            .collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn unchanged_elements_are_kept() {
        check("abc", "abc", " a b c");
        check("abc", "axc", " a-b+x c");
        check("abcd", "bcde", "-a b c d+e");
        check("", "ab", "+a+b");
        check("abcabba", "cbabac", "-a-b c-a b+a b a+c");
    }

    #[test]
    fn long_sequences_are_replaced_between_their_common_ends() {
        let old: Vec<usize> = (0..3000).collect();
        let mut new: Vec<usize> = (5000..8000).collect();
        (new[0], new[2999]) = (0, 2999);
        let edits = align(&old, &new);
        let n_kept = edits.iter().filter(|edit| matches!(edit, Edit::Keep(..))).count();
        assert_eq!((n_kept, edits.len()), (2, 2 + 2 * 2998));
    }
}
