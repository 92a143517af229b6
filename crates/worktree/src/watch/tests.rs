//! Files that are flagged, and reasons why a search is not complete, in real directories.

use super::*;

const NO_LIMITS: SearchLimits = SearchLimits { time: Duration::from_secs(600), entries: usize::MAX };

pub(crate) fn tree(entries: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().expect("a temporary directory is created");
    let path = root.path().canonicalize().expect("the path exists");
    for entry in entries {
        make(&path, entry);
    }
    (root, path)
}

fn make(root: &Path, entry: &str) {
    let path = root.join(entry);
    if entry.ends_with('/') {
        return fs::create_dir_all(path).expect("the directory is created");
    }
    fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
    fs::write(path, "text").expect("the file is written");
}

#[cfg(unix)]
fn link(target: &str, path: &Path) {
    std::os::unix::fs::symlink(target, path).expect("the link is created");
}

fn find(root: &Path) -> WatchedFiles {
    WatchedFiles::find(root, &[], NO_LIMITS)
}

/// The reasons why a search was not complete, as text.
fn gap(found: &WatchedFiles, before: Option<&WatchedFiles>) -> Option<String> {
    found.gap(before).map(|gap| gap.message(str::to_owned))
}

/// The paths that have changed since, as text.
fn changed(before: &WatchedFiles, root: &Path) -> Vec<String> {
    let later = find(root);
    assert_eq!(later.gap(Some(before)), None);
    before.changes(&later).iter().map(|path| path.display().to_string()).collect()
}

/// Each row: a file that appears, and the flagged paths.
#[test]
fn a_file_that_runs_code_later_is_flagged_when_it_appears() {
    let table: &[(&str, &[&str])] = &[
        (".pi/extensions/x.ts", &[".pi", ".pi/extensions/x.ts"]),
        ("sub/.pi/settings.json", &["sub/.pi", "sub/.pi/settings.json"]),
        ("sub/.pi/agents/a.md", &["sub/.pi", "sub/.pi/agents/a.md"]),
        (".git/hooks/pre-commit", &[".git/hooks/pre-commit"]),
        (".git/config", &[".git/config"]),
        (".git/rebase-merge/git-rebase-todo", &[".git/rebase-merge/git-rebase-todo"]),
        (".git/index", &[]),
        (".git/modules/a/b/config", &[".git/modules/a/b/config"]),
        (".git/modules/hooks/c/index", &[]),
        (".git/modules/hooks/c/hooks/post-checkout", &[".git/modules/hooks/c/hooks/post-checkout"]),
        (".git/worktrees/w/config.worktree", &[".git/worktrees/w/config.worktree"]),
        (".vscode/mcp.json", &[".vscode/mcp.json"]),
        ("agents.md", &["agents.md"]),
        (".GitHub/Workflows/ci.yml", &[".GitHub/Workflows/ci.yml"]),
        (".HUSKY/pre-push", &[".HUSKY/pre-push"]),
        ("new/.git/config", &["new/.git", "new/.git/config"]),
        ("new/.git/hooks/pre-push", &["new/.git", "new/.git/hooks/pre-push"]),
        ("bare/hooks/post-update", &["bare/hooks/post-update"]),
        (".mcp.json", &[".mcp.json"]),
        (".vscode/tasks.json", &[".vscode/tasks.json"]),
        (".vscode/other.json", &[]),
        (".vscode/tasks.json/x", &[".vscode/tasks.json/x"]),
        ("deep/down/.envrc", &["deep/down/.envrc"]),
        (".husky/pre-push", &[".husky/pre-push"]),
        (".github/workflows/ci.yml", &[".github/workflows/ci.yml"]),
        (".cargo/config.toml", &[".cargo/config.toml"]),
        ("AGENTS.md", &["AGENTS.md"]),
        ("node_modules/a/.npmrc", &[]),
        ("node_modules/a/.pi/x", &["node_modules/a/.pi", "node_modules/a/.pi/x"]),
        ("src/main.rs", &[]),
    ];
    for (path, expected) in table {
        let (_root, root) = tree(&[
            ".git/hooks/",
            ".git/objects/",
            ".git/modules/a/b/HEAD",
            ".git/modules/hooks/c/HEAD",
            ".git/worktrees/w/HEAD",
            "bare/HEAD",
            "bare/objects/",
            "bare/refs/",
            "src/lib.rs",
        ]);
        let before = find(&root);
        make(&root, path);
        assert_eq!(changed(&before, &root), *expected, "{path}");
    }
}

