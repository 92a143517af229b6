//! The existing agents, the precedence of agents with the same name, and the messages about invalid files.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use agents::{AgentDirs, Catalog, Source, confirm, discover, is_confirmed};
use tempfile::TempDir;

const BUILTINS: [&str; 6] = ["explorer", "researcher", "reviewer", "implementer", "tester", "worker"];

/// `home/agent` is pi's agent directory, `home/code/project` a repository.
struct Scene {
    root: TempDir,
    home: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let home = fs::canonicalize(root.path()).expect("the path exists").join("home");
        fs::create_dir_all(home.join("agent/agents")).expect("the directory is created");
        fs::create_dir_all(home.join("code/project/.git")).expect("the directory is created");
        fs::create_dir_all(home.join("code/project/a/b")).expect("the directory is created");
        Self { root, home }
    }

    /// Writes an agent with this name. The path is relative to the home.
    fn agent(&self, path: &str, name: &str) {
        self.file(path, &format!("---\nname: {name}\ndescription: from {path}\n---\nBody\n"));
    }

    fn file(&self, path: &str, content: &str) {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(path, content).expect("the file is written");
    }

    fn discover_in(&self, cwd: &str) -> Catalog {
        discover(&self.home.join(cwd), &self.home.join("agent"), Some(&self.home), AgentDirs::default())
    }

    fn discover(&self) -> Catalog {
        self.discover_in("code/project")
    }

    /// Returns the name and source of every agent that is not builtin.
    fn found_in(&self, cwd: &str) -> Vec<(String, Source)> {
        let catalog = self.discover_in(cwd);
        let own = catalog.agents.iter().filter(|agent| agent.source != Source::Builtin);
        own.map(|agent| (agent.name.clone(), agent.source)).collect()
    }

    fn report(&self, catalog: &Catalog) -> String {
        let lines =
            catalog.diagnostics.iter().map(|found| format!("{:?} {} {found}", found.severity, found.code));
        lines.collect::<Vec<_>>().join("\n").replace(&self.home.display().to_string(), "")
    }
}

#[test]
fn without_any_file_the_builtins_are_listed_in_order() {
    let catalog = Scene::new().discover();
    let names: Vec<_> = catalog.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, BUILTINS);
    assert!(catalog.agents.iter().all(|agent| agent.source == Source::Builtin && agent.path.is_none()));
    assert!(catalog.shadowed.is_empty() && catalog.diagnostics.is_empty());
}

#[test]
fn missing_directories_are_ignored() {
    let catalog = discover("/nowhere/at/all".as_ref(), "/nowhere/agent".as_ref(), None, AgentDirs::default());
    assert_eq!((catalog.agents.len(), catalog.diagnostics.len()), (BUILTINS.len(), 0));
}

#[test]
fn the_list_is_builtins_then_user_then_project_by_name() {
    let scene = Scene::new();
    scene.agent("agent/agents/1.md", "zeta");
    scene.agent("agent/agents/2.markdown", "beta");
    scene.agent("code/project/.pi/agents/1.md", "yes");
    scene.agent("code/project/.pi/agents/2.md", "alpha");
    let catalog = scene.discover();
    let names: Vec<_> = catalog.agents.iter().skip(BUILTINS.len()).map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["beta", "zeta", "alpha", "yes"]);
}

#[test]
fn the_project_hides_the_user_and_the_user_hides_the_builtin() {
    let scene = Scene::new();
    scene.agent("agent/agents/e.md", "explorer");
    scene.agent("agent/agents/own.md", "own");
    scene.agent("code/project/.pi/agents/e.md", "explorer");
    let catalog = scene.discover();
    let explorers: Vec<_> = catalog.agents.iter().filter(|agent| agent.name == "explorer").collect();
    assert_eq!(explorers.len(), 1);
    assert_eq!(explorers[0].source, Source::Project);
    let hidden: Vec<_> =
        catalog.shadowed.iter().map(|entry| (entry.source, entry.by, entry.path.is_some())).collect();
    assert_eq!(hidden, [(Source::Builtin, Source::Project, false), (Source::User, Source::Project, true)]);
}

