//! The credentials of one agent: they replace the user's own, and a refreshed token is written back to its source.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use files::layout::credentials_of;
use pi_subagent_native::credentials::{GiveBack, PrivateAgentDir, Refused, has_entry};
use serde_json::{Value, json};

/// The time that these tests wait for a free lock.
const PATIENCE: Duration = Duration::from_secs(30);

struct Scene {
    root: tempfile::TempDir,
}

impl Scene {
    fn new(main: &str, own: &str) -> Self {
        let scene = Self { root: tempfile::tempdir().expect("a temporary directory is created") };
        fs::create_dir_all(scene.own().parent().expect("the path has a parent"))
            .expect("the directory is created");
        fs::write(scene.main(), main).expect("the file is written");
        fs::write(scene.own(), own).expect("the file is written");
        fs::set_permissions(scene.own(), fs::Permissions::from_mode(0o600)).expect("the permissions are set");
        scene
    }

    fn main(&self) -> PathBuf {
        self.root.path().join("real/auth.json")
    }

    fn own(&self) -> PathBuf {
        credentials_of(&self.root.path().join("real"), "explorer")
    }

    fn create(&self) -> PrivateAgentDir {
        let real = self.root.path().join("real");
        let at = self.root.path().join("private");
        let mut private = PrivateAgentDir::create(&real, &at).expect("the private directory is created");
        private.merge_credentials(&self.own()).expect("the overlay is written");
        private
    }
}

fn auth(private: &PrivateAgentDir) -> Value {
    let path = private.path().join("auth.json");
    assert_eq!(fs::metadata(&path).expect("the file exists").permissions().mode() & 0o777, 0o600);
    serde_json::from_slice(&fs::read(path).expect("the file is readable")).expect("the bytes are valid JSON")
}

fn reasons(private: &PrivateAgentDir) -> Vec<String> {
    private.skipped_files().iter().map(|(_, reason)| reason.clone()).collect()
}

fn login(name: &str, expires: u64) -> Value {
    json!({"type": "oauth", "access": format!("{name}-access"), "refresh": format!("{name}-refresh"), "expires": expires})
}

fn in_an_hour() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the time is after 1970");
    u64::try_from((since + Duration::from_secs(3600)).as_millis()).expect("the number fits")
}

#[test]
fn credentials_of_an_agent_replace_the_users_for_the_same_provider() {
    let main = json!({"a": {"type": "api_key", "key": "main-a"}, "b": {"type": "api_key", "key": "main-b"}});
    let own = json!({"b": {"type": "api_key", "key": "own-b"}, "c": {"type": "api_key", "env": {"X": "y"}}});
    let scene = Scene::new(&main.to_string(), &own.to_string());
    assert_eq!(scene.own(), scene.root.path().join("real/subagents/auth/explorer.json"));
    let private = scene.create();
    assert_eq!(auth(&private), json!({"a": main["a"], "b": own["b"], "c": own["c"]}));
    assert_eq!(reasons(&private), Vec::<String>::new());
    assert!(has_entry(&scene.own(), "b") && !has_entry(&scene.own(), "a"));
    assert!(!private.path().join("subagents").exists(), "the copy has no files of other agents");
    drop(private);
    fs::remove_file(scene.main()).expect("the file is removed");
    assert_eq!(auth(&scene.create()), own, "without an overlay the copy keeps the login");
}