#[test]
fn a_rewritten_file_is_flagged_and_a_removed_file_is_not() {
    let (_root, root) = tree(&[".envrc", ".mcp.json", ".pi/settings.json", "AGENTS.md"]);
    let before = find(&root);
    assert_eq!(changed(&before, &root), Vec::<String>::new());
    make(&root, "new");
    fs::rename(root.join("new"), root.join(".envrc")).expect("the rename succeeds");
    fs::remove_file(root.join(".mcp.json")).expect("the file is removed");
    assert_eq!(changed(&before, &root), [".envrc"]);
}

/// A program can set back the time of a file's content, but neither its number nor the time of its last change.
#[cfg(unix)]
#[test]
fn a_file_is_flagged_although_its_old_length_and_time_were_set_back() {
    let (_root, root) = tree(&[".envrc", ".npmrc", "other"]);
    fs::hard_link(root.join(".npmrc"), root.join("second name")).expect("the hard link is created");
    let before = find(&root);
    for name in [".envrc", "second name"] {
        let path = root.join(name);
        let modified = fs::metadata(&path)
            .and_then(|found| found.modified())
            .expect("the modification time is readable");
        fs::write(&path, "evil").expect("the file is written");
        let file = fs::File::options().write(true).open(&path).expect("the file is opened");
        file.set_modified(modified).expect("the time is set");
    }
    assert_eq!(changed(&before, &root), [".envrc", ".npmrc"]);
}

/// Each row: a link that exists, a file that appears, and the flagged paths.
#[cfg(unix)]
#[test]
fn the_target_of_a_link_with_a_flagged_name_is_flagged() {
    for (place, target, file, expected) in [
        (".husky", "scripts", "scripts/pre-commit", &["scripts/pre-commit"][..]),
        (".vscode", "editor", "editor/tasks.json", &[".vscode/tasks.json"]),
        (".vscode", "editor", "editor/other.json", &[]),
        ("CLAUDE.md", "docs/guide.md", "docs/guide.md", &["docs/guide.md"]),
        (".pi", "shared", "shared/extensions/x.ts", &["shared/extensions/x.ts"]),
        (".git", "repository", "repository/hooks/pre-push", &[".git/hooks/pre-push"]),
        (".husky", ".", "scripts/x", &[]),
        (".husky", "/etc", "scripts/x", &[]),
    ] {
        let (_root, root) = tree(&["src/lib.rs", "scripts/", "editor/", "shared/", "repository/hooks/"]);
        link(target, &root.join(place));
        let before = find(&root);
        make(&root, file);
        assert_eq!(changed(&before, &root), expected, "{place} -> {target}: {file}");
    }
}

/// Each row: a configuration, a file that appears, and the flagged paths.
#[test]
fn hooks_are_flagged_in_the_directory_that_the_configuration_names() {
    for (config, file, expected) in [
        ("[core]\n\thooksPath = tools/hooks\n", "tools/hooks/pre-commit", &["tools/hooks/pre-commit"][..]),
        ("[Core] hookspath=\"tools/hooks\"", "tools/hooks/pre-commit", &["tools/hooks/pre-commit"]),
        ("[core]\nhooksPath = a\n[x]\ny=z\n[core]\nhooksPath = tools", "tools/x", &["tools/x"]),
        ("[other]\nhooksPath = tools", "tools/x", &[]),
        ("[core]\nhooksPath = .", "tools/x", &[]),
        ("[core]\nhooksPath = /etc", "tools/x", &[]),
        ("[core]\nhooksPath = \"tools/a]b\" ; ours", "tools/a]b/x", &["tools/a]b/x"]),
        ("[core]\nhooksPath = tools/\\\nhooks # ours", "tools/hooks/x", &["tools/hooks/x"]),
    ] {
        let (_root, root) = tree(&[".git/hooks/", "tools/hooks/", "tools/a]b/"]);
        fs::write(root.join(".git/config"), config).expect("the file is written");
        let before = find(&root);
        make(&root, file);
        assert_eq!(changed(&before, &root), expected, "{config}");
        let flagged = before.flags(Path::new(file));
        assert_eq!(flagged, !expected.is_empty(), "{config}");
    }
}