#[test]
fn a_folder_named_agents_in_a_project_is_ignored() {
    let scene = Scene::new();
    scene.agent("code/project/agents/explorer.md", "explorer");
    assert_eq!(scene.found_in("code/project"), []);
}

#[test]
fn the_project_is_the_nearest_directory_up_to_the_repository_or_home() {
    let scene = Scene::new();
    scene.agent("code/.pi/agents/x.md", "beyond-the-repository");
    assert_eq!(scene.found_in("code/project/a/b"), []);

    scene.agent("code/project/.agents/x.md", "plain");
    assert_eq!(scene.found_in("code/project/a/b"), [("plain".to_owned(), Source::Project)]);

    scene.agent("code/project/.pi/agents/x.md", "pi");
    assert_eq!(
        scene.found_in("code/project/a/b"),
        [("pi".to_owned(), Source::Project)],
        "`.pi/agents` comes first"
    );

    scene.agent("code/project/a/.agents/x.md", "nearer");
    assert_eq!(scene.found_in("code/project/a/b"), [("nearer".to_owned(), Source::Project)]);

    fs::create_dir_all(scene.home.join("loose/a")).expect("the directory is created");
    fs::create_dir_all(scene.root.path().join(".pi/agents")).expect("the directory is created");
    fs::write(scene.root.path().join(".pi/agents/x.md"), "---\nname: above-home\n---\n")
        .expect("the agent file is written");
    assert_eq!(scene.found_in("loose/a"), []);
    scene.agent(".pi/agents/x.md", "in-home");
    assert_eq!(scene.found_in("loose/a"), [("in-home".to_owned(), Source::Project)]);
}

#[test]
fn the_users_own_directory_is_never_a_project() {
    let scene = Scene::new();
    scene.agent(".pi/agents/x.md", "mine");
    let catalog =
        discover(&scene.home.join("code"), &scene.home.join(".pi"), Some(&scene.home), AgentDirs::default());
    assert_eq!(catalog.find("mine").expect("the agent exists").source, Source::User);
}

#[test]
fn the_first_file_by_name_wins_if_two_define_one_agent() {
    let scene = Scene::new();
    scene.agent("agent/agents/b.md", "same");
    scene.agent("agent/agents/a.md", "same");
    let catalog = scene.discover();
    let agent = catalog.find("same").expect("the agent exists");
    assert!(agent.path.as_ref().is_some_and(|path| path.ends_with("a.md")));
    assert_eq!(
        scene.report(&catalog),
        "Warning AGENT_NAME_DUPLICATE /agent/agents/b.md:1:1: agent `same` is already defined in `a.md`; this file is ignored"
    );
}

#[test]
fn names_of_claude_code_find_the_equivalent_agent() {
    let scene = Scene::new();
    let found = |name| scene.discover().find(name).map(|agent| agent.name.clone());
    let named = ["Explore", "Plan", "general-purpose"].map(|name| found(name).unwrap_or_default());
    assert_eq!(named, ["explorer", "implementer", "worker"]);
    assert!(found("plan").is_err(), "other names must match exactly");
    scene.agent("agent/agents/p.md", "Plan");
    assert_eq!(found("Plan").expect("the user's agent exists"), "Plan");
}

#[test]
fn a_broken_definition_hides_no_other() {
    let scene = Scene::new();
    scene.file("code/project/.pi/agents/e.md", "---\nname: explorer\nreadonly: perhaps\n---\n");
    let catalog = scene.discover();
    assert_eq!(catalog.find("explorer").expect("the agent exists").source, Source::Builtin);
    assert_eq!(catalog.diagnostics.len(), 1);
}

