//! The private agent directory of a sandboxed child: its content, and its removal.
#![cfg(unix)]

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use pi_subagent_native::credentials::{PrivateAgentDir, remove_tree};
use rustix::fs::{CWD, Mode, mkdirat};
use serde_json::{Value, json};

/// A user's agent directory, and a place for a private one next to it.
struct Scene {
    root: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { root: tempfile::tempdir().expect("a temporary directory is created") };
        fs::create_dir(scene.real()).expect("the directory is created");
        scene
    }

    fn real(&self) -> PathBuf {
        self.root.path().join("real")
    }

    fn at(&self) -> PathBuf {
        self.root.path().join("private")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.real().join(name);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(path, text).expect("the file is written");
    }

    fn create(&self) -> PrivateAgentDir {
        PrivateAgentDir::create(&self.real(), &self.at()).expect("the private directory is created")
    }

    fn reasons(&self, private: &PrivateAgentDir) -> Vec<(String, String)> {
        let name = |path: &Path| {
            path.strip_prefix(self.real()).expect("the path is below the root").to_string_lossy().into_owned()
        };
        private.skipped_files().iter().map(|(path, reason)| (name(path), reason.clone())).collect()
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory is readable");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("the entry is readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("the file exists").permissions().mode() & 0o7777
}

#[test]
fn files_that_pi_writes_are_private_copies_and_the_others_are_links() {
    let scene = Scene::new();
    for name in ["auth.json", "models.json", "models-store.json", "settings.json", "trust.json"] {
        scene.write(name, "{}");
        fs::set_permissions(scene.real().join(name), fs::Permissions::from_mode(0o644))
            .expect("the permissions are set");
    }
    for name in ["AGENTS.md", "SYSTEM.md", "extensions/mine.ts", "skills/knots/SKILL.md", "npm/x", "mcp.json"]
    {
        scene.write(name, name);
    }
    let private = scene.create();
    assert_eq!(mode(private.path()), 0o700);
    for name in ["auth.json", "models.json", "models-store.json", "settings.json", "trust.json"] {
        let copy = private.path().join(name);
        assert!(fs::symlink_metadata(&copy).expect("the file exists").is_file(), "{name}");
        assert_eq!(mode(&copy), 0o600, "{name}");
    }
    for name in ["AGENTS.md", "SYSTEM.md", "extensions", "skills", "npm", "mcp.json"] {
        let target = fs::read_link(private.path().join(name)).expect("the link is readable");
        assert_eq!(target, scene.real().join(name));
    }
    assert_eq!(private.skipped_files(), []);
}

#[test]
fn unrelated_files_are_not_in_the_copy() {
    let scene = Scene::new();
    for name in [
        "sessions/--project--/a.jsonl",
        "subagents/runs/1/prompt.md",
        "auth.json.lock/x",
        "pi-debug.log",
        "old.jsonl",
        ".auth.0123.tmp",
        "oauth.json",
        "crashes.json",
        "commands/x.md",
    ] {
        scene.write(name, "{}");
    }
    assert_eq!(names(scene.create().path()), [""; 0]);
}

