//! The conditions under which a token is refreshed before it is copied, and the number of refreshes.
#![cfg(unix)]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pi_subagent_native::credentials::{needs_refresh, refresh_before_copy};
use serde_json::{Value, json};

const MINUTE: Duration = Duration::from_secs(60);

/// Plays the host's pi.
struct Pi {
    real: PathBuf,
    /// The lifetimes of the tokens that it gets. Empty if it gets none.
    life: Option<Duration>,
    asked: AtomicUsize,
}

impl Pi {
    async fn refresh(&self, valid_for: Duration) {
        assert!(valid_for > MINUTE);
        self.asked.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        if let Some(life) = self.life {
            write(&self.real, &entry(life));
        }
    }
}

fn entry(remaining: Duration) -> Value {
    let expires = SystemTime::now().duration_since(UNIX_EPOCH).expect("the time is after 1970") + remaining;
    let expires = u64::try_from(expires.as_millis()).expect("the number fits");
    json!({"type": "oauth", "access": "a", "refresh": "r", "expires": expires})
}

fn write(real: &std::path::Path, entry: &Value) {
    fs::write(real.join("auth.json"), json!({"p": entry}).to_string()).expect("the file is written");
}

struct Scene {
    _root: tempfile::TempDir,
    pi: Pi,
}

impl Scene {
    fn new(entry: &Value, life: Option<Duration>) -> Self {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        write(root.path(), entry);
        let pi = Pi { real: root.path().to_owned(), life, asked: AtomicUsize::new(0) };
        Self { _root: root, pi }
    }

    /// Returns true if the token outlives the run afterwards.
    async fn refresh(&self, run: Duration) -> bool {
        let until = SystemTime::now() + run;
        refresh_before_copy(&self.pi.real, "p", until, |remaining| self.pi.refresh(remaining)).await;
        !needs_refresh(&self.pi.real, "p", until)
    }

    fn asked(&self) -> usize {
        self.pi.asked.load(Ordering::Relaxed)
    }
}

#[test]
fn a_token_that_expires_during_the_run_needs_a_refresh() {
    let without = |name: &str| {
        let mut entry = entry(MINUTE);
        entry.as_object_mut().expect("the value is an object").remove(name);
        entry
    };
    let rows = [
        ("long enough", entry(MINUTE * 20), false),
        ("during the run", entry(MINUTE * 5), true),
        ("shortly enough after it that pi refreshes before the run ends", entry(MINUTE * 12), true),
        ("a key", json!({"type": "api_key", "key": "k"}), false),
        ("nothing to refresh with", without("refresh"), false),
        ("no expiry", without("expires"), false),
    ];
    for (label, entry, expected) in rows {
        let scene = Scene::new(&entry, None);
        let until = SystemTime::now() + MINUTE * 10;
        assert_eq!(needs_refresh(&scene.pi.real, "p", until), expected, "{label}");
        assert!(!needs_refresh(&scene.pi.real, "q", until), "{label}");
    }
    assert!(!needs_refresh(&PathBuf::from("/nowhere"), "p", SystemTime::now()));
}

#[tokio::test]
async fn a_refresh_is_requested_once_and_only_if_needed() {
    let scene = Scene::new(&entry(MINUTE * 5), Some(MINUTE * 60));
    assert!(scene.refresh(MINUTE * 10).await);
    assert!(scene.refresh(MINUTE * 10).await);
    assert_eq!(scene.asked(), 1);
}

#[tokio::test]
async fn simultaneous_runs_request_one_refresh() {
    let scene = Scene::new(&entry(MINUTE * 5), Some(MINUTE * 60));
    let (one, two, three) =
        tokio::join!(scene.refresh(MINUTE * 10), scene.refresh(MINUTE * 10), scene.refresh(MINUTE * 10));
    assert_eq!(scene.asked(), 1);
    assert_eq!([one, two, three], [true; 3]);
}

#[tokio::test]
async fn a_new_token_that_expires_during_the_run_is_not_refreshed_again() {
    let scene = Scene::new(&entry(MINUTE * 5), Some(MINUTE * 60));
    for _ in 0..3 {
        assert!(!scene.refresh(MINUTE * 120).await);
    }
    assert_eq!(scene.asked(), 1);
}

#[tokio::test]
async fn a_refused_refresh_is_not_requested_again_for_the_same_token() {
    let scene = Scene::new(&entry(MINUTE * 5), None);
    for _ in 0..3 {
        assert!(!scene.refresh(MINUTE * 10).await);
    }
    assert_eq!(scene.asked(), 1);
    // Another token is a separate request.
    write(&scene.pi.real, &entry(MINUTE * 6));
    assert!(!scene.refresh(MINUTE * 10).await);
    assert_eq!(scene.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_wait_for_a_host_that_never_answers() {
    let scene = Scene::new(&entry(MINUTE * 5), None);
    let until = SystemTime::now() + MINUTE * 10;
    let before = tokio::time::Instant::now();
    refresh_before_copy(&scene.pi.real, "p", until, |_| std::future::pending::<()>()).await;
    assert!(needs_refresh(&scene.pi.real, "p", until));
    assert!(before.elapsed() <= Duration::from_secs(60));
}