/// Each row: a configuration, and a file that git reads or runs because of it.
#[test]
fn a_file_that_the_configuration_of_a_repository_names_is_flagged() {
    for (config, file) in [
        ("[include]\n\tpath = ../.gitconfig", ".gitconfig"),
        ("[includeIf \"gitdir:~/a]b/\"] path = ../team.inc", "team.inc"),
        ("[include]\npath = ../nested.inc", "tools/hooks/pre-commit"),
        ("[x]\ny = ../nested.inc\n[include]\npath = ../nested.inc", "tools/hooks/pre-commit"),
        ("[include]\npath = \"../of the team\"", "of the team"),
        ("[core]\nfsmonitor = ./tools/monitor", "tools/monitor"),
        ("[filter \"x\"]\n\tclean = \"sh tools/clean.sh %f\"", "tools/clean.sh"),
        ("[alias]\n\tst = \"!f() { ./tools/clean.sh; }; f\"", "tools/clean.sh"),
    ] {
        let files = [
            ".git/hooks/",
            "team.inc",
            "of the team",
            ".gitconfig",
            "tools/monitor",
            "tools/clean.sh",
            "tools/hooks/",
        ];
        let (_root, root) = tree(&files);
        fs::write(root.join(".git/config"), config).expect("the file is written");
        fs::write(root.join("nested.inc"), "[core]\nhooksPath = tools/hooks").expect("the file is written");
        let before = find(&root);
        make(&root, file);
        make(&root, "tools/other");
        assert_eq!(changed(&before, &root), [file], "{config}");
        assert!(before.flags(Path::new(file)) && !before.flags(Path::new("tools/other")), "{config}");
    }
}

#[cfg(unix)]
#[test]
fn a_hook_that_is_a_link_into_the_tree_flags_its_target() {
    let (_root, root) = tree(&[".git/hooks/", "scripts/check.sh"]);
    link("../../scripts/check.sh", &root.join(".git/hooks/pre-commit"));
    let before = find(&root);
    make(&root, "scripts/check.sh");
    assert_eq!(changed(&before, &root), ["scripts/check.sh"]);
    assert!(before.flags(Path::new("scripts/check.sh")));
}

#[cfg(unix)]
#[test]
fn a_new_link_with_a_flagged_name_is_flagged() {
    for (place, target) in [(".husky", "scripts"), (".vscode", "editor"), (".pi", "x"), (".envrc", "nowhere")]
    {
        let (_root, root) = tree(&["src/lib.rs", "scripts/", "editor/"]);
        let before = find(&root);
        link(target, &root.join(place));
        assert_eq!(changed(&before, &root), [place], "{place}");
    }
}

/// Directories that look like a repository are searched like any other: otherwise three names would hide the rest.
#[test]
fn a_directory_that_imitates_a_repository_hides_nothing() {
    let (_root, root) = tree(&["pkg/a"]);
    let before = find(&root);
    for entry in ["pkg/HEAD", "pkg/objects/", "pkg/refs/", "pkg/.envrc", "pkg/deep/.husky/x", "pkg/config"] {
        make(&root, entry);
    }
    assert_eq!(changed(&before, &root), ["pkg/.envrc", "pkg/config", "pkg/deep/.husky/x"]);
}

#[test]
fn a_repository_that_borrows_the_configuration_of_another_directory_is_flagged() {
    let (_root, root) = tree(&["src/lib.rs"]);
    let before = find(&root);
    make(&root, "pkg/HEAD");
    for entry in ["lent/objects/", "lent/refs/", "lent/config", "lent/hooks/pre-commit"] {
        make(&root, entry);
    }
    fs::write(root.join("pkg/commondir"), "../lent\n").expect("the file is written");
    assert_eq!(changed(&before, &root), ["lent/config", "lent/hooks/pre-commit", "pkg/commondir"]);
}

#[test]
fn a_directory_of_agents_that_is_configured_is_watched() {
    let (_root, root) = tree(&["team/agents/a.md", "other/a.md"]);
    let more = ["team/agents".into(), "missing".into(), "..".into()];
    let before = WatchedFiles::find(&root, &more, NO_LIMITS);
    make(&root, "team/agents/b.md");
    make(&root, "other/b.md");
    let later = WatchedFiles::find(&root, &more, NO_LIMITS);
    assert_eq!(before.changes(&later), [PathBuf::from("team/agents/b.md")].into());
}

