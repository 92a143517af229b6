//! The question whether a project's agent may run shows exactly everything that a yes allows.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::child::Child;
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::present::paint::Palette;
use pi_subagent_native::present::{QuestionKey, QuestionKeyNames, QuestionScreen};
use pi_subagent_native::run::{Answer, ConfirmRequest, Control, Progress, allow_script, allowed_script};
use serde_json::json;
use tokio::sync::watch;

/// The largest agent file.
const MAX_FILE_BYTES: usize = 64 * 1024;

/// A project with its own agent, and a user who is asked about it.
struct Project(Scene);

impl Project {
    fn new() -> Self {
        let mut scene =
            Scene::new(Child::new().starts().says("Done.").settles(), json!({ "protocol": "json" }));
        fs::create_dir_all(scene.path("project/.pi/agents")).expect("the directory is created");
        scene.spec.agent = "local".into();
        Self(scene)
    }

    /// Writes the agent's file.
    fn write(&self, text: &str) {
        fs::write(self.0.path("project/.pi/agents/local.md"), text).expect("the file is written");
    }

    /// Runs the agent in a new session and returns the question, if the user is asked.
    async fn ask(&self, answer: bool) -> Option<String> {
        static SESSIONS: AtomicUsize = AtomicUsize::new(0);
        let session = format!("session {}", SESSIONS.fetch_add(1, Ordering::Relaxed));
        self.ask_in(&session, Some(answer)).await.0.map(|asked| asked.message.into_string())
    }

    /// Runs the agent in a session. Returns the question, if the user is asked, and the result. `None`: the user gives no
    /// answer.
    async fn ask_in(&self, session: &str, answer: Option<bool>) -> (Option<ConfirmRequest>, String) {
        let asked = Mutex::new(None);
        let confirms = |request: ConfirmRequest| {
            *asked.lock().expect("the lock is not poisoned") = Some(request);
            answer.unwrap_or_default()
        };
        let confirms: Option<Box<dyn Fn(ConfirmRequest) -> bool + Send + Sync>> =
            answer.is_some().then(|| Box::new(confirms) as _);
        let patience = answer.is_none().then(|| Duration::from_millis(50));
        let user =
            User { confirms, patience, answers: Some(Box::new(|_| Answer::Cancelled)), ..User::default() };
        let mut spec = self.0.spec.clone();
        Arc::make_mut(&mut spec.context).host.session_id = Some(session.to_owned());
        let (progress, _) = watch::channel(Progress::default());
        let result = self.0.execute_spec(spec, &user, &Control::default(), &progress, || ()).await;
        drop(user);
        (asked.into_inner().expect("the lock is not poisoned"), result.text)
    }
}

fn agent(fields: &str, prompt: &str) -> String {
    format!("---\nname: local\ndescription: Looks around\n{fields}---\n{prompt}")
}

/// Returns the part of a question that begins with these words.
fn part<'a>(question: &'a str, words: &str) -> &'a str {
    question
        .split("\n\n")
        .find(|part| part.starts_with(words))
        .unwrap_or_else(|| panic!("{words}: {question}"))
}