#[test]
fn a_broken_user_agent_is_not_replaced_by_a_builtin() {
    let scene = Scene::new();
    scene.file("agent/agents/w.md", "---\nname: worker\nreadonly: perhaps\n---\n");
    scene.file("agent/agents/tester.md", "---\ndisable: true\n---\n");
    scene.file("agent/agents/reviewer.md", "---\ntitle: How to review\n---\n");
    scene.file("agent/agents/explorer.md", "# Notes\n");
    let catalog = scene.discover();
    let names: Vec<_> = catalog.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["explorer", "researcher", "reviewer", "implementer"]);
    let report = |name: &str| catalog.find(name).expect_err("the agent does not load").to_string();
    assert!(
        report("worker").contains("w.md, line 3, does not load: `readonly` is `perhaps`"),
        "{}",
        report("worker")
    );
    assert!(report("tester").contains("tester.md, line 2, does not load: `disable` switches the agent off"));
    scene.agent("agent/agents/x.md", "worker");
    assert_eq!(scene.discover().find("worker").expect("another user agent exists").source, Source::User);
}

#[test]
fn other_files_hidden_folders_and_packages_are_skipped() {
    let scene = Scene::new();
    scene.file("agent/agents/README.md", "# How to write agents\n");
    scene.file("agent/agents/loose.md", "You look for loose ends.\n");
    scene.file("agent/agents/guides/intro.md", "---\ntitle: Introduction\ntags: [x]\n---\nText\n");
    scene.agent("agent/agents/notes.txt", "text");
    scene.agent("agent/agents/.git/inner.md", "hidden");
    scene.agent("agent/agents/node_modules/pkg/agents/inner.md", "package");
    let catalog = scene.discover();
    assert_eq!(catalog.agents.len(), BUILTINS.len());
    assert!(
        catalog.diagnostics.iter().all(|found| found.code == "AGENT_FILE_NO_AGENT"),
        "{}",
        scene.report(&catalog)
    );
    let reported = |file: &str| scene.report(&catalog).lines().any(|line| line.contains(file));
    assert_eq!(["loose.md", "intro.md", "README.md"].map(reported), [true, true, false]);
    let unknown = catalog.find("loose").expect_err("the file is not an agent").to_string();
    assert!(unknown.contains("loose.md, line 1, does not load: the file has no frontmatter"), "{unknown}");
}

#[test]
fn agents_in_folders_are_found_and_an_upper_folder_comes_first() {
    let scene = Scene::new();
    scene.agent("agent/agents/02-languages/rust/expert.md", "rust");
    scene.agent("agent/agents/folder.md/inner.md", "inner");
    scene.agent("agent/agents/zz.md", "same");
    scene.agent("agent/agents/a/same.md", "same");
    scene.agent("code/project/.pi/agents/team/dba.md", "dba");
    let names: Vec<_> = scene.found_in("code/project").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["inner", "rust", "same", "dba"]);
    let catalog = scene.discover();
    let same = catalog.find("same").expect("the agent exists");
    assert!(same.path.as_ref().is_some_and(|path| path.ends_with("agents/zz.md")));
    assert_eq!(
        scene.report(&catalog),
        "Warning AGENT_NAME_DUPLICATE /agent/agents/a/same.md:1:1: agent `same` is already defined in \
         `/agent/agents/zz.md`; this file is ignored"
    );
}

#[test]
fn folders_are_read_up_to_a_maximum_depth_and_number() {
    let scene = Scene::new();
    scene.agent("agent/agents/1/2/3/4/5/six.md", "five-deep");
    scene.agent("agent/agents/1/2/3/4/5/6/seven.md", "six-deep");
    assert_eq!(scene.found_in("code/project"), [("five-deep".to_owned(), Source::User)]);
    let report = scene.report(&scene.discover());
    assert!(report.contains("AGENT_DIRECTORY_TOO_LARGE") && report.contains("5 levels"), "{report}");

    let scene = Scene::new();
    for folder in 0..300 {
        fs::create_dir_all(scene.home.join(format!("agent/agents/{folder:03}")))
            .expect("the directory is created");
    }
    scene.agent("agent/agents/000/first.md", "first");
    scene.agent("agent/agents/299/last.md", "last");
    assert_eq!(scene.found_in("code/project"), [("first".to_owned(), Source::User)]);
    let report = scene.report(&scene.discover());
    assert_eq!(report.matches("AGENT_DIRECTORY_TOO_LARGE").count(), 1, "{report}");
}

