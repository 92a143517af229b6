//! The attacks of a child and its tools on the host. Each attempt is first shown to work without the sandbox that refuses it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use pi_subagent_warden::{Mechanism, Options, Sandbox, ToolShell};

use crate::attempts::{ARGUMENTS, REFUSED, WORKED};
use crate::outside::Outside;
use crate::sandboxed::{Ran, finish, guarded, probe, warden};
use crate::scene::{Scene, User};
use crate::{MISSING, WITHOUT_NAMESPACES, rows, say};

/// The features needed to refuse an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    MountNamespace,
    PidNamespace,
}

/// The attacks of a child.
const ATTACKS: [(&str, Needs); 25] = [
    ("limit of another", Needs::Nothing),
    ("limit of the warden", Needs::Nothing),
    ("lease", Needs::Nothing),
    ("key", Needs::Nothing),
    ("keyring", Needs::Nothing),
    ("page faults", Needs::Nothing),
    ("user namespace", Needs::Nothing),
    ("user namespace of a child", Needs::Nothing),
    ("user namespace by clone3", Needs::Nothing),
    ("ring", Needs::Nothing),
    ("host of a virtual machine", Needs::Nothing),
    ("typing", Needs::Nothing),
    ("second set of calls", Needs::Nothing),
    ("32-bit calls", Needs::Nothing),
    ("terminal of the person", Needs::Nothing),
    ("device of the machine", Needs::Nothing),
    ("packets of the machine", Needs::Nothing),
    ("packets of other programs", Needs::Nothing),
    ("before all others", Needs::Nothing),
    ("server", Needs::MountNamespace),
    ("server in the environment", Needs::MountNamespace),
    ("hidden file", Needs::MountNamespace),
    ("hidden file by another way", Needs::MountNamespace),
    ("single hidden file", Needs::MountNamespace),
    ("message queue", Needs::PidNamespace),
];

/// The operations that a child needs.
const HONEST: [&str; 9] = [
    "own limit",
    "lock",
    "threads",
    "own server",
    "pair",
    "network",
    "shown file",
    "shown file that may be written",
    "temporary file",
];

#[test]
fn a_child_cannot_reach_the_host() {
    for user in User::all() {
        let scene = Scene::new(user);
        let outside = Outside::new(&scene).expect("the surroundings");
        let able = probe(&scene);
        let possible: Vec<_> =
            ATTACKS.into_iter().filter(|(name, _)| is_possible(&scene, &outside, name)).collect();
        assert!(possible.len() >= 12, "{user:?}: only {possible:?} are possible at all");
        let mut failed = Vec::new();
        for (metadata, pid_namespace) in [(false, false), (true, false), (true, able.pid_namespace.is_ok())] {
            let options = Options { pid_namespace, ..options(&scene, metadata) };
            for (name, needs) in &possible {
                let ran = attempt(&scene, &outside, &options, name);
                let is_covered = match needs {
                    Needs::Nothing => true,
                    Needs::MountNamespace => ran.mechanisms.contains(&Mechanism::MountNamespace),
                    Needs::PidNamespace => ran.mechanisms.contains(&Mechanism::PidNamespace),
                };
                if is_covered && ran.code != Some(REFUSED) {
                    failed.push(format!("{name}, {:?}: {:?} {}", ran.mechanisms, ran.code, ran.text));
                }
            }
            for name in HONEST {
                let ran = attempt(&scene, &outside, &options, name);
                if ran.code != Some(WORKED) {
                    failed.push(format!("{name} does not work, {:?}: {}", ran.mechanisms, ran.text));
                }
            }
            let huge = attempt(&scene, &outside, &options, "huge file");
            // `EFBIG`, and no signal.
            if huge.code != Some(REFUSED) || !huge.text.contains("os error 27") {
                failed.push(format!("a huge file: {:?} {}", huge.code, huge.text));
            }
        }
        assert!(failed.is_empty(), "{user:?}:\n{}", failed.join("\n"));
    }
}

