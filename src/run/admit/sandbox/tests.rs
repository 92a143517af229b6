//! Which children are sandboxed, and what their reports say.

use super::*;
use crate::config::Sandbox;

fn agent(readonly: bool, sandbox: Option<SandboxMode>) -> AgentDefinition {
    AgentDefinition { name: "own".into(), readonly, sandbox, ..AgentDefinition::default() }
}

fn config(mode: SandboxMode, allow_write: bool) -> Config {
    let defaults = Config::default();
    Config { allow_write, sandbox: Sandbox { mode, ..defaults.sandbox }, ..defaults }
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
        SandboxPlan::Held(_) => "held",
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
fn a_report_with_a_sandbox_says_what_stays_open() {
    let view = "modes, owners and times are not covered, and files (`sandbox.hidden`) and sockets of your programs \
                are not hidden";
    let (left_out, no_view) =
        (&*format!("{view} (`sandbox.metadata` is off)"), &*format!("{view}: no mounts"));
    let signals = "signals to your other processes are not held (Landlock ABI 5, 6 does)";
    let processes = "limits of your other processes can be changed, and what the child leaves behind may outlive it: no pids";
    let no_shell = "what a shell starts would not be held apart from pi, so there is none: no filter";
    let all = able();
    let landlock = Abilities { landlock: Ok(5), ..able() };
    let mounts = Abilities { mount_namespace: Err("no mounts".into()), ..able() };
    let pids = Abilities { pid_namespace: Err("no pids".into()), ..able() };
    let tools = Abilities { tools: Err("no filter".into()), ..able() };
    let none = Abilities {
        landlock: Ok(5),
        mount_namespace: Err("no mounts".into()),
        pid_namespace: Err("no pids".into()),
        tools: Err("no filter".into()),
        ..able()
    };
    let shell = Some(Network::On);
    let table = [
        ("everything", &all, true, true, shell, &[][..]),
        ("an older kernel", &landlock, true, true, shell, &[signals]),
        ("no mounts", &mounts, true, false, shell, &[no_view]),
        ("metadata is not wanted", &all, false, false, shell, &[left_out]),
        ("nor to be had", &mounts, false, false, shell, &[left_out]),
        ("no pids", &pids, true, true, shell, &[processes]),
        ("no filter", &tools, true, true, None, &[no_shell]),
        ("nothing", &none, true, false, None, &[no_view, signals, processes, no_shell]),
    ];
    for (label, abilities, wanted, metadata, shell, lacks) in table {
        let mut config = config(SandboxMode::Auto, false);
        config.sandbox.metadata = wanted;
        let plan = SandboxPlan::of(&agent(true, None), &config, Ok(abilities));
        let lacks: Vec<String> = lacks.iter().map(ToString::to_string).collect();
        assert_eq!(plan, SandboxPlan::Held(Held { metadata, required: false, shell, lacks }), "{label}");
    }
}

#[test]
fn a_report_lists_the_mechanisms_in_force() {
    use Mechanism::{Cgroup, Landlock, MountNamespace, PidNamespace, Seccomp};
    let held = |metadata, lack: Option<&str>| {
        let lacks = lack.into_iter().map(str::to_owned).collect();
        SandboxPlan::Held(Held { metadata, required: false, shell: Some(Network::On), lacks })
    };
    let refused = "modes, owners and times are not covered, and files (`sandbox.hidden`) and sockets of your programs \
                   are not hidden: the mount namespace was refused";
    let both = format!("a lack; {refused}");
    let all: &[Mechanism] = &[Cgroup, Landlock, PidNamespace, MountNamespace, Seccomp];
    let words: &[&str] = &["landlock", "pid-ns", "mount-ns", "seccomp", "tool-sandbox"];
    let table = [
        ("not started", held(true, Some("a lack")), None, &[][..], None),
        ("all layers", held(true, None), Some(all), words, None),
        ("a lack", held(true, Some("a lack")), Some(all), words, Some("a lack")),
        (
            "refused after all",
            held(true, Some("a lack")),
            Some(&[Landlock][..]),
            &["landlock", "tool-sandbox"],
            Some(&*both),
        ),
        (
            "one layer was to be had",
            held(false, Some("a lack")),
            Some(&[Landlock][..]),
            &["landlock", "tool-sandbox"],
            Some("a lack"),
        ),
        ("a view alone", held(true, None), Some(&[MountNamespace, PidNamespace][..]), &["mount-ns"], None),
        ("nothing", held(false, None), Some(&[PidNamespace, Cgroup][..]), &[], None),
    ];
    for (label, plan, mechanisms, expected, reason) in table {
        let report = plan.report(mechanisms);
        assert_eq!(report.enforced, expected.contains(&"landlock"), "{label}");
        assert_eq!(report.mechanism, expected, "{label}");
        assert_eq!(report.reason.as_deref(), reason, "{label}");
    }
}

/// Each row: what the machine promised, what the child got, and whether something is missing.
#[test]
fn what_a_child_was_to_get_and_did_not_is_missing() {
    use Mechanism::{Landlock, MountNamespace};
    for (metadata, got, is_missing) in [
        (true, &[Landlock, MountNamespace][..], false),
        (true, &[Landlock], true),
        (true, &[], true),
        (false, &[Landlock], false),
    ] {
        let held = Held { metadata, required: true, shell: None, lacks: Vec::new() };
        assert_eq!(held.missing(got).is_some(), is_missing, "{metadata} {got:?}");
    }
    for (mode, required) in [(SandboxMode::Auto, false), (SandboxMode::Required, true)] {
        let plan = SandboxPlan::of(&agent(true, None), &config(mode, false), Ok(&able()));
        assert_eq!(plan.held().map(|held| held.required), Some(required));
    }
}

/// Each row: where the agent comes from, what it says, what is configured, and what its shell gets.
#[test]
fn a_project_can_only_switch_the_network_off() {
    use Network::{Off, On};
    for (source, own, configured, expected) in [
        (Source::User, None, On, On),
        (Source::User, None, Off, Off),
        (Source::User, Some(Off), On, Off),
        (Source::User, Some(On), Off, On),
        (Source::Project, None, Off, Off),
        (Source::Project, Some(Off), On, Off),
        (Source::Project, Some(On), Off, Off),
        (Source::Project, Some(On), On, On),
    ] {
        let agent = AgentDefinition { source, network: own, ..agent(true, None) };
        let mut config = config(SandboxMode::Auto, false);
        config.sandbox.network = configured;
        let plan = SandboxPlan::of(&agent, &config, Ok(&able()));
        assert_eq!(plan.held().and_then(|held| held.shell), Some(expected), "{agent:?}, {configured}");
        assert_eq!(plan.report(Some(&[Mechanism::Landlock])).network, expected);
        assert_eq!(plan.report(None).network, On, "there was no child");
    }
}

#[test]
fn a_child_that_may_write_says_that_its_network_stays_on() {
    let mut config = config(SandboxMode::Auto, true);
    config.sandbox.network = Network::Off;
    let report = SandboxPlan::of(&agent(false, None), &config, Ok(&able())).report(Some(&[]));
    let reason = "the agent may write (`allowWrite`); so the network is not switched off";
    assert_eq!((report.network, report.reason.as_deref()), (Network::On, Some(reason)));
}