#[cfg(unix)]
#[test]
fn a_circular_link_is_followed_once() {
    use std::os::unix::fs::symlink;

    let scene = Scene::new();
    scene.agent("agent/agents/team/a.md", "a");
    scene.agent("elsewhere/b.md", "b");
    let agents = scene.home.join("agent/agents");
    symlink(&agents, agents.join("team/back")).expect("the link is created");
    symlink("..", agents.join("team/up")).expect("the link is created");
    symlink(scene.home.join("elsewhere"), agents.join("linked")).expect("the link is created");
    let names: Vec<_> = scene.found_in("code/project").into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        (names, scene.report(&scene.discover())),
        (vec!["a".to_owned(), "b".to_owned()], String::new())
    );
}

#[cfg(unix)]
#[test]
fn a_folder_of_another_user_in_a_project_is_ignored_with_a_notice() {
    let scene = Scene::new();
    scene.agent("code/project/.pi/agents/theirs/x.md", "theirs");
    let folder = scene.home.join("code/project/.pi/agents/theirs");
    if std::os::unix::fs::chown(&folder, Some(4242), None).is_err() {
        // Only root can change a folder's owner.
        return;
    }
    assert_eq!(scene.found_in("code/project"), []);
    let report = scene.report(&scene.discover());
    assert!(report.contains("AGENT_FILE_FOREIGN /code/project/.pi/agents/theirs:1:1"), "{report}");
}

#[test]
fn a_call_of_a_broken_agent_explains_the_mistake() {
    let scene = Scene::new();
    scene.file("agent/agents/hunter.md", "---\nname: hunter\ntimeoutMs: 5m\n---\n");
    scene.file("agent/agents/x.md", "---\nname: tracker\n\ttools: Read\n---\n");
    scene.file("agent/agents/off.md", "---\nname: idle\ndisabled: true\n---\n");
    scene.file("agent/agents/large.md", &format!("---\nname: big\n---\n{}", "x".repeat(70_000)));
    let catalog = scene.discover();
    let report = |name: &str| {
        let error = catalog.find(name).expect_err("the agent does not load").to_string();
        error.replace(&scene.home.display().to_string(), "").split(". Available").next().map(str::to_owned)
    };
    let report = |name: &str| report(name).expect("the caller gets a message");
    assert_eq!(
        report("hunter"),
        "`hunter` in /agent/agents/hunter.md, line 3, does not load: `timeoutMs` is `5m`; expected whole \
         milliseconds from 0 (the configured value) to 604800000"
    );
    assert!(report(" tracker ").starts_with("`tracker` in /agent/agents/x.md, line 3, does not load: "));
    assert!(report("x").contains("x.md, line 3, does not load"), "a broken agent is found by its file name");
    assert!(report("idle").contains("off.md, line 3, does not load: `disabled` switches the agent off"));
    assert!(report("big").contains("large.md, line 1, does not load: the file has more than 65536 bytes"));
    assert!(report("large").contains("large.md"), "{}", report("large"));
}

#[test]
fn a_file_that_loads_with_a_warning_does_not_count_as_broken() {
    let scene = Scene::new();
    scene.file("agent/agents/notes.md", "---\nname: scribe\ndescription: Use: x\ntools: [read]\n---\nBody\n");
    let catalog = scene.discover();
    assert!(!catalog.diagnostics.is_empty(), "the description is not YAML");
    assert!(catalog.find("scribe").is_ok());
    assert_eq!(catalog.find("notes").expect_err("no agent has the name").broken, None);
}

#[test]
fn a_name_is_found_with_blanks_around_it_and_by_its_title() {
    let scene = Scene::new();
    scene.agent("agent/agents/f.md", "Front End Developer");
    let catalog = scene.discover();
    for name in
        ["Front-End-Developer", " Front-End-Developer\n", "Front End Developer", "Front  End Developer"]
    {
        assert_eq!(catalog.find(name).expect("the agent exists").name, "Front-End-Developer", "{name:?}");
    }
    assert_eq!(catalog.find(" explorer").expect("the agent exists").name, "explorer");
}