/// Without namespaces, the filter and Landlock still refuse the same attempts.
#[test]
fn a_child_cannot_reach_the_host_without_namespaces() {
    for user in User::all() {
        let scene = Scene::new(user);
        let outside = Outside::new(&scene).expect("the surroundings");
        let mut check = scene.command(WITHOUT_NAMESPACES[0]);
        if finish(check.args(&WITHOUT_NAMESPACES[1..]).arg("true")).0 != Some(0) {
            say(&format!("{user:?}: this machine cannot take namespaces away"));
            continue;
        }
        let options = options(&scene, true);
        for (name, needs) in ATTACKS {
            let ran = attempt_below(&WITHOUT_NAMESPACES, &scene, &outside, &options, name);
            assert_eq!(
                ran.mechanisms[..2],
                [Mechanism::Landlock, Mechanism::Seccomp],
                "{user:?}: {}",
                ran.text
            );
            if needs == Needs::Nothing {
                assert_eq!(ran.code, Some(REFUSED), "{user:?} {name}: {}", ran.text);
            }
        }
        for name in HONEST {
            let ran = attempt_below(&WITHOUT_NAMESPACES, &scene, &outside, &options, name);
            assert_eq!(ran.code, Some(WORKED), "{user:?} {name}: {}", ran.text);
        }
    }
}

/// The attacks of tools on pi, which runs in the child's sandbox.
const ATTACKS_OF_TOOLS: [&str; 15] = [
    "environment of pi",
    "memory of pi",
    "output of pi",
    "root of pi",
    "signal to pi",
    "session",
    "private directory",
    "hidden file",
    "hidden file by another way",
    "single hidden file",
    "secret variable",
    "terminal of the person",
    "device of the machine",
    "abstract socket",
    "limit of the warden",
];

#[test]
fn programs_started_by_tools_cannot_reach_pi() {
    for user in User::all() {
        let scene = Scene::new(user);
        let outside = Outside::new(&scene).expect("the surroundings");
        let mut tools = ToolShell {
            shell: "/bin/sh".into(),
            writable: vec![scene.path("tmp")],
            hidden: vec![scene.path("hidden"), scene.path("private/auth.json"), "/no/such/file".into()],
            masked: vec!["/no/such/file".into()],
            network: true,
            unix_sockets: true,
            unset: vec!["A_TOKEN".into(), "A=B".into()],
            file_bytes: Some(1 << 20),
            ..ToolShell::default()
        };
        let mut failed = Vec::new();
        for metadata in [true, false] {
            let mut options = options(&scene, metadata);
            // Without a view of its own a child reaches the servers of the user, so sockets are refused.
            tools.unix_sockets = metadata;
            options.sandbox.as_mut().expect("it has one").hidden.clear();
            for name in ATTACKS_OF_TOOLS {
                let alone = attempt(&scene, &outside, &options, name);
                let ran = by_shell(&scene, &outside, &options, &tools, name);
                // These the child's own sandbox refuses; whether the others work without the inner one says if they
                // are real. The rights over processes depend on the machine.
                let known =
                    ["terminal of the person", "abstract socket", "limit of the warden", "signal to pi"];
                if alone.code != Some(WORKED) && !known.contains(&name) {
                    say(&format!(
                        "{user:?}: {name} does not even work without the tools' sandbox: {}",
                        alone.text
                    ));
                }
                if ran.code != Some(REFUSED) {
                    failed.push(format!("{name}, metadata {metadata}: {:?} {}", ran.code, ran.text));
                }
            }
            let honest = [
                "temporary file",
                "own server",
                "pair",
                "network",
                "threads",
                "lock",
                "own limit",
                "sibling of the hidden file",
            ];
            for name in honest {
                let ran = by_shell(&scene, &outside, &options, &tools, name);
                let has_view = ran.mechanisms.contains(&Mechanism::MountNamespace);
                if ran.code != Some(WORKED) && (has_view || name != "own server") {
                    failed.push(format!("{name} does not work, metadata {metadata}: {}", ran.text));
                }
            }
        }
        assert!(failed.is_empty(), "{user:?}:\n{}", failed.join("\n"));
    }
}

