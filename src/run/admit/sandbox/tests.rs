//! Which children are sandboxed, and what their reports say.

use super::*;
use crate::config::Sandbox;

fn agent(readonly: bool, sandbox: Option<SandboxMode>) -> AgentDefinition {
    AgentDefinition { name: "own".into(), readonly, sandbox, ..AgentDefinition::default() }
}

fn config(mode: SandboxMode, allow_write: bool) -> Config {
    Config { allow_write, sandbox: Sandbox { mode, metadata: true }, ..Config::default() }
}

fn capabilities(landlock: Result<u32, String>, mount_namespace: Result<(), String>) -> Abilities {
    let version = "0".to_owned();
    Abilities {
        version,
        landlock,
        mount_namespace,
        pid_namespace: Ok(()),
        tools: Ok(()),
        cgroup: Err("no cgroup".to_owned()),
    }
}

fn able() -> Abilities {
    capabilities(Ok(HOLDS_SIGNALS), Ok(()))
}

fn word(plan: &SandboxPlan) -> &'static str {
    match plan {
        SandboxPlan::Held { .. } => "held",
        SandboxPlan::Loose { forbidden: false, .. } => "loose",
        SandboxPlan::Loose { forbidden: true, .. } => "refused",
    }
}

/// Each row: what the agent asks for, what is configured, and the plan for a child that must not write: with
/// Landlock, without it, and without a warden.
#[test]
fn the_stricter_of_two_modes_decides_whether_a_readonly_child_is_held_or_refused() {
    use SandboxMode::{Auto, Off, Required};
    const NEVER: [&str; 3] = ["loose", "loose", "loose"];
    const IF_ABLE: [&str; 3] = ["held", "loose", "loose"];
    const OR_NOT_AT_ALL: [&str; 3] = ["held", "refused", "refused"];
    let table = [
        (None, Off, NEVER),
        (None, Auto, IF_ABLE),
        (None, Required, OR_NOT_AT_ALL),
        (Some(Off), Off, NEVER),
        (Some(Off), Auto, IF_ABLE),
        (Some(Off), Required, OR_NOT_AT_ALL),
        (Some(Auto), Off, IF_ABLE),
        (Some(Auto), Auto, IF_ABLE),
        (Some(Auto), Required, OR_NOT_AT_ALL),
        (Some(Required), Off, OR_NOT_AT_ALL),
        (Some(Required), Auto, OR_NOT_AT_ALL),
        (Some(Required), Required, OR_NOT_AT_ALL),
    ];
    let (able, unable) = (able(), capabilities(Err("no Landlock".into()), Ok(())));
    for (own, configured, expected) in table {
        for (readonly, allow_write) in [(true, false), (true, true), (false, false), (false, true)] {
            let (agent, config) = (agent(readonly, own), config(configured, allow_write));
            let plans = [Ok(&able), Ok(&unable), Err("no warden")]
                .map(|abilities| SandboxPlan::of(&agent, &config, abilities));
            let may_write = !readonly && allow_write;
            assert_eq!(
                plans.each_ref().map(word),
                if may_write { NEVER } else { expected },
                "readonly: {readonly}, allowWrite: {allow_write}, agent: {own:?}, configured: {configured:?}"
            );
            for plan in plans {
                assert_eq!(plan.is_held(), word(&plan) == "held");
                assert_eq!(plan.forbids().is_some(), word(&plan) == "refused");
            }
        }
    }
}

#[test]
fn a_report_without_a_sandbox_says_why() {
    use SandboxMode::{Auto, Off, Required};
    let unable = capabilities(Err("no Landlock".into()), Ok(()));
    let able = able();
    let table = [
        (false, Auto, true, Ok(&able), "the agent may write (`allowWrite`)"),
        (false, Off, true, Ok(&able), "the agent may write (`allowWrite`)"),
        (true, Off, true, Ok(&able), "it is switched off (`sandbox`)"),
        (true, Auto, false, Ok(&unable), "no Landlock"),
        (true, Required, false, Err("no warden"), "no warden"),
    ];
    for (readonly, mode, allow_write, abilities, expected) in table {
        let plan = SandboxPlan::of(&agent(readonly, None), &config(mode, allow_write), abilities);
        let report = plan.report(None);
        assert_eq!((report.enforced, report.reason.as_deref()), (false, Some(expected)));
        assert_eq!(plan.report(Some(&[])), report, "{expected}");
        let forbidden = plan.forbids();
        let says = format!("sandbox: required, but unavailable: {expected}");
        assert_eq!(forbidden, (mode == Required).then_some(says));
    }
}

#[test]
fn a_report_with_a_sandbox_says_what_it_does_not_cover() {
    let no_view = || Err("no namespaces".into());
    let left_out = "modes, owners and times are left out (`sandbox.metadata`)";
    let not_covered = "modes, owners and times are not covered: no namespaces";
    let signals = "signals to your other processes are not held (Landlock ABI 5, 6 does)";
    let table = [
        ("everything", 6, Ok(()), true, true, None),
        ("a newer kernel", 7, Ok(()), true, true, None),
        ("an older kernel", 5, Ok(()), true, true, Some(signals.to_owned())),
        ("no namespaces", 6, no_view(), true, false, Some(not_covered.to_owned())),
        ("not wanted", 6, Ok(()), false, false, Some(left_out.to_owned())),
        ("not wanted nor to be had", 6, no_view(), false, false, Some(left_out.to_owned())),
        ("neither", 5, no_view(), true, false, Some(format!("{not_covered}; {signals}"))),
    ];
    for (label, version, mount_namespace, wanted, metadata, lack) in table {
        let mut config = config(SandboxMode::Auto, false);
        config.sandbox.metadata = wanted;
        let capabilities = capabilities(Ok(version), mount_namespace);
        let plan = SandboxPlan::of(&agent(true, None), &config, Ok(&capabilities));
        assert_eq!(plan, SandboxPlan::Held { metadata, lack }, "{label}");
    }
}

#[test]
fn a_report_lists_the_mechanisms_in_force() {
    use Mechanism::{Cgroup, Landlock, MountNamespace, PidNamespace};
    let held = |metadata, lack: Option<&str>| SandboxPlan::Held { metadata, lack: lack.map(Into::into) };
    let refused = "modes, owners and times are not covered: the mount namespace was refused";
    let both: &[&str] = &["landlock", "mount-ns"];
    let all: &[Mechanism] = &[Cgroup, Landlock, PidNamespace, MountNamespace];
    let table = [
        ("not started", held(true, Some("a lack")), None, false, &[][..], None),
        ("both layers", held(true, None), Some(all), true, both, None),
        ("a lack", held(true, Some("a lack")), Some(all), true, both, Some("a lack")),
        (
            "refused after all",
            held(true, Some("a lack")),
            Some(&[Landlock][..]),
            true,
            &["landlock"][..],
            Some(refused),
        ),
        (
            "one layer was wanted",
            held(false, Some("a lack")),
            Some(&[Landlock][..]),
            true,
            &["landlock"][..],
            Some("a lack"),
        ),
        ("a view alone", held(true, None), Some(&[MountNamespace][..]), false, &["mount-ns"][..], None),
        ("nothing", held(false, None), Some(&[PidNamespace, Cgroup][..]), false, &[][..], None),
    ];
    for (label, plan, mechanisms, enforced, mechanism, reason) in table {
        let report = plan.report(mechanisms);
        assert_eq!((report.enforced, report.reason.as_deref()), (enforced, reason), "{label}");
        assert_eq!(report.mechanism, mechanism, "{label}");
    }
}
