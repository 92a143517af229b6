//! A child's own `/tmp` and `/dev/shm`: programs work there, and the machine's directories do not change.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use pi_subagent_warden::{Mechanism, Options, Sandbox, ToolShell};
use tempfile::TempDir;

use crate::attacks::{install, program};
use crate::attempts::{ARGUMENTS, REFUSED, WORKED};
use crate::sandboxed::{Ran, finish, guarded, probe};
use crate::scene::{Scene, User};
use crate::{By, MISSING, WITHOUT_NAMESPACES, rows, say};

/// The bound of both directories together, in bytes.
pub(crate) const BYTES: u64 = 16 << 20;

/// The operations of programs that ignore `TMPDIR`.
const HONEST: [&str; 5] =
    ["semaphore", "shared memory", "file in /tmp", "socket in /tmp", "file of others in /tmp"];
/// The objects there that a child must not reach.
const ATTACKS: [&str; 2] = ["server in /tmp", "shared memory of others"];

/// The objects of other users in the directories of this machine.
struct Others {
    _server: UnixListener,
    _directory: TempDir,
    file: PathBuf,
    memory: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

impl Others {
    fn new(scene: &Scene) -> Self {
        let directory = tempfile::Builder::new().prefix("others-").tempdir_in("/tmp").expect("a directory");
        fs::set_permissions(directory.path(), Permissions::from_mode(0o777)).expect("ours");
        let server = directory.path().join("server");
        let file = directory.path().join("file");
        let memory = Path::new("/dev/shm").join(directory.path().file_name().expect("it has one"));
        let listener = UnixListener::bind(&server).expect("a server");
        for path in [&file, &memory] {
            fs::write(path, "of others\n").expect("written");
        }
        chown(directory.path(), scene.owner(), scene.owner()).expect("ours");
        for path in [&server, &file, &memory] {
            fs::set_permissions(path, Permissions::from_mode(0o666)).expect("ours");
            chown(path, scene.owner(), scene.owner()).expect("ours");
        }
        let environment =
            vec![("SERVER", server.into()), ("FILE", file.clone().into()), ("MEMORY", memory.clone().into())];
        Self { _server: listener, _directory: directory, file, memory, environment }
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.memory));
    }
}

fn sandbox(scene: &Scene) -> Sandbox {
    Sandbox {
        writable: scene.writable(),
        metadata: true,
        temporary_bytes: Some(BYTES),
        shown: vec![scene.path("tree")],
        ..Sandbox::default()
    }
}

/// Runs a script of the shell in a child with this sandbox, or by its tools. `$0` is the program with the attempts.
fn run(
    scene: &Scene,
    sandbox: &Sandbox,
    by: By,
    before: &[&str],
    script: &str,
    environment: &[(&str, OsString)],
) -> Ran {
    let mut start = script.to_owned();
    if by == By::Tool {
        let (shell, options) = install(scene);
        let tools = ToolShell {
            shell: "/bin/sh".into(),
            writable: vec![scene.path("tmp")],
            temporaries: true,
            network: true,
            unix_sockets: true,
            ..ToolShell::default()
        };
        fs::write(options, tools.to_bytes()).expect("the options");
        start = format!("{} -c \"$SCRIPT\" \"$0\"; exit $?", shell.display());
    }
    let options = Options {
        sandbox: Some(sandbox.clone()),
        command: ["/bin/sh".into(), "-c".into(), start.into(), program(scene).into()].to_vec(),
        ..Options::default()
    };
    let mut environment = environment.to_vec();
    environment.push(("SCRIPT", script.into()));
    guarded(scene, &options, &scene.path("tree"), before, &environment)
}

/// Runs `test` for each user who can have the directories on this machine.
fn each_able(test: impl Fn(User)) {
    for user in User::all() {
        match probe(&Scene::new(user)).temporaries {
            Ok(()) => test(user),
            Err(reason) => say(&format!("{user:?}: no `/tmp` of its own here: {reason}")),
        }
    }
}

/// The names in a directory.
fn names(directory: &str) -> Vec<OsString> {
    let entries = fs::read_dir(directory).expect("it can be listed");
    entries.flatten().map(|entry| entry.file_name()).collect()
}

