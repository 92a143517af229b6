//! Nothing that a child in the sandbox tries changes the project or pi's own directory, and what must work works.
//!
//! The attempts and the work are shell scripts in `tests/inputs`, so that they can be made from anywhere.

#![cfg(target_os = "linux")]

mod attacks;
mod attempts;
mod outside;
mod sandboxed;
mod scene;
mod snapshot;
mod temporaries;
mod writer;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use pi_subagent_warden::{Mechanism, Sandbox, ToolShell};

use sandboxed::{finish, in_sandbox, probe, sandboxed};
use scene::{Scene, User};

/// The exit code by which the scripts report that this machine lacks a program.
const MISSING: i32 = 77;
/// The largest file that a child may write.
const FILE_BYTES: u64 = 1 << 30;
/// Fewer attempts than that prove nothing.
const ENOUGH: usize = 25;
/// The version of Landlock that keeps signals and abstract sockets inside.
const SCOPES: u32 = 6;
/// The attempts that only such a version stops.
const NEED_SCOPES: [&str; 4] = ["kill", "kill_by_handle", "kill_warden", "abstract_socket"];

/// Executes a command in a user namespace in which no other can be made, and no process has rights over mounts.
const WITHOUT_NAMESPACES: [&str; 7] = [
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all \"$@\"",
    "sh",
];

#[test]
fn nothing_changes_under_both_layers() {
    for user in User::all() {
        matrix(user, true, By::Child);
    }
}

#[test]
fn nothing_changes_under_landlock_alone() {
    for user in User::all() {
        matrix(user, false, By::Child);
    }
}

#[test]
fn programs_started_by_tools_change_nothing() {
    for user in User::all() {
        matrix(user, true, By::Tool);
    }
    matrix(User::Myself, false, By::Tool);
}

/// Without a sandbox the attempts succeed. Otherwise the tests above prove nothing.
#[test]
fn the_attempts_are_real() {
    for user in User::all() {
        let mut scene = Scene::new(user);
        let mut real = 0;
        let mut failed = Vec::new();
        for (name, kind) in rows(&scene, "mutations.sh") {
            if kind == "wild" || (kind.ends_with("-root") && !user.is_root()) {
                continue;
            }
            let script = scene.path("mutations.sh");
            let (status, text) = finish(scene.command("/bin/sh").arg(script).arg(&name));
            let has_changed = !scene.changes().expect("the scene can be seen").is_empty();
            if has_changed || (kind.starts_with("host") && status == Some(0)) {
                real += 1;
            } else if status == Some(MISSING) {
                say(&format!("{user:?}: {name} is skipped, this machine lacks something for it"));
                continue;
            } else if let Some(lack) = lack(&scene, &name) {
                say(&format!("{user:?}: {name} changes nothing here even without a sandbox: {lack}"));
            } else {
                failed.push(format!("{name}: {text}"));
            }
            scene.renew();
        }
        assert!(failed.is_empty(), "{user:?}: attempts that change nothing:\n{}", failed.join("\n"));
        assert!(real >= ENOUGH, "{user:?}: only {real} attempts change anything");
    }
}

/// Returns the program or feature that this machine lacks for an attempt, found without the attempt.
fn lack(scene: &Scene, attempt: &str) -> Option<&'static str> {
    let (lack, probe) = match attempt {
        "first_root" | "enter_first" => ("process 1 is out of reach", "ls /proc/1/root/"),
        "parents_root" => ("its parent is somebody else's", "ls /proc/$PPID/root/"),
        "stolen_descriptor" => (
            "nobody may trace others",
            "[ $(id -u) = 0 ] || [ $(cat /proc/sys/kernel/yama/ptrace_scope || echo 0) = 0 ]",
        ),
        "unshare_remount" | "unshare_bind" | "overlay" | "chmod_unshared" => {
            ("nobody may make namespaces", "unshare -r -m true")
        }
        "user_namespace" => ("nobody may make namespaces", "unshare --user true"),
        "ring" => (
            "nobody may use rings",
            "[ \"$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 1)\" = 0 ]",
        ),
        "disk" => ("there is no device to read", "ls /dev/[svx]d[a-z]* /dev/nvme* /dev/kmsg"),
        "attribute" => (
            "files have no attributes here",
            ": >\"$TMPDIR/file\" && python3 -c 'import os; os.setxattr(os.environ[\"TMPDIR\"] + \"/file\", \"user.a\", b\"1\")'",
        ),
        "flags" => ("files have no flags here", ": >\"$TMPDIR/file\" && chattr +d \"$TMPDIR/file\""),
        "python_unnamed_file" => (
            "every file has a name here",
            "python3 -c 'import os; os.open(os.environ[\"TMPDIR\"], os.O_TMPFILE | os.O_WRONLY)'",
        ),
        _ => return None,
    };
    let (status, _) = finish(scene.command("/bin/sh").args(["-c", probe]));
    (status != Some(0)).then_some(lack)
}