/// A mask disappears when its entry is replaced, and a server may start at any time.
#[test]
fn tools_cannot_reach_files_and_servers_replaced_or_started_during_the_run() {
    for user in User::all() {
        for name in
            ["hidden file", "single hidden file", "late file", "server in the environment", "own server"]
        {
            let scene = Scene::new(user);
            let outside = Outside::new(&scene).expect("the surroundings");
            let late = scene.path("late/secret");
            let tools = ToolShell {
                shell: "/bin/sh".into(),
                writable: vec![scene.path("tmp")],
                masked: vec![scene.path("hidden"), scene.path("private/auth.json"), scene.path("late")],
                network: true,
                unix_sockets: true,
                ..ToolShell::default()
            };
            let (shell, file) = install(&scene);
            fs::write(file, tools.to_bytes()).expect("the options");
            // The child runs while a process outside makes changes.
            let script = format!(
                "touch \"$TMPDIR/there\"; until [ -e \"$TMPDIR/go\" ]; do sleep 0.01; done
                export PROGRAM=\"$0\"; {} -c 'exec \"$PROGRAM\" {ARGUMENTS}'; exit $?",
                shell.display()
            );
            let command = ["/bin/sh".into(), "-c".into(), script.into(), program(&scene).into()].to_vec();
            let mut options = Options { command, ..options(&scene, true) };
            let sandbox = options.sandbox.as_mut().expect("it has one");
            // Nothing of it is written here.
            sandbox.writable.pop();
            sandbox.shown.clear();
            let mut environment = outside.environment(name);
            environment.push(("LATE", late.clone().into()));
            let ran = std::thread::scope(|scope| {
                let meanwhile = scope.spawn(|| {
                    let there = scene.path("tmp/there");
                    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
                    while !there.exists() {
                        assert!(std::time::Instant::now() < deadline, "the child does not start");
                        std::thread::sleep(std::time::Duration::from_millis(2));
                    }
                    replace_all(&scene, &late);
                    let server = (name == "server in the environment").then(|| restart(&scene));
                    fs::write(scene.path("tmp/go"), "").expect("ours");
                    server
                });
                let ran = guarded(&scene, &options, &scene.path("tree"), &[], &environment);
                drop(meanwhile.join().expect("it does as it likes"));
                ran
            });
            if !ran.mechanisms.contains(&Mechanism::MountNamespace) {
                say(&format!("{user:?}: there is no mask here"));
                return;
            }
            // Without a late server the tools' own sockets work.
            let expected = if name == "own server" { WORKED } else { REFUSED };
            assert_eq!(ran.code, Some(expected), "{user:?} {name}: {}", ran.text);
        }
    }
}

/// Replaces the masked entries.
fn replace_all(scene: &Scene, late: &Path) {
    let put = |path: &Path| {
        fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
        fs::write(path, "secret").expect("a file");
        chown(path, scene.owner(), scene.owner()).expect("ours");
    };
    fs::rename(scene.path("hidden"), scene.path("hidden.old")).expect("moved");
    put(&scene.path("hidden/secret"));
    put(&scene.path("other.json"));
    fs::rename(scene.path("other.json"), scene.path("private/auth.json")).expect("replaced");
    put(late);
}

/// Starts the server again that a variable names.
fn restart(scene: &Scene) -> UnixListener {
    let path = scene.path("named.sock");
    fs::remove_file(&path).expect("it is there");
    let listener = UnixListener::bind(&path).expect("a server");
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).expect("ours");
    listener
}

