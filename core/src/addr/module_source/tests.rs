//! Tables of sources. Every verdict was compared with Terraform's.

use super::*;

fn parse_and_describe(text: &str) -> String {
    match ModuleSource::parse(text, false) {
        Ok(ModuleSource::Local(path)) => format!("local {path}"),
        Ok(source @ ModuleSource::Registry(..)) => format!("registry {source}"),
        Ok(source @ ModuleSource::Package(..)) => format!("package {source}"),
        Err(error) => format!("error: {}", error.detail),
    }
}

#[test]
fn sources_of_every_form_are_distinguished_and_normalised() {
    let table = [
        ("./x", "local ./x"),
        ("././x/", "local ./x"),
        ("./x/../../y/", "local ../y"),
        ("../", "local ./.."),
        ("./", "local ./."),
        (".\\x", "local ./x"),
        ("./a//b?ref=1", "local ./a/b?ref=1"),
        ("a/b/c", "registry registry.terraform.io/a/b/c"),
        ("1/2/3", "registry registry.terraform.io/1/2/3"),
        ("a/b_c-d/e//f/../g", "registry registry.terraform.io/a/b_c-d/e//g"),
        ("EXAMPLE.com:80/a/b/c", "registry example.com:80/a/b/c"),
        ("example.com:443/a/b/c", "registry example.com/a/b/c"),
        ("example.com:0443/a/b/c", "registry example.com/a/b/c"),
        ("gitlab.com/a/b/c", "registry gitlab.com/a/b/c"),
        ("github.com/a/b", "package git::https://github.com/a/b.git"),
        ("git::github.com/a/b.git", "package git::https://github.com/a/b.git"),
        ("github.com/a/b//s?ref=v1", "package git::https://github.com/a/b.git//s?ref=v1"),
        ("github.com/a/b?ref=v1", "package git::https://github.com/a/b.git?ref=v1"),
        ("github.com/a/b/c/d", "package git::https://github.com/a/b.git//c/d"),
        ("github.com/a/b/c//d", "package git::https://github.com/a/b.git//c/d"),
        ("bitbucket.org/a/b/c", "package git::https://bitbucket.org/a/b/c.git"),
        ("git@h:a/b.git//s?ref=v1", "package git::ssh://git@h/a/b.git//s?ref=v1"),
        ("git::git@h:/a/b.git", "package git::ssh://git@h/a/b.git"),
        ("git::ssh://git@h:1/a//s/t?ref=1", "package git::ssh://git@h:1/a//s/t?ref=1"),
        ("git::/a/b", "package git::file:///a/b"),
        ("git::file:///a///s", "package git::file:///a///s"),
        ("git::file:///a//", "package git::file:///a"),
        ("git::file:///a//s//t", "package git::file:///a//s/t"),
        ("/a/./b/", "package file:///a/./b/"),
        ("https://h/x.zip//s?archive=zip", "package https://h/x.zip//s?archive=zip"),
        ("https://h//s.zip", "package https://h//s.zip"),
        ("HTTPS://h/x.zip", "package HTTPS://h/x.zip"),
        ("https://h/x?u=http://a//b", "package https://h/x?u=http://a//b"),
        ("hg::http://h/x", "package hg::http://h/x"),
        ("s3.amazonaws.com/b/k", "package s3::https://s3.amazonaws.com/b/k"),
        (
            "www.googleapis.com/storage/v1/b/k",
            "package gcs::https://www.googleapis.com/storage/v1/b/k",
        ),
        ("localhost:1/a/b/c", "package localhost:1/a/b/c"),
        ("C:/x", "package C:/x"),
    ];
    for (text, expected) in table {
        assert_eq!(parse_and_describe(text), expected, "{text}");
    }
}

#[test]
fn invalid_source_is_refused_with_the_likely_path() {
    for text in [
        "x",
        "a/b",
        ".",
        "..",
        "a/b/C",
        "a-/b/c",
        "a_/b/c",
        "A_b/-c/D",
        "a/b/c/d",
        "~/x",
        "a/b/c-d",
        "localhost/a/b/c",
        "gitlab.com/a/b",
        "127.0.0.1:a/b",
        "u@h:a/b",
        "  ./x",
        "::x",
        "üü/a/b",
        "a/b/c?x=1",
    ] {
        let shown = parse_and_describe(text);
        assert!(shown.contains(&format!("use \"./{text}\" instead")), "{text}: {shown}");
    }
    assert!(parse_and_describe("git::./x").contains("use \"././x\" instead"));
}

#[test]
fn a_subdirectory_cannot_leave_its_package() {
    for text in [
        "a/b/c//../d",
        "github.com/a/b//../c",
        "https://h/x.zip//a/../../b",
        "git::https://h/x//..",
    ] {
        assert!(parse_and_describe(text).contains("leads outside of the module package"), "{text}");
    }
    assert_eq!(parse_and_describe("https://h/x.zip///../b"), "package https://h/x.zip///b");
}

#[test]
fn a_version_requires_a_registry_source() {
    let table = [
        ("./x", "can't use local directory \"./x\""),
        ("git::file:///x/y/z", "either three or four slash-separated components"),
        ("", "either three or four slash-separated components"),
        ("https://h/x.zip", "invalid module registry hostname \"https:\""),
        ("localhost/a/b/c", "must contain at least one dot"),
        ("x.y/a/b", "three more components after the hostname"),
        ("github.com/a/b/c", "can't use \"github.com\" as a module registry host"),
        ("a_/b/c", "invalid namespace \"a_\""),
        ("a/-b/c", "invalid module name \"-b\""),
        ("a/b/C", "invalid target system \"C\""),
        ("a/b/c//../d", "leads outside of the module package"),
    ];
    for (text, part) in table {
        let error = ModuleSource::parse(text, true).unwrap_err();
        assert_eq!(error.summary.summary, "Invalid registry module source address");
        assert!(error.detail.contains(part), "{text}: {}", error.detail);
    }
}

#[test]
fn equivalent_sources_have_one_package_address() {
    let package = |text| match ModuleSource::parse(text, false) {
        Ok(ModuleSource::Package(package, _)) => package,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        package("github.com/a/b//x?ref=1"),
        package("git::https://github.com/a/b.git//y?ref=1")
    );
    assert_eq!(package("git::ssh://h/a").fetch_method(), "git");
    assert_eq!(package("HTTPS://h/a").fetch_method(), "https");
}
