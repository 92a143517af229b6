//! Finds what users and projects have written for agents: the skills that a child sees, and `TOOLS.md`, notes about
//! tools next to `AGENTS.md`.

use std::path::Path;

use agents::{Skills, project_directories};
use files::{Directory, canonical, open};
use sanitizer::{floor_char_boundary, nearest, quoted, suggestion, without_controls};

use crate::run::context::{Host, HostContext};

const NAME: &str = "TOOLS.md";
/// The maximum number of files that are read, the nearest first. A project has one or two.
const MAX_FILES: usize = 8;
/// The maximum number of bytes of one file that a child reads. More would crowd out its task.
const MAX_BYTES: usize = 16 * 1024;
/// The maximum size of a file of which a part is read, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Returns the notes for a child in this directory in reading order: the user's, then the project's from the outermost
/// directory inwards. Skips a file that is a link to a path outside of the project or, for the user's file, outside of
/// the agent directory. Blocks.
pub(crate) fn tool_notes(cwd: &Path, context: &HostContext) -> Vec<String> {
    let project = project_directories(cwd, context.home.as_deref());
    let root = project.last().cloned().unwrap_or_else(|| canonical(cwd));
    let of_project = project.iter().filter_map(|dir| note(dir, &root, true));
    let mut notes: Vec<String> = of_project.take(MAX_FILES - 1).collect();
    let user = canonical(&context.agent_dir);
    if !project.contains(&user) {
        notes.extend(note(&user, &user, false));
    }
    notes.reverse();
    notes
}

fn note(dir: &Path, root: &Path, is_of_project: bool) -> Option<String> {
    let path = dir.join(NAME).canonicalize().ok()?;
    if is_of_project && open::is_placed_by_others(&path) {
        return None;
    }
    // Opened from the root without following links, because a child may replace a checked file with a link.
    let file = Directory::open_real(root).ok()?.file(path.strip_prefix(root).ok()?).ok()?;
    if is_of_project && !open::is_trusted(&file.metadata().ok()?) {
        return None;
    }
    let bytes = open::read(file, MAX_FILE_BYTES).ok()?;
    let text = without_controls(&String::from_utf8_lossy(&bytes)).trim().to_owned();
    if text.is_empty() {
        return None;
    }
    let shown = &text[..floor_char_boundary(&text, MAX_BYTES)];
    let cut = if shown.len() < text.len() { "\n[The rest of the file is omitted.]" } else { "" };
    Some(format!("Notes on tools, from `{}`:\n\n{shown}{cut}", path.display()))
}

/// The skills that a child sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SkillFiles {
    /// All skills that pi finds.
    All,
    /// Only these files. An empty list means no skills.
    Only(Vec<String>),
}

impl SkillFiles {
    /// Returns the files of the requested skills, and messages about skills that the host does not have.
    pub(crate) fn of(skills: &Skills, host: &Host) -> (Self, Vec<String>) {
        let names = match skills {
            Skills::All(true) => return (Self::All, Vec::new()),
            Skills::All(false) => return (Self::Only(Vec::new()), Vec::new()),
            Skills::Named(names) => names,
        };
        let Some(known) = &host.skills else {
            let missing = (!names.is_empty())
                .then(|| "skills: this pi has not reported its skills, so none are loaded".to_owned());
            return (Self::Only(Vec::new()), missing.into_iter().collect());
        };
        let mut files = Vec::new();
        let mut missing = Vec::new();
        for name in names {
            if let Some(skill) = known.iter().find(|skill| skill.name == *name) {
                files.push(skill.path.clone());
            } else {
                let near = suggestion(nearest(name, known.iter().map(|skill| skill.name.as_str())));
                missing.push(format!("skills: this pi has none named {}{near}", quoted(name)));
            }
        }
        (Self::Only(files), missing)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    use super::*;

    /// The number of times that the file is exchanged while it is read. A reader that follows links gets the other
    /// file dozens of times.
    const EXCHANGES: usize = 50_000;

    #[test]
    fn a_link_that_replaces_the_notes_is_not_followed() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let root = root.path().canonicalize().expect("the path exists");
        let project = root.join("project");
        fs::create_dir(&project).expect("the directory is created");
        fs::write(project.join(NAME), "Use just.").expect("the file is written");
        fs::write(root.join("key"), "secret").expect("the file is written");
        symlink(root.join("key"), project.join("link")).expect("the link is created");
        let has_ended = AtomicBool::new(false);
        let notes = std::thread::scope(|scope| {
            scope.spawn(|| {
                let file = project.join(NAME);
                let link = project.join("link");
                for _ in 0..EXCHANGES {
                    renameat_with(CWD, &file, CWD, &link, RenameFlags::EXCHANGE)
                        .expect("the exchange succeeds");
                }
                has_ended.store(true, Ordering::Relaxed);
            });
            let mut notes = Vec::new();
            while !has_ended.load(Ordering::Relaxed) {
                notes.extend(note(&project, &project, true));
            }
            notes
        });
        let wrong = notes.iter().filter(|note| !note.ends_with("Use just.")).count();
        assert_eq!(wrong, 0, "all {} notes have the text of the file", notes.len());
    }
}
