//! The refreshed token of a sandboxed child is written back under pi's lock, and nothing else is.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pi_subagent_native::credentials::{
    AuthLock, GiveBack, GiveBackError, LockError, PrivateAgentDir, Refused, UnusableToken,
};
use rustix::fs::{CWD, Mode};
use serde_json::{Value, json};

/// The time that these tests wait for a free lock.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time that these tests wait for a lock that stays taken.
const SHORT: Duration = Duration::from_millis(150);

struct Scene {
    root: tempfile::TempDir,
}

impl Scene {
    fn with(auth: &str) -> Self {
        let scene = Self { root: tempfile::tempdir().expect("a temporary directory is created") };
        fs::create_dir(scene.root.path().join("real")).expect("the directory is created");
        fs::write(scene.auth(), auth).expect("the file is written");
        scene
    }

    fn new() -> Self {
        Self::with(&host().to_string())
    }

    fn auth(&self) -> PathBuf {
        self.root.path().join("real/auth.json")
    }

    fn lock(&self) -> PathBuf {
        self.root.path().join("real/auth.json.lock")
    }

    fn create(&self) -> PrivateAgentDir {
        PrivateAgentDir::create(&self.root.path().join("real"), &self.root.path().join("private"))
            .expect("the private directory is created")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.auth()).expect("the file is readable")
    }
}

fn millis(ahead: Duration) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the time is after 1970");
    u64::try_from((since + ahead).as_millis()).expect("the number fits")
}

fn in_an_hour() -> u64 {
    millis(Duration::from_secs(3600))
}

/// The user's entry, which expires soon.
fn entry() -> Value {
    json!({"type": "oauth", "access": "old-access", "refresh": "old-refresh", "expires": 1_000_000, "accountId": "me"})
}

fn host() -> Value {
    json!({"a": {"type": "api_key", "key": "k"}, "p": entry()})
}

fn with(mut value: Value, changes: Value) -> Value {
    if let (Some(object), Value::Object(changes)) = (value.as_object_mut(), changes) {
        object.extend(changes);
    }
    value
}

fn refreshed() -> Value {
    with(entry(), json!({"access": "new-access", "refresh": "new-refresh", "expires": in_an_hour()}))
}

fn write_child(private: &PrivateAgentDir, auth: &Value) {
    fs::write(private.path().join("auth.json"), auth.to_string()).expect("the file is written");
}

#[test]
fn giving_back_a_refreshed_token_changes_no_other_byte() {
    // A byte order mark, an order of keys, a number and an escape that another writer would change.
    let before = concat!(
        "\u{feff}{\n  \"z\": {\"type\":\"api_key\", \"key\": \"caf\\u00e9\", \"n\": 1.50},\n",
        "  \"p\": {\n    \"expires\": 1000000,\n    \"type\": \"oauth\",\n    \"refresh\": \"old-refresh\",\n",
        "    \"extra\": {\"access\": \"not this\"},\n    \"access\": \"old-access\"\n  },\n  \"a\": {}\n}\n",
    );
    let scene = Scene::with(before);
    let private = scene.create();
    let expires = in_an_hour();
    let child = json!({"p": {
        "type": "oauth", "access": "new-access", "refresh": "new-refresh", "expires": expires,
        "extra": "changed", "key": "!evil", "env": {"X": "y"},
    }, "new": {"type": "api_key", "key": "!evil"}});
    write_child(&private, &child);
    assert_eq!(private.give_back("p", PATIENCE).expect("the give-back has a result"), GiveBack::Returned);
    let after = before
        .replace("old-refresh", "new-refresh")
        .replace("old-access", "new-access")
        .replace("1000000", &expires.to_string());
    assert_eq!(scene.text(), after);
    assert!(!scene.lock().exists());
}

