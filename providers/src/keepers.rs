//! When a change of arbitrary values means a new object.

use std::collections::BTreeMap;

use formwork_sdk::Attr;

/// Arbitrary values while planning.
type Strings = Attr<BTreeMap<String, Attr<String>>>;

/// Whether `keepers` or `triggers` differ in more than keys without values: older states omit
/// those, and that must not force a new object.
pub(crate) fn keepers_or_triggers_changed(prior: &Strings, planned: &Strings) -> bool {
    match (prior.get(), planned) {
        (_, Attr::Unknown) => true,
        (None, Attr::Null) => false,
        (Some(prior), Attr::Null) => !prior.is_empty(),
        (None, Attr::Known(planned)) => planned.values().any(|value| !value.is_null()),
        (Some(prior), Attr::Known(planned)) => {
            let changed = planned.iter().any(|(key, value)| match prior.get(key) {
                Some(prior) => prior != value || value.is_unknown(),
                None => !value.is_null(),
            });
            changed || prior.keys().any(|key| !planned.contains_key(key))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keepers_without_values_are_ignored() {
        let map = |pairs: &[(&str, Attr<&str>)]| -> Strings {
            let owned = pairs.iter().map(|(key, value)| {
                let value = match value {
                    Attr::Null => Attr::Null,
                    Attr::Unknown => Attr::Unknown,
                    Attr::Known(text) => Attr::from(*text),
                };
                ((*key).to_owned(), value)
            });
            Attr::Known(owned.collect::<BTreeMap<_, _>>())
        };
        let a = || map(&[("a", Attr::Known("1"))]);
        let table = [
            (a(), a(), false),
            (a(), map(&[("a", Attr::Known("2"))]), true),
            (a(), map(&[("a", Attr::Known("1")), ("b", Attr::Null)]), false),
            (a(), map(&[("a", Attr::Known("1")), ("b", Attr::Known("2"))]), true),
            (a(), map(&[("a", Attr::Unknown)]), true),
            (a(), map(&[]), true),
            (a(), Attr::Null, true),
            (a(), Attr::Unknown, true),
            (Attr::Null, map(&[("a", Attr::Null)]), false),
            (Attr::Null, map(&[]), false),
            (map(&[]), Attr::Null, false),
            (Attr::Null, a(), true),
        ];
        for (prior, planned, expected) in table {
            assert_eq!(
                keepers_or_triggers_changed(&prior, &planned),
                expected,
                "{prior:?} -> {planned:?}"
            );
        }
    }
}
