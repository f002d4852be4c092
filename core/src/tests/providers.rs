//! Provider configurations: with names, with values that only applying brings, and on the way out.

use expect_test::expect;

use super::EngineFixture;
use super::mending::region_config;

#[test]
fn two_configurations_of_one_provider_are_distinguished() {
    let config = r#"
        provider "test" { region = "here" }
        provider "test" {
          alias  = "far"
          region = "there"
        }
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          provider = test.far
          name     = "b"
        }"#;
    let mut bench = EngineFixture::new();
    let run = bench.apply(config);
    expect![[r#"
        + test_thing.a
        + test_thing.b
        calls: configure here, configure there, create a, create b
    "#]]
    .assert_eq(&run.describe_run());
    let providers: Vec<_> =
        bench.file.state.resources.values().map(|resource| resource.provider.to_string()).collect();
    expect![[r#"
        provider["registry.terraform.io/hashicorp/test"]
        provider["registry.terraform.io/hashicorp/test"].far"#]]
    .assert_eq(&providers.join("\n"));
}

/// Three configurations, each with two users.
fn regions_config() -> String {
    let region = |name: &str| {
        let and_more = format!(
            r#"
            resource "test_thing" "{name}s" {{
              provider = test.{name}
              name     = "{name}s"
              note     = test_thing.{name}.id
            }}
            "#
        );
        region_config(name) + &and_more
    };
    ["x", "y", "z"].map(region).concat()
}

#[test]
fn a_process_ends_when_the_last_user_of_its_configuration_is_done() {
    let mut bench = EngineFixture::new();
    let run = bench.apply(&regions_config());
    let position_of = |wanted: &str| run.calls.iter().position(|call| call == wanted).unwrap();
    // The time a process takes to end is its own affair; the run does not wait for the last one.
    assert!(position_of("create xs") < position_of("end"));
    assert_eq!(bench.cloud.lock_contents().most_running, 3);
}

#[test]
fn the_limit_of_concurrent_processes_holds() {
    for (limit, parallelism) in [(1, 1), (1, 10), (2, 10), (3, 10)] {
        let mut bench = EngineFixture::new();
        bench.cloud.lock_contents().limit = Some(limit);
        bench.parallelism = parallelism;
        let run = bench.apply(&regions_config());
        assert_eq!(run.describe_diagnostics(), "");
        assert_eq!(bench.cloud.lock_contents().objects.len(), 6);
        assert_eq!(bench.cloud.lock_contents().most_running, limit);
        // Everything exists, and is destroyed in the same way.
        assert!(bench.plan(&regions_config()).has_no_diagnostics());
        assert!(!bench.destroy(&regions_config()).diags.has_errors());
        assert_eq!(bench.cloud.lock_contents().most_running, limit);
    }
}

#[test]
fn the_process_limit_is_exceeded_to_avoid_a_deadlock() {
    // The outer provider is needed until the end, and what the inner one is made of is its work.
    let config = format!(
        "{NESTED_PROVIDER_CONFIG}\nresource \"test_thing\" \"last\" {{\n name = \"last\"\n note = test_thing.inner.id\n}}"
    );
    for parallelism in [1, 10] {
        let mut bench = EngineFixture::new();
        bench.cloud.lock_contents().limit = Some(1);
        bench.parallelism = parallelism;
        for run in [bench.apply(&config), bench.apply(&config), bench.destroy(&config)] {
            assert_eq!(run.describe_diagnostics(), "");
        }
        assert_eq!(bench.cloud.lock_contents().most_running, 2);
        assert!(bench.cloud.lock_contents().objects.is_empty());
    }
}

#[test]
fn dependents_of_a_failed_object_free_their_process_slot() {
    for parallelism in [1, 10] {
        let mut bench = EngineFixture::new();
        bench.cloud.lock_contents().limit = Some(1);
        bench.parallelism = parallelism;
        bench.set_fault("create x", super::CallFault::Refuses);
        let run = bench.apply(&regions_config());
        assert_eq!(
            run.describe_diagnostics(),
            "error test_thing.x: the cloud says no to create x\n"
        );
        assert_eq!(bench.cloud.lock_contents().objects.len(), 4);
        assert_eq!(bench.cloud.lock_contents().most_running, 1);
    }
}

/// A provider configured with what another resource turns out to be.
const NESTED_PROVIDER_CONFIG: &str = r#"
    provider "test" {
      alias  = "inner"
      region = test_thing.outer.id
    }
    resource "test_thing" "outer" { name = "outer" }
    resource "test_thing" "inner" {
      provider = test.inner
      name     = "inner"
    }"#;

#[test]
fn a_provider_whose_configuration_was_unknown_is_configured_again_while_applying() {
    let mut bench = EngineFixture::new();
    // Unknown values are sent to the provider as unknown, as in Terraform: it has to plan with
    // them.
    expect![[r#"
        + test_thing.inner
        + test_thing.outer
        calls: configure ?, create outer, configure outer-1, create inner
    "#]]
    .assert_eq(&bench.apply(NESTED_PROVIDER_CONFIG).describe_run());
    // From then on it is known immediately, and one call is enough.
    expect![[r#"
        nothing
        calls: configure outer-1
    "#]]
    .assert_eq(&bench.apply(NESTED_PROVIDER_CONFIG).describe_run());
}

#[test]
fn objects_that_configure_a_provider_are_destroyed_after_its_objects() {
    let mut bench = EngineFixture::with_applied(NESTED_PROVIDER_CONFIG);
    let run = bench.destroy(NESTED_PROVIDER_CONFIG);
    expect![[r#"
        - test_thing.inner
        - test_thing.outer
        calls: configure outer-1, delete inner-1, delete outer-1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn a_provider_can_change_with_an_orphan_of_its_own_to_destroy() {
    let without = |zone: &str, inner: bool| {
        let inner = if inner {
            "resource \"test_thing\" \"inner\" {
               provider = test.inner
               name     = \"inner\"
               note     = test_thing.outer.id
             }"
        } else {
            ""
        };
        format!(
            r#"provider "test" {{
                 alias  = "inner"
                 region = test_thing.outer.note
               }}
               resource "test_thing" "outer" {{
                 name = "outer"
                 {zone}
               }}
               {inner}"#
        )
    };
    let mut bench = EngineFixture::with_applied(&without("", true));
    // An orphan is destroyed before a change of its dependency; but this change configures its
    // provider.
    let run = bench.apply(&without("size = 2", false));
    expect![[r#"
        - test_thing.inner DeleteBecauseNoResourceConfig
        ~ test_thing.outer
        calls: configure note of outer, update outer-1, delete inner-1
        test_thing.outer outer-1 2
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn a_provider_that_refuses_its_configuration_stops_only_its_own_resources() {
    let config = r#"
        provider "test" {
          alias  = "bad"
          region = "nowhere"
        }
        resource "test_thing" "a" {
          provider = test.bad
          name     = "a"
        }
        resource "test_thing" "b" { name = "b" }"#;
    let mut bench = EngineFixture::new();
    bench.set_fault("configure nowhere", super::CallFault::Refuses);
    let run = bench.plan(config);
    expect![[r#"
        + test_thing.b
        calls: configure nowhere
        error provider["registry.terraform.io/hashicorp/test"].bad: the cloud says no to configure
    "#]]
    .assert_eq(&run.describe_run());
}

#[test]
fn a_destroy_works_with_a_provider_that_depends_on_missing_objects() {
    // `outer` is not in the state, so what its provider is to be configured with is not known.
    let before = r#"
        provider "test" { alias = "inner" }
        resource "test_thing" "inner" {
          provider = test.inner
          name     = "inner"
        }"#;
    let mut bench = EngineFixture::with_applied(before);
    let run = bench.destroy(NESTED_PROVIDER_CONFIG);
    expect![[r#"
        - test_thing.inner
        calls: configure ?, configure ?, configure ?, delete inner-1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn a_data_source_that_configures_a_provider_is_read_in_a_destroy() {
    let config = r#"
        provider "test" { alias = "plain" }
        provider "test" { region = local.region }
        locals { region = data.test_lookup.d[0].answer }
        data "test_lookup" "d" {
          provider = test.plain
          count    = 1
          key      = "k"
        }
        resource "test_thing" "inner" { name = "inner" }"#;
    let mut bench = EngineFixture::with_applied(config);
    let run = bench.destroy(config);
    expect![[r#"
        - test_thing.inner
        calls: look up k, configure answer to k, look up k, delete inner-1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn a_resource_moves_to_another_configuration_of_its_provider() {
    let config = |provider: &str| {
        format!(
            r#"provider "test" {{
                 alias  = "far"
                 region = "there"
               }}
               resource "test_thing" "a" {{
                 {provider}
                 name = "a"
               }}"#
        )
    };
    let mut bench = EngineFixture::with_applied(&config(""));
    let run = bench.apply(&config("provider = test.far"));
    let provider = bench.file.state.resources.values().next().unwrap().provider.to_string();
    expect![[r#"
        nothing
        calls: configure there
        provider["registry.terraform.io/hashicorp/test"].far
    "#]]
    .assert_eq(&format!("{}{provider}\n", run.describe_run()));
}

#[test]
fn dependencies_of_a_provider_are_created_first_if_its_objects_are() {
    let config = |zone: &str| {
        format!(
            r#"
            resource "test_thing" "base" {{
              name = "base"
              zone = "{zone}"
            }}
            provider "test" {{
              alias  = "inner"
              region = test_thing.base.id
            }}
            resource "test_thing" "user" {{
              provider = test.inner
              name     = "user"
              zone     = "{zone}"
              lifecycle {{ create_before_destroy = true }}
            }}
            "#
        )
    };
    // The flag is inherited through the provider between the two.
    let mut bench = EngineFixture::with_applied(&config("north"));
    let run = bench.apply(&config("south"));
    expect![[r#"
        +/- test_thing.base ReplaceBecauseCannotUpdate .zone
        +/- test_thing.user ReplaceBecauseCannotUpdate .zone
        calls: configure ?, create base, configure base-2, create user, delete user-1, delete base-1
    "#]]
    .assert_eq(&run.describe_run());
    assert!(bench.plan(&config("south")).has_no_diagnostics());
}

#[test]
fn removed_instances_are_destroyed_first_if_a_provider_uses_the_others() {
    let config = |count: u8, used: &str| {
        format!(
            r#"
            resource "test_thing" "r" {{
              count = {count}
              name  = "r${{count.index}}"
            }}
            resource "test_thing" "x" {{
              name = "x"
              note = join(",", test_thing.r[*].id)
            }}
            provider "test" {{
              alias  = "p"
              region = test_thing.x.id
            }}
            {used}
            "#
        )
    };
    let used = r#"
        resource "test_thing" "u" {
          provider = test.p
          name     = "u"
          note     = join(",", test_thing.r[*].id)
        }"#;
    // `u` was made after `r[1]` and would go before it, but its provider is made of `x`, which
    // waits for the end of `r[1]`.
    let mut bench = EngineFixture::with_applied(&config(2, used));
    expect![[r#"
        - test_thing.r[1] DeleteBecauseCountIndex
        - test_thing.u DeleteBecauseNoResourceConfig
        ~ test_thing.x
        calls: configure x-1, delete r1-1, update x-1, delete u-1
    "#]]
    .assert_eq(&bench.apply(&config(1, "")).describe_run());
}
