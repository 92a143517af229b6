//! Remote children on a machine with this package: the remote warden contains their trees. The launcher is a stand-in.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use crate::support::child::Child;
use crate::support::pids::{Pids, eventually};
use crate::support::program;
use crate::support::remote::{endless, with_longer_limits};
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::doctor::doctor;
use pi_subagent_native::run::{Control, RunOutcome};
use serde_json::json;

const FAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/far.sh");

/// The package as installed on the remote machine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Package {
    None,
    /// A package whose warden cannot contain a tree.
    Old,
    Current,
}

fn far(child: Child, package: Package, config: &serde_json::Value) -> Scene {
    let mut scene = Scene::new(child, json!({}));
    let text = |name: &str| scene.path(name).to_string_lossy().into_owned();
    let mut all = json!({
        "graceMs": 200,
        "retry": { "enabled": false },
        "launcher": "far",
        "launchers": { "far": {
            "command": ["/bin/sh", FAR, "sh", text("far"), "{argv}"],
            "piCommand": ["/bin/sh", text("pi.sh")],
            "cwd": text("far"),
            "quote": "sh",
        } },
    });
    let settings = all.as_object_mut().expect("the value is an object");
    settings.extend(config.as_object().expect("the value is an object").clone());
    // The path has a blank, so that unquoted use in a shell would fail.
    let name = "npm/node_modules/pi-subagent-native-its platform";
    let place = scene.path("far/home/.pi/agent").join(name);
    fs::create_dir_all(&place).expect("the directory is created");
    let warden = place.join("pi-subagent-warden");
    match package {
        Package::None => {}
        Package::Old => symlink("/bin/false", warden).expect("the link is created"),
        Package::Current => symlink(program::warden(), warden).expect("the link is created"),
    }
    Arc::make_mut(&mut scene.spec.context).config = Some(all);
    scene
}

fn detached(scene: &Scene) -> Pids {
    let mut detached = Pids::default();
    let pid = fs::read_to_string(scene.path("left")).expect("the process was started");
    detached.push(pid.trim().parse().expect("the text is a number"));
    detached
}

#[tokio::test]
async fn remote_processes_end_with_their_child_if_the_package_is_installed() {
    let child = Child::new().leaves_a_process().then(Child::answering()).listens();
    for (package, survivors) in [(Package::Current, 0), (Package::Old, 1), (Package::None, 1)] {
        let scene = far(child.clone(), package, &json!({}));
        let (result, _) = scene.run_with(&User::default(), &Control::default()).await;
        assert_eq!(result.details.results[0].outcome, RunOutcome::Completed, "{package:?}: {}", result.text);
        let detached = detached(&scene);
        if survivors == 0 {
            detached.gone("the remaining process of the child").await;
        } else {
            // A shell alone cannot do this, so it shows that the warden does it.
            assert_eq!(detached.kill(), survivors, "{package:?}");
        }
    }
}

#[tokio::test]
async fn a_limit_ends_the_remote_processes_of_the_child() {
    for protocol in ["rpc", "json"] {
        let child = Child::new()
            .leaves_a_process()
            .then(Child::working_in(protocol))
            .says("So far.")
            .with_stop_reason("toolUse")
            .waits_for("never");
        with_longer_limits(protocol, async |limit| {
            let scene =
                far(child.clone(), Package::Current, &json!({ "timeoutMs": limit, "protocol": protocol }));
            let (result, _) = scene.run_with(&User::default(), &Control::default()).await;
            let single = &result.details.results[0];
            assert_eq!(single.outcome, RunOutcome::HardTimeout, "{protocol}: {}", result.text);
            let was_up = scene.path("left").exists();
            if was_up {
                detached(&scene).gone("the process that the child started").await;
            }
            was_up
        })
        .await;
    }
}

#[tokio::test]
async fn no_remote_process_outlives_the_killed_script() {
    let scene = far(
        Child::new().leaves_a_process().then(endless("rpc")),
        Package::Current,
        &json!({ "timeoutMs": 60_000 }),
    );
    let mut child = Pids::default();
    let kill = async {
        let pid = || fs::read_to_string(scene.path("pid")).unwrap_or_default();
        eventually("the start of the child", || pid().ends_with('\n')).await;
        child.push(pid().trim().parse().expect("the text is a number"));
        let mut shell = Pids::default();
        shell.push(script_of(&scene));
        assert_eq!(shell.kill(), 1);
    };
    let user = User::default();
    let control = Control::default();
    let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), kill);
    assert_eq!(result.details.results[0].outcome, RunOutcome::Failed, "{}", result.text);
    child.gone("the child").await;
    detached(&scene).gone("the process that the child started").await;
}

/// Returns the shell that runs the remote script: the parent of the warden.
fn script_of(scene: &Scene) -> i32 {
    let run = fs::read_to_string(scene.path("far/launches")).expect("the process was started");
    let name = run
        .split_ascii_whitespace()
        .find(|word| word.starts_with("pi-subagent-"))
        .expect("the command names the run");
    let is_script = |entry: &fs::DirEntry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.next() == Some(b"sh") && words.any(|word| word == name.as_bytes())
    };
    let pids = fs::read_dir("/proc").expect("the directory is readable").flatten().filter(is_script);
    // The script's own subshells have the same arguments. The oldest is the script.
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).min().expect("the script runs")
}

#[tokio::test]
async fn doctor_reports_whether_remote_trees_are_contained() {
    for (package, expected) in [
        (Package::Current, "a child's remote processes end with it"),
        (Package::None, "a child's remote processes may outlive it"),
    ] {
        let scene = far(Child::answering_doctor("1.6.0"), package, &json!({}));
        let context = Arc::clone(&scene.spec.context);
        let checks = doctor(scene.spec.cwd.clone(), context, Arc::new(User::default())).await;
        let check = checks.iter().find(|check| check.area == "launcher").expect("the report has a launcher");
        assert!(check.message.contains(expected), "{package:?}: {check:?}");
    }
}