#[cfg(target_os = "linux")]
#[test]
fn links_are_followed_and_unreadable_entries_are_reported() {
    use std::os::unix::fs::symlink;

    let scene = Scene::new();
    scene.agent("elsewhere/linked.md", "linked");
    let agents = scene.home.join("agent/agents");
    symlink(scene.home.join("elsewhere/linked.md"), agents.join("linked.md")).expect("the link is created");
    symlink("nowhere.md", agents.join("dangling.md")).expect("the link is created");
    symlink("loop.md", agents.join("loop.md")).expect("the link is created");
    symlink("/dev/zero", agents.join("endless.md")).expect("the link is created");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        agents.join("pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("the FIFO is created");
    scene.file("code/project/.pi/agents", "not a directory");
    let catalog = scene.discover();
    assert!(catalog.find("linked").is_ok());
    insta::assert_snapshot!("discover_unreadable", scene.report(&catalog));
}

/// A stranger's repository can delay anyone who opens it.
#[test]
fn hostile_agent_files_are_read_quickly() {
    let scene = Scene::new();
    let fields: Vec<_> = (0..2_000).map(|field| format!("f{field}: {}", "x".repeat(20))).collect();
    let fields = fields.join("\n");
    for file in 0..64 {
        scene.file(&format!("code/project/.pi/agents/{file}.md"), &format!("---\n{fields}\n---\nBody\n"));
    }
    let started = Instant::now();
    let catalog = scene.discover();
    // Without optimization and on a busy machine, two megabytes of YAML take seconds.
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    let refused = catalog.diagnostics.iter().filter(|found| found.message.contains("at most 64 are read"));
    assert_eq!(refused.count(), 64);
}

#[test]
fn at_most_ten_problems_of_an_agent_file_are_reported() {
    let scene = Scene::new();
    let fields = (0..60).map(|field| format!("f{field}: x")).collect::<Vec<_>>().join("\n");
    scene.file("code/project/.pi/agents/a.md", &format!("---\nname: a\n{fields}\n---\nBody\n"));
    assert_eq!(scene.discover().diagnostics.len(), 10);
}

/// A link may lead anywhere: to an endless file, to one that blocks, or to one that is removed after reading.
#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let scene = Scene::new();
    fs::create_dir_all(scene.home.join("code/project/.pi/agents")).expect("the directory is created");
    for (index, target) in ["/dev/zero", "/proc/kmsg", "/proc/version", "/dev/kmsg"].iter().enumerate() {
        let link = scene.home.join(format!("code/project/.pi/agents/{index}.md"));
        std::os::unix::fs::symlink(target, link).expect("the link is created");
    }
    let (sent, received) = mpsc::channel();
    std::thread::spawn(move || drop(sent.send(scene.discover().diagnostics)));
    let report = received.recv_timeout(Duration::from_secs(10)).expect("the thread ends in time");
    assert_eq!(report.len(), 4, "{report:#?}");
    for found in report {
        // The kernel may also prevent an ordinary user from opening it.
        let refused = ["it is not a regular file", "denied", "not permitted"];
        assert!(refused.iter().any(|why| found.message.contains(why)), "{found}");
    }
}

