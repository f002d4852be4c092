//! Selection of a version from directories, and the lock that results.

use std::fs::File;

use super::*;
use crate::platform::Platform;

/// Installs from the places, and returns the names of the events.
fn install(
    provider_dirs: &ProviderDirs<'_>,
    required: &BTreeMap<ProviderAddr, VersionConstraints>,
    locks: &mut LockFile,
    upgrade: bool,
) -> Result<Vec<InstallEvent>, Diagnostics> {
    let events = std::cell::RefCell::new(Vec::new());
    let options = ProviderInstallOptions {
        upgrade,
        module_constraints: &ModuleConstraints::default(),
        event: &|_, event| events.borrow_mut().push(event.clone()),
        progress: &|_| (),
    };
    let mut diags = Diagnostics::new();
    match provider_dirs.install_required(&mut diags, required, locks, &options) {
        Ok(_) => Ok(events.into_inner()),
        Err(_) => Err(diags),
    }
}

#[test]
fn a_locked_version_that_meets_the_constraints_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let (env, settings) = (Env::default(), Settings::default());
    let addr: ProviderAddr = "example.com/acme/thing".parse().unwrap();
    let mirror = directory.path().join("mirror");
    for version in ["1.0.0", "1.1.0"] {
        let package = package::package_dir(&mirror, &addr, &Version::parse(version).unwrap());
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("terraform-provider-thing"), version).unwrap();
    }
    let provider_dirs = ProviderDirs {
        env: &env,
        settings: &settings,
        reattached: &BTreeMap::new(),
        root: directory.path(),
        data: &DataDir::at_path(directory.path().join("data")),
        plugin_dirs: &[mirror],
    };
    let mut locks = LockFile::default();
    let mut choose = |constraints: &str, upgrade: bool| {
        let required = [(addr.clone(), constraints.parse().unwrap())].into();
        install(&provider_dirs, &required, &mut locks, upgrade).unwrap();
        let lock = &locks.providers[&addr];
        (lock.version.to_string(), lock.constraints.to_string())
    };
    let pair = |version: &str, constraints: &str| (version.to_owned(), constraints.to_owned());
    assert_eq!(choose("1.0.0", false), pair("1.0.0", "1.0.0"));
    assert_eq!(choose(">= 1.0.0", false), pair("1.0.0", "1.0.0"));
    // A lock for which no newer version exists is not changed.
    assert_eq!(choose("< 1.1.0", true), pair("1.0.0", "1.0.0"));
    assert_eq!(choose(">= 1.0.0", true), pair("1.1.0", ">= 1.0.0"));
}

#[test]
fn the_cache_may_lack_hashes_in_the_lock_file_but_never_differ_from_them() {
    let directory = tempfile::tempdir().unwrap();
    let addr: ProviderAddr = "example.com/acme/thing".parse().unwrap();
    let (cache, mirror) = (directory.path().join("cache"), directory.path().join("mirror"));
    let version = Version::new(1, 0, 0);
    // The same version, once in the mirror and once, changed, in the cache.
    let archive = mirror.join(format!(
        "example.com/acme/thing/terraform-provider-thing_1.0.0_{}.zip",
        Platform::current()
    ));
    std::fs::create_dir_all(archive.parent().unwrap()).unwrap();
    let bytes = crate::fetch::archive::testing::zip(&[("terraform-provider-thing", "genuine")]);
    std::fs::write(&archive, bytes).unwrap();
    let cached = package::package_dir(&cache, &addr, &version);
    let change = || {
        std::fs::create_dir_all(&cached).unwrap();
        std::fs::write(cached.join("terraform-provider-thing"), "changed").unwrap();
    };
    let env = Env::default();
    let settings = Settings {
        plugin_cache_dir: Some(cache.clone()),
        cache_may_break_lock: true,
        ..Settings::default()
    };
    let data = &DataDir::at_path(directory.path().join("data"));
    let root = directory.path();
    let provider_dirs = ProviderDirs {
        env: &env,
        settings: &settings,
        reattached: &BTreeMap::new(),
        root,
        data,
        plugin_dirs: std::slice::from_ref(&mirror),
    };
    let required: BTreeMap<_, _> = [(addr.clone(), VersionConstraints::default())].into();
    let genuine = hash::h1_hash_of_archive(File::open(&archive).unwrap()).unwrap();
    let packed = hash::zh_hash_of_archive(&mut File::open(&archive).unwrap()).unwrap();
    for hash in [&genuine, &packed] {
        change();
        let hashes: BTreeSet<String> = [hash.clone()].into();
        let constraints = VersionConstraints::default();
        let lock = ProviderLock { version: version.clone(), constraints, hashes };
        let mut locks = LockFile { providers: [(addr.clone(), lock)].into() };
        let mut diags = Diagnostics::new();
        install(&provider_dirs, &required, &mut locks, false).unwrap();
        assert!(locks.providers[&addr].hashes.contains(&genuine), "{hash}");
        let program = provider_dirs.find_verified_program(&mut diags, &addr, &locks).unwrap();
        assert_eq!(std::fs::read_to_string(&program.path).unwrap(), "genuine", "{hash}");
        // Nor is a package run that was changed since.
        std::fs::write(&program.path, "changed").unwrap();
        assert!(provider_dirs.find_verified_program(&mut diags, &addr, &locks).is_err(), "{hash}");
        std::fs::remove_dir_all(data.path()).unwrap();
    }
}

#[test]
fn an_installed_package_is_used_while_its_hash_matches_the_lock_file() {
    let directory = tempfile::tempdir().unwrap();
    let (env, settings) = (Env::default(), Settings::default());
    let addr: ProviderAddr = "example.com/acme/thing".parse().unwrap();
    let data = directory.path().join("data");
    let version = Version::new(1, 0, 0);
    let package = package::package_dir(&data.join("providers"), &addr, &version);
    std::fs::create_dir_all(&package).unwrap();
    let program = package.join("terraform-provider-thing");
    std::fs::write(&program, "a program").unwrap();
    let hashes: BTreeSet<String> = [hash::hash_dir(&package).unwrap()].into();
    let root = directory.path();
    let data = &DataDir::at_path(data);
    let empty = [directory.path().join("empty")];
    std::fs::create_dir(&empty[0]).unwrap();
    let provider_dirs = ProviderDirs {
        env: &env,
        settings: &settings,
        reattached: &BTreeMap::new(),
        root,
        data,
        plugin_dirs: &empty,
    };
    let constraints: VersionConstraints = ">= 1.0.0".parse().unwrap();
    let lock = ProviderLock { version: version.clone(), constraints: constraints.clone(), hashes };
    let required: BTreeMap<_, _> = [(addr.clone(), constraints)].into();
    let install = |upgrade| {
        let mut locks = LockFile { providers: [(addr.clone(), lock.clone())].into() };
        let events = install(&provider_dirs, &required, &mut locks, upgrade)?;
        assert_eq!(locks.providers[&addr], lock);
        Ok::<_, Diagnostics>(events)
    };
    let expected = vec![InstallEvent::Reusing, InstallEvent::AlreadyInstalled(version)];
    assert_eq!(install(false).unwrap(), expected);
    let details = install(true)
        .unwrap_err()
        .iter()
        .map(|diagnostic| diagnostic.detail.clone())
        .collect::<String>();
    assert!(details.contains("was not found in any of the search locations"), "{details}");
    std::fs::write(&program, "another one").unwrap();
    assert!(install(false).is_err() && install(true).is_err());
}
