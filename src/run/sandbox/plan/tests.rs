//! Tests the choice of a sandbox, and the report about it.

use std::fs;

use super::*;
use crate::run::result::builder::sandbox_report;
use agents::config::Sandbox;
use supervisor::Mechanism;

fn agent(readonly: bool, sandbox: Option<SandboxMode>) -> AgentDefinition {
    AgentDefinition { name: "own".into(), readonly, sandbox, ..AgentDefinition::default() }
}

fn config(mode: SandboxMode, writes: bool) -> Config {
    let allow_write = if writes { AllowWrite::Tree } else { AllowWrite::Nowhere };
    let defaults = Config::default();
    Config { allow_write, sandbox: Sandbox { mode, ..defaults.sandbox }, ..defaults }
}

// The reasons are the words of the warden, another process.
fn capabilities(landlock: Result<u32, String>, mount_namespace: Result<(), String>) -> Abilities {
    let version = "0".to_owned();
    Abilities {
        version,
        landlock,
        mount_namespace,
        temporaries: Ok(()),
        pid_namespace: Ok(()),
        tools: Ok(()),
        cgroup: Err("no cgroup".to_owned()),
    }
}

fn able() -> Abilities {
    capabilities(Ok(SIGNAL_SCOPE_ABI), Ok(()))
}

fn nothing() -> EnforcedSandbox {
    EnforcedSandbox {
        metadata: false,
        temporaries: false,
        writes: false,
        required: false,
        shell: None,
        lacks: Vec::new(),
        unprotected: None,
    }
}

fn word(plan: &SandboxPlan) -> &'static str {
    match plan {
        SandboxPlan::Enforced(_) => "enforced",
        SandboxPlan::Unenforced { forbidden: false, .. } => "unenforced",
        SandboxPlan::Unenforced { forbidden: true, .. } => "refused",
        SandboxPlan::Declared { .. } => "declared",
    }
}

/// Each row: the agent's setting, the configuration, and the plans with Landlock, without Landlock, and without a
/// warden. They do not depend on whether the child may write.
#[test]
fn the_stricter_of_two_modes_decides_whether_a_child_is_sandboxed_or_refused() {
    use SandboxMode::{Auto, Off, Required};
    const NEVER: [&str; 3] = ["unenforced", "unenforced", "unenforced"];
    const IF_ABLE: [&str; 3] = ["enforced", "unenforced", "unenforced"];
    const OR_NOT_AT_ALL: [&str; 3] = ["enforced", "refused", "refused"];
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
    let able = able();
    let unable = capabilities(Err("no Landlock".into()), Ok(()));
    for (own, configured, expected) in table {
        for (readonly, allow_write) in [(true, false), (true, true), (false, false), (false, true)] {
            let agent = agent(readonly, own);
            let config = config(configured, allow_write);
            let plans = [Ok(&able), Ok(&unable), Err("no warden")]
                .map(|abilities| SandboxPlan::of(&agent, &config, abilities));
            assert_eq!(
                plans.each_ref().map(word),
                expected,
                "readonly: {readonly}, allowWrite: {allow_write}, agent: {own:?}, configured: {configured:?}"
            );
            for plan in plans {
                assert_eq!(plan.is_enforced(), word(&plan) == "enforced");
                assert_eq!(plan.is_confined(), plan.is_enforced() && !readonly && allow_write);
                assert_eq!(plan.is_read_only(), plan.is_enforced() && (readonly || !allow_write));
                assert_eq!(plan.forbids().is_some(), word(&plan) == "refused");
            }
        }
    }
}