/// A user who can write to a directory above, `/tmp` for instance, must not add agents.
#[cfg(unix)]
#[test]
fn agents_of_another_user_are_ignored_with_a_notice() {
    let scene = Scene::new();
    scene.agent("code/project/.pi/agents/theirs.md", "theirs");
    scene.agent("code/project/.pi/agents/mine.md", "mine");
    scene.agent("code/project/a/.pi/agents/theirs.md", "other");
    let give = |path: &str| std::os::unix::fs::chown(scene.home.join(path), Some(4242), None);
    if give("code/project/.pi/agents/theirs.md").is_err() {
        // Only root can change a file's owner.
        return;
    }
    give("code/project/a/.pi/agents").expect("root may change the owner");
    // Links of the other user to a directory and to a file of this user.
    let links =
        [("code/project/mine", "code/project/a/.agents"), ("agent/own.md", "code/project/.pi/agents/own.md")];
    scene.agent("code/project/mine/elsewhere.md", "elsewhere");
    scene.agent("agent/own.md", "own");
    for (to, from) in links {
        std::os::unix::fs::symlink(scene.home.join(to), scene.home.join(from)).expect("the link is created");
        std::os::unix::fs::lchown(scene.home.join(from), Some(4242), None)
            .expect("root may change the owner");
    }
    assert_eq!(scene.found_in("code/project/a"), [("mine".to_owned(), Source::Project)]);
    assert_eq!(
        scene.report(&scene.discover_in("code/project/a")),
        "Warning AGENT_FILE_FOREIGN /code/project/a/.pi/agents:1:1: is ignored: it belongs to another user\n\
         Warning AGENT_FILE_FOREIGN /code/project/a/.agents:1:1: is ignored: it belongs to another user\n\
         Warning AGENT_FILE_FOREIGN /code/project/.pi/agents/own.md:1:1: is ignored: it belongs to another user\n\
         Warning AGENT_FILE_FOREIGN /code/project/.pi/agents/theirs.md:1:1: is ignored: it belongs to another user"
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_a_hidden_file_is_not_an_agent() {
    let scene = Scene::new();
    scene.agent("notes/key.md", "key");
    scene.agent("shared/open.md", "open");
    fs::create_dir_all(scene.home.join("code/project/.pi/agents")).expect("the directory is created");
    for name in ["notes/key.md", "shared/open.md"] {
        let link = scene.home.join("code/project/.pi/agents").join(name.replace('/', "-"));
        std::os::unix::fs::symlink(scene.home.join(name), link).expect("the link is created");
    }
    let dirs = AgentDirs { hidden: &[scene.home.join("notes")], ..AgentDirs::default() };
    let cwd = scene.home.join("code/project");
    let catalog = discover(&cwd, &scene.home.join("agent"), Some(&scene.home), dirs);
    assert_eq!(catalog.find("open").expect("the agent exists").source, Source::Project);
    assert!(catalog.find("key").is_err());
    let report = scene.report(&catalog);
    assert!(
        report.contains("notes-key.md:1:1: ") && report.contains("it is hidden from sub-agents"),
        "{report}"
    );
}

#[test]
fn a_directory_with_too_many_agents_is_read_in_part() {
    let scene = Scene::new();
    for index in 0..300 {
        scene.agent(&format!("agent/agents/{index:03}.md"), &format!("agent-{index:03}"));
    }
    let catalog = scene.discover();
    assert_eq!(catalog.agents.len(), BUILTINS.len() + 256);
    assert_eq!(
        scene.report(&catalog),
        "Warning AGENT_DIRECTORY_TOO_LARGE /agent/agents:1:1: has 300 agent files; only the first 256 by name are read, \
         `256.md` is not"
    );
}

#[test]
fn a_changed_file_is_read_again_and_an_unchanged_file_is_cached() {
    let scene = Scene::new();
    scene.agent("agent/agents/a.md", "first");
    assert_eq!(scene.found_in("code/project").len(), 1);
    assert_eq!(scene.found_in("code/project")[0].0, "first");
    // The same length, within the same tick of the clock.
    scene.agent("agent/agents/a.md", "other");
    assert_eq!(scene.found_in("code/project")[0].0, "other");

    let old = fs::File::options()
        .append(true)
        .open(scene.home.join("agent/agents/a.md"))
        .expect("the file is opened");
    old.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600))
        .expect("the time is set");
    drop(old);
    assert_eq!(scene.found_in("code/project"), scene.found_in("code/project"));
    scene.agent("agent/agents/a.md", "third");
    assert_eq!(scene.found_in("code/project")[0].0, "third");
    fs::remove_file(scene.home.join("agent/agents/a.md")).expect("the file is removed");
    assert_eq!(scene.found_in("code/project"), []);
}

