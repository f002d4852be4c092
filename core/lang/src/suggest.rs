//! Which name was probably meant by a misspelt one.

/// How many letters may be wrong.
const MAX_DISTANCE: usize = 2;

/// Returns the candidate nearest to `name`, the first of several, or `None` if none is near.
#[must_use]
pub fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len().abs_diff(name.len()) > MAX_DISTANCE * 4 || candidate.len() > 64 {
            continue;
        }
        let distance = distance(name, candidate);
        if distance <= MAX_DISTANCE && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Letters to insert, remove or replace to get from one text to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(&b) {
            let replaced = corner + usize::from(letter != *other);
            corner = *cell;
            left = replaced.min(corner + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn counts_single_letter_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        assert_eq!(distance("uper", "upper"), 1);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["upper", "lower", "super"];
        assert_eq!(nearest("uper", names.into_iter()), Some("upper"));
        assert_eq!(nearest("something", names.into_iter()), None);
    }
}