#[test]
fn only_the_token_of_the_used_provider_is_given_back() {
    let scene = Scene::with(&json!({"p": entry(), "q": entry()}).to_string());
    let private = scene.create();
    write_child(&private, &json!({"p": refreshed(), "q": refreshed()}));
    assert_eq!(private.give_back("p", PATIENCE).expect("the give-back has a result"), GiveBack::Returned);
    let after: Value = serde_json::from_str(&scene.text()).expect("the text is valid JSON");
    assert_eq!(after["q"], entry());
}

#[test]
fn an_unchanged_token_is_not_written() {
    let scene = Scene::new();
    let private = scene.create();
    let before = fs::metadata(scene.auth()).expect("the file exists");
    assert_eq!(private.give_back("p", PATIENCE).expect("the give-back has a result"), GiveBack::Unchanged);
    let after = fs::metadata(scene.auth()).expect("the file exists");
    assert_eq!((after.ino(), after.mtime_nsec()), (before.ino(), before.mtime_nsec()));
}

#[test]
fn an_entry_that_is_not_a_refreshed_token_is_refused() {
    use GiveBack::Refused as No;
    let token = |error| No(Refused::Token(error));
    let changed = |changes| json!({"p": with(refreshed(), changes)});
    let copilot = "tid=1;proxy-ep=proxy.individual.example;x";
    let rows: Vec<(&str, Value, GiveBack)> = vec![
        ("the entry is gone", json!({}), No(Refused::OtherType)),
        ("the entry is a text", json!({"p": "oauth"}), No(Refused::OtherType)),
        ("a key", changed(json!({"type": "api_key", "key": "k"})), No(Refused::OtherType)),
        ("a command as a key", json!({"p": {"type": "api_key", "key": "!evil"}}), No(Refused::OtherType)),
        ("no type", changed(json!({"type": null})), No(Refused::OtherType)),
        ("a list", json!([refreshed()]), No(Refused::Unreadable)),
        ("no access", changed(json!({"access": null})), token(UnusableToken::Shape("access"))),
        ("access is no string", changed(json!({"access": {"a": 1}})), token(UnusableToken::Shape("access"))),
        ("refresh is no string", changed(json!({"refresh": 5})), token(UnusableToken::Shape("refresh"))),
        (
            "expires is no number",
            changed(json!({"expires": "9999999999999"})),
            token(UnusableToken::Shape("expires")),
        ),
        ("a command", changed(json!({"access": "!evil"})), token(UnusableToken::Command("access"))),
        (
            "a command to refresh",
            changed(json!({"refresh": "!evil"})),
            token(UnusableToken::Command("refresh")),
        ),
        (
            "a command behind blanks",
            changed(json!({"access": " \t\n!evil"})),
            token(UnusableToken::Command("access")),
        ),
        (
            "a command behind a mark",
            changed(json!({"access": "\u{feff}!evil"})),
            token(UnusableToken::Command("access")),
        ),
        (
            "a command behind a wide blank",
            changed(json!({"access": "\u{a0}\u{2003}!evil"})),
            token(UnusableToken::Command("access")),
        ),
        (
            "a command behind a control character",
            changed(json!({"access": "\u{0}!evil"})),
            token(UnusableToken::Command("access")),
        ),
        ("nothing", changed(json!({"access": ""})), token(UnusableToken::Empty("access"))),
        ("nothing to refresh with", changed(json!({"refresh": ""})), token(UnusableToken::Empty("refresh"))),
        ("a line break", changed(json!({"access": "a\r\nX-Evil: 1"})), token(UnusableToken::Text("access"))),
        ("a blank before", changed(json!({"access": " a"})), token(UnusableToken::Text("access"))),
        ("another script", changed(json!({"access": "tökén"})), token(UnusableToken::Text("access"))),
        (
            "64 KiB",
            changed(json!({"access": "a".repeat(64 * 1024)})),
            token(UnusableToken::TooLong("access")),
        ),
        ("earlier", changed(json!({"expires": 999_999})), token(UnusableToken::NoLaterExpiry)),
        ("as early", changed(json!({"expires": 1_000_000})), token(UnusableToken::NoLaterExpiry)),
        (
            "in a thousand years",
            changed(json!({"expires": 33_000_000_000_000_u64})),
            token(UnusableToken::FarExpiry),
        ),
        ("an absurd number", changed(json!({"expires": 1e300})), token(UnusableToken::FarExpiry)),
        ("another server", changed(json!({"access": copilot})), token(UnusableToken::Endpoint)),
    ];
    for (label, child, expected) in rows {
        let scene = Scene::new();
        let private = scene.create();
        write_child(&private, &child);
        assert_eq!(
            private.give_back("p", PATIENCE).expect("the give-back has a result"),
            expected,
            "{label}"
        );
        assert_eq!(scene.text(), host().to_string(), "{label}");
    }
}