#[tokio::test]
async fn every_command_is_shown_exactly() {
    let padded = format!("npm test{}; ./x.sh", " ".repeat(600));
    for (command, expected) in [
        ("API_KEY=abcd1234efgh5678ijkl;./x.sh npm test", None),
        (r#"DB_PASSWORD="hunter2 $(sh x.sh) hunter2" npm test"#, None),
        ("curl -H \"Authorization: Bearer `sh<x.sh`abcdefgh12345678\" localhost", None),
        ("git ls-remote https://user:p4ssw0rd12345678@127.0.0.1/x", None),
        ("touch a # ghp_0123456789abcdefghijklmnopqrstuvwxyzAB", None),
        ("npm test\u{2800}\u{2800}\u{2800}; ./x.sh", Some("npm test<U+2800 x3>; ./x.sh")),
        ("npm\u{a0}test;\u{3000}./x.sh", Some("npm<U+00A0>test;<U+3000>./x.sh")),
        (&padded, Some("npm test<U+0020 x600>; ./x.sh")),
        ("cp \u{5d0} > \u{5d1}; ./x.sh", Some("cp <U+05D0> > <U+05D1>; ./x.sh")),
        ("echo '<U+2800>'", Some("echo '<U+003C>U+2800>'")),
        ("n\u{440}m test", Some("n\u{440}m test\n  it has letters outside ASCII: \u{440} U+0440")),
    ] {
        for field in ["check", "setup"] {
            let project = Project::new();
            project.write(&agent(&format!("{field}: {}\n", json!(command)), "Build."));
            let question = project.ask(false).await.expect("the user is asked");
            let expected = format!("{field}: {}\ntools: ", expected.unwrap_or(command));
            assert!(question.starts_with(&expected), "{expected}\n{question}");
        }
    }
}

#[tokio::test]
async fn the_question_shows_the_whole_file_and_marks_it_as_quoted() {
    let project = Project::new();
    let prompt = "Look.\n\ntools: none\n\nThe project, not you, wrote its instructions. It can only read.\n";
    let many = "Do as the token=abcdefgh12345678ijkl says.\n".repeat(400);
    let text = agent("readonly: true\n", &format!("{prompt}{many}Send\u{200b} it."));
    project.write(&text);
    let question = project.ask(false).await.expect("the user is asked");
    let (ours, file) = question.split_once("\n\nAll of the file: ").expect("the question shows the file");
    assert_eq!(ours.matches("\nThe project, not you").count(), 1, "{ours}");
    let beginning = "\nits prompt begins:\n| Look.\n| tools: none\n| The project, not you, wrote";
    assert!(ours.contains(beginning), "{ours}");
    assert!(ours.contains("A mark such as <U+200B> stands for"), "{ours}");
    let (size, lines) = file.split_once('\n').expect("the file has lines");
    assert_eq!(size, "411 lines, 17 KiB");
    let shown: Vec<_> =
        lines.lines().map(|line| line.strip_prefix("| ").expect("each line begins with a bar")).collect();
    assert_eq!(shown.join("\n"), text.replace('\u{200b}', "<U+200B>"));
}

#[tokio::test]
async fn a_question_about_a_changed_file_shows_each_change_exactly() {
    let project = Project::new();
    let check = |command: &str| agent(&format!("check: '{command}'\n"), "Build.");
    let secret = |value: &str| agent("", &format!("Use token={value} for it."));
    let long = |end: &str| agent("", &format!("{}{end}", "Look.\n".repeat(3_000)));
    for (label, before, after, changes) in [
        (
            "within text that looks like a secret",
            check("API_KEY=abcd1234efgh5678ijkl npm test"),
            check("API_KEY=abcd1234efgh5678ijkl;./x.sh npm test"),
            ":\n- check: 'API_KEY=abcd1234efgh5678ijkl npm test'\n+ check: 'API_KEY=abcd1234efgh5678ijkl;./x.sh npm test'",
        ),
        (
            "one secret for another",
            secret("abcdefgh12345678ijkl"),
            secret("abcdefgh12345678ijkm"),
            ":\n- Use token=abcdefgh12345678ijkl for it.\n+ Use token=abcdefgh12345678ijkm for it.",
        ),
        (
            "invisible",
            agent("", "Build it."),
            agent("", "Build\u{200b} it. "),
            ":\n- Build it.\n+ Build<U+200B> it.<U+0020>",
        ),
        ("in a long file", long("Stop."), long("Go on."), ":\n- Stop.\n+ Go on."),
        (
            "line ends",
            agent("", "a\nb\n"),
            agent("", "a\nb\n").replace('\n', "\r\n"),
            ", but only in its line endings.",
        ),
    ] {
        project.write(&before);
        assert!(project.ask(true).await.is_some(), "{label}");
        assert!(project.ask(false).await.is_none(), "{label}: the confirmation is remembered");
        project.write(&after);
        let question =
            project.ask(false).await.unwrap_or_else(|| panic!("{label}: the user was not asked again"));
        let shown = part(&question, "The file has changed since you allowed it");
        assert_eq!(shown, format!("The file has changed since you allowed it{changes}"), "{label}");
    }
}

#[tokio::test]
async fn a_question_shows_every_changed_line() {
    let project = Project::new();
    project.write(&agent("", "Stop."));
    assert!(project.ask(true).await.is_some());
    let mut text = agent("", "");
    let mut added = 0;
    while text.len() < MAX_FILE_BYTES - 100 {
        text.push_str("Look at it.\n");
        added += 1;
    }
    project.write(&text);
    let question = project.ask(true).await.expect("the user is asked again");
    assert_eq!(question.matches("\n+ Look at it.").count(), added);
    // The longest file is stored, too.
    project.write(&text.replacen("Look at it.", "Look at me.", 1));
    let question = project.ask(false).await.expect("the user is asked again");
    let shown = part(&question, "The file has changed since you allowed it");
    assert_eq!(shown, "The file has changed since you allowed it:\n- Look at it.\n+ Look at me.");
}

/// Draws a question for a terminal of 24 rows. `keys` are pressed before.
fn screen(asked: &ConfirmRequest, keys: &[QuestionKey]) -> String {
    let name = str::to_owned;
    let names = QuestionKeyNames {
        up: name("up"),
        down: name("down"),
        page_up: name("pageUp"),
        page_down: name("pageDown"),
        end: name("end"),
        confirm: name("enter"),
        cancel: name("escape/ctrl+c"),
    };
    let choices = vec![name("No, do not run it"), name("Yes, run it")];
    let (title, message) = (asked.title.to_string(), asked.message.to_string());
    let mut screen = QuestionScreen::new(name("sub-agent"), title, message, choices);
    let draw = |screen: &mut QuestionScreen| screen.draw(&Palette::default(), 80, 24, &names, None);
    let mut lines = draw(&mut screen);
    for key in keys {
        screen.press(*key);
        lines = draw(&mut screen);
    }
    assert!(lines.len() <= 24, "{lines:#?}");
    lines.join("\n")
}

#[tokio::test]
async fn a_low_screen_shows_the_commands_the_prompt_the_answers_and_the_key_for_all_of_the_file() {
    let project = Project::new();
    let prompt = (1..=60).map(|line| format!("{line}. Look there.")).collect::<Vec<_>>().join("\n");
    let command = "API_KEY=abcd1234efgh5678ijkl ./x.sh npm test";
    project.write(&agent(&format!("check: '{command}'\nsetup: npm ci\n"), &prompt));
    let (asked, _) = project.ask_in("low", Some(false)).await;
    let asked = asked.expect("the user is asked");
    let first = screen(&asked, &[]);
    for shown in [
        "Run the project's agent local?",
        &format!("check: {command}"),
        "setup: npm ci",
        "tools: ",
        "file: ",
        "| 1. Look there.",
        "| 2. Look there.",
        "→ No, do not run it",
        "Yes, run it",
        "pageDown/end: all of it",
    ] {
        assert!(first.contains(shown), "{shown}\n{first}");
    }
    let last = screen(&asked, &[QuestionKey::End]);
    assert!(last.contains("| 60. Look there."), "{last}");
}

#[tokio::test]
async fn a_no_counts_in_its_session_until_the_file_changes() {
    let project = Project::new();
    project.write(&agent("", "Look."));
    let (asked, text) = project.ask_in("one", None).await;
    assert!(asked.is_none() && text.contains("has not answered"), "{text}");
    let (asked, text) = project.ask_in("one", Some(false)).await;
    assert!(asked.is_some(), "a question without an answer is asked again: {text}");
    assert!(
        text.ends_with(
            "the user did not allow it, and is asked again when the file changes, in a new session, or after \
             `/subagents run local TASK`; use another one, and do not ask for it again"
        ),
        "{text}"
    );
    let (asked, again) = project.ask_in("one", Some(true)).await;
    assert!(asked.is_none(), "the user is asked again");
    assert_eq!(again, text);
    assert!(project.ask_in("another", Some(false)).await.0.is_some(), "another session asks");
    project.write(&agent("", "Look deeper."));
    assert!(project.ask_in("one", Some(false)).await.0.is_some(), "the changed file is asked about");
    project.write(&agent("", "Look."));
    assert!(project.ask_in("one", Some(true)).await.0.is_none(), "the earlier text is still refused");
    assert!(project.ask_in("three", Some(true)).await.0.is_some());
    let (asked, text) = project.ask_in("one", Some(false)).await;
    assert!(asked.is_none() && text.contains("Done."), "a yes in another session counts: {text}");
}

/// Another process replaces the file continuously. A question without the file's text would hide the consequences of a yes.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_about_a_file_that_is_being_replaced_always_shows_its_text() {
    const ATTEMPTS: usize = 100;
    let project = Project::new();
    let texts = [agent("", "Look."), agent("inheritExtensions: all\n", "Look.")];
    let (path, new) =
        (project.0.path("project/.pi/agents/local.md"), project.0.path("project/.pi/agents/local.new"));
    project.write(&texts[0]);
    let has_ended = std::sync::atomic::AtomicBool::new(false);
    let questions = std::thread::scope(|scope| {
        scope.spawn(|| {
            for text in texts.iter().cycle() {
                if has_ended.load(std::sync::atomic::Ordering::Acquire) {
                    return;
                }
                fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).expect("the file is replaced");
            }
        });
        let questions = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                let mut questions = Vec::new();
                while questions.len() < ATTEMPTS {
                    questions.push(project.ask(false).await);
                }
                questions
            })
        });
        has_ended.store(true, std::sync::atomic::Ordering::Release);
        questions
    });
    assert!(questions.iter().any(Option::is_some), "every run was refused, so no question was checked");
    for question in questions.iter().flatten() {
        assert!(question.contains("\n\nAll of the file: "), "{question}");
    }
}

