//! Tests which files a run's directory contains, and which of them stay.

use super::*;

/// An agent directory in which no note can be written.
const NOWHERE: &str = "/dev/null/agent";

fn create(parent: &Path, id: &str, persist: bool) -> Result<RunFiles, FileError> {
    let wanted = RunFilesSpec {
        cwd: Path::new("/project"),
        prompt: "You explore.",
        session: persist,
        private_dirs: None,
        attempt: 1,
        resumes: None,
        is_early: false,
        agent_dir: Path::new(NOWHERE),
    };
    RunFiles::create(parent, id, wanted)
}

#[test]
fn a_run_gets_a_new_id_if_its_id_is_taken() {
    let parent = tempfile::tempdir().expect("a temporary directory is created");
    let first = create(parent.path(), "0badcafe", true).expect("the first run's files are created");
    let second = create(parent.path(), "0badcafe", true).expect("the second run's files are created");
    assert_eq!(first.run_id, "0badcafe");
    assert_ne!(second.run_id, "0badcafe");
}

#[test]
fn only_the_session_outlives_the_run() {
    let parent = tempfile::tempdir().expect("a temporary directory is created");
    drop(create(parent.path(), "00000000", true).expect("the run's files are created"));
    assert_eq!(fs::read_dir(parent.path()).expect("the directory is readable").count(), 0);
    let mut files = create(parent.path(), "00000001", true).expect("the run's files are created");
    files.keep_session();
    let prompt = files.prompt.clone();
    let session = files.session().expect("the run has a session").to_path_buf();
    assert!(prompt.is_file());
    drop(files);
    assert!(!prompt.exists());
    let header: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(session).expect("the session is readable"))
            .expect("the session is one JSON line");
    assert_eq!((&header["type"], &header["cwd"]), (&"session".into(), &"/project".into()));
}

#[test]
fn a_run_without_a_session_leaves_no_files() {
    let parent = tempfile::tempdir().expect("a temporary directory is created");
    drop(create(parent.path(), "00000001", false).expect("the run's files are created"));
    assert_eq!(fs::read_dir(parent.path()).expect("the directory is readable").count(), 0);
}

#[test]
fn a_continued_run_keeps_its_session_and_its_texts() {
    let parent = tempfile::tempdir().expect("a temporary directory is created");
    let mut first = create(parent.path(), "0badcafe", true).expect("the run's files are created");
    first.keep_session();
    let session = first.session().expect("the run has a session").to_path_buf();
    let text = first.save_output("first").expect("the output is written");
    let directory = first.directory.clone();
    drop(first);
    let before = fs::read_to_string(&session).expect("the file is readable");
    let resumption = Resumption { run_id: "0badcafe".into(), directory: directory.clone(), session };
    let wanted = |prompt| RunFilesSpec {
        cwd: Path::new("/project"),
        prompt,
        session: false,
        private_dirs: None,
        attempt: 1,
        resumes: Some(&resumption),
        is_early: false,
        agent_dir: Path::new(NOWHERE),
    };
    let other_parent = parent.path().join("elsewhere");
    for prompt in ["You explore.", "You explore again."] {
        let again = RunFiles::create(&other_parent, "ffffffff", wanted(prompt))
            .expect("the run's files are continued");
        assert_eq!((&*again.run_id, again.session()), ("0badcafe", Some(&*resumption.session)));
        assert_eq!(again.writable(), std::slice::from_ref(&resumption.session));
        assert_eq!(fs::read_to_string(&again.prompt).expect("the file is readable"), prompt);
        assert_ne!(again.save_output("again").expect("the output is written"), text);
    }
    assert!(!other_parent.exists(), "no second directory is created");
    assert_eq!(fs::read_to_string(&resumption.session).expect("the file is readable"), before);
    assert_eq!(fs::read_to_string(text).expect("the file is readable"), "first");
    fs::create_dir(directory.join(layout::PROMPT)).expect("the directory is created");
    RunFiles::create(&other_parent, "ffffffff", wanted("")).expect_err("the prompt cannot be written");
    assert!(resumption.session.exists(), "a failed attempt removes no file");
}