#[test]
fn a_child_that_may_write_everywhere_is_not_sandboxed_or_is_refused() {
    for mode in [SandboxMode::Off, SandboxMode::Auto, SandboxMode::Required] {
        for readonly in [true, false] {
            let config = Config { allow_write: AllowWrite::Everywhere, ..config(mode, true) };
            let plan = SandboxPlan::of(&agent(readonly, None), &config, Ok(&able()));
            let expected = match (readonly, mode) {
                (_, SandboxMode::Off) | (false, SandboxMode::Auto) => "unenforced",
                (true, _) => "enforced",
                (false, SandboxMode::Required) => "refused",
            };
            assert_eq!(word(&plan), expected, "{mode} {readonly}");
            assert!(!plan.is_confined());
            if let Some(refused) = plan.forbids() {
                assert_eq!(
                    refused.to_string(),
                    "the required sandbox is unavailable: the agent may write wherever you can (`allowWrite` is `all`); set \
                     `allowWrite` to `true`, or `sandbox` to `auto`"
                );
            }
        }
    }
}

/// Landlock cannot exclude the repository from the tree. Each row: whether mount namespaces are available, whether
/// they are wanted, the mode, and the plan for a child that may write.
#[test]
fn an_unprotected_repository_is_reported_or_the_child_is_refused() {
    let no_mounts = Abilities { mount_namespace: Err("no mounts".into()), ..able() };
    let unprotected = |why: &str| format!("`.git` and `.pi` are writable{why}");
    let none = unprotected(": no mounts");
    let off = unprotected(" (`sandbox.metadata` is off)");
    for (abilities, wanted, mode, expected, reason) in [
        (&able(), true, SandboxMode::Required, "enforced", None),
        (&able(), false, SandboxMode::Auto, "enforced", Some(&off)),
        (&able(), false, SandboxMode::Required, "refused", Some(&off)),
        (&no_mounts, true, SandboxMode::Auto, "enforced", Some(&none)),
        (&no_mounts, true, SandboxMode::Required, "refused", Some(&none)),
    ] {
        let mut config = config(mode, true);
        config.sandbox.metadata = wanted;
        let plan = SandboxPlan::of(&agent(false, None), &config, Ok(abilities));
        assert_eq!(word(&plan), expected, "{wanted} {mode}");
        let actual = sandbox_report(&plan, Some(&[Mechanism::Landlock, Mechanism::MountNamespace])).reason;
        assert_eq!(reason.is_some(), actual.is_some(), "{actual:?}");
        assert!(reason.is_none_or(|reason| actual.is_some_and(|actual| actual.contains(reason))));
        // A child that cannot write has nothing that needs protection.
        let reads = SandboxPlan::of(&agent(true, None), &config, Ok(abilities));
        assert_eq!(word(&reads), "enforced");
        assert!(!format!("{reads:?}").contains(".git"));
    }
    let sandbox = SandboxPlan::of(&agent(false, None), &config(SandboxMode::Auto, true), Ok(&able()));
    let refused = sandbox
        .enforced()
        .and_then(|sandbox| sandbox.missing(&[Mechanism::Landlock]))
        .expect("the sandbox reports a missing layer");
    assert!(refused.contains(&unprotected(": the mount namespace was refused")), "{refused}");
}

#[test]
fn a_report_without_a_sandbox_has_the_reason() {
    use SandboxMode::{Auto, Off, Required};
    let unable = capabilities(Err("no Landlock".into()), Ok(()));
    let able = able();
    let table = [
        (
            false,
            Off,
            true,
            Ok(&able),
            "it is switched off (`sandbox`), so the agent may write wherever you can",
        ),
        (false, Auto, true, Ok(&unable), "no Landlock, so the agent may write wherever you can"),
        (true, Off, true, Ok(&able), "it is switched off (`sandbox`)"),
        (true, Auto, false, Ok(&unable), "no Landlock"),
        (true, Required, false, Err("no warden"), "no warden"),
    ];
    for (readonly, mode, allow_write, abilities, expected) in table {
        let plan = SandboxPlan::of(&agent(readonly, None), &config(mode, allow_write), abilities);
        let report = sandbox_report(&plan, None);
        assert_eq!((report.enforced, report.reason.as_deref()), (false, Some(expected)));
        assert_eq!(sandbox_report(&plan, Some(&[])), report, "{expected}");
        let forbidden = plan.forbids().map(|unavailable| unavailable.to_string());
        let message = format!("the required sandbox is unavailable: {expected}");
        assert_eq!(forbidden, (mode == Required).then_some(message));
    }
}