#[test]
fn an_unknown_name_is_answered_with_the_existing_names() {
    let scene = Scene::new();
    scene.agent("agent/agents/a.md", "zeta");
    let catalog = scene.discover();
    let report = |name: &str| catalog.find(name).expect_err("the agent does not exist").to_string();
    insta::assert_snapshot!(
        "unknown_agent",
        [
            report("exploer"),
            report("Explorer"),
            report("editor"),
            report(" exploer"),
            report("a\n\u{1b}[31mb"),
            report(&"x".repeat(5000)),
        ]
        .join("\n")
    );
}

#[test]
fn a_confirmation_is_bound_to_file_and_content() {
    let scene = Scene::new();
    scene.agent("code/project/.pi/agents/a.md", "a");
    scene.agent("code/project/.pi/agents/b.md", "b");
    let (a, b) =
        (scene.home.join("code/project/.pi/agents/a.md"), scene.home.join("code/project/.pi/agents/b.md"));
    let agent_dir = scene.home.join("agent");
    assert!(!is_confirmed(&agent_dir, a.as_path().into(), "1"));
    confirm(&agent_dir, a.as_path().into(), "1").expect("the directory can be written");
    confirm(&agent_dir, a.as_path().into(), "1").expect("the confirmation is stored");
    assert!(is_confirmed(&agent_dir, a.as_path().into(), "1"));
    assert!(
        !is_confirmed(&agent_dir, a.as_path().into(), "2")
            && !is_confirmed(&agent_dir, b.as_path().into(), "1")
    );
    assert!(!is_confirmed(&agent_dir, scene.home.join("missing.md").as_path().into(), "1"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let link = scene.home.join("link.md");
        std::os::unix::fs::symlink(&a, &link).expect("the link is created");
        assert!(!is_confirmed(&agent_dir, link.as_path().into(), "1"), "a link belongs to another project");
        let file = scene.home.join("agent/subagents/confirmed-agents.json");
        assert_eq!(fs::metadata(&file).expect("the file exists").permissions().mode() & 0o777, 0o600);
    }
    let remaining: Vec<_> =
        fs::read_dir(scene.home.join("agent/subagents")).expect("the directory is readable").collect();
    assert_eq!(remaining.len(), 1, "no temporary file remains");
}

#[test]
fn malformed_confirmations_are_set_aside_and_ignored() {
    let scene = Scene::new();
    scene.agent("code/project/.pi/agents/a.md", "a");
    scene.file("agent/subagents/confirmed-agents.json", "{ \"confirmed\": [ {");
    let a = scene.home.join("code/project/.pi/agents/a.md");
    let agent_dir = scene.home.join("agent");
    assert!(!is_confirmed(&agent_dir, a.as_path().into(), "1"));
    confirm(&agent_dir, a.as_path().into(), "1").expect("the confirmation is stored");
    assert!(is_confirmed(&agent_dir, a.as_path().into(), "1"));
    let aside = fs::read_to_string(scene.home.join("agent/subagents/confirmed-agents.json.corrupt"));
    assert_eq!(aside.expect("the old file is readable"), "{ \"confirmed\": [ {");
}

#[test]
fn confirmations_are_limited_and_the_oldest_removed_first() {
    let scene = Scene::new();
    scene.agent("code/project/.pi/agents/a.md", "a");
    let a = scene.home.join("code/project/.pi/agents/a.md");
    let entry = |hash: usize| serde_json::json!({ "path": a, "sha256": hash.to_string() });
    let full: Vec<_> = (0..1000).map(entry).collect();
    let text = serde_json::json!({ "confirmed": full }).to_string();
    scene.file("agent/subagents/confirmed-agents.json", &text);
    let agent_dir = scene.home.join("agent");
    confirm(&agent_dir, a.as_path().into(), "new").expect("the confirmation is stored");
    assert!(
        !is_confirmed(&agent_dir, a.as_path().into(), "0")
            && is_confirmed(&agent_dir, a.as_path().into(), "1")
            && is_confirmed(&agent_dir, a.as_path().into(), "new")
    );
}
