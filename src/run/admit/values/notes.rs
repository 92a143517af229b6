//! `TOOLS.md`: what users and projects say about tools, beside `AGENTS.md`.

use std::path::Path;

use crate::agent::{canonical, project_directories};
use crate::files::open;
use crate::run::context::HostContext;
use crate::text::{floor_char_boundary, without_controls};

const NAME: &str = "TOOLS.md";
/// Files that are read, the nearest first; a project has one or two.
const MAX_FILES: usize = 8;
/// Bytes of one file that a child reads: more would crowd out its task.
const MAX_BYTES: usize = 16 * 1024;
/// The largest file of which a part is read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The notes for a child in this directory, in the order in which it reads them: the user's, then the project's from the
/// outside in. A file that lies elsewhere by way of a link is left out. Blocks.
pub(in crate::run) fn tool_notes(cwd: &Path, context: &HostContext) -> Vec<String> {
    let project = project_directories(cwd, context.home.as_deref());
    let root = project.last().cloned().unwrap_or_else(|| canonical(cwd));
    let of_project = project.iter().filter_map(|dir| note(dir, &root, open::of_project));
    let mut notes: Vec<String> = of_project.take(MAX_FILES - 1).collect();
    let user = canonical(&context.agent_dir);
    if !project.contains(&user) {
        notes.extend(note(&user, &user, open::regular));
    }
    notes.reverse();
    notes
}

fn note(dir: &Path, root: &Path, opened: fn(&Path) -> std::io::Result<std::fs::File>) -> Option<String> {
    let path = dir.join(NAME).canonicalize().ok().filter(|path| path.starts_with(root))?;
    let bytes = open::read(opened(&path).ok()?, MAX_FILE_BYTES).ok()?;
    let text = without_controls(&String::from_utf8_lossy(&bytes)).trim().to_owned();
    if text.is_empty() {
        return None;
    }
    let kept = &text[..floor_char_boundary(&text, MAX_BYTES)];
    let cut = if kept.len() < text.len() { "\n[The file goes on; its end is left out.]" } else { "" };
    Some(format!("Notes on tools, from `{}`:\n\n{kept}{cut}", path.display()))
}
