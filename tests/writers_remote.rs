//! Remote children that may write: each has a private tree on the remote machine, and its changes come back as a branch. The
//! launcher is a stand-in, the children are scripted.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::support::child::Child;
use crate::support::engine::{engine, naming, through};
use crate::support::extension::EventRecorder;
use crate::support::pids::{Pids, eventually};
use crate::support::remote::with_longer_limits;
use crate::support::scene::Scene;
use crate::support::stage::{PATIENCE, User};
use pi_subagent_native::orchestrate::background::{
    ConversationScope, KnownDeliveries, SpawnRequest, background, close_conversation, open_conversation,
    resume, send, spawn, until_settled,
};
use pi_subagent_native::run::{Control, Host, Progress, Resumption, RunOutcome, ToolResult};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};
use tokio::sync::watch;
use tokio::time::timeout;

const FAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/far.sh");

/// The way in which the launchers of these scenes parse their arguments.
fn launchers() -> Vec<&'static str> {
    if engine().is_some() { vec!["engine"] } else { vec!["words", "sh"] }
}

fn git_in(directory: &Path, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=n@localhost"])
        .args(args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").expect("`PATH` is set"))
        .current_dir(directory)
        .output()
        .expect("git runs");
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// A project with a commit and uncommitted changes, and a writer whose children run remotely.
struct Far(Scene);

impl Far {
    fn new(how: &str, child: Child, config: &Value) -> Self {
        // Commits need a name on the remote machine.
        let commit = r#"commit() { git -c user.name=n -c user.email=n@localhost commit -qm "$@"; }"#;
        let child = Child::new().runs(commit).runs(r#"pwd >"$home/pwd""#).then(child);
        let mut scene = Scene::new(child, json!({}));
        let far = scene.path("far");
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut settings = json!({
            "command": ["/bin/sh", FAR, how, text(&far), "{argv}"],
            "piCommand": ["/bin/sh", text(&scene.path("pi.sh"))],
            "quote": how,
        });
        if let Some(engine) = engine() {
            through(&engine, &mut settings, &scene.path("cancelled"));
            settings.as_object_mut().expect("the value is an object").remove("cwd");
        }
        let mut all = json!({
            "graceMs": 200,
            "retry": { "enabled": false },
            "allowWrite": true,
            "launcher": "far",
            "launchers": { "far": settings },
        });
        all.as_object_mut()
            .expect("the value is an object")
            .extend(config.as_object().expect("the value is an object").clone());
        let project = scene.path("project");
        fs::remove_dir(project.join(".git")).expect("the directory is removed");
        git_in(&project, &["init", "-q", "-b", "main"]);
        for (name, text) in [
            ("kept.txt", "kept\n"),
            ("gone.txt", "gone\n"),
            ("it's/in ner.txt", "inner\n"),
            (".gitignore", "*.log\n"),
        ] {
            let path = project.join(name);
            fs::create_dir_all(path.parent().expect("the path has a parent"))
                .expect("the directory is created");
            fs::write(path, text).expect("the file is written");
        }
        git_in(&project, &["add", "--all"]);
        git_in(&project, &["commit", "-qm", "first"]);
        git_in(&project, &["commit", "-qm", "second", "--allow-empty"]);
        fs::write(project.join("kept.txt"), "kept\nnot committed\n").expect("the file is written");
        fs::write(project.join("untracked.txt"), "untracked\n").expect("the file is written");
        fs::create_dir_all(scene.path("agent/agents")).expect("the directory is created");
        let agent = "---\nname: explorer\nreadonly: false\nisolation: private\n---\nWrite.\n";
        fs::write(scene.path("agent/agents/explorer.md"), agent).expect("the agent file is written");
        Arc::make_mut(&mut scene.spec.context).config = Some(all);
        Self(scene)
    }

    fn git(&self, args: &[&str]) -> String {
        git_in(&self.0.path("project"), args)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path(name)).unwrap_or_default()
    }

    fn fetch(&self, name: &str) -> String {
        self.git(&["show", &format!("{}:{name}", self.branch().expect("the branch exists"))])
    }

    fn committed_files(&self) -> String {
        self.git(&["ls-tree", "-r", "--name-only", &self.branch().expect("the branch exists")])
    }

    fn branch(&self) -> Option<String> {
        let branches = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/subagent"]);
        Some(branches).filter(|branches| !branches.is_empty())
    }

    async fn run(&self) -> ToolResult {
        self.run_with(&Control::default()).await
    }

    async fn run_with(&self, control: &Control) -> ToolResult {
        self.run_watched(control, &watch::channel(Progress::default()).0).await
    }

    /// Runs the child. The user's own tree and branches never change, and nothing remains on the remote machine.
    async fn run_watched(&self, control: &Control, progress: &watch::Sender<Progress>) -> ToolResult {
        let look = || (self.git(&["status", "--porcelain"]), self.git(&["rev-parse", "main", "HEAD"]));
        let before = look();
        let user = User::default();
        let result = self.0.execute(&user, control, progress).await;
        assert_eq!(look(), before);
        self.git(&["fsck", "--strict"]);
        let there = self.read("pwd");
        assert!(!there.starts_with(&*self.0.path("project").to_string_lossy()), "{there}");
        let place = there.split("/tree/").next().unwrap_or_default();
        eventually("the removal of the remote tree", || !Path::new(place).exists()).await;
        result
    }
}

fn notices(result: &ToolResult) -> String {
    result.details.results[0].diagnostics.join("\n")
}

/// A child that has done half of its work, and continues as long as its host exists.
fn half_done(protocol: &str) -> Child {
    Child::working_in(protocol)
        .runs("echo half >half.txt")
        .says("So far.")
        .with_stop_reason("toolUse")
        .runs(r#": >"$home/started""#)
        .waits_for("never")
}

const WORKS: &str = r#"
cat kept.txt untracked.txt >"$home/seen"; git log --format=%s >"$home/log"; git status --porcelain >"$home/status"
echo 'of the child' >>kept.txt; rm gone.txt; git add -A; commit 'of the child'
printf '#!/bin/sh\n' >run.sh; chmod +x run.sh; ln -s kept.txt link; echo x >ignored.log; mkdir new; echo y >"new/a 'b.txt"
"#;

#[tokio::test]
async fn the_changes_of_a_remote_writer_come_back_as_a_branch() {
    for how in launchers() {
        for (protocol, reads) in [("rpc", Child::new().receives()), ("json", Child::new().reads_task())] {
            let child = reads.starts().runs(WORKS).says("Done.").settles().listens();
            let far = Far::new(how, child, &json!({ "protocol": protocol }));
            let result = far.run().await;
            let single = &result.details.results[0];
            assert_eq!(single.outcome, RunOutcome::Completed, "{how}: {:?}", single.error);
            assert_eq!(notices(&result), "", "{how} {protocol}");
            assert_eq!(far.read("seen"), "kept\nnot committed\nuntracked\n");
            assert_eq!(
                far.read("log"),
                "Uncommitted changes when the sub-agent started\n",
                "the remote tree has no history"
            );
            assert_eq!(far.read("status"), "", "uncommitted changes are part of the base");
            let artifacts = single.isolation.as_ref().expect("the run was isolated");
            let branch = far.branch();
            assert_eq!(artifacts.branch, branch);
            let id = result.details.run_id.as_deref().expect("the run has an ID");
            assert_eq!(branch.as_deref(), Some(&*format!("subagent/{id}")));
            assert_eq!(
                (artifacts.commits, artifacts.files, artifacts.insertions, artifacts.deletions),
                (1, 5, 4, 1),
                "{artifacts:?}"
            );
            assert_eq!(artifacts.kept_tree, None);
            let log = far.git(&["log", "--format=%s", &format!("main..subagent/{id}")]);
            let expected = [
                "Changes of the sub-agent's run ",
                id,
                "\nof the child\nUncommitted changes when the sub-agent started",
            ];
            assert_eq!(log, expected.concat());
            assert_eq!(far.fetch("kept.txt"), "kept\nnot committed\nof the child");
            let listed =
                far.git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", &format!("subagent/{id}")]);
            let expected = "100644 .gitignore\n100644 it's/in ner.txt\n100644 kept.txt\n120000 link\n100644 new/a 'b.txt\n100755 run.sh\n100644 untracked.txt";
            assert_eq!(listed, expected);
            let changes = single.changes.clone().expect("the changes are listed");
            assert_eq!(changes, ["gone.txt", "kept.txt", "link", "new/a 'b.txt", "run.sh"]);
            far.git(&["apply", "--check", artifacts.patch.as_deref().expect("the result names a patch")]);
            assert!(result.text.contains(&format!("subagent/{id}")), "{}", result.text);
        }
    }
}

#[tokio::test]
async fn a_remote_writer_without_changes_leaves_nothing() {
    for how in launchers() {
        let mut far = Far::new(
            how,
            Child::working().runs("echo x >x.log").says("Done.").settles().listens(),
            &json!({}),
        );
        far.0.spec.cwd = far.0.path("project").join("it's");
        let result = far.run().await;
        assert_eq!(notices(&result), "");
        assert!(far.read("pwd").trim_end().ends_with("/project/it's"), "{}", far.read("pwd"));
        assert_eq!(far.branch(), None);
        let artifacts = result.details.results[0].isolation.as_ref().expect("the run was isolated");
        assert_eq!((&artifacts.branch, &artifacts.patch, &artifacts.kept_tree), (&None, &None, &None));
        let kept =
            fs::read_dir(far.0.path("agent/subagents/snapshots")).expect("the directory is readable").count();
        assert_eq!(kept, 0);
    }
}

/// A setting for local private trees has no effect on a remote one, and the result says so.
#[tokio::test]
async fn settings_without_effect_on_a_remote_tree_are_named() {
    let config = json!({ "isolation": { "copy": [".env"], "setup": "echo prepared >>\"$home/prepared\"" } });
    for how in launchers() {
        let far = Far::new(how, Child::new().replies("Done.").listens(), &config);
        let result = far.run().await;
        assert_eq!(result.details.results[0].outcome, RunOutcome::Completed, "{how}: {}", result.text);
        let expected = "the paths of `isolation.copy` are not in the private tree: `far` makes it on \
                        another machine\n\
                        `isolation.setup` did not prepare the private tree: `far` makes it on another machine";
        assert_eq!(notices(&result), expected);
        assert_eq!(far.read("prepared"), "");
        // An agent that requires isolation may not run without it, not even in the launcher's directory.
        for isolation in ["private", "auto"] {
            let agent = format!(
                "---\nname: explorer\nreadonly: false\nisolation: {isolation}\nsetup: make\n---\nWrite.\n"
            );
            fs::write(far.0.path("agent/agents/explorer.md"), agent).expect("the agent file is written");
            let refused = far.0.run_with(&User::default(), &Control::default()).await.0;
            let error = refused.details.results[0].error.clone().expect("the run has an error");
            assert!(
                error.starts_with("launcher: `setup` is not available with `far`"),
                "{isolation}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn the_changes_of_an_ended_run_come_back() {
    for how in launchers() {
        for (label, protocol) in [("abort", "rpc"), ("abort", "json"), ("limit", "rpc"), ("silence", "json")]
        {
            // A child that ignores the end of its input.
            let child = half_done(protocol);
            let case = format!("{how} {label} {protocol}");
            with_longer_limits(&case, async |limit| {
                let config = match label {
                    "limit" => json!({ "timeoutMs": limit, "protocol": protocol }),
                    "silence" => json!({ "idleTimeoutMs": limit, "protocol": protocol }),
                    _ => json!({ "protocol": protocol }),
                };
                let far = Far::new(how, child.clone(), &config);
                let has_started = || far.0.path("started").exists();
                let cancel = Cancel::new();
                let control = Control { cancel: cancel.clone(), ..Control::default() };
                let abort = async {
                    if label == "abort" {
                        eventually("the start of the child", has_started).await;
                        cancel.cancel(CancelReason::Caller(None));
                    }
                };
                let (result, ()) = tokio::join!(far.run_with(&control), abort);
                let single = &result.details.results[0];
                assert_ne!(single.outcome, RunOutcome::Completed, "{case}");
                eventually("the end of the child", || naming(&far.0.path("pi.sh")) == 0).await;
                if !has_started() {
                    return false;
                }
                let reported = single.isolation.as_ref().and_then(|artifacts| artifacts.branch.clone());
                let notices = notices(&result);
                // On a busy machine the import continues after the result, which says so.
                assert!(reported.is_some() || notices.contains("still being imported"), "{case}: {notices}");
                eventually("the branch of the run", || far.branch().is_some()).await;
                assert!(reported.is_none() || reported == far.branch(), "{case}: {reported:?}");
                assert_eq!(far.fetch("half.txt"), "half", "{case}: {notices}");
                true
            })
            .await;
        }
    }
}

#[tokio::test]
async fn doubtful_changes_are_named_and_not_imported() {
    for (label, script, expected, has_branch, is_kept) in [
        (
            "another branch",
            "echo a >a; git add a; commit a; git branch other",
            "the child has made other branches",
            true,
            false,
        ),
        (
            "another head",
            "git checkout -q --detach; echo a >a",
            "the child has made other branches",
            true,
            false,
        ),
        (
            "a repository",
            "git init -q sub; cd sub; echo b >b; git add b; commit b; cd ..; echo a >a",
            "`sub` was not imported: it is a separate repository",
            true,
            false,
        ),
        (
            "a repository whose name has two lines",
            "n=$(printf 'su\\nb'); git init -q \"$n\"; cd \"$n\"; echo b >b; git add b; commit b; cd ..; echo a >a",
            "`su b` was not imported: it is a separate repository",
            true,
            false,
        ),
        (
            "an empty repository",
            "git init -q sub; echo a >a",
            "'sub/' does not have a commit checked out",
            true,
            false,
        ),
        ("no repository", "echo a >a; rm -r .git", "its branch no longer exists", true, false),
        (
            "another history",
            "echo a >a; git add a; commit a; t=$(git write-tree); c=$(git -c user.name=n -c user.email=n commit-tree -m x $t); git reset -q $c; echo c >a",
            "they do not descend from the commit",
            true,
            true,
        ),
        ("a bad name", "mkdir git~1; echo b >git~1/b; echo a >a", "git~1", true, false),
        ("a tree that is gone", "rm -r \"$PWD\"", "could not be sent back", false, false),
        (
            "much",
            "head -c 3000000 /dev/urandom >much",
            "they are more than `snapshot.maxBytes` allows",
            false,
            false,
        ),
        (
            "a bomb",
            "head -c 3000000 /dev/zero >much",
            "take up more than `snapshot.maxBytes` allows",
            false,
            true,
        ),
        // The configuration of the child's repository does not affect how its files are read.
        (
            "a filter",
            "git config filter.f.clean 'sed s/a/x/'; echo '* filter=f eol=crlf' >.git/info/attributes; echo a >a",
            "",
            true,
            false,
        ),
    ] {
        let far = Far::new(
            launchers()[0],
            Child::working().runs(script).says("Done.").settles().listens(),
            &json!({ "snapshot": { "maxBytes": 1_000_000 } }),
        );
        let result = far.run().await;
        let single = &result.details.results[0];
        assert_eq!(single.outcome, RunOutcome::Completed, "{label}: {:?}", single.error);
        let reported = notices(&result);
        assert!(
            reported.contains(expected) && reported.is_empty() == expected.is_empty(),
            "{label}: {reported}"
        );
        let artifacts = single.isolation.as_ref().expect("the run was isolated");
        assert_eq!(far.branch(), artifacts.branch, "{label}");
        assert_eq!(
            (far.branch().is_some(), artifacts.kept_tree.is_some()),
            (has_branch, is_kept),
            "{label}: {reported}"
        );
        if has_branch {
            let text = if label == "another history" { "c" } else { "a" };
            assert_eq!(far.fetch("a"), text, "{label}");
            assert!(!far.committed_files().contains("git~1"), "{label}");
        }
        if let Some(kept) = &artifacts.kept_tree {
            assert!(kept.contains("/subagent-trees/") && kept.ends_with(".bundle"), "{kept}");
            far.git(&["bundle", "list-heads", kept]);
        }
    }
}

#[tokio::test]
async fn a_machine_or_project_without_git_is_refused_by_name() {
    let far = Far::new("words", Child::new(), &json!({}));
    let mut scene = far.0;
    let bin = scene.path("bin");
    fs::create_dir_all(&bin).expect("the directory is created");
    for name in ["sh", "dd", "mktemp", "mkfifo", "rm", "env", "sleep", "cat", "mkdir"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").expect("`PATH` is set"))
            .map(|place| place.join(name))
            .find(|path| path.exists());
        std::os::unix::fs::symlink(found.expect("the program is installed"), bin.join(name))
            .expect("the link is created");
    }
    let context = Arc::make_mut(&mut scene.spec.context);
    let far = &mut context.config.as_mut().expect("the context has a configuration")["launchers"]["far"];
    let inner = json!([
        "/bin/sh",
        "-c",
        "PATH=$0; exec \"$@\"",
        bin.to_string_lossy(),
        "/bin/sh",
        FAR,
        "words",
        scene.root.path().join("far"),
        "{argv}"
    ]);
    far["command"] = inner;
    let result = scene.run_with(&User::default(), &Control::default()).await.0;
    let error = result.details.results[0].error.clone().unwrap_or_default();
    assert!(
        error.contains("a private tree is unavailable on the child's machine: there is no `git`"),
        "{error}"
    );

    let far = Far::new("words", Child::new(), &json!({}));
    fs::remove_dir_all(far.0.path("project/.git")).expect("the directory is removed");
    let result = far.0.run_with(&User::default(), &Control::default()).await.0;
    let error = result.details.results[0].error.clone().unwrap_or_default();
    assert!(error.starts_with("a private tree is unavailable: "), "{error}");
    assert!(!far.0.path("far/launches").exists(), "no child was started");
}

/// The artifacts of a run: its snapshot and its patch, file by file.
fn kept(far: &Far, id: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut places = vec![far.0.path("agent/subagents/snapshots").join(id)];
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(place).expect("the directory is readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                places.push(path);
            } else {
                files.push((
                    path.to_string_lossy().into_owned(),
                    fs::read(&path).expect("the file is readable"),
                ));
            }
        }
    }
    files.sort();
    files
}

#[tokio::test]
async fn a_remote_run_that_cannot_be_continued_is_refused_before_anything_is_lost() {
    const SESSION: &str = "conversation";
    const REFUSED: &str = "launcher: a run cannot be continued with `far`, which starts the child on another machine; `launcher: local` keeps it on this one";
    if engine().is_some() {
        // The test is about local artifacts, and the remote home directory is the stand-in's.
        return;
    }
    let keeps_session =
        r#"for word; do [ "$last" = --session ] && printf '{"type":"session"}\n' >"$word"; last=$word; done"#;
    let child = Child::new()
        .runs(keeps_session)
        .receives()
        .starts()
        .runs("echo done >done.txt")
        .says("Done.")
        .settles()
        .listens();
    let mut far = Far::new("words", child, &json!({}));
    let home = far.0.path("far/home");
    let context = Arc::make_mut(&mut far.0.spec.context);
    context.config.as_mut().expect("the context has a configuration")["launchers"]["far"]["fetch"] =
        json!(["/bin/sh", "-c", r#"cat "$0/{session}""#, home]);
    context.host = Host { session_id: Some(SESSION.into()), ..Host::default() };
    let context = Arc::clone(&far.0.spec.context);
    let service = background(&far.0.path("agent"));
    let cwd = far.0.spec.cwd.clone();
    let scope =
        || ConversationScope { cwd: cwd.clone(), context: Arc::clone(&context), ends_with: Cancel::new() };
    let known = KnownDeliveries::default();
    let view = open_conversation(&service, SESSION.into(), scope(), known, EventRecorder::default()).await;
    let request = SpawnRequest::new("work".into(), cwd.clone(), Arc::clone(&context));
    spawn(&service, request, Arc::new(User::default())).await;
    timeout(PATIENCE, until_settled(&service, &view, None)).await.expect("the run ends");
    let run = service.runs(Some(SESSION.into())).await.remove(0);
    let look = async || {
        let stored = service.runs(Some(SESSION.into())).await;
        (stored, far.git(&["show-ref"]), kept(&far, &run.run_id))
    };
    let before = look().await;
    assert_eq!(far.branch().as_deref(), Some(&*format!("subagent/{}", run.run_id)), "{run:?}");
    assert!(run.transcript.is_some() && run.outcome == Some(RunOutcome::Completed), "{run:?}");

    let nobody = || Arc::new(User::default());
    let resumed = resume(&service, &run, None, &scope(), nobody()).await;
    let sent = send(&service, &run, "go on", &scope(), None, nobody()).await;
    timeout(PATIENCE, until_settled(&service, &view, None)).await.expect("no run is active");
    for refused in [resumed, sent] {
        assert_eq!(refused.expect_err("the call is refused").to_string(), REFUSED);
    }
    assert!(look().await == before, "{:?}", look().await.0);
    close_conversation(&service, &view).await;

    // A run that is continued in another way loses nothing, either.
    far.0.spec.overrides.resumes = Some(Resumption {
        run_id: run.run_id.clone(),
        directory: run.directory.clone().expect("the run has a directory"),
        session: run.transcript.clone().expect("the run has a transcript"),
    });
    let result = far.0.run_with(&User::default(), &Control::default()).await.0;
    assert_eq!(result.details.results[0].error.as_deref(), Some(REFUSED));
    assert!(kept(&far, &run.run_id) == before.2, "the snapshot and the patch are kept");
    assert_eq!(far.read("far/launches").lines().count(), 1);
}

/// Behaves like `ssh`: its children are not in its process group.
const RELAY: &str = r#"echo $$ >"$0"; cat | setsid "$@" | cat"#;

#[tokio::test]
async fn a_lost_connection_leaves_no_remote_tree_and_is_named() {
    for protocol in ["rpc", "json"] {
        let child = Child::new().runs(r#"echo $$ >"$home/pid""#).then(half_done(protocol));
        let mut far = Far::new("words", child, &json!({ "protocol": protocol }));
        let relay = far.0.path("relay");
        let place = far.0.path("far");
        let context = Arc::make_mut(&mut far.0.spec.context);
        context.config.as_mut().expect("the context has a configuration")["launchers"]["far"]["command"] =
            json!(["/bin/sh", "-c", RELAY, relay, "/bin/sh", FAR, "words", place, "{argv}"]);
        let mut connection = Pids::default();
        let mut child = Pids::default();
        let (progress, mut seen) = watch::channel(Progress::default());
        let cut = async {
            eventually("the start of the child", || far.0.path("started").exists()).await;
            let arrived = |progress: &Progress| format!("{progress:?}").contains("So far.");
            seen.wait_for(arrived).await.expect("the run continues");
            connection.push(far.read("relay").trim().parse().expect("the text is a number"));
            child.push(far.read("pid").trim().parse().expect("the text is a number"));
            assert_eq!(connection.kill(), 1);
        };
        let control = Control::default();
        let (result, ()) = tokio::join!(far.run_watched(&control, &progress), cut);
        let single = &result.details.results[0];
        assert_eq!(single.outcome, RunOutcome::Failed, "{protocol}: {:?}", single.error);
        let reported = notices(&result);
        assert!(
            reported.contains("the child's changes were not received: the connection ended first"),
            "{reported}"
        );
        assert!(reported.contains("it is unknown if"), "{reported}");
        assert_eq!(far.branch(), None);
        child.gone("the child").await;
    }
}