#[test]
fn the_tools_network_can_be_switched_off_and_named_sockets_too() {
    for user in User::all() {
        let scene = Scene::new(user);
        let outside = Outside::new(&scene).expect("the surroundings");
        let options = options(&scene, true);
        for (network, unix_sockets) in [(false, true), (true, false), (false, false)] {
            let tools = ToolShell {
                shell: "/bin/sh".into(),
                writable: vec![scene.path("tmp")],
                network,
                unix_sockets,
                ..ToolShell::default()
            };
            for (name, works) in [
                ("network", network),
                ("newer network", network),
                ("kernel's messages", network),
                ("own server", unix_sockets),
                ("pair", true),
                ("temporary file", true),
            ] {
                let ran = by_shell(&scene, &outside, &options, &tools, name);
                let expected = if works { WORKED } else { REFUSED };
                assert_eq!(
                    ran.code,
                    Some(expected),
                    "{user:?} {name} {network} {unix_sockets}: {}",
                    ran.text
                );
            }
        }
    }
}

/// Programs can do in the tools' sandbox what they need in a child's, except writing pi's files.
#[test]
fn honest_operations_work_for_tools() {
    for user in User::all() {
        let mut scene = Scene::new(user);
        let outside = Outside::new(&scene).expect("the surroundings");
        let (shell, file) = install(&scene);
        let tools = ToolShell {
            shell: "/bin/sh".into(),
            writable: vec![scene.path("tmp")],
            hidden: vec![scene.path("private/auth.json")],
            network: true,
            unix_sockets: true,
            file_bytes: Some(1 << 30),
            ..ToolShell::default()
        };
        let mut failed = Vec::new();
        for (metadata, (name, wants)) in [true, false]
            .into_iter()
            .flat_map(|metadata| rows(&scene, "works.sh").into_iter().map(move |row| (metadata, row)))
        {
            let is_of_pi =
                ["session_file", "private_directory", "between_directories"].contains(&name.as_str());
            if is_of_pi || wants == "own" {
                continue;
            }
            fs::write(&file, tools.to_bytes()).expect("the options");
            let script = format!("{} -c 'exec /bin/sh ../works.sh {name}'; exit $?", shell.display());
            let ran = run(&[], &scene, &outside, &options(&scene, metadata), &name, &script);
            let has_view = ran.mechanisms.contains(&Mechanism::MountNamespace);
            let is_promised = wants == "any" && name != "sockets_inside";
            if ![Some(0), Some(MISSING)].contains(&ran.code) && (has_view || is_promised) {
                failed.push(format!("{name}, metadata {metadata}: {:?} {}", ran.code, ran.text));
            }
        }
        failed.extend(scene.changes().expect("the scene can be seen"));
        assert!(failed.is_empty(), "{user:?}:\n{}", failed.join("\n"));
    }
}

/// Without options that can be relied on, nothing is executed.
#[test]
fn a_shell_without_sound_options_executes_nothing() {
    let scene = Scene::new(User::Myself);
    let (shell, file) = install(&scene);
    let sound =
        ToolShell { shell: "/bin/sh".into(), writable: vec![scene.path("tmp")], ..ToolShell::default() };
    let missing = ToolShell { writable: vec![scene.path("missing")], ..sound.clone() };
    let no_shell = ToolShell { shell: scene.path("missing"), ..sound.clone() };
    let put = |bytes: Vec<u8>| fs::write(&file, bytes).expect("the options");
    let cases: [(&str, &dyn Fn(), bool); 8] = [
        ("sound", &|| put(sound.to_bytes()), true),
        ("empty", &|| put(Vec::new()), false),
        ("garbage", &|| put(b"loud\0on\0".to_vec()), false),
        ("a missing directory", &|| put(missing.to_bytes()), false),
        ("a missing shell", &|| put(no_shell.to_bytes()), false),
        ("too long", &|| put([sound.to_bytes(), vec![b'x'; ToolShell::MAX_BYTES]].concat()), false),
        ("a link", &|| std::os::unix::fs::symlink("/dev/null", &file).expect("a link"), false),
        ("nothing", &|| {}, false),
    ];
    for (label, prepare, works) in cases {
        drop(fs::remove_file(&file));
        prepare();
        let (code, text) = finish(scene.command(&shell).args(["-c", "echo \"$0 $1\"; exit 7", "a b", "c"]));
        if works {
            assert_eq!((code, text.as_str()), (Some(7), "a b c\n"), "{label}");
        } else {
            assert_eq!((code, text.lines().count()), (Some(126), 1), "{label}: {text}");
        }
    }
}