#[test]
fn a_credentials_file_that_is_invalid_or_open_to_others_is_reported_and_not_used() {
    let main = json!({"a": {"type": "api_key", "key": "main"}});
    let good = json!({"a": {"type": "api_key", "key": "own"}}).to_string();
    for (label, text, mode, expected) in [
        (
            "other users can read the file",
            good.as_str(),
            0o640,
            "its mode is 640; expected 600, so that no other user can access it",
        ),
        ("anybody can", &good, 0o604, "its mode is 604; expected 600, so that no other user can access it"),
        ("broken", "{ \"a\": ", 0o600, "it is not a JSON object"),
        ("a list", "[]", 0o600, "it is not a JSON object"),
        (
            "an entry that is none",
            r#"{"a":"own"}"#,
            0o600,
            "its entry for `a` is not a credential that pi accepts",
        ),
        (
            "a type that is none",
            r#"{"a":{"type":"x"}}"#,
            0o600,
            "its entry for `a` is not a credential that pi accepts",
        ),
        (
            "half a login",
            r#"{"a":{"type":"oauth","access":"x"}}"#,
            0o600,
            "its entry for `a` is not a credential that pi accepts",
        ),
    ] {
        let scene = Scene::new(&main.to_string(), text);
        fs::set_permissions(scene.own(), fs::Permissions::from_mode(mode)).expect("the permissions are set");
        let private = scene.create();
        assert_eq!(auth(&private), main, "{label}");
        assert_eq!(reasons(&private), [expected], "{label}");
        assert_eq!(private.skipped_files()[0].0, scene.own(), "{label}");
        assert!(!has_entry(&scene.own(), "a"), "{label}");
    }
    let scene = Scene::new(&main.to_string(), &good);
    fs::remove_file(scene.own()).expect("the file is removed");
    fs::create_dir(scene.own()).expect("the directory is created");
    assert_eq!(reasons(&scene.create()), ["it is not a regular file"]);
    fs::remove_dir(scene.own()).expect("the directory is removed");
    symlink("nowhere", scene.own()).expect("the link is created");
    assert_eq!(reasons(&scene.create()).len(), 1, "a dangling link is reported");
}

#[test]
fn a_refreshed_token_is_written_to_the_file_that_it_came_from() {
    let main = json!({"a": login("main-a", 1_000_000), "b": login("main-b", 1_000_000)}).to_string();
    let own = json!({"b": login("own-b", 1_000_000)}).to_string();
    let scene = Scene::new(&main, &own);
    let private = scene.create();
    let fresh = json!({"a": login("new-a", in_an_hour()), "b": login("new-b", in_an_hour())});
    fs::write(private.path().join("auth.json"), fresh.to_string()).expect("the file is written");
    let read = |path: PathBuf| -> Value {
        serde_json::from_slice(&fs::read(path).expect("the file is readable"))
            .expect("the bytes are valid JSON")
    };
    assert_eq!(private.give_back("b", PATIENCE).expect("the give-back has a result"), GiveBack::Returned);
    assert_eq!(
        fs::read_to_string(scene.main()).expect("the file is readable"),
        main,
        "the user's own file is unchanged"
    );
    assert_eq!(read(scene.own()), json!({"b": fresh["b"]}));
    assert_eq!(fs::metadata(scene.own()).expect("the file exists").permissions().mode() & 0o777, 0o600);
    assert_eq!(private.give_back("a", PATIENCE).expect("the give-back has a result"), GiveBack::Returned);
    assert_eq!(read(scene.main()), json!({"a": fresh["a"], "b": login("main-b", 1_000_000)}));
    assert_eq!(
        private.give_back("b", PATIENCE).expect("the give-back has a result"),
        GiveBack::Refused(Refused::EntryChanged),
        "a token is given back only once"
    );
    let remaining: Vec<_> = fs::read_dir(scene.own().parent().expect("the path has a parent"))
        .expect("the directory is readable")
        .collect();
    assert_eq!(remaining.len(), 1, "no lock remains: {remaining:?}");
}

#[test]
fn keys_of_a_session_replace_the_users_logins_and_an_agents_own_replace_them() {
    let main = json!({"a": login("main", in_an_hour()), "b": {"type": "api_key", "key": "main-b"}});
    let own = json!({"b": {"type": "api_key", "key": "own-b"}});
    let scene = Scene::new(&main.to_string(), &own.to_string());
    let real = scene.root.path().join("real");
    let at = scene.root.path().join("keyed");
    let mut private = PrivateAgentDir::create(&real, &at).expect("the private directory is created");
    // Texts that pi would read as a command or a variable in a file.
    let keys = [("a", "!key-$HOME"), ("b", "session-b"), ("c", "plain")];
    private.add_keys(keys.into_iter()).expect("the keys are written");
    private.merge_credentials(&scene.own()).expect("the overlay is written");
    let key = |key: &str| json!({"type": "api_key", "key": key});
    assert_eq!(auth(&private), json!({"a": key("$!key-$$HOME"), "b": own["b"], "c": key("plain")}));
    assert_eq!(
        private.give_back("a", PATIENCE).expect("the give-back has a result"),
        GiveBack::Refused(Refused::NotLoggedIn)
    );
    assert_eq!(fs::read_to_string(scene.main()).expect("the file is readable"), main.to_string());
}
