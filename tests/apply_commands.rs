//! A person's commands for runs that have written: in any order, at any time, and while another run writes to the tree.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use crate::support::child::Child;
use crate::support::extension::{self, EventRecorder};
use crate::support::pids::eventually;
use crate::support::stage::{self, PATIENCE, User, stage};
use pi_subagent_native::orchestrate::background::{
    BackgroundService, ConversationScope, ConversationView, KnownDeliveries, Receipt, SpawnRequest,
    background, commands, open_conversation, parse_call, spawn, until_settled, use_session_tool,
};
use pi_subagent_native::orchestrate::single;
use pi_subagent_native::present::Report;
use pi_subagent_native::run::{Host, HostContext, RunOverrides, RunSpec, Settled, ToolResult};
use serde_json::json;
use supervisor::Cancel;
use tempfile::TempDir;
use tokio::time::timeout;

const SESSION: &str = "conversation";
/// Writes a file with the name of its task. If the task is `gated`, the child stays until the gate is open.
fn writes() -> Child {
    let steps = |task: &str, words: &str| {
        let writes = format!(r#"echo '{words}' > {task}.txt; echo {task} >> "$home/begun""#);
        Child::new().runs(&writes).starts()
    };
    let ends = |child: Child, task: &str| child.says(&format!("{task} is done."));
    let secret = "API_KEY=abcd1234efgh5678ijkl;./x.sh npm test";
    let cases = [
        ("secret", ends(steps("secret", secret), "secret")),
        ("gated", ends(steps("gated", "of gated").waits_for("open"), "gated")),
        ("placed", ends(steps("placed", "of placed"), "placed")),
        ("idle", ends(Child::new().runs(r#"echo idle >> "$home/begun""#).starts(), "idle")),
    ];
    let otherwise = ends(steps("branch", "of branch"), "branch");
    Child::new().receives().depending_on_command(&cases, &otherwise).settles().listens()
}

struct Scene {
    root: TempDir,
    service: Arc<BackgroundService>,
    view: Arc<ConversationView>,
}

impl Scene {
    async fn new() -> Self {
        let root = stage(writes());
        // A git that logs its calls and waits where a test says so.
        let git = "#!/bin/sh\nhere=${0%/*}/..\ncase \"$*\" in *read-tree*) echo x >> \"$here/checking-out\"\n\
            while test -e \"$here/held\"; do sleep 0.02; done ;; esac\nPATH=${PATH#*:} exec git \"$@\"\n";
        fs::create_dir(root.path().join("bin")).expect("the directory is created");
        fs::write(root.path().join("bin/git"), git).expect("the file is written");
        fs::set_permissions(root.path().join("bin/git"), fs::Permissions::from_mode(0o755))
            .expect("the permissions are set");
        let at = |name: &str| root.path().join(name);
        fs::remove_dir(at("project/.git")).expect("the directory is removed");
        fs::create_dir_all(at("agent/agents")).expect("the directory is created");
        let kinds = [("writer", ""), ("brancher", "isolation: private\n"), ("reader", "readonly: true\n")];
        for (name, more) in kinds {
            let text = format!("---\nname: {name}\ntools: read, write\n{more}---\nWrite.\n");
            fs::write(at(&format!("agent/agents/{name}.md")), text).expect("the file is written");
        }
        fs::write(at("project/kept.txt"), "kept\n").expect("the file is written");
        let service = background(&at("agent"));
        let scope =
            ConversationScope { cwd: at("project"), context: context(&root), ends_with: Cancel::new() };
        let known = KnownDeliveries::default();
        let view = open_conversation(&service, SESSION.into(), scope, known, EventRecorder::default()).await;
        let scene = Self { root, service, view };
        scene.git(&["init", "-q", "-b", "main"]);
        scene.git(&["add", "--all"]);
        scene.git(&["commit", "-qm", "first"]);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("project").join(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn git(&self, args: &[&str]) -> String {
        let done = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=n@localhost"])
            .args(args)
            .current_dir(self.path(""))
            .output()
            .expect("git runs");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// Starts a run, waits until its child has begun, and returns its id.
    async fn start(&self, agent: &str, task: &str) -> String {
        let run_id = self.spawn(agent, task).await;
        let begun = self.root.path().join("begun");
        let has_begun = || fs::read_to_string(&begun).is_ok_and(|text| text.lines().any(|line| line == task));
        eventually("the start of the child", has_begun).await;
        run_id
    }

    /// Returns the entries of one of pi's directories.
    fn entries(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.path().join("agent").join(name)).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    async fn spawn(&self, agent: &str, task: &str) -> String {
        let request = SpawnRequest::new(task.into(), self.path(""), context(&self.root));
        let request = SpawnRequest { agent: Some(agent.into()), ..request };
        let receipt = spawn(&self.service, request, Arc::new(User::default())).await;
        let Receipt::Accepted { run_id, .. } = receipt else { panic!("{receipt:?}") };
        run_id
    }

    async fn settled(&self) {
        let settled = until_settled(&self.service, &self.view, Some(PATIENCE));
        timeout(PATIENCE, settled).await.expect("the conversation settles");
    }

    /// A run that has ended.
    async fn done(&self, agent: &str, task: &str) -> String {
        let id = self.start(agent, task).await;
        self.settled().await;
        id
    }

    /// A foreground call.
    async fn call(&self, agent: &str, task: &str, context: Arc<HostContext>) -> ToolResult {
        let spec = RunSpec {
            agent: agent.into(),
            label: None,
            task: task.into(),
            cwd: self.path(""),
            context,
            share: 1,
            siblings: 1,
            overrides: RunOverrides::default(),
        };
        let call = single(spec, extension::call(Arc::new(User::default())));
        timeout(PATIENCE, call).await.expect("the run ends")
    }

    async fn answer(&self, line: &str) -> Report {
        let user = Arc::new(User::default());
        let answer =
            commands::answer(&self.service, &self.view, line, commands::CommandHost::default(), user);
        timeout(PATIENCE, answer).await.expect("the process answers")
    }

    /// Opens another conversation in the same project.
    async fn another(&self, session: &str) -> (Arc<ConversationView>, EventRecorder) {
        let host = Host { session_id: Some(session.to_owned()), ..Host::default() };
        let context = HostContext { host, ..(*context(&self.root)).clone() };
        let scope =
            ConversationScope { cwd: self.path(""), context: Arc::new(context), ends_with: Cancel::new() };
        let events = EventRecorder::default();
        let known = KnownDeliveries::default();
        let view = open_conversation(&self.service, session.to_owned(), scope, known, events.clone()).await;
        (view, events)
    }

    async fn output_of(&self, line: &str) -> String {
        self.answer(line).await.plain()
    }
}

/// Returns the sentences about waiting changes.
fn waiting(events: &EventRecorder) -> Vec<String> {
    events.0.lock().iter().filter_map(|event| event.waiting.clone()).collect()
}

fn context(root: &TempDir) -> Arc<HostContext> {
    let session_file = Some(root.path().join("sessions/conversation.jsonl"));
    let host = Host { session_id: Some(SESSION.into()), session_file, ..Host::default() };
    let config = json!({
        "graceMs": 200, "allowWrite": true, "sandbox": { "mode": "off" }, "announce": { "mode": "never" }
    });
    let mut context = HostContext { host, ..stage::context(root.path(), config) };
    let (_, path) = &mut context.env[0];
    *path = format!("{}:{}", root.path().join("bin").display(), path.to_string_lossy()).into();
    Arc::new(context)
}

/// Returns the context with another value of a configuration key.
fn with_config(root: &TempDir, key: &str, value: serde_json::Value) -> Arc<HostContext> {
    let mut changed = (*context(root)).clone();
    changed.config.as_mut().expect("the configuration exists")[key] = value;
    Arc::new(changed)
}

/// A card offers a command until it was carried out. Cards of a later pi read the same record.
#[tokio::test]
async fn a_run_records_what_a_command_has_done_with_its_changes() {
    let scene = Scene::new().await;
    let call = scene.call("brancher", "branch", context(&scene.root)).await;
    let branch = call.details.results[0].run_id.clone().expect("the run is stored");
    let placed = scene.done("writer", "placed").await;
    for (line, id, settled) in [
        (format!("discard {branch}"), &branch, None),
        (format!("apply {branch}"), &branch, Some(Settled::Applied)),
        (format!("apply {branch}"), &branch, Some(Settled::Applied)),
        ("apply --abort".to_owned(), &branch, None),
        (format!("discard {branch} --yes"), &branch, Some(Settled::Discarded)),
        (format!("undo {placed}"), &placed, Some(Settled::Undone)),
    ] {
        let output = scene.output_of(&line).await;
        let is_recorded = || {
            let runs = scene.view.runs();
            runs.iter().any(|run| run.run_id == *id && run.settled() == settled)
        };
        eventually(&format!("`{line}` is recorded: {output}"), is_recorded).await;
        let info = scene.output_of(&format!("info {id}")).await;
        let word = settled.map_or("not applied yet", Settled::as_str);
        assert!(info.lines().any(|line| line.contains("changes") && line.contains(word)), "{line}: {info}");
    }
}

/// A card stays in its conversation for longer than its run in the list, which has the newest ones.
#[tokio::test]
async fn an_event_has_the_settled_changes_of_runs_that_are_not_in_the_list() {
    let scene = Scene::new().await;
    let call = scene.call("brancher", "branch", context(&scene.root)).await;
    let id = call.details.results[0].run_id.clone().expect("the run is stored");
    let placed = scene.done("writer", "placed").await;
    // Its list has no run of the other conversation.
    let (_, events) = scene.another("next").await;
    let settled = || events.0.lock().iter().rev().find_map(|event| event.settled.clone()).unwrap_or_default();
    for (line, id, expected) in [
        (format!("apply {id}"), &id, Some(Settled::Applied)),
        ("apply --abort".to_owned(), &id, None),
        (format!("discard {id} --yes"), &id, Some(Settled::Discarded)),
        (format!("undo {placed}"), &placed, Some(Settled::Undone)),
    ] {
        let output = scene.output_of(&line).await;
        eventually(&format!("`{line}` is in an event: {output}"), || settled().get(id).copied() == expected)
            .await;
    }
    let (_, reopened) = scene.another("next").await;
    let is_known =
        || reopened.0.lock().iter().any(|event| event.settled.as_ref().is_some_and(|of| of.len() == 2));
    eventually("the first event of a conversation has all", is_known).await;
    let listed = events.0.lock().iter().filter_map(|event| event.runs.clone()).flatten().count();
    assert_eq!(listed, 0);
}

/// Files that are applied or undone during a run would count as the run's work, and its undo would remove them.
#[tokio::test]
async fn no_command_changes_the_tree_while_a_run_writes_to_it() {
    let scene = Scene::new().await;
    let branch = scene.done("brancher", "branch").await;
    let placed = scene.done("writer", "placed").await;
    let gated = scene.start("writer", "gated").await;
    let refused = format!("writer ({gated}) is writing to this tree: wait for it, or stop it first");
    for line in [format!("apply {branch}"), format!("undo {placed}")] {
        let output = scene.output_of(&line).await;
        assert!(output.contains(&refused), "{line}: {output}");
    }
    assert_eq!(scene.text("branch.txt"), None);
    assert_eq!(scene.text("placed.txt").as_deref(), Some("of placed\n"));
    assert!(
        scene.output_of(&format!("diff {branch}")).await.contains("+of branch"),
        "a diff is allowed while a run writes"
    );
    let live = scene.output_of(&format!("undo {gated}")).await;
    assert!(live.contains("it has not ended"), "{live}");

    fs::write(scene.root.path().join("open"), "").expect("the file is written");
    scene.settled().await;
    let output = scene.output_of(&format!("apply {branch}")).await;
    assert!(output.contains("applied") && scene.text("branch.txt").is_some(), "{output}");
    let output = scene.output_of(&format!("undo {gated}")).await;
    assert!(output.contains("gated.txt") && scene.text("branch.txt").is_some(), "{output}");
    let output = scene.output_of(&format!("undo {placed}")).await;
    assert!(output.contains("placed.txt") && scene.text("placed.txt").is_none(), "{output}");
}

/// The applied changes, and the session's record of them.
#[tokio::test]
async fn a_diff_is_exact_on_the_screen_and_stored_sanitized() {
    let scene = Scene::new().await;
    let branch = scene.done("brancher", "secret").await;
    let report = scene.answer(&format!("diff {branch}")).await;
    let line = "+API_KEY=abcd1234efgh5678ijkl;./x.sh npm test";
    let kept = report.plain();
    let exact = report.plain_exact().expect("the exact text differs");
    assert!(exact.lines().any(|shown| shown.trim_start() == line) && !exact.contains("REDACTED"), "{exact}");
    assert!(!kept.contains("abcd1234") && kept.contains("+API_KEY=[REDACTED]"), "{kept}");
    let note =
        format!("1 value redacted: 1 by `assignment`. `/subagents diff {branch}` shows the text as it is");
    assert!(kept.ends_with(&note), "{kept}");
    let branch = scene.done("brancher", "branch").await;
    let report = scene.answer(&format!("diff {branch}")).await;
    assert_eq!(report.plain_exact(), None, "a diff without secrets has no separate exact text");
}

#[tokio::test]
async fn a_run_whose_branch_was_merged_with_git_counts_as_applied() {
    let scene = Scene::new().await;
    let id = scene.done("brancher", "branch").await;
    scene.git(&["merge", "-q", &format!("subagent/{id}")]);
    let answer = scene.output_of(&format!("apply {id}")).await;
    assert!(answer.contains("already has all changes") && answer.contains("counts as applied"), "{answer}");
    let list = scene.output_of("list").await;
    assert!(list.contains(" · applied"), "{list}");
    let doctor = scene.output_of("doctor").await;
    assert!(!doctor.contains("branch waits"), "{doctor}");
    let back = scene.output_of(&format!("apply --abort {id}")).await;
    assert!(back.contains("nothing had been written"), "{back}");
    assert_eq!(scene.text("branch.txt").as_deref(), Some("of branch\n"), "the merge stays");
}

#[tokio::test]
async fn an_abort_without_a_run_undoes_the_newest_apply() {
    let scene = Scene::new().await;
    let runs = [scene.done("brancher", "branch").await, scene.done("brancher", "placed").await];
    for order in [["branch", "placed"], ["placed", "branch"]] {
        let id_of = |task| if task == "branch" { &runs[0] } else { &runs[1] };
        for task in order {
            let output = scene.output_of(&format!("apply {}", id_of(task))).await;
            assert!(output.contains("applied"), "{output}");
        }
        for task in order.iter().rev() {
            let output = scene.output_of("apply --abort").await;
            assert!(output.contains("undid the apply"), "{output}");
            assert_eq!(scene.text(&format!("{task}.txt")), None, "{task} was applied last: {output}");
        }
    }
}

#[tokio::test]
async fn every_order_of_commands_has_an_answer_with_a_next_step() {
    let scene = Scene::new().await;
    let branch = scene.done("brancher", "branch").await;
    for (line, expected) in [
        (format!("undo {branch}"), "its changes are not in your tree"),
        (format!("apply --abort {branch}"), "it is not applied"),
        (format!("apply {branch}"), "applied"),
        (format!("apply {branch}"), "already applied: `/subagents undo"),
        (format!("undo {branch}"), "undid the apply"),
        (format!("undo {branch}"), "its changes are not in your tree"),
        (format!("apply {branch}"), "applied"),
        (format!("discard {branch}"), "--yes` does it"),
        (format!("discard {branch} --yes"), "deleted the branch"),
        (format!("discard {branch} --yes"), "already discarded"),
        (format!("diff {branch}"), "already discarded"),
        (format!("apply {branch}"), "already discarded"),
        ("apply --abort".to_owned(), "undid the apply"),
        (format!("apply --abort {branch}"), "its apply is already undone"),
        ("apply --abort".to_owned(), "no run of this project is applied"),
        (format!("apply {branch}"), "already discarded"),
        ("apply 00000000".to_owned(), "there is no run `00000000`"),
        ("apply".to_owned(), "the run is missing: say which one"),
    ] {
        let output = scene.output_of(&line).await;
        assert!(output.contains(expected), "{line}: {output}");
    }
    assert_eq!(scene.text("branch.txt"), None);
}

/// Each answer gives the fact that the run's record holds.
#[tokio::test]
async fn the_commands_on_a_run_that_wrote_in_place_use_its_snapshot() {
    let scene = Scene::new().await;
    fs::write(scene.path("kept.txt"), "mine, not committed\n").expect("the file is written");
    let placed = scene.done("writer", "placed").await;
    let output = scene.output_of(&format!("diff {placed}")).await;
    assert!(output.contains("+of placed") && !output.contains("mine"), "{output}");
    assert!(!output.contains("since"), "{output}");
    scene.git(&["add", "--all"]);
    scene.git(&["commit", "-qm", "of the person"]);
    fs::write(scene.path("placed.txt"), "edited\n").expect("the file is written");
    let output = scene.output_of(&format!("diff {placed}")).await;
    assert!(output.contains("+of placed") && !output.contains("edited"), "{output}");
    assert!(output.contains("changed since the run ended: `placed.txt`"), "{output}");
    let refused =
        format!("`/subagents diff {placed}` shows its changes, `/subagents undo {placed}` reverts them");
    let output = scene.output_of(&format!("apply {placed}")).await;
    assert!(output.contains(&refused), "{output}");
    fs::write(scene.path("placed.txt"), "of placed\n").expect("the file is written");
    let output = scene.output_of(&format!("undo {placed}")).await;
    assert!(output.contains("reverted the changes"), "{output}");
    for (line, expected) in [("undo", "are already undone"), ("diff", "already undone")] {
        let output = scene.output_of(&format!("{line} {placed}")).await;
        assert!(output.contains(expected) && !output.contains("since"), "{line}: {output}");
    }
}

#[tokio::test]
async fn a_run_without_stored_changes_says_why() {
    let scene = Scene::new().await;
    let read = scene.done("reader", "secret").await;
    let off = scene.call("writer", "branch", with_config(&scene.root, "allowWrite", json!(false))).await;
    let off = off.details.run_id.expect("the run has an id");
    let nothing = scene.done("writer", "idle").await;
    let unisolated = scene.done("brancher", "idle").await;
    for (id, expected) in [
        (&read, "reader is readonly: it changed nothing"),
        (&off, "`allowWrite` was off: it changed nothing"),
        (&nothing, "it changed nothing"),
        (&unisolated, "it changed nothing"),
    ] {
        for command in ["undo", "diff", "apply", "discard"] {
            let output = scene.output_of(&format!("{command} {id}")).await;
            assert!(output.trim_end().ends_with(&format!(": {expected}")), "{command}: {output}");
        }
    }
}

/// The next pi has another session, which has started no run.
#[tokio::test]
async fn changes_of_another_session_are_found_until_they_are_applied_or_discarded() {
    let scene = Scene::new().await;
    let result = scene.call("brancher", "branch", context(&scene.root)).await;
    let id = result.details.results[0].run_id.clone().expect("the run has an id");
    assert!(scene.output_of("list").await.contains("not applied yet"));
    let (next, events) = scene.another("next").await;
    let waits = format!("1 branch waits: brancher {id} (1 file) · /subagents apply {id}");
    eventually("the sentence about the branch", || waiting(&events) == [waits.clone()]).await;
    let answer = async |line: &str| {
        let user = Arc::new(User::default());
        commands::answer(&scene.service, &next, line, commands::CommandHost::default(), user).await.plain()
    };
    let offered = |prefix: &str| {
        let offered = commands::complete(prefix, &next.named_runs(), &[], &[]).into_iter();
        offered.map(|completion| completion.value).collect::<Vec<_>>()
    };
    let list = answer("list").await;
    assert!(list.contains(&id) && list.contains("another session"), "{list}");
    for (command, is_offered) in [
        ("apply", true),
        ("diff", true),
        ("discard", true),
        ("info", true),
        ("log", true),
        ("send", true),
        ("resume", true),
        ("apply --abort", false),
        ("undo", false),
        ("stop", false),
    ] {
        let values = offered(&format!("{command} "));
        assert_eq!(values.iter().any(|value| value.contains(&id)), is_offered, "{command}: {values:?}");
    }
    let doctor = answer("doctor").await;
    assert!(doctor.contains(&waits), "{doctor}");
    let diff = answer(&format!("diff {}", &id[..5])).await;
    let steps = format!("apply: /subagents apply {id} · discard: /subagents discard {id}");
    assert!(diff.ends_with(&steps), "the beginning of the id is enough: {diff}");

    assert!(answer("apply last").await.contains("applied"));
    assert!(answer("apply last").await.contains("already applied"));
    assert!(answer("list").await.contains(" · applied"));
    assert_eq!(offered("apply "), Vec::<String>::new(), "nothing is left to apply");
    assert_eq!(offered("apply --abort "), [format!("apply --abort {id}")]);
    let doctor = answer("doctor").await;
    assert!(!doctor.contains("branch waits"), "{doctor}");
    assert!(answer("apply --abort").await.contains("undid the apply"));
    assert!(answer("list").await.contains("not applied yet"));

    let refused = answer("discard last --yes").await;
    assert!(refused.contains("`last` is a run of another session"), "{refused}");
    assert!(answer(&format!("discard {id} --yes")).await.contains("deleted the branch"));
    for (line, expected) in
        [("list", "this session has no stored run"), ("apply last", "no earlier work waits in this project")]
    {
        let output = answer(line).await;
        assert!(output.contains(expected), "{line}: {output}");
    }
}

#[tokio::test]
async fn the_same_waiting_changes_are_announced_once_in_a_session() {
    let scene = Scene::new().await;
    let (_, events) = scene.another("next").await;
    let branch = scene.done("brancher", "branch").await;
    let (view, first) = scene.another("next").await;
    eventually("the sentence about the branch", || waiting(&first).len() == 1).await;
    assert!(waiting(&first)[0].contains(&branch), "{:?}", waiting(&first));
    // As after `/reload`.
    let (_, reloaded) = scene.another("next").await;
    eventually("the first event", || !reloaded.0.lock().is_empty() || view.session() == "next").await;
    scene.done("brancher", "placed").await;
    let (_, more) = scene.another("next").await;
    eventually("the sentence about both", || waiting(&more) == ["2 branches wait: /subagents list"]).await;
    assert_eq!([waiting(&events), waiting(&reloaded)], [const { Vec::<String>::new() }; 2]);
}

/// A model reads the list of its own runs, and cannot act on others.
#[tokio::test]
async fn a_model_sees_no_run_of_another_session() {
    let scene = Scene::new().await;
    scene.call("brancher", "branch", context(&scene.root)).await;
    let (next, _) = scene.another("next").await;
    let call = parse_call("sessions_list", json!({})).expect("it is a session tool").expect("it is valid");
    let user = Arc::new(User::default());
    let answer = use_session_tool(&scene.service, &next, call, None, user, &Cancel::new()).await;
    assert!(!answer.value.to_string().contains("brancher"), "{}", answer.value);
}

/// The data for going back after an interrupted apply is kept until the apply was aborted, regardless of other commands.
#[tokio::test]
async fn a_run_with_an_interrupted_apply_continues_only_after_the_abort() {
    let scene = Scene::new().await;
    let branch = scene.done("brancher", "branch").await;
    scene.output_of(&format!("apply {branch}")).await;
    let record = scene.root.path().join("agent/subagents/snapshots").join(&branch).join("snapshot.json");
    let text = fs::read_to_string(&record).expect("the file is readable");
    fs::write(&record, text.replace("\"isComplete\":true", "\"isComplete\":false"))
        .expect("the file is written");
    let output = scene.output_of(&format!("resume {branch}")).await;
    scene.settled().await;
    let texts = output + &scene.output_of(&format!("info {branch}")).await;
    assert!(texts.contains(&format!("`/subagents undo {branch}`")), "{texts}");
    let output = scene.output_of(&format!("apply --abort {branch}")).await;
    assert!(output.contains("undid the apply") && scene.text("branch.txt").is_none(), "{output}");
}

/// A run that cannot be continued keeps the artifacts of its earlier part.
#[tokio::test]
async fn a_run_that_cannot_be_continued_stays_unchanged() {
    let scene = Scene::new().await;
    let branch = scene.done("brancher", "branch").await;
    let large = fs::File::create(scene.path("large")).expect("the file is created");
    large.set_len(1 << 32).expect("the file is extended");
    let output = scene.output_of(&format!("resume {branch}")).await;
    scene.settled().await;
    let texts = output + &scene.output_of(&format!("info {branch}")).await;
    assert!(texts.contains("take up 4.0 GiB"), "{texts}");
    fs::remove_file(scene.path("large")).expect("the file is removed");
    let output = scene.output_of(&format!("diff {branch}")).await;
    assert!(output.contains("+of branch"), "{output}");
    let output = scene.output_of(&format!("apply {branch}")).await;
    assert!(output.contains("applied") && scene.text("branch.txt").is_some(), "{output}");
}

/// The checkout of a large tree takes a while, in which a person stops the run.
#[tokio::test]
async fn a_run_stopped_during_the_checkout_of_its_tree_leaves_nothing() {
    let scene = Scene::new().await;
    let at = |name: &str| scene.root.path().join(name);
    let held = || fs::write(at("held"), "").expect("the file is written");
    held();
    let id = scene.spawn("brancher", "branch").await;
    eventually("the checkout of the tree", || at("checking-out").exists()).await;
    let output = scene.output_of(&format!("stop {id}")).await;
    assert!(output.contains("stopped"), "{output}");
    scene.settled().await;
    fs::remove_file(at("held")).expect("the file is removed");
    let gone =
        || scene.entries("subagent-trees").is_empty() && scene.entries("subagents/snapshots").is_empty();
    eventually("the removal of the trees and snapshots", gone).await;

    // A stopped resumption leaves the run its artifacts.
    let id = scene.done("brancher", "branch").await;
    fs::remove_file(at("checking-out")).expect("the file is removed");
    held();
    scene.output_of(&format!("resume {id}")).await;
    eventually("the checkout of the tree", || at("checking-out").exists()).await;
    scene.output_of(&format!("stop {id}")).await;
    scene.settled().await;
    fs::remove_file(at("held")).expect("the file is removed");
    eventually("the removal of the tree", || scene.entries("subagent-trees").is_empty()).await;
    eventually("the restored snapshot", || scene.entries("subagents/snapshots") == [id.clone()]).await;
    let output = scene.output_of(&format!("apply {id}")).await;
    assert!(output.contains("applied"), "{output}");
}

/// Returns the commands for a person that a text names.
fn commands_in(text: &str) -> Vec<&str> {
    text.split("`/subagents ").skip(1).filter_map(|rest| rest.split('`').next()).collect()
}

#[tokio::test]
async fn every_id_in_a_result_is_found_by_the_commands() {
    let scene = Scene::new().await;
    let with = |change: &dyn Fn(&mut HostContext)| {
        let mut changed = (*context(&scene.root)).clone();
        change(&mut changed);
        Arc::new(changed)
    };
    let no_session_file = with(&|context| {
        context.config.as_mut().expect("the configuration exists")["persistSession"] = json!(false);
    });
    let no_conversation = with(&|context| {
        (context.host.session_id, context.host.session_file) = (None, None);
    });
    let launched = with(&|context| {
        let config = context.config.as_mut().expect("the configuration exists");
        let text = |path: &str| scene.root.path().join(path).to_string_lossy().into_owned();
        let far = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/far.sh");
        config["launchers"] = json!({ "far": {
            "command": ["/bin/sh", far, "words", text("far"), "{argv}"],
            "piCommand": ["/bin/sh", text("pi.sh")],
            "quote": "words",
        } });
        config["launcher"] = "far".into();
    });
    let cases = [
        ("no session file", no_session_file),
        ("no conversation", no_conversation),
        ("a launcher", launched),
    ];
    for (about, context) in cases {
        let result = scene.call("brancher", "branch", context).await;
        assert!(!result.is_error, "{about}: {}", result.text);
        let named = commands_in(&result.text);
        assert!(matches!(named[..], [command] if command.starts_with("apply ")), "{about}: {}", result.text);
        let id = named[0].trim_start_matches("apply ");
        for (line, expected) in [
            (format!("diff {id}"), "Changes of"),
            (named[0].to_owned(), "applied"),
            (format!("undo {id}"), "undid the apply"),
            (format!("discard {id} --yes"), "deleted the branch"),
        ] {
            let output = scene.output_of(&line).await;
            assert!(output.contains(expected), "{about}: {line}: {output}");
        }
        let is_named = result.details.results[0].run_id.is_some();
        assert_eq!(is_named, about != "no conversation", "only the run's conversation lists the run");
        if is_named {
            let output = scene.output_of(&format!("info {id}")).await;
            assert!(output.contains("brancher"), "{output}");
            let output = scene.output_of(&format!("resume {id}")).await;
            assert!(output.contains("cannot be resumed: "), "{output}");
        }
    }
}

#[tokio::test]
async fn undo_last_undoes_the_call_that_ended_last_and_no_older_run() {
    let scene = Scene::new().await;
    scene.done("writer", "placed").await;
    let result = scene.call("writer", "secret", context(&scene.root)).await;
    assert!(!result.is_error && scene.text("secret.txt").is_some(), "{}", result.text);
    let output = scene.output_of("undo last").await;
    assert!(output.contains("reverted") && output.contains("`secret.txt`"), "{output}");
    assert_eq!((scene.text("secret.txt"), scene.text("placed.txt").is_some()), (None, true), "{output}");
}

/// A refusal ends with advice for the model that made the call. A person needs none.
#[tokio::test]
async fn a_refused_start_by_a_person_has_no_words_for_the_model() {
    let scene = Scene::new().await;
    let agents = scene.path(".pi/agents");
    fs::create_dir_all(&agents).expect("the directory is created");
    fs::write(agents.join("local.md"), "---\nname: local\n---\nLook.\n").expect("the file is written");
    let context = with_config(&scene.root, "projectAgentPolicy", json!("deny"));
    let scope = ConversationScope { cwd: scene.path(""), context, ends_with: Cancel::new() };
    let (known, events) = (KnownDeliveries::default(), EventRecorder::default());
    let view = open_conversation(&scene.service, "denied".to_owned(), scope, known, events).await;
    let user = Arc::new(User::default());
    let answer =
        commands::answer(&scene.service, &view, "run local look", commands::CommandHost::default(), user)
            .await
            .plain();
    assert!(answer.contains("`subagents.projectAgentPolicy` is `deny`"), "{answer}");
    assert!(!answer.contains("use another one"), "{answer}");
}