#[test]
fn programs_that_ignore_the_variable_work_and_leave_nothing() {
    each_able(|user| {
        let scene = Scene::new(user);
        let others = Others::new(&scene);
        let mut failed = Vec::new();
        for by in [By::Child, By::Tool] {
            for (names, expected) in [(&HONEST[..], WORKED), (&ATTACKS, REFUSED)] {
                for name in names {
                    let mut environment = others.environment.clone();
                    environment.push(("ATTEMPT", (*name).into()));
                    let script = format!("\"$0\" {ARGUMENTS}; exit $?");
                    let ran = run(&scene, &sandbox(&scene), by, &[], &script, &environment);
                    if ran.code != Some(expected) {
                        failed.push(format!(
                            "{name}, {by:?}, {:?}: {:?} {}",
                            ran.mechanisms, ran.code, ran.text
                        ));
                    }
                }
            }
        }
        assert!(failed.is_empty(), "{user:?}:\n{}", failed.join("\n"));
        assert_eq!(fs::read_to_string(&others.file).expect("readable"), "of others\n");
        for directory in ["/tmp", "/dev/shm"] {
            let left: Vec<_> = names(directory)
                .into_iter()
                .filter(|name| name.to_string_lossy().contains("own-attempt"))
                .collect();
            assert!(left.is_empty(), "{user:?}: {directory} has {left:?}");
        }
    });
}

/// Real programs, where they are installed.
#[test]
fn languages_with_their_own_temporary_files_work() {
    each_able(|user| {
        let mut scene = Scene::new(user);
        let mut failed = Vec::new();
        for (name, _) in rows(&scene, "works.sh").iter().filter(|(_, wants)| wants == "own") {
            for by in [By::Child, By::Tool] {
                let script = format!("exec /bin/sh '{}' {name}", scene.path("works.sh").display());
                let ran = run(&scene, &sandbox(&scene), by, &[], &script, &[]);
                match ran.code {
                    Some(0) => {}
                    Some(MISSING) => say(&format!("{name} is skipped, this machine lacks a program for it")),
                    _ => failed.push(format!("{name}, {by:?}: {}", ran.text)),
                }
            }
        }
        failed.extend(scene.changes().expect("the scene can be seen"));
        assert!(failed.is_empty(), "{user:?}:\n{}", failed.join("\n"));
    });
}

#[test]
fn filling_the_directories_ends_at_their_common_bound() {
    each_able(|user| {
        let scene = Scene::new(user);
        for by in [By::Child, By::Tool] {
            for (first, second) in [("/tmp", "/dev/shm"), ("/dev/shm", "/tmp")] {
                let script = format!(
                    "head -c 10485760 /dev/zero >{first}/one && ! head -c 20971520 /dev/zero >{second}/two
                    echo $(( $(stat -c %s {first}/one) + $(stat -c %s {second}/two) ))"
                );
                let ran = run(&scene, &sandbox(&scene), by, &[], &script, &[]);
                let size = ran.text.lines().last().and_then(|line| line.parse::<u64>().ok());
                assert!(ran.text.contains("No space left"), "{user:?} {by:?}: {}", ran.text);
                assert!(
                    size.is_some_and(|size| (BYTES / 2..=BYTES).contains(&size)),
                    "{user:?}: {}",
                    ran.text
                );
            }
            // Empty files have a bound as well.
            let script =
                "mkdir /tmp/many && cd /tmp/many && seq 1 3000 | xargs touch 2>/dev/null; ls | wc -l";
            let ran = run(&scene, &sandbox(&scene), by, &[], script, &[]);
            let files = ran.text.trim().parse::<u64>().ok();
            assert!(
                files.is_some_and(|files| (1000..2048).contains(&files)),
                "{user:?} {by:?}: {}",
                ran.text
            );
        }
    });
}