#[test]
fn honest_operations_work() {
    for (user, metadata) in User::all().into_iter().flat_map(|user| [(user, true), (user, false)]) {
        let mut scene = Scene::new(user);
        let mut failed = Vec::new();
        for (name, wants) in rows(&scene, "works.sh") {
            if wants == "own" {
                continue;
            }
            let script = scene.path("works.sh");
            let tree = scene.path("tree");
            let ran = sandboxed(&scene, metadata, &tree, &["/bin/sh", &script.to_string_lossy(), &name]);
            let has_view = ran.mechanisms.contains(&Mechanism::MountNamespace);
            match ran.code {
                Some(0) => {}
                Some(MISSING) => say(&format!("{name} is skipped, this machine lacks something for it")),
                _ if wants == "view" && !has_view => {
                    say(&format!("{name} does not work without a mount namespace"));
                }
                _ => failed.push(format!("{name}: {}", ran.text)),
            }
        }
        failed.extend(scene.changes().expect("the scene can be seen"));
        assert!(failed.is_empty(), "{user:?}, metadata {metadata}:\n{}", failed.join("\n"));
    }
}

/// A working directory that becomes a mount is entered again, or it would be the read-only directory below.
#[test]
fn a_writable_working_directory_stays_writable() {
    for user in User::all() {
        let scene = Scene::new(user);
        let here = scene.path("tmp/below");
        let made = finish(scene.command("mkdir").arg(&here));
        assert_eq!(made.0, Some(0), "{}", made.1);
        let script = "echo text >file && cat file && [ \"$(pwd -P)\" = \"$PWD\" ]";
        let ran = sandboxed(&scene, true, &here, &["/bin/sh", "-c", script]);
        assert_eq!(ran.code, Some(0), "{user:?}: {}", ran.text);
        assert!(here.join("file").exists());
    }
}

#[test]
fn a_writable_path_that_is_a_link_or_missing_is_refused() {
    let scene = Scene::new(User::Myself);
    let link = scene.path("link");
    std::os::unix::fs::symlink(scene.path("tree"), &link).expect("a link");
    for path in [link, scene.path("missing")] {
        let sandbox = Sandbox { writable: vec![path.clone()], metadata: true, ..Sandbox::default() };
        let ran = in_sandbox(&scene, &sandbox, Path::new("/"), &["/bin/true"], &[]);
        assert!(ran.code.is_none() && ran.mechanisms.is_empty(), "{}: {}", path.display(), ran.text);
    }
}

/// Without namespaces the attempt stays invisible: Landlock is active, and users and groups look as before.
#[test]
fn without_namespaces_landlock_holds_alone() {
    for user in User::all() {
        let mut scene = Scene::new(user);
        let check = finish(scene.command(WITHOUT_NAMESPACES[0]).args(&WITHOUT_NAMESPACES[1..]).arg("true"));
        if check.0 != Some(0) {
            say(&format!("{user:?}: this machine cannot take namespaces away: {}", check.1));
            continue;
        }
        let sandbox = Sandbox { writable: scene.writable(), metadata: true, ..Sandbox::default() };
        let script = "id -u; stat -c %u .; sh -c 'echo changed >src/a.txt'; echo text >\"$TMPDIR/file\"";
        let tree = scene.path("tree");
        let ran = in_sandbox(&scene, &sandbox, &tree, &["/bin/sh", "-c", script], &WITHOUT_NAMESPACES);
        assert_eq!(ran.mechanisms, [Mechanism::Landlock, Mechanism::Seccomp], "{user:?}: {}", ran.text);
        assert!(ran.code == Some(0) && ran.text.starts_with("0\n0\n"), "{user:?}: {}", ran.text);
        assert_eq!(scene.changes().expect("the scene can be seen"), Vec::<String>::new(), "{user:?}");
    }
}