fn options(scene: &Scene, metadata: bool) -> Options {
    let hidden = scene.path("hidden");
    let mut writable = scene.writable();
    writable.push(hidden.join("own/written"));
    let sandbox = Sandbox {
        writable,
        protected: Vec::new(),
        metadata,
        hidden: vec![hidden.clone(), scene.path("private/auth.json"), "/no/such/file".into()],
        shown: vec![hidden.join("own")],
        file_bytes: Some(1 << 20),
        ..Sandbox::default()
    };
    Options { sandbox: Some(sandbox), ..Options::default() }
}

/// Returns true if an attempt works without any sandbox.
fn is_possible(scene: &Scene, outside: &Outside, name: &str) -> bool {
    // The changed limit is the limit of a shell between this program and the attempt.
    let script = format!("export WARDEN=$$; \"$0\" {ARGUMENTS}; exit $?");
    let mut command = scene.command("/bin/sh");
    command.args(["-c", &script]).arg(program(scene)).envs(outside.environment(name));
    let (code, text) = finish(&mut command);
    if code != Some(WORKED) {
        say(&format!("{name} is skipped, it does not work here without a sandbox: {}", text.trim()));
    }
    code == Some(WORKED)
}

/// Makes an attempt in a child's sandbox.
fn attempt(scene: &Scene, outside: &Outside, options: &Options, name: &str) -> Ran {
    attempt_below(&[], scene, outside, options, name)
}

/// Makes an attempt in the sandbox of a child whose warden `before` starts.
fn attempt_below(before: &[&str], scene: &Scene, outside: &Outside, options: &Options, name: &str) -> Ran {
    run(before, scene, outside, options, name, &format!("WARDEN=$PPID \"$0\" {ARGUMENTS}; exit $?"))
}

/// Makes an attempt in the tools' sandbox inside the child's, as pi's tool starts a shell.
fn by_shell(scene: &Scene, outside: &Outside, options: &Options, tools: &ToolShell, name: &str) -> Ran {
    let (shell, file) = install(scene);
    fs::write(file, tools.to_bytes()).expect("the options");
    let script = format!(
        "export WARDEN=$PPID PROGRAM=\"$0\"; {} -c 'exec \"$PROGRAM\" {ARGUMENTS}'; exit $?",
        shell.display()
    );
    run(&[], scene, outside, options, name, &script)
}

fn run(
    before: &[&str],
    scene: &Scene,
    outside: &Outside,
    options: &Options,
    name: &str,
    script: &str,
) -> Ran {
    let command = ["/bin/sh".into(), "-c".into(), script.into(), program(scene).into()].to_vec();
    let options = Options { command, ..options.clone() };
    guarded(scene, &options, &scene.path("tree"), before, &outside.environment(name))
}

/// Puts the warden where a child has it as its shell. Returns its path and the path of its options.
pub(crate) fn install(scene: &Scene) -> (PathBuf, PathBuf) {
    let shell = scene.path("private").join(ToolShell::NAME);
    if !shell.exists() {
        std::os::unix::fs::symlink(warden(scene), &shell).expect("a link");
    }
    (shell, scene.path("private/shell.options"))
}

/// This program, where every user can execute it.
pub(crate) fn program(scene: &Scene) -> PathBuf {
    let copy = scene.path("attempts");
    if !copy.exists() {
        fs::copy(std::env::current_exe().expect("it runs"), &copy).expect("a copy");
    }
    copy
}
