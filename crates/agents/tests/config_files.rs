//! Which configuration files are found and read.

use std::fs;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use agents::config::{ConfigPaths, load};

use crate::config::Scene;

#[test]
fn an_unreadable_file_is_broken_and_not_missing() {
    for label in ["directory", "link to nothing", "not UTF-8", "too large", "nested too deep"] {
        let scene = Scene::new();
        let path = scene.root.path().join("agent/subagents.json");
        match label {
            "directory" => fs::create_dir(&path).expect("the directory is created"),
            #[cfg(unix)]
            "link to nothing" => std::os::unix::fs::symlink("nowhere", &path).expect("the link is created"),
            "not UTF-8" => {
                fs::write(&path, b"{ \"subagents\": { \"model\": \"\xff\" } }").expect("the file is written");
            }
            "too large" => fs::write(&path, " ".repeat(1024 * 1024 + 1)).expect("the file is written"),
            "nested too deep" => fs::write(&path, "[".repeat(100_000)).expect("the file is written"),
            _ => continue,
        }
        let loaded = scene.load();
        assert!(loaded.broken.is_some() && loaded.diagnostics.len() == 1, "{label}");
    }
}

/// A stranger's repository can delay anyone who opens it.
#[test]
fn a_file_of_a_hundred_thousand_keys_is_read_quickly() {
    let keys = |count: usize| (0..count).map(|key| format!("\"{key:x}\":1")).collect::<Vec<_>>().join(",");
    let long = keys(110_000);
    assert!(long.len() > 880_000);
    for (label, text, expected) in [
        ("too long", format!("{{\"subagents\":{{{long}}}}}"), "it has more than 65536 bytes"),
        ("too many keys", format!("{{\"subagents\":{{{}}}}}", keys(500)), "it has more than 500 members"),
        ("too many other keys", format!("{{{}}}", keys(501)), "it has more than 500 members"),
    ] {
        let started = Instant::now();
        let loaded = Scene::new().project(&text).load();
        assert!(started.elapsed() < Duration::from_secs(5), "{label}: {:?}", started.elapsed());
        let broken = loaded.broken.expect("the file is refused").message;
        assert!(broken.contains(expected), "{label}: {broken}");
        assert_eq!(loaded.diagnostics.len(), 1, "{label}");
    }
}

#[test]
fn at_most_ten_problems_of_a_file_are_reported() {
    let unknown = (0..499).map(|key| format!("\"{key:x}\":1")).collect::<Vec<_>>().join(",");
    let loaded = Scene::new().project(&format!("{{\"subagents\":{{{unknown}}}}}")).load();
    assert!(loaded.broken.is_none());
    assert_eq!(loaded.diagnostics.len(), 10);
    let last = loaded.diagnostics.last().expect("the file has problems");
    assert_eq!((last.code, &*last.message), ("CONFIG_TOO_MANY_PROBLEMS", "490 more problems are not listed"));
}

/// A link may lead anywhere: to an endless file, to one that blocks, or to one that is removed after reading.
#[cfg(unix)]
#[test]
fn only_a_regular_file_is_read() {
    for target in ["/dev/zero", "/proc/kmsg", "/proc/version", "/dev/kmsg"] {
        let scene = Scene::new();
        let link = scene.root.path().join("project/.pi/subagents.json");
        std::os::unix::fs::symlink(target, link).expect("the link is created");
        let (sent, received) = mpsc::channel();
        std::thread::spawn(move || drop(sent.send(scene.load().broken)));
        let broken = received.recv_timeout(Duration::from_secs(10)).expect("the thread ends in time");
        let message = broken.expect("the file is refused").message;
        // The kernel may also prevent an ordinary user from opening it.
        let refused = ["it is not a regular file", "denied", "not permitted"];
        assert!(refused.iter().any(|why| message.contains(why)), "{target}: {message}");
    }
}

/// A user who can write to a directory above, `/tmp` for instance, must not control the runs of others.
#[cfg(unix)]
#[test]
fn a_project_file_of_another_user_is_ignored_with_a_notice() {
    let scene = Scene::new().project("not JSON");
    let file = scene.root.path().join("project/.pi/subagents.json");
    if std::os::unix::fs::chown(&file, Some(4242), None).is_err() {
        // Only root can change a file's owner.
        return;
    }
    assert_eq!(
        scene.report(),
        "Warning CONFIG_FILE_FOREIGN /project/.pi/subagents.json: is ignored: it belongs to another user\n"
    );
}