/// The scene itself lies below `/tmp`.
#[test]
fn the_paths_of_a_child_below_the_directory_stay_unchanged() {
    each_able(|user| {
        let scene = Scene::new(user);
        let others = Others::new(&scene);
        for by in [By::Child, By::Tool] {
            // A write to a file of others stays in the child. The project is the user's own, and cannot be written.
            let script = "set -e
                echo real >\"$TMPDIR/real\"
                [ \"$(cat \"$FILE\")\" = 'of others' ]
                echo changed >\"$FILE\" && [ \"$(cat \"$FILE\")\" = changed ]
                ! echo changed 2>/dev/null >README.md
                ! echo changed 2>/dev/null >\"$TREE/src/new\"
                [ \"$(pwd -P)\" = \"$TREE\" ] && [ -e /tmp/own ] && exit 3
                echo own >/tmp/own && mv \"$TMPDIR/real\" /tmp/moved && mv /tmp/moved \"$TMPDIR/real\"";
            let ran = run(&scene, &sandbox(&scene), by, &[], script, &others.environment);
            assert_eq!(ran.code, Some(0), "{user:?} {by:?}: {}", ran.text);
            assert_eq!(fs::read_to_string(scene.path("tmp/real")).expect("it is on the disk"), "real\n");
            assert_eq!(fs::read_to_string(&others.file).expect("readable"), "of others\n");
            assert!(!Path::new("/tmp/own").exists() && !scene.path("tree/src/new").exists());
        }
    });
}

/// Some people have `TMPDIR` or whole projects in memory.
#[test]
fn writable_shared_memory_stays_unchanged() {
    each_able(|user| {
        let scene = Scene::new(user);
        let place = tempfile::Builder::new().prefix("place-").tempdir_in("/dev/shm").expect("a directory");
        let deep = place.path().join("deep er");
        fs::create_dir(&deep).expect("made");
        fs::write(deep.join("file"), "old\n").expect("written");
        for path in [place.path().to_owned(), deep.clone(), deep.join("file")] {
            chown(path, scene.owner(), scene.owner()).expect("ours");
        }
        let mut sandbox = sandbox(&scene);
        sandbox.writable.extend([deep.clone(), deep.join("file")]);
        let script = "[ \"$(cat \"$PLACE/file\")\" = old ] && echo new >\"$PLACE/file\" && echo made >\"$PLACE/made\" &&
            echo own >/dev/shm/own && [ \"$(ls /dev/shm | wc -l)\" = 2 ]";
        let ran = run(&scene, &sandbox, By::Child, &[], script, &[("PLACE", deep.clone().into())]);
        assert_eq!(ran.code, Some(0), "{user:?}: {}", ran.text);
        let read =
            |name: &str| fs::read_to_string(deep.join(name)).expect("it is in the memory of the machine");
        assert_eq!((read("file"), read("made")), ("new\n".into(), "made\n".into()), "{user:?}");
        assert!(!Path::new("/dev/shm/own").exists());
    });
}

/// Each row reads a hidden file in one way; the last ones first try to move it.
const READS: [&str; 8] = [
    "cat \"$HIDDEN/secret\"",
    "cat \"$HIDDEN/deep/secret\"",
    "cp -r \"$HIDDEN\" /tmp/copy; cat /tmp/copy/secret",
    "ln \"$HIDDEN/secret\" /tmp/link; cat /tmp/link",
    "ln -s \"$HIDDEN\" /tmp/link; cat /tmp/link/secret",
    "mv \"${HIDDEN%/*}\" /tmp/moved; cat /tmp/moved/hidden/secret",
    "rmdir \"$HIDDEN\"; rm -rf \"$HIDDEN\"; mkdir -p \"$HIDDEN\"; cat \"$HIDDEN/secret\"",
    "umount \"$HIDDEN\"; umount /tmp; umount -l /tmp; mount --bind / /tmp/x; cat \"$HIDDEN/secret\"",
];

#[test]
fn hidden_paths_below_the_directory_stay_hidden() {
    each_able(|user| {
        let scene = Scene::new(user);
        let outer = tempfile::Builder::new().prefix("outer-").tempdir_in("/tmp").expect("a directory");
        fs::set_permissions(outer.path(), Permissions::from_mode(0o777)).expect("ours");
        let hidden = outer.path().join("hidden");
        fs::create_dir_all(hidden.join("deep")).expect("made");
        for name in ["secret", "deep/secret"] {
            fs::write(hidden.join(name), "the secret\n").expect("written");
        }
        for path in [outer.path().to_owned(), hidden.clone(), hidden.join("secret")] {
            chown(path, scene.owner(), scene.owner()).expect("ours");
        }
        let environment = [("HIDDEN", hidden.clone().into_os_string())];
        let sandbox = Sandbox { hidden: vec![hidden.clone()], ..sandbox(&scene) };
        for by in [By::Child, By::Tool] {
            for script in READS {
                let ran = run(&scene, &sandbox, by, &[], script, &environment);
                assert!(ran.mechanisms.contains(&Mechanism::MountNamespace), "{user:?}: {}", ran.text);
                assert!(!ran.text.contains("the secret"), "{user:?} {by:?} `{script}`: {}", ran.text);
            }
        }
        assert_eq!(fs::read_to_string(hidden.join("secret")).expect("still there"), "the secret\n");
    });
}

/// A rule that allows writing in a directory allows reading all below it. Unreadable paths of a child's tools take precedence.
#[test]
fn tools_cannot_write_in_the_directory_if_something_below_is_unreadable_for_them() {
    each_able(|user| {
        let scene = Scene::new(user);
        let (shell, options) = install(&scene);
        fs::write(scene.path("private/auth.json"), "the secret\n").expect("written");
        let tools = ToolShell {
            shell: "/bin/sh".into(),
            writable: vec![scene.path("tmp")],
            hidden: vec![scene.path("private/auth.json")],
            temporaries: true,
            ..ToolShell::default()
        };
        fs::write(options, tools.to_bytes()).expect("the options");
        let tool = "cat \"$PRIVATE/auth.json\"; true 2>/dev/null >/tmp/own && echo written; true >/dev/shm/own && echo shared";
        let script = format!("SCRIPT='{tool}'; {} -c \"$SCRIPT\"", shell.display());
        let ran = run(&scene, &sandbox(&scene), By::Child, &[], &script, &[]);
        let said: Vec<&str> = ran.text.lines().filter(|line| !line.contains("enied")).collect();
        assert_eq!(said, ["shared"], "{user:?}: {}", ran.text);
    });
}

/// Without a mount namespace the directories of the machine stay, and cannot be written.
#[test]
fn without_namespaces_the_directories_are_read_only() {
    for user in User::all() {
        let scene = Scene::new(user);
        let others = Others::new(&scene);
        let check = finish(scene.command(WITHOUT_NAMESPACES[0]).args(&WITHOUT_NAMESPACES[1..]).arg("true"));
        if check.0 != Some(0) {
            say(&format!("{user:?}: this machine cannot take namespaces away: {}", check.1));
            continue;
        }
        let script = "cat \"$FILE\"; for path in /tmp/own /dev/shm/own \"$FILE\" \"$MEMORY\"; do
            true 2>/dev/null >\"$path\" && echo \"written: $path\"; done; true";
        let ran = run(&scene, &sandbox(&scene), By::Child, &WITHOUT_NAMESPACES, script, &others.environment);
        assert_eq!(ran.mechanisms, [Mechanism::Landlock, Mechanism::Seccomp], "{user:?}: {}", ran.text);
        assert!(ran.code == Some(0) && !ran.text.contains("written"), "{user:?}: {}", ran.text);
        assert!(ran.text.contains("of others"), "{user:?}: {}", ran.text);
    }
}

#[test]
fn a_childs_directory_in_a_hidden_one_of_a_shown_project_stays_its_own() {
    each_able(|user| {
        let scene = Scene::new(user);
        let hidden = scene.path("tree/agent");
        let own = scene.path("tree/agent/scratch");
        fs::create_dir_all(&own).expect("made");
        for path in [&hidden, &own] {
            chown(path, scene.owner(), scene.owner()).expect("ours");
        }
        fs::write(hidden.join("key"), "secret\n").expect("written");
        for temporary_bytes in [None, Some(BYTES)] {
            let sandbox = Sandbox {
                writable: scene.writable().into_iter().chain([own.clone()]).collect(),
                hidden: vec![hidden.clone()],
                temporary_bytes,
                ..sandbox(&scene)
            };
            let script =
                "mkdir -p agent/scratch/made && echo kept >agent/scratch/made/file && ! cat agent/key";
            let ran = run(&scene, &sandbox, By::Child, &[], script, &[]);
            let layers = &ran.mechanisms;
            assert!(layers.contains(&Mechanism::MountNamespace), "{user:?}: {layers:?}, {}", ran.text);
            assert_eq!(fs::read_to_string(own.join("made/file")).ok().as_deref(), Some("kept\n"), "{user:?}");
            fs::remove_dir_all(own.join("made")).expect("it was made");
        }
    });
}
