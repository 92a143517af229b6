//! A child that may write in its work tree changes nothing outside of it, and nothing that is protected inside.

use pi_subagent_warden::{Mechanism, Sandbox};

use crate::sandboxed::{Ran, finish, in_sandbox, probe};
use crate::scene::{Scene, User};
use crate::{By, ENOUGH, MISSING, WITHOUT_NAMESPACES, listed, rows, say, tool_shell_in};

const SCRIPT: &str = "writer.sh";

#[test]
fn a_writer_changes_nothing_outside_and_nothing_protected() {
    for user in User::all() {
        for by in [By::Child, By::Tool] {
            attempts(user, by, true, &[]);
        }
    }
}

#[test]
fn without_a_mount_namespace_a_writer_changes_no_content_outside() {
    for user in User::all() {
        attempts(user, By::Child, false, &[]);
    }
    let scene = Scene::new(User::Myself);
    let check = finish(scene.command(WITHOUT_NAMESPACES[0]).args(&WITHOUT_NAMESPACES[1..]).arg("true"));
    if check.0 == Some(0) {
        attempts(User::Myself, By::Child, true, &WITHOUT_NAMESPACES);
    } else {
        say(&format!("this machine cannot take namespaces away: {}", check.1));
    }
}

/// The attacks of a readonly child are also possible here, in any place where the child may write.
#[test]
fn a_writer_cannot_change_what_a_readonly_child_cannot() {
    for user in User::all() {
        let mut scene = Scene::with_project(user);
        let mut made = 0;
        let mut failed = Vec::new();
        for (name, kind) in rows(&scene, "mutations.sh") {
            if kind == "wild" || kind.starts_with("host") || kind.starts_with("kill") {
                continue;
            }
            let start = "cd \"$TREE\"; WARDEN=$PPID exec /bin/sh \"$0\" \"$1\"";
            let script = scene.path("mutations.sh");
            let script = script.to_string_lossy();
            let ran = run(&scene, true, &[], &["/bin/sh", "-c", start, &script, &name]);
            let has_view = ran.mechanisms.contains(&Mechanism::MountNamespace);
            let changes = scene.changes().expect("the scene can be seen");
            if !changes.is_empty() {
                scene.renew();
            }
            if ran.code == Some(MISSING) || (kind.starts_with("meta") && !has_view) {
                continue;
            }
            made += 1;
            if !changes.is_empty() {
                failed.push(format!("{name}: {} ({})", changes.join(", "), ran.text));
            }
        }
        assert!(failed.is_empty(), "{user:?}:\n{}", failed.join("\n"));
        assert!(made >= ENOUGH, "only {made} attempts could be made");
    }
}

/// Without a sandbox the attempts succeed. Otherwise the tests above prove nothing.
#[test]
fn the_attempts_of_a_writer_are_real() {
    for user in User::all() {
        let mut scene = Scene::with_project(user);
        let mut real = 0;
        let mut failed = Vec::new();
        for (name, kind) in rows(&scene, SCRIPT) {
            if kind == "wild" || (kind.ends_with("-root") && !user.is_root()) {
                continue;
            }
            let mut command = scene.command("/bin/sh");
            command.arg(scene.path(SCRIPT)).arg(&name).current_dir(scene.path("project/work"));
            let (status, text) = finish(&mut command);
            if !scene.changes().expect("the scene can be seen").is_empty() {
                real += 1;
                scene.renew();
            } else if status == Some(MISSING) || lacks(&scene, &name) {
                say(&format!("{user:?}: {name} is skipped, this machine lacks something for it"));
            } else {
                failed.push(format!("{name}: {text}"));
            }
        }
        assert!(failed.is_empty(), "{user:?}: attempts that change nothing:\n{}", failed.join("\n"));
        assert!(real >= ENOUGH, "{user:?}: only {real} attempts change anything");
    }
}

#[test]
fn honest_operations_of_a_writer_work() {
    for (user, metadata) in User::all().into_iter().flat_map(|user| [(user, true), (user, false)]) {
        let mut scene = Scene::with_project(user);
        let mut failed = Vec::new();
        let mut worked = 0;
        let has_view = metadata && probe(&scene).mount_namespace.is_ok();
        for (name, wants) in listed(&scene, SCRIPT, "--work") {
            if wants == "view" && !has_view {
                continue;
            }
            for by in [By::Child, By::Tool] {
                let ran = perform(&scene, by, metadata, &[], &name);
                match ran.code {
                    Some(0) => worked += 1,
                    Some(MISSING) => say(&format!("{name} is skipped, this machine lacks something for it")),
                    _ => failed.push(format!("{name}, {by:?}: {}", ran.text)),
                }
                // A moved directory takes its protected entries along. Without a mount namespace nothing is protected.
                if name != "inner_rename" && has_view {
                    failed.extend(scene.changes().expect("the scene can be seen"));
                }
                scene.renew();
            }
        }
        assert!(failed.is_empty(), "{user:?}, metadata {metadata}:\n{}", failed.join("\n"));
        // Editing, git and building need nothing that a machine for this project lacks.
        assert!(worked >= 20, "{user:?}, metadata {metadata}: {worked} worked");
    }
}

/// A path below a protected one can be writable again, and a missing path is no error.
#[test]
fn places_below_something_protected_are_writable() {
    for user in User::all() {
        let scene = Scene::with_project(user);
        if probe(&scene).mount_namespace.is_err() {
            say("this machine has no mount namespaces");
            return;
        }
        let (mut writable, mut protected) = scene.writable_with_project();
        writable.push(scene.path("project/work/.pi/agents"));
        protected.push(scene.path("project/work/missing"));
        let sandbox = Sandbox { writable, protected, metadata: true, ..Sandbox::default() };
        let script = "echo text >.pi/agents/new.md && ! echo text 2>/dev/null >.pi/new && mkdir missing && echo text >missing/file";
        let work = scene.path("project/work");
        let ran = in_sandbox(&scene, &sandbox, &work, &["/bin/sh", "-c", script], &[]);
        assert_eq!(ran.code, Some(0), "{user:?}: {}", ran.text);
        assert!(work.join(".pi/agents/new.md").exists() && work.join("missing/file").exists());
    }
}