/// The limit is less than the large directories hold: the others are searched first.
#[test]
fn directories_with_many_files_do_not_stop_the_search_of_others() {
    let (_root, root) = tree(&["pkg/deep/"]);
    for directory in ["aaa", "pkg/aaa"] {
        fs::create_dir(root.join(directory)).expect("the directory is created");
        for number in 0..3 * SLICE {
            fs::write(root.join(directory).join(number.to_string()), "").expect("the file is written");
        }
    }
    let limits = SearchLimits { entries: 3 * SLICE, ..NO_LIMITS };
    let before = WatchedFiles::find(&root, &[], limits);
    for name in ["pkg/.envrc", "pkg/deep/.husky/pre-commit", "zzz/x/y/.vscode/tasks.json"] {
        make(&root, name);
    }
    let later = WatchedFiles::find(&root, &[], limits);
    let flagged = before.changes(&later);
    let flagged: Vec<_> = flagged.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(flagged, ["pkg/.envrc", "pkg/deep/.husky/pre-commit", "zzz/x/y/.vscode/tasks.json"]);
    assert_eq!(gap(&later, Some(&before)), Some(format!("the search stopped after {} entries", 3 * SLICE)));
    assert_eq!(find(&root).gap(None), None);
}

/// Each row: limits, and the reason.
#[test]
fn a_search_ended_by_a_limit_is_reported_and_its_gaps_count_as_changed() {
    let (_root, root) = tree(&["a/b/c/.envrc"]);
    for (limits, expected) in [
        (SearchLimits { time: Duration::ZERO, ..NO_LIMITS }, "the search stopped after 0.0s"),
        (SearchLimits { entries: 1, ..NO_LIMITS }, "the search stopped after 1 entry"),
    ] {
        let before = WatchedFiles::find(&root, &[], limits);
        assert_eq!(gap(&before, None).as_deref(), Some(expected));
        assert_eq!(changed(&before, &root), ["a/b/c/.envrc"]);
    }
    let before = WatchedFiles::unknown(Duration::from_secs(2));
    assert_eq!(gap(&before, None).as_deref(), Some("the search stopped after 2.0s"));
    assert_eq!(changed(&before, &root), ["a/b/c/.envrc"]);
}

/// A path that is longer than the kernel takes. Only names relative to an open directory lead there.
#[cfg(unix)]
#[test]
fn a_directory_that_is_too_deep_to_read_is_reported() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let (root, path) = tree(&["src/lib.rs"]);
    let before = find(&path);
    let name = "d".repeat(250);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut directory = openat(CWD, &path, flags, Mode::empty()).expect("the directory is opened");
    for _ in 0..20 {
        mkdirat(&directory, &name, Mode::RWXU).expect("the directory is created");
        directory = openat(&directory, &name, flags, Mode::empty()).expect("the directory is opened");
    }
    let later = find(&path);
    let gap = gap(&later, Some(&before)).expect("the search has a gap");
    assert!(gap.starts_with("directories that could not be read: `ddd"), "{gap}");
    pi_subagent_warden::remove_tree(root.path()).expect("the directory is removed");
}

/// Root can read everything, so nothing is missing then.
#[cfg(unix)]
#[test]
fn a_directory_closed_by_a_child_is_reported_and_one_closed_before_is_not() {
    use std::os::unix::fs::PermissionsExt as _;
    let close = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the permissions are set");
    };
    let (_root, root) = tree(&["closed/x", "entered/x", "later/.envrc", "`odd`, name/x"]);
    close(&root.join("closed"), 0);
    close(&root.join("entered"), 0o300);
    let before = find(&root);
    close(&root.join("later"), 0);
    close(&root.join("`odd`, name"), 0);
    let is_root = fs::read_dir(root.join("later")).is_ok();
    let gap = gap(&find(&root), Some(&before));
    for name in ["closed", "entered", "later", "`odd`, name"] {
        close(&root.join(name), 0o700);
    }
    let expected = "directories that could not be read: `\\u{60}odd\\u{60}, name`, `entered`, `later`";
    assert_eq!(gap.as_deref(), (!is_root).then_some(expected));
}