/// Each row: a command in the working directory, and whether it may succeed. Hidden files lie outside of it and in it.
const READS: [(&str, bool); 12] = [
    ("cat ../secrets/key", false),
    ("cat link", false),
    ("ls ../secrets", false),
    ("ls directory-link/", false),
    ("cat hidden", false),
    ("ls ..", false),
    ("ls /", false),
    ("cat ../secrets/shown/file", true),
    ("ls ../secrets/shown", true),
    ("ls", true),
    ("cat file ../beside", true),
    ("echo text >../secrets/written/file && cat ../secrets/written/file && ls ../secrets/written", true),
];

/// A program that reads a tree cannot follow its links to hidden files.
#[test]
fn an_unreadable_file_is_hidden_under_any_name() {
    for user in User::all() {
        let scene = Scene::new(user);
        let fixture = "mkdir -p work secrets/shown secrets/written
            for file in beside work/file work/hidden secrets/key secrets/shown/file; do echo secret >$file; done
            ln -s ../secrets/key work/link; ln -s ../secrets work/directory-link";
        let made = finish(scene.command("/bin/sh").args(["-c", fixture]).current_dir(scene.path("")));
        assert_eq!(made.0, Some(0), "{}", made.1);
        let check = finish(scene.command(WITHOUT_NAMESPACES[0]).args(&WITHOUT_NAMESPACES[1..]).arg("true"));
        let kinds: &[(bool, &[&str])] = if check.0 == Some(0) {
            &[(true, &[]), (false, &[]), (true, &WITHOUT_NAMESPACES)]
        } else {
            say(&format!("{user:?}: this machine cannot take namespaces away: {}", check.1));
            &[(true, &[]), (false, &[])]
        };
        for (metadata, before) in kinds.iter().copied() {
            let sandbox = Sandbox {
                writable: vec![scene.path("secrets/written")],
                metadata,
                unreadable: ["secrets", "work/hidden", "missing"].map(|name| scene.path(name)).to_vec(),
                readable: ["secrets/shown", "secrets/missing", "work/directory-link", "work/link"]
                    .map(|name| scene.path(name))
                    .to_vec(),
                ..Sandbox::default()
            };
            for (command, may_succeed) in READS {
                let ran =
                    in_sandbox(&scene, &sandbox, &scene.path("work"), &["/bin/sh", "-c", command], before);
                assert!(ran.mechanisms.contains(&Mechanism::Landlock), "{user:?} {command}: {}", ran.text);
                let label = format!("{user:?}, metadata {metadata}, `{command}`: {}", ran.text);
                assert_eq!(ran.code == Some(0), may_succeed, "{label}");
                assert!(may_succeed || !ran.text.contains("secret\n"), "{label}");
            }
        }
    }
}

/// Each row: a command of a writer's shell in its tree, and whether it may succeed. The tree contains a hidden file and a hidden directory.
const WRITERS_READS: [(&str, bool); 12] = [
    ("cat .env", false),
    ("cat deep/keys/key", false),
    ("cp .env copy; cat copy", false),
    ("ln .env link; cat link; code=$?; rm link; exit $code", false),
    ("mv .env moved; cat moved; code=$?; mv moved .env; exit $code", false),
    ("mv deep moved; cat moved/keys/key; code=$?; mv moved deep; exit $code", false),
    ("cat file deep/file other/file", true),
    ("echo text >>file && echo text >new && mkdir directory", true),
    ("cat new && ls directory && rmdir directory && rm new", true),
    ("echo text >other/new && cat other/new && mv other/new deep/new", true),
    ("cat deep/new", true),
    ("echo text >deep/keys/written", true),
];