/// The commands of such an agent would run in the other project.
#[tokio::test]
async fn a_link_to_an_agent_of_another_project_is_not_allowed_with_its_target() {
    for link in [".pi/agents/local.md", ".pi/agents", ".pi"] {
        let mut project = Project::new();
        project.write(&agent("", "Look."));
        assert!(project.ask(true).await.is_some());
        assert_eq!(project.ask(true).await, None);
        let other = project.0.path("other");
        let at = other.join(link);
        fs::create_dir_all(other.join(".git")).expect("the directory is created");
        fs::create_dir_all(at.parent().expect("the path has a parent")).expect("the directory is created");
        std::os::unix::fs::symlink(project.0.path("project").join(link), &at).expect("the link is created");
        project.0.spec.cwd = other;
        assert!(project.ask(true).await.is_some(), "{link}");
        assert_eq!(project.ask(true).await, None, "{link}");
    }
}

#[tokio::test]
async fn pi_continues_a_script_only_with_the_imports_of_its_last_start_by_the_user() {
    let scene = Scene::new(Child::new(), json!({}));
    let context = &scene.spec.context;
    let cwd = scene.path("project").canonicalize().expect("the path exists");
    let write = |name: &str, text: &str| fs::write(cwd.join(name), text).expect("the file is written");
    let user = || User { confirms: Some(Box::new(|_| true)), ..User::default() };
    write("flow.mts", "import './lib.mts';\n");
    write("lib.mts", "// A comment.\n");
    let started = allow_script("flow.mts", &cwd, context, &user()).await.expect("the user allows it");
    assert_eq!(started.imports, None, "the user may start it with any imports");
    let again = || {
        let script = allowed_script(&started.path, &cwd, context);
        script.map(|script| script.imports).map_err(|refused| refused.to_string())
    };
    assert_eq!(again(), Ok(Some(BTreeMap::new())), "unknown imports are refused");
    // The process of the script records them.
    let lib = cwd.join("lib.mts");
    let hash = agents::content_hash(b"// A comment.\n");
    fs::write(&started.imports_file, format!("{}\n", json!({ "path": lib, "sha256": hash })))
        .expect("the file is written");
    assert_eq!(again(), Ok(Some([(lib.clone(), hash)].into())));
    let shown = |name: &str| cwd.join(name).display().to_string();
    let changed = Err(format!("`{}`, which it imports, has changed since you started it", shown("lib.mts")));
    write("lib.mts", "// Another comment.\n");
    assert_eq!(again(), changed);
    fs::remove_file(&lib).expect("the file is removed");
    assert_eq!(again(), changed);
    write("lib.mts", "// A comment.\n");
    assert!(again().is_ok());
    // A link in another project needs its own consent, and has its own imports.
    let other = scene.path("other");
    fs::create_dir(&other).expect("the directory is created");
    std::os::unix::fs::symlink(cwd.join("flow.mts"), other.join("flow.mts")).expect("the link is created");
    let linked = || {
        let script = allowed_script(&other.join("flow.mts"), &other, context);
        script.map(|script| script.imports).map_err(|refused| refused.to_string())
    };
    let not_allowed = format!("`{}` has changed since you allowed it", other.join("flow.mts").display());
    assert_eq!(linked(), Err(not_allowed));
    allow_script("flow.mts", &other, context, &user()).await.expect("the user allows it");
    assert_eq!(linked(), Ok(Some(BTreeMap::new())));
    write("flow.mts", "// Another script.\n");
    assert_eq!(again(), Err(format!("`{}` has changed since you allowed it", shown("flow.mts"))));
}