#[test]
fn a_token_is_accepted_only_if_the_copied_token_was_due() {
    let minutes = |count: u64| millis(Duration::from_secs(count * 60 + 5));
    for (label, expires, expected) in [
        ("an hour left", minutes(60), GiveBack::Refused(Refused::NotDue(60))),
        ("more than pi's margin left", minutes(5), GiveBack::Refused(Refused::NotDue(5))),
        ("within pi's margin", minutes(4), GiveBack::Returned),
        ("expired", 1_000_000, GiveBack::Returned),
    ] {
        let auth = json!({"p": with(entry(), json!({"expires": expires}))});
        let scene = Scene::with(&auth.to_string());
        let private = scene.create();
        let new = json!({"p": with(refreshed(), json!({"expires": minutes(120)}))});
        write_child(&private, &new);
        assert_eq!(
            private.give_back("p", PATIENCE).expect("the give-back has a result"),
            expected,
            "{label}"
        );
        let stored = if expected == GiveBack::Returned { new } else { auth };
        assert_eq!(scene.text(), stored.to_string(), "{label}");
    }
}

#[test]
fn a_provider_without_a_login_gets_no_token() {
    for (label, auth) in [
        ("a new provider", json!({})),
        ("a key", json!({"p": {"type": "api_key", "key": "k"}})),
        ("a list", json!([entry()])),
    ] {
        let scene = Scene::with(&auth.to_string());
        let private = scene.create();
        write_child(&private, &json!({"p": refreshed()}));
        let given = private.give_back("p", PATIENCE).expect("the give-back has a result");
        assert_eq!(given, GiveBack::Refused(Refused::NotLoggedIn), "{label}");
        assert_eq!(scene.text(), auth.to_string(), "{label}");
    }
}