/// The tree is writable, but this must not make the hidden files in it readable.
#[test]
fn a_writers_shell_cannot_read_hidden_files_in_its_tree() {
    for user in User::all() {
        let scene = Scene::new(user);
        let fixture = "mkdir -p work/deep/keys work/other
            for file in .env file deep/file deep/keys/key other/file; do echo secret >work/$file; done";
        let made = finish(scene.command("/bin/sh").args(["-c", fixture]).current_dir(scene.path("")));
        assert_eq!(made.0, Some(0), "{}", made.1);
        let work = scene.path("work");
        let (shell, options) = attacks::install(&scene);
        let tools = ToolShell {
            shell: "/bin/sh".into(),
            writable: vec![work.clone()],
            hidden: [".env", "deep/keys"].map(|name| work.join(name)).to_vec(),
            ..ToolShell::default()
        };
        std::fs::write(options, tools.to_bytes()).expect("the options");
        let mut writable = scene.writable();
        writable.push(work.clone());
        for metadata in [false, true] {
            let sandbox = Sandbox { writable: writable.clone(), metadata, ..Sandbox::default() };
            for (command, may_succeed) in WRITERS_READS {
                let shell = shell.to_string_lossy();
                let ran = in_sandbox(&scene, &sandbox, &work, &[&shell, "-c", command], &[]);
                let label = format!("{user:?}, metadata {metadata}, `{command}`: {}", ran.text);
                assert_eq!(ran.code == Some(0), may_succeed, "{label}");
                assert!(may_succeed || !ran.text.contains("secret\n"), "{label}");
            }
        }
    }
}

/// A child may exchange the working directory with a link before the program is started in it.
#[test]
fn a_working_directory_that_is_hidden_is_neither_read_nor_listed() {
    for user in User::all() {
        let scene = Scene::new(user);
        let fixture = "mkdir secrets && echo secret >secrets/key && ln -s secrets link";
        let made = finish(scene.command("/bin/sh").args(["-c", fixture]).current_dir(scene.path("")));
        assert_eq!(made.0, Some(0), "{}", made.1);
        let link = scene.path("link");
        let sandbox = Sandbox {
            metadata: true,
            unreadable: vec![scene.path("secrets")],
            readable: vec![link.clone()],
            ..Sandbox::default()
        };
        for command in ["ls", "cat key", "ls ../secrets", "cat ../link/key"] {
            let ran = in_sandbox(&scene, &sandbox, &link, &["/bin/sh", "-c", command], &[]);
            assert!(ran.mechanisms.contains(&Mechanism::Landlock), "{user:?} {command}: {}", ran.text);
            assert_ne!(ran.code, Some(0), "{user:?} `{command}`: {}", ran.text);
        }
    }
}

/// The author of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Child,
    /// A shell in the sandbox of a child's tools.
    Tool,
}

/// Makes every attempt in a sandbox.
fn matrix(user: User, metadata: bool, by: By) {
    let mut scene = Scene::new(user);
    let sandbox = Sandbox {
        writable: scene.writable(),
        metadata,
        // The scene lies below `/tmp`: the attacked files are not a copy.
        temporary_bytes: Some(temporaries::BYTES),
        shown: vec![scene.path("")],
        file_bytes: Some(FILE_BYTES),
        ..Sandbox::default()
    };
    let able = probe(&scene);
    let Ok(version) = able.landlock else { panic!("nothing to test here: {able}") };
    let mut made = 0;
    let mut failed = Vec::new();
    let mut uncovered = Vec::new();
    for (name, kind) in rows(&scene, "mutations.sh") {
        let script = scene.path("mutations.sh");
        let tree = scene.path("tree");
        let script = script.to_string_lossy();
        let start = match by {
            By::Child => "WARDEN=$PPID exec /bin/sh \"$0\" \"$1\"".to_owned(),
            By::Tool => {
                let shell = tool_shell(&scene);
                format!("export WARDEN=$PPID; {} -c \"sh '$0' $1\"; exit $?", shell.display())
            }
        };
        let ran = in_sandbox(&scene, &sandbox, &tree, &["/bin/sh", "-c", &start, &script, &name], &[]);
        assert!(ran.mechanisms.contains(&Mechanism::Landlock), "{name} ran without a sandbox: {}", ran.text);
        let has_view = ran.mechanisms.contains(&Mechanism::MountNamespace);
        assert_eq!(has_view, metadata && able.mount_namespace.is_ok(), "{name} had another sandbox: {able}");
        if ran.code == Some(MISSING) {
            say(&format!("{user:?}: {name} is skipped, this machine lacks something for it"));
            continue;
        }
        let mut changes = scene.changes().expect("the scene can be seen");
        if !changes.is_empty() {
            scene.renew();
        }
        if !ran.was_guarded {
            changes.push("the warden was ended".into());
        }
        if (kind == "wild" || kind.starts_with("host")) && ran.code == Some(0) {
            changes.push("it worked".into());
        }
        if (kind.starts_with("meta") && !has_view)
            || (NEED_SCOPES.contains(&name.as_str()) && version < SCOPES)
        {
            uncovered.push(name);
            continue;
        }
        made += 1;
        if !changes.is_empty() {
            failed.push(format!("{name}: {} ({})", changes.join(", "), ran.text));
        }
    }
    say(&format!("{user:?}, {by:?}, metadata {metadata}: {made} made, not covered: {}", uncovered.join(" ")));
    assert!(failed.is_empty(), "{user:?}, {by:?}, metadata {metadata}:\n{}", failed.join("\n"));
    assert!(made >= ENOUGH, "only {made} attempts could be made");
}

