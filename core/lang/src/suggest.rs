//! Spelling suggestions: finds the known name nearest to a misspelt one.

/// Greatest edit distance of a suggestion.
const MAX_EDIT_DISTANCE: usize = 2;

/// Greatest length of the names that are compared.
const MAX_COMPARED_NAME_LENGTH: usize = 64;
/// Greatest number of candidates. The limit bounds the work if many names are wrong, because each is
/// compared with all candidates.
const MAX_COMPARED_CANDIDATES: usize = 10_000;

/// Returns the candidate nearest to `name`, the first of several, or `None` if no candidate is near.
#[must_use]
pub fn nearest_name<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.take(MAX_COMPARED_CANDIDATES) {
        // The lengths are compared first, because most candidates are far from the name.
        if candidate.len().abs_diff(name.len()) > MAX_EDIT_DISTANCE * 4
            || candidate.len() > MAX_COMPARED_NAME_LENGTH
        {
            continue;
        }
        // Only a nearer name replaces the best one, so the first of equally near names is kept.
        let limit = best.map_or(MAX_EDIT_DISTANCE, |(least, _)| least.saturating_sub(1));
        if let Some(distance) = edit_distance(name, candidate, limit) {
            best = Some((distance, candidate));
            if distance == 0 {
                break;
            }
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Edit distance of two strings; `None` if it exceeds the limit. Strings that differ early are
/// rejected early: `strsim` has no limit, and would fill the whole table for each of 10,000 candidates.
fn edit_distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let same = |(a, b): &(char, char)| a == b;
    let in_front: usize =
        a.chars().zip(b.chars()).take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
    let (a, b) = (a.get(in_front..)?, b.get(in_front..)?);
    let n_common_suffix: usize = a
        .chars()
        .rev()
        .zip(b.chars().rev())
        .take_while(same)
        .map(|(letter, _)| letter.len_utf8())
        .sum();
    let (a, b) = (a.get(..a.len() - n_common_suffix)?, b.get(..b.len() - n_common_suffix)?);
    // A letter is at most four bytes.
    if a.len().abs_diff(b.len()) > limit * 4 {
        return None;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        let mut least = left;
        for (cell, other_letter) in row.iter_mut().skip(1).zip(&b) {
            let replaced = corner + usize::from(letter != *other_letter);
            corner = *cell;
            left = replaced.min(corner + 1).min(left + 1);
            *cell = left;
            least = least.min(left);
        }
        // No later row can have a smaller minimum than this one.
        if least > limit {
            return None;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, nearest_name};

    #[test]
    fn counts_single_letter_edits() {
        assert_eq!(edit_distance("kitten", "sitting", 3), Some(3));
        assert_eq!(edit_distance("kitten", "sitting", 2), None);
        assert_eq!(edit_distance("", "ab", 2), Some(2));
        assert_eq!(edit_distance("uper", "upper", 2), Some(1));
        assert_eq!(edit_distance("aa", "aaa", 2), Some(1));
        assert_eq!(edit_distance("größe", "grösse", 2), Some(2));
        assert_eq!(edit_distance("same", "same", 0), Some(0));
        assert_eq!(edit_distance("éa", "èa", 2), Some(1));
    }

    #[test]
    fn suggests_only_similar_names() {
        let names = ["upper", "lower", "super"];
        assert_eq!(nearest_name("uper", names.into_iter()), Some("upper"));
        assert_eq!(nearest_name("something", names.into_iter()), None);
    }
}