#[test]
fn a_missing_directory_gives_an_empty_copy_and_a_linked_file_is_copied() {
    let scene = Scene::new();
    fs::remove_dir(scene.real()).expect("the directory is removed");
    assert_eq!(names(scene.create().path()), [""; 0]);

    let scene = Scene::new();
    let dotfiles = scene.root.path().join("dotfiles.json");
    fs::write(&dotfiles, r#"{"a":{"type":"api_key","key":"k"}}"#).expect("the file is written");
    symlink(&dotfiles, scene.real().join("auth.json")).expect("the link is created");
    symlink("nowhere", scene.real().join("models.json")).expect("the link is created");
    let private = scene.create();
    let copy = private.path().join("auth.json");
    assert!(fs::symlink_metadata(&copy).expect("the file exists").is_file());
    assert_eq!(
        fs::read(copy).expect("the file is readable"),
        fs::read(&dotfiles).expect("the file is readable")
    );
    assert_eq!(names(private.path()), ["auth.json"]);
    assert_eq!(names(scene.root.path()), ["dotfiles.json", "private", "real"], "no lock remains");
}

#[test]
fn files_that_cannot_be_copied_are_left_out_and_reported() {
    let scene = Scene::new();
    rustix::fs::mknodat(CWD, scene.real().join("auth.json"), rustix::fs::FileType::Fifo, Mode::RUSR, 0)
        .expect("the FIFO is created");
    fs::create_dir(scene.real().join("models.json")).expect("the directory is created");
    let _socket = UnixListener::bind(scene.real().join("trust.json")).expect("the socket is created");
    fs::File::create(scene.real().join("models-store.json"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("the file is created");
    scene.write("mcp-auth.json", "{ broken");
    let private = scene.create();
    assert_eq!(names(private.path()), [""; 0]);
    let reasons = scene.reasons(&private);
    let mut omitted: Vec<&str> = reasons.iter().map(|(name, _)| name.as_str()).collect();
    omitted.sort_unstable();
    assert_eq!(omitted, ["auth.json", "mcp-auth.json", "models-store.json", "models.json", "trust.json"]);
    assert!(reasons.iter().any(|(_, reason)| reason == "it is not a regular file"), "{reasons:?}");
}

#[test]
fn malformed_credentials_are_copied_unchanged() {
    let scene = Scene::new();
    scene.write("auth.json", "{ broken");
    assert_eq!(
        fs::read_to_string(scene.create().path().join("auth.json")).expect("the file is readable"),
        "{ broken"
    );
}

#[test]
fn paths_in_settings_keep_their_target_and_mcp_refresh_tokens_are_left_out() {
    let scene = Scene::new();
    scene.write("settings.json", r#"{"theme":"dark","packages":["../../code"],"extensions":["./own.ts"]}"#);
    scene.write("mcp-auth.json", r#"{"s":{"tokens":{"access_token":"a","refresh_token":"r"}}}"#);
    let private = scene.create();
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(private.path().join(name)).expect("the file is readable"))
            .expect("the bytes are valid JSON")
    };
    let package = format!("{}/../../code", scene.real().display());
    assert_eq!(
        read("settings.json"),
        json!({"theme": "dark", "packages": [package], "extensions": ["./own.ts"]})
    );
    assert_eq!(read("mcp-auth.json"), json!({"s": {"tokens": {"access_token": "a"}}}));
}

#[test]
fn an_existing_directory_is_not_reused() {
    let scene = Scene::new();
    fs::create_dir(scene.at()).expect("the directory is created");
    fs::write(scene.at().join("mine"), "").expect("the file is written");
    let error =
        PrivateAgentDir::create(&scene.real(), &scene.at()).expect_err("an existing directory is refused");
    assert_eq!((error.path, error.source.kind()), (scene.at(), ErrorKind::AlreadyExists));
    assert_eq!(names(&scene.at()), ["mine"]);
}

#[test]
fn dropping_the_copy_removes_it_and_nothing_behind_its_links() {
    let scene = Scene::new();
    scene.write("extensions/mine.ts", "mine");
    let private = scene.create();
    // Files that a child may leave.
    symlink(scene.real(), private.path().join("elsewhere")).expect("the link is created");
    fs::create_dir_all(private.path().join("sessions/closed/inner")).expect("the directory is created");
    fs::write(private.path().join("sessions/closed/inner/x"), "x").expect("the file is written");
    fs::create_dir(private.path().join(".gone-1")).expect("the directory is created");
    for closed in ["sessions/closed/inner", "sessions/closed", "sessions"] {
        fs::set_permissions(private.path().join(closed), fs::Permissions::from_mode(0o000))
            .expect("the permissions are set");
    }
    drop(private);
    assert!(!scene.at().exists());
    assert_eq!(
        fs::read_to_string(scene.real().join("extensions/mine.ts")).expect("the file is readable"),
        "mine"
    );
}

#[test]
fn directories_nested_deeper_than_any_path_are_removed_on_a_small_stack() {
    let scene = Scene::new();
    fs::create_dir(scene.at()).expect("the directory is created");
    let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
    let mut inner =
        rustix::fs::openat(CWD, scene.at(), flags, Mode::empty()).expect("the directory is opened");
    for _ in 0..1_000 {
        mkdirat(&inner, "deep-directory", Mode::RWXU).expect("the directory is created");
        inner = rustix::fs::openat(&inner, "deep-directory", flags, Mode::empty())
            .expect("the directory is opened");
    }
    drop(inner);
    let small = std::thread::Builder::new().stack_size(64 * 1024);
    let at = scene.at();
    small
        .spawn(move || remove_tree(&at))
        .expect("the thread starts")
        .join()
        .expect("the stack does not overflow")
        .expect("the tree is removed");
    assert!(!scene.at().exists());
}

#[test]
fn removing_a_link_leaves_its_target() {
    let scene = Scene::new();
    scene.write("kept", "kept");
    symlink(scene.real(), scene.at()).expect("the link is created");
    remove_tree(&scene.at()).expect("the tree is removed");
    remove_tree(&scene.at()).expect("a missing tree is ignored");
    assert_eq!(names(&scene.real()), ["kept"]);
}