#[test]
fn a_token_never_overwrites_a_change_by_the_user() {
    for (label, now) in [
        ("refreshed", json!({"p": with(entry(), json!({"access": "other", "expires": in_an_hour()}))})),
        ("another field", json!({"p": with(entry(), json!({"accountId": "another"}))})),
        ("logged out", json!({})),
        ("a key instead", json!({"p": {"type": "api_key", "key": "k"}})),
    ] {
        let scene = Scene::new();
        let private = scene.create();
        write_child(&private, &json!({"p": refreshed()}));
        fs::write(scene.auth(), now.to_string()).expect("the file is written");
        let given = private.give_back("p", PATIENCE).expect("the give-back has a result");
        assert_eq!(given, GiveBack::Refused(Refused::EntryChanged), "{label}");
        assert_eq!(scene.text(), now.to_string(), "{label}");
    }
    for (label, now) in [
        ("broken", "{ broken".to_owned()),
        ("twice", format!(r#"{{"p":{},"p":{}}}"#, entry(), entry())),
        ("one part twice", entry().to_string().replacen('{', r#"{"p":{"access":"x","#, 1) + "}"),
    ] {
        let scene = Scene::new();
        let private = scene.create();
        write_child(&private, &json!({"p": refreshed()}));
        fs::write(scene.auth(), &now).expect("the file is written");
        let given = private.give_back("p", PATIENCE).expect("the give-back has a result");
        assert_eq!(given, GiveBack::Refused(Refused::EntryChanged), "{label}");
        assert_eq!(scene.text(), now, "{label}");
    }
    let scene = Scene::new();
    let private = scene.create();
    write_child(&private, &json!({"p": refreshed()}));
    fs::remove_file(scene.auth()).expect("the file is removed");
    assert_eq!(
        private.give_back("p", PATIENCE).expect("the give-back has a result"),
        GiveBack::Refused(Refused::EntryChanged)
    );
    assert!(!scene.auth().exists());
}

/// Replaces the child's credentials.
type Plant<'a> = &'a dyn Fn(&Path);

#[test]
fn a_hostile_file_is_refused_without_hanging() {
    let secret = Scene::with(&json!({"p": refreshed()}).to_string());
    let rows: [(&str, Plant<'_>); 7] = [
        ("nothing", &|_| ()),
        ("a FIFO", &|path| {
            rustix::fs::mknodat(CWD, path, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
                .expect("the FIFO is created");
        }),
        ("a link to other credentials", &|path| symlink(secret.auth(), path).expect("the link is created")),
        ("a directory", &|path| fs::create_dir(path).expect("the directory is created")),
        ("a device", &|path| symlink("/dev/zero", path).expect("the link is created")),
        ("a terabyte", &|path| {
            fs::File::create(path).and_then(|file| file.set_len(1 << 40)).expect("the file is created");
        }),
        ("a million levels", &|path| fs::write(path, "[".repeat(1_000_000)).expect("the file is written")),
    ];
    for (label, plant) in rows {
        let scene = Scene::new();
        let private = scene.create();
        let path = private.path().join("auth.json");
        fs::remove_file(&path).expect("the file is removed");
        plant(&path);
        let given = private.give_back("p", PATIENCE).expect("the give-back has a result");
        assert_eq!(given, GiveBack::Refused(Refused::Unreadable), "{label}");
        assert_eq!(scene.text(), host().to_string(), "{label}");
    }
}

#[test]
fn a_directory_in_place_of_the_private_one_is_not_read() {
    let scene = Scene::new();
    let private = scene.create();
    let moved = scene.root.path().join("moved");
    fs::rename(private.path(), &moved).expect("the rename succeeds");
    fs::create_dir(private.path()).expect("the directory is created");
    write_child(&private, &json!({"p": refreshed()}));
    assert_eq!(private.give_back("p", PATIENCE).expect("the give-back has a result"), GiveBack::Unchanged);
}

#[test]
fn giving_back_keeps_links_owner_and_mode() {
    let scene = Scene::new();
    let dotfiles = scene.root.path().join("dotfiles.json");
    fs::rename(scene.auth(), &dotfiles).expect("the rename succeeds");
    symlink(&dotfiles, scene.auth()).expect("the link is created");
    // Only root can do this. For others a file of their own stays their own.
    let _ = chown(&dotfiles, Some(4711), Some(4712));
    fs::set_permissions(&dotfiles, fs::Permissions::from_mode(0o640)).expect("the permissions are set");
    let before = fs::metadata(&dotfiles).expect("the file exists");
    let private = scene.create();
    write_child(&private, &json!({"p": refreshed()}));
    assert_eq!(private.give_back("p", PATIENCE).expect("the give-back has a result"), GiveBack::Returned);
    assert_eq!(fs::read_link(scene.auth()).expect("the link is readable"), dotfiles);
    let after = fs::metadata(&dotfiles).expect("the file exists");
    let owner_and_mode = |found: &fs::Metadata| (found.uid(), found.gid(), found.mode());
    assert_eq!(owner_and_mode(&after), owner_and_mode(&before));
    assert!(fs::read_to_string(&dotfiles).expect("the file is readable").contains("new-access"));
}

#[test]
fn giving_back_keeps_hard_links() {
    let scene = Scene::new();
    let other = scene.root.path().join("other.json");
    fs::hard_link(scene.auth(), &other).expect("the hard link is created");
    let private = scene.create();
    // Shorter than the old text, so that a rest of the old text could remain.
    write_child(&private, &json!({"p": with(refreshed(), json!({"access": "a", "refresh": "r"}))}));
    assert_eq!(private.give_back("p", PATIENCE).expect("the give-back has a result"), GiveBack::Returned);
    assert_eq!(fs::read_to_string(&other).expect("the file is readable"), scene.text());
    let after: Value = serde_json::from_str(&scene.text()).expect("the text is valid JSON");
    assert_eq!(after["p"]["access"], "a");
}

#[test]
fn a_live_lock_is_awaited_and_never_stolen() {
    let scene = Scene::new();
    let private = scene.create();
    write_child(&private, &json!({"p": refreshed()}));
    fs::create_dir(scene.lock()).expect("the directory is created");
    let error = private.give_back("p", SHORT).expect_err("the lock is held");
    assert!(matches!(error, GiveBackError::Lock(LockError::Busy { .. })), "{error}");
    assert!(scene.lock().exists());
    assert_eq!(scene.text(), host().to_string());
    // pi sets a time ahead of the clock to learn the resolution of the file system.
    age(&scene, Duration::from_secs(25));
    private.give_back("p", SHORT).expect_err("the lock is still held");

    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| private.give_back("p", PATIENCE));
        // A test can only observe that a waiting thread does not end.
        std::thread::sleep(SHORT);
        assert!(!waiting.is_finished(), "give_back waits while the lock is held");
        fs::remove_dir(scene.lock()).expect("the directory is removed");
        assert_eq!(
            waiting.join().expect("the task does not panic").expect("the token is given back"),
            GiveBack::Returned
        );
    });
}

/// Sets the time of the lock back.
fn age(scene: &Scene, by: Duration) {
    let directory = fs::File::open(scene.lock()).expect("the file is opened");
    directory.set_modified(SystemTime::now() - by).expect("the time is set");
}

#[test]
fn the_lock_of_a_dead_holder_is_taken_over() {
    let scene = Scene::new();
    let private = scene.create();
    write_child(&private, &json!({"p": refreshed()}));
    fs::create_dir(scene.lock()).expect("the directory is created");
    age(&scene, Duration::from_secs(31));
    assert_eq!(private.give_back("p", SHORT).expect("the give-back has a result"), GiveBack::Returned);
    assert!(!scene.lock().exists());
}

#[test]
fn a_replaced_lock_is_not_removed() {
    let scene = Scene::new();
    let lock = AuthLock::acquire(&scene.auth(), SHORT).expect("the lock is acquired");
    assert!(lock.is_valid());
    fs::remove_dir(scene.lock()).expect("the directory is removed");
    fs::create_dir(scene.lock()).expect("another process takes the lock");
    assert!(!lock.is_valid());
    drop(lock);
    assert!(scene.lock().exists());
}

#[test]
fn a_linked_file_is_locked_at_both_names_or_not_at_all() {
    let scene = Scene::new();
    let dotfiles = scene.root.path().join("dotfiles.json");
    fs::rename(scene.auth(), &dotfiles).expect("the rename succeeds");
    symlink(&dotfiles, scene.auth()).expect("the link is created");
    let target = scene.root.path().join("dotfiles.json.lock");
    let lock = AuthLock::acquire(&scene.auth(), SHORT).expect("the lock is acquired");
    assert!(target.exists() && scene.lock().exists());
    drop(lock);
    assert!(!target.exists() && !scene.lock().exists());
    for held in [&target, &scene.lock()] {
        fs::create_dir(held).expect("the directory is created");
        AuthLock::acquire(&scene.auth(), SHORT).expect_err("the lock is held");
        fs::remove_dir(held).expect("the directory is removed");
        assert!(!target.exists() && !scene.lock().exists());
    }
}

#[test]
fn debug_output_shows_no_token() {
    let scene = Scene::new();
    let shown = format!("{:?}", scene.create());
    assert!(!shown.contains("old-access") && !shown.contains("old-refresh"), "{shown}");
}