#[test]
fn a_report_with_a_sandbox_lists_its_gaps() {
    let view = "modes, owners and times are not protected, and files (`sandbox.hidden`) and sockets of your programs \
                are not hidden";
    let (not_wanted, no_view) =
        (&*format!("{view} (`sandbox.metadata` is off)"), &*format!("{view}: no mounts"));
    let signals = "the child can signal your other processes (Landlock ABI 5; ABI 6 prevents this)";
    let processes = "the child can change limits of your other processes, and its remaining processes may outlive it: no pids";
    let read_only = "`/tmp` and `/dev/shm` are read-only, so POSIX semaphores (Python's `multiprocessing`) and programs that ignore `TMPDIR` fail";
    let no_overlay = &*format!("{read_only}: no overlay");
    let no_shell = "there is no shell, because its programs could not be isolated from pi: no filter";
    let all = able();
    let landlock = Abilities { landlock: Ok(5), ..able() };
    let mounts = Abilities { mount_namespace: Err("no mounts".into()), ..able() };
    let overlay = Abilities { temporaries: Err("no overlay".into()), ..able() };
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
        ("no mounts", &mounts, true, false, shell, &[no_view, read_only]),
        ("no overlay", &overlay, true, true, shell, &[no_overlay]),
        ("metadata is not wanted", &all, false, false, shell, &[not_wanted, read_only]),
        ("metadata is neither wanted nor available", &mounts, false, false, shell, &[not_wanted, read_only]),
        ("no pids", &pids, true, true, shell, &[processes]),
        ("no filter", &tools, true, true, None, &[no_shell]),
        ("nothing", &none, true, false, None, &[no_view, read_only, signals, processes, no_shell]),
    ];
    for (label, abilities, wanted, metadata, shell, lacks) in table {
        let mut config = config(SandboxMode::Auto, false);
        config.sandbox.metadata = wanted;
        let plan = SandboxPlan::of(&agent(true, None), &config, Ok(abilities));
        let lacks: Vec<String> = lacks.iter().map(ToString::to_string).collect();
        let temporaries = metadata && abilities.temporaries.is_ok();
        let expected = EnforcedSandbox { metadata, temporaries, shell, lacks, ..nothing() };
        assert_eq!(plan, SandboxPlan::Enforced(expected), "{label}");
    }
}

#[test]
fn a_report_lists_the_active_mechanisms() {
    use Mechanism::{Cgroup, Landlock, MountNamespace, PidNamespace, Seccomp};
    let sandbox = |metadata, lack: Option<&str>| {
        let lacks = lack.into_iter().map(str::to_owned).collect();
        SandboxPlan::Enforced(EnforcedSandbox { metadata, shell: Some(Network::On), lacks, ..nothing() })
    };
    let refused = "modes, owners and times are not protected, and files (`sandbox.hidden`) and sockets of your programs \
                   are not hidden: the mount namespace was refused";
    let both = format!("a lack; {refused}");
    let all: &[Mechanism] = &[Cgroup, Landlock, PidNamespace, MountNamespace, Seccomp];
    let names: &[&str] = &["landlock", "pid-ns", "mount-ns", "seccomp", "tool-sandbox"];
    let table = [
        ("not started", sandbox(true, Some("a lack")), None, &[][..], None),
        ("all layers", sandbox(true, None), Some(all), names, None),
        ("a lack", sandbox(true, Some("a lack")), Some(all), names, Some("a lack")),
        (
            "the mount namespace is refused",
            sandbox(true, Some("a lack")),
            Some(&[Landlock][..]),
            &["landlock", "tool-sandbox"],
            Some(&*both),
        ),
        (
            "only one layer was planned",
            sandbox(false, Some("a lack")),
            Some(&[Landlock][..]),
            &["landlock", "tool-sandbox"],
            Some("a lack"),
        ),
        ("a view alone", sandbox(true, None), Some(&[MountNamespace, PidNamespace][..]), &["mount-ns"], None),
        ("nothing", sandbox(false, None), Some(&[PidNamespace, Cgroup][..]), &[], None),
    ];
    for (label, plan, mechanisms, expected, reason) in table {
        let report = sandbox_report(&plan, mechanisms);
        assert_eq!(report.enforced, expected.contains(&"landlock"), "{label}");
        assert_eq!(report.mechanism, expected, "{label}");
        assert_eq!(report.reason.as_deref(), reason, "{label}");
    }
}