#[test]
fn the_copy_of_a_session_replaces_it_only_if_it_is_unchanged() {
    let parent = tempfile::tempdir().expect("a temporary directory is created");
    let mut first = create(parent.path(), "0badcafe", true).expect("the run's files are created");
    first.keep_session();
    let session = first.session().expect("the run has a session").to_path_buf();
    let directory = first.directory.clone();
    drop(first);
    let resumption = Resumption { run_id: "0badcafe".into(), directory: directory.clone(), session };
    let read = || fs::read_to_string(&resumption.session).expect("the file is readable");
    let names = |path: &Path| fs::read_dir(path).expect("the directory is readable").count();
    let append = |path: &Path, line: &str| {
        let file = fs::OpenOptions::new().append(true).open(path);
        io::Write::write_all(&mut file.expect("the file opens"), line.as_bytes()).expect("it is written");
    };
    let cwd = Path::new("/project");
    let early = || {
        let wanted = RunFilesSpec {
            cwd,
            prompt: "",
            session: true,
            private_dirs: None,
            attempt: 1,
            resumes: Some(&resumption),
            is_early: true,
            agent_dir: Path::new(NOWHERE),
        };
        RunFiles::create(parent.path(), "ffffffff", wanted).expect("the session is copied")
    };
    let before = read();

    let unused = early();
    let copy = unused.session().expect("the child has a session").to_path_buf();
    append(&copy, "{}\n");
    assert_eq!((read(), names(&directory)), (before.clone(), 1), "the run stays as it is");
    drop(lock_session(&resumption, cwd).expect("another process may continue the run"));
    assert!(unused.scratch().contains(&copy) && unused.unless_kept().is_empty(), "the warden removes it");
    drop(unused);
    assert_eq!((read(), names(parent.path())), (before.clone(), 1));

    let (mut used, mut late) = (early(), early());
    let copy = used.session().expect("the child has a session").to_path_buf();
    append(&copy, "{\"at\":\"start\"}\n");
    used.adopt_session(cwd).expect("the session is unchanged");
    assert_eq!(
        (&*used.run_id, &used.directory, used.session()),
        ("0badcafe", &directory, Some(&*resumption.session))
    );
    late.adopt_session(cwd).expect_err("the other child has the run's lock");
    append(&copy, "{\"at\":\"work\"}\n");
    drop(used);
    let after = format!("{before}{{\"at\":\"start\"}}\n{{\"at\":\"work\"}}\n");
    assert_eq!((read(), names(&directory)), (after.clone(), 1), "the child writes into the run's session");
    late.adopt_session(cwd).expect_err("the session has changed");
    drop(lock_session(&resumption, cwd).expect("the run is not locked"));
    drop(late);
    assert_eq!((read(), names(parent.path())), (after, 1));
}

#[cfg(unix)]
#[test]
fn the_files_of_a_run_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().expect("a temporary directory is created");
    let files = create(&parent.path().join("new"), "00000001", true).expect("the run's files are created");
    let mode = |path: &Path| fs::metadata(path).expect("the file exists").permissions().mode() & 0o777;
    let output = files.save_output("text").expect("the output is written");
    assert_eq!(mode(&files.prompt), 0o600);
    assert_eq!(mode(files.session().expect("the run has a session")), 0o600);
    assert_eq!(mode(&output), 0o600);
    assert_eq!(mode(&parent.path().join("new")), 0o700);
    assert_eq!(mode(&parent.path().join("new/00000001")), 0o700);
}

#[test]
fn an_error_names_the_directory_that_cannot_be_created() {
    let parent = tempfile::tempdir().expect("a temporary directory is created");
    let file = parent.path().join("file");
    fs::write(&file, "").expect("the output is written");
    let error = create(&file.join("runs"), "00000001", true)
        .expect_err("a file in place of the directory is refused");
    assert!(error.path.starts_with(&file), "{error}");
}