/// An attacker put a link in the place of a protected path. Its target is not the path that was checked.
#[test]
fn a_protected_path_that_is_a_link_is_refused() {
    let scene = Scene::with_project(User::Myself);
    let (writable, mut protected) = scene.writable_with_project();
    protected.push(scene.path("project/work/out"));
    let sandbox = Sandbox { writable, protected, metadata: true, ..Sandbox::default() };
    let ran = in_sandbox(&scene, &sandbox, &scene.path("project/work"), &["/bin/true"], &[]);
    assert!(ran.code.is_none() && ran.mechanisms.is_empty(), "{}", ran.text);
    assert!(ran.text.contains("project/work/out"), "the path is named: {}", ran.text);
}

/// A clone brings a FIFO in the place of a configuration, or a link to a device.
#[test]
fn a_special_file_can_be_protected_and_not_be_replaced() {
    let scene = Scene::with_project(User::Myself);
    if probe(&scene).mount_namespace.is_err() {
        return say("this machine has no mount namespaces");
    }
    let work = scene.path("project/work");
    let fifo = work.join("fifo.json");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs");
    assert!(made.success());
    let (writable, mut protected) = scene.writable_with_project();
    protected.extend([fifo, "/dev/zero".into(), "/dev/null".into()]);
    let sandbox = Sandbox { writable, protected, metadata: true, ..Sandbox::default() };
    let script = "! rm -f fifo.json 2>/dev/null && ! mv fifo.json other 2>/dev/null && test -p fifo.json && echo text >file";
    let ran = in_sandbox(&scene, &sandbox, &work, &["/bin/sh", "-c", script], &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.text);
}

/// Makes every attempt in the sandbox of a writer.
fn attempts(user: User, by: By, metadata: bool, before: &[&str]) {
    let mut scene = Scene::with_project(user);
    let able = probe(&scene);
    assert!(able.landlock.is_ok(), "nothing to test here: {able}");
    let mut made = 0;
    let mut failed = Vec::new();
    let mut uncovered = 0;
    let can_have_view = metadata && before.is_empty() && able.mount_namespace.is_ok();
    for (name, kind) in rows(&scene, SCRIPT) {
        if !can_have_view && (kind.starts_with("meta") || kind == "kept") {
            // Landlock alone cannot refuse these. Files outside still keep their content.
            uncovered += 1;
            continue;
        }
        let ran = perform(&scene, by, metadata, before, &name);
        assert!(ran.mechanisms.contains(&Mechanism::Landlock), "{name} ran without a sandbox: {}", ran.text);
        let has_view = ran.mechanisms.contains(&Mechanism::MountNamespace);
        assert_eq!(has_view, can_have_view, "{name} had another sandbox: {able}");
        let mut changes = scene.changes().expect("the scene can be seen");
        scene.renew();
        if ran.code == Some(MISSING) {
            continue;
        }
        if !has_view {
            // Nothing in the tree is protected then.
            let work = scene.path("project/work").display().to_string();
            changes.retain(|change| !change.starts_with(&work));
        }
        if kind == "wild" && ran.code == Some(0) {
            changes.push("it worked".into());
        }
        made += 1;
        if !changes.is_empty() {
            failed.push(format!("{name}: {} ({})", changes.join(", "), ran.text));
        }
    }
    say(&format!("{user:?}, {by:?}, metadata {metadata}: {made} made, {uncovered} not covered"));
    assert!(failed.is_empty(), "{user:?}, {by:?}, metadata {metadata}:\n{}", failed.join("\n"));
    assert!(made >= ENOUGH, "only {made} attempts could be made");
}

/// Makes an attempt, or does a piece of work.
fn perform(scene: &Scene, by: By, metadata: bool, before: &[&str], name: &str) -> Ran {
    let script = scene.path(SCRIPT);
    let script = script.to_string_lossy();
    match by {
        By::Child => run(scene, metadata, before, &["/bin/sh", &script, name]),
        By::Tool => {
            let mut writable = scene.writable_with_project().0;
            writable.retain(|place| !["private", "session.jsonl"].iter().any(|name| place.ends_with(name)));
            let shell = tool_shell_in(scene, writable);
            let start = format!("{} -c \"sh '$0' $1\"; exit $?", shell.display());
            run(scene, metadata, before, &["/bin/sh", "-c", &start, &script, name])
        }
    }
}

fn run(scene: &Scene, metadata: bool, before: &[&str], command: &[&str]) -> Ran {
    let (writable, protected) = scene.writable_with_project();
    let sandbox = Sandbox { writable, protected, metadata, ..Sandbox::default() };
    in_sandbox(scene, &sandbox, &scene.path("project/work"), command, before)
}

/// Returns true if this machine's files lack something that an attempt needs.
fn lacks(scene: &Scene, attempt: &str) -> bool {
    let probe = match attempt {
        "attribute_outside" => "import os; open('x', 'w'); os.setxattr('x', 'user.a', b'1')",
        "unnamed_file" => "import os; os.open('.', os.O_TMPFILE | os.O_WRONLY)",
        _ => return false,
    };
    let mut command = scene.command("python3");
    finish(command.args(["-c", probe]).current_dir(scene.path("tmp"))).0 != Some(0)
}