/// Each row: the planned layers, the active mechanisms, and whether a layer is missing.
#[test]
fn a_planned_layer_without_its_mechanism_is_missing() {
    use Mechanism::{Landlock, MountNamespace};
    for (metadata, got, is_missing) in [
        (true, &[Landlock, MountNamespace][..], false),
        (true, &[Landlock], true),
        (true, &[], true),
        (false, &[Landlock], false),
    ] {
        let sandbox = EnforcedSandbox { metadata, required: true, ..nothing() };
        assert_eq!(sandbox.missing(got).is_some(), is_missing, "{metadata} {got:?}");
    }
    for (mode, required) in [(SandboxMode::Auto, false), (SandboxMode::Required, true)] {
        let plan = SandboxPlan::of(&agent(true, None), &config(mode, false), Ok(&able()));
        assert_eq!(plan.enforced().map(|sandbox| sandbox.required), Some(required));
    }
}

/// Each row: the agent's source, its setting, the configuration, and the network access of its shell.
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
        assert_eq!(
            plan.enforced().and_then(|sandbox| sandbox.shell),
            Some(expected),
            "{agent:?}, {configured}"
        );
        assert_eq!(sandbox_report(&plan, Some(&[Mechanism::Landlock])).network, expected);
        assert_eq!(
            sandbox_report(&plan, None).network,
            On,
            "a report without a child shows the network as on"
        );
    }
}

#[test]
fn the_report_of_a_child_that_may_write_everywhere_shows_the_network_as_on() {
    let mut config = Config { allow_write: AllowWrite::Everywhere, ..config(SandboxMode::Auto, true) };
    config.sandbox.network = Network::Off;
    let report = sandbox_report(&SandboxPlan::of(&agent(false, None), &config, Ok(&able())), Some(&[]));
    let reason = "the agent may write wherever you can (`allowWrite` is `all`); so the network stays on";
    assert_eq!((report.network, report.reason.as_deref()), (Network::On, Some(reason)));
}

#[test]
fn a_project_that_may_name_a_shell_is_detected() {
    let root = tempfile::tempdir().expect("a temporary directory is created");
    let settings = root.path().join(PROJECT_SETTINGS);
    assert!(!names_shell(root.path()));
    assert!(!names_shell(Path::new("/dev/null")));
    fs::create_dir(root.path().join(".pi")).expect("the directory is created");
    for (text, expected) in [
        ("", false),
        ("{}", false),
        (r#"{"theme":"dark","packages":[]}"#, false),
        (r#"{"shellPath":"/bin/zsh"}"#, true),
        ("\u{feff}{\"shellPath\":\"/bin/zsh\"}", true),
        (r#"{"shellPath":""}"#, true),
        (r#"{"shellPath":null}"#, true),
        (r#"{"\u0073hellPath":"/bin/zsh"}"#, true),
        (r#"{"theme":1e999,"shellPath":"/bin/zsh"}"#, true),
        ("{", true),
    ] {
        fs::write(&settings, text).expect("the file is written");
        assert_eq!(names_shell(root.path()), expected, "{text}");
    }
    fs::remove_file(&settings).expect("the file is removed");
    fs::create_dir(&settings).expect("the directory is created");
    assert!(names_shell(root.path()), "a directory in place of the settings counts");
}
