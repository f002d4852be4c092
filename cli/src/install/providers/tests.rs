//! Which version is chosen, and what becomes of the lock.

use super::*;

#[test]
fn what_is_locked_and_still_fits_stays_as_it_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (env, settings) = (Env::default(), Settings::default());
    let addr: ProviderAddr = "example.com/acme/thing".parse().unwrap();
    let mirror = folder.path().join("mirror");
    for version in ["1.0.0", "1.1.0"] {
        let package = package::place(&mirror, &addr, &Version::parse(version).unwrap());
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("terraform-provider-thing"), version).unwrap();
    }
    let places = Places {
        env: &env,
        settings: &settings,
        reattached: &BTreeMap::new(),
        root: folder.path(),
        data: &folder.path().join("data"),
        plugin_dirs: &[mirror],
    };
    let mut locks = LockFile::default();
    let mut install = |constraints: &str, upgrade: bool| {
        let required = [(addr.clone(), constraints.parse().unwrap())].into();
        let mut diags = Diagnostics::new();
        places.install(&mut diags, &required, &mut locks, upgrade).unwrap();
        let lock = &locks.providers[&addr];
        (lock.version.to_string(), lock.constraints.to_string())
    };
    let pair = |version: &str, constraints: &str| (version.to_owned(), constraints.to_owned());
    assert_eq!(install("1.0.0", false), pair("1.0.0", "1.0.0"));
    assert_eq!(install(">= 1.0.0", false), pair("1.0.0", "1.0.0"));
    assert_eq!(install(">= 1.0.0", true), pair("1.1.0", ">= 1.0.0"));
}

#[test]
fn what_was_installed_is_used_wherever_it_came_from_while_it_is_what_was_locked() {
    let folder = tempfile::tempdir().unwrap();
    let (env, settings) = (Env::default(), Settings::default());
    let addr: ProviderAddr = "example.com/acme/thing".parse().unwrap();
    let data = folder.path().join("data");
    let version = Version::new(1, 0, 0);
    let package = package::place(&data.join("providers"), &addr, &version);
    std::fs::create_dir_all(&package).unwrap();
    let program = package.join("terraform-provider-thing");
    std::fs::write(&program, "a program").unwrap();
    let hashes: BTreeSet<String> = [hash::of_folder(&package).unwrap()].into();
    let root = folder.path();
    let places = Places {
        env: &env,
        settings: &settings,
        reattached: &BTreeMap::new(),
        root,
        data: &data,
        plugin_dirs: &[],
    };
    let constraints: Constraints = ">= 1.0.0".parse().unwrap();
    let lock = Lock { version, constraints: constraints.clone(), hashes };
    let choose = |upgrade| {
        let mut diags = Diagnostics::new();
        let chosen = places.choose(&mut diags, &addr, &constraints, (Some(&lock), upgrade));
        chosen.map(|chosen| chosen.origin)
    };
    assert_eq!(choose(false), Ok(Origin::Installed));
    assert_eq!(choose(true), Ok(Origin::Installed), "there is nothing newer");
    std::fs::write(&program, "another one").unwrap();
    assert!(choose(false).is_err() && choose(true).is_err());
}