/// The shell of a child's tools, which may write in the temporary directory.
fn tool_shell(scene: &Scene) -> PathBuf {
    tool_shell_in(scene, vec![scene.path("tmp")])
}

/// The shell of a child's tools, which may write in these places.
fn tool_shell_in(scene: &Scene, writable: Vec<PathBuf>) -> PathBuf {
    let (shell, options) = attacks::install(scene);
    let tools = ToolShell {
        shell: "/bin/sh".into(),
        writable,
        temporaries: true,
        network: true,
        unix_sockets: true,
        file_bytes: Some(FILE_BYTES),
        ..ToolShell::default()
    };
    std::fs::write(options, tools.to_bytes()).expect("the options");
    shell
}

/// The names and kinds that a script lists.
fn rows(scene: &Scene, script: &str) -> Vec<(String, String)> {
    listed(scene, script, "--list")
}

/// The names and kinds that a script lists when it is asked in this way.
fn listed(scene: &Scene, script: &str, list: &str) -> Vec<(String, String)> {
    let (status, text) = finish(scene.command("/bin/sh").arg(scene.path(script)).arg(list));
    assert_eq!(status, Some(0), "{text}");
    let pair = |line: &str| line.split_once(' ').map(|(name, kind)| (name.to_owned(), kind.to_owned()));
    text.lines().filter_map(pair).collect()
}

/// Prints a text for a person who runs the tests with `--nocapture`.
fn say(text: &str) {
    drop(writeln!(std::io::stdout(), "{text}"));
}

/// Servers of the user come and go while a child is started: their sockets lie below `/tmp`, and are masked.
#[test]
fn a_child_starts_while_a_masked_path_disappears() {
    for user in User::all() {
        let scene = Scene::new(user);
        let has_view = probe(&scene).mount_namespace.is_ok();
        let has_ended = AtomicBool::new(false);
        let come_and_go = |number: u32| {
            let server = PathBuf::from(format!("/tmp/ssh-{}-{number}", std::process::id()));
            while !has_ended.load(Ordering::Relaxed) {
                let _ = std::fs::create_dir(&server);
                let _ = std::fs::remove_dir(&server);
            }
        };
        let start = || {
            let ran = sandboxed(&scene, true, &scene.path("tree"), &["/bin/true"]);
            let is_held = ran.mechanisms.contains(&Mechanism::MountNamespace) == has_view;
            (ran.code != Some(0) || !is_held).then_some(ran)
        };
        let some = || (0..40).filter_map(|_| start()).collect::<Vec<_>>();
        let wrong: Vec<_> = std::thread::scope(|scope| {
            for number in 0..8 {
                let come_and_go = &come_and_go;
                scope.spawn(move || come_and_go(number));
            }
            // Side by side, so that each is interrupted at any point.
            let all: Vec<_> = (0..6).map(|_| scope.spawn(some)).collect();
            let wrong = all.into_iter().flat_map(|some| some.join().expect("it ends")).collect();
            has_ended.store(true, Ordering::Relaxed);
            wrong
        });
        assert!(wrong.is_empty(), "{user:?}: {} of 240: {:?}", wrong.len(), wrong[0]);
    }
}