/// Each of them disabled delegation for everyone who worked below that directory.
#[cfg(unix)]
#[test]
fn entries_of_other_users_in_parent_directories_are_ignored_and_hide_no_project_file() {
    let theirs = "project/shared/.pi";
    let mine = "project/.pi/subagents.json";
    for kind in [
        "dangling link",
        "link to a file of root",
        "link to a directory",
        "fifo",
        "directory",
        "file",
        "secret",
    ] {
        let scene = Scene::new().project(r#"{ "subagents": { "enabled": false } }"#);
        let at = |name: &str| scene.root.path().join(name);
        let file = at(theirs).join("subagents.json");
        fs::create_dir_all(at("project/shared/work")).expect("the directory is created");
        fs::create_dir_all(at("elsewhere")).expect("the directory is created");
        fs::write(at("elsewhere/subagents.json"), "not JSON").expect("the file is written");
        if kind != "link to a directory" {
            fs::create_dir(at(theirs)).expect("the directory is created");
        }
        let link = |to: &str, from: &std::path::Path| {
            std::os::unix::fs::symlink(to, from).expect("the link is created");
        };
        match kind {
            "dangling link" => link("/no/such/file", &file),
            "link to a file of root" => link("/etc/passwd", &file),
            "link to a directory" => link(&at("elsewhere").to_string_lossy(), &at(theirs)),
            "fifo" => {
                let mode = rustix::fs::Mode::RWXU;
                rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0)
                    .expect("the FIFO is created");
            }
            "directory" => fs::create_dir(&file).expect("the directory is created"),
            _ => fs::write(&file, "not JSON").expect("the file is written"),
        }
        if kind == "secret" {
            fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o000))
                .expect("the permissions are set");
        }
        let given = if kind == "link to a directory" { at(theirs) } else { file };
        if std::os::unix::fs::lchown(&given, Some(4242), None).is_err() {
            // Only root can change an owner.
            return;
        }
        let loaded = load(&scene.paths("project/shared/work"));
        assert_eq!(loaded.broken, None, "{kind}");
        assert!(!loaded.config.enabled, "{kind}: the project's own file applies");
        let report: Vec<_> = loaded.diagnostics.iter().map(|found| (found.code, &*found.message)).collect();
        assert_eq!(report, [("CONFIG_FILE_FOREIGN", "is ignored: it belongs to another user")], "{kind}");
        assert!(loaded.sources.iter().any(|source| source.path.ends_with(mine)), "{kind}");
    }
}

#[test]
fn a_broken_project_file_is_broken_too() {
    let loaded = Scene::new().user(r#"{ "subagents": { "maxDepth": 0 } }"#).project("{").load();
    let broken = loaded.broken.expect("the project's file is broken");
    assert!(broken.path.is_some_and(|path| path.ends_with("project/.pi/subagents.json")));
    assert_eq!((broken.line, broken.code), (Some(1), "CONFIG_SYNTAX"));
    assert_eq!(loaded.config.max_depth, 0);
}

#[test]
fn a_byte_order_mark_is_accepted() {
    let loaded = Scene::new().user("\u{feff}{ \"subagents\": { \"maxDepth\": 0 } }\r\n").load();
    assert_eq!((loaded.config.max_depth, loaded.diagnostics.len()), (0, 0));
}

#[test]
fn the_nearest_project_file_counts_and_the_repository_is_the_limit() {
    let scene = Scene::new();
    let root = fs::canonicalize(scene.root.path()).expect("the path exists");
    fs::create_dir_all(root.join("project/a/b")).expect("the directory is created");
    fs::create_dir_all(root.join(".pi")).expect("the directory is created");
    fs::write(root.join(".pi/subagents.json"), "{}").expect("the file is written");
    assert_eq!(scene.paths("project/a/b").projects, Vec::<std::path::PathBuf>::new());

    fs::write(root.join("project/.pi/subagents.json"), "{}").expect("the file is written");
    assert_eq!(scene.paths("project/a/b").projects, [root.join("project/.pi/subagents.json")]);

    fs::create_dir_all(root.join("project/a/.pi")).expect("the directory is created");
    fs::write(root.join("project/a/.pi/subagents.json"), "{}").expect("the file is written");
    assert_eq!(scene.paths("project/a/b").projects, [root.join("project/a/.pi/subagents.json")]);
}

#[test]
fn the_users_file_is_never_read_as_the_projects() {
    let scene = Scene::new();
    let root = fs::canonicalize(scene.root.path()).expect("the path exists");
    fs::create_dir_all(root.join(".pi")).expect("the directory is created");
    fs::create_dir_all(root.join("work")).expect("the directory is created");
    fs::write(root.join(".pi/subagents.json"), r#"{ "subagents": { "allowWrite": true } }"#)
        .expect("the file is written");
    let paths = ConfigPaths::locate(&root.join("work"), &root.join(".pi"), Some(&root));
    assert_eq!(paths.projects, Vec::<std::path::PathBuf>::new());
    assert!(load(&paths).config.allow_write.is_on());
}
