//! Decides whether a workflow's script may run: by policy, or by asking the user, who sees the whole file.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::confirm::{file_changes, marks_note, whole_file};
use super::settings::CallSettings;
use crate::run::blocking;
use crate::run::callbacks::{ConfirmRequest, HostCallbacks};
use crate::run::context::{HostContext, expand_home};
use crate::run::spec::RunId;
use agents::config::{NonInteractivePolicy, ProjectAgentPolicy};
use agents::{ConfirmedFile, MAX_CONFIRMED_BYTES, confirm, content_hash, is_confirmed, text_to_confirm};
use files::{canonical, layout, owned, private};
use sanitizer::{Visible, quoted};
use worktree::root_of;

/// The file name extensions of the modules that Node runs.
const EXTENSIONS: [&str; 4] = ["js", "mjs", "ts", "mts"];

/// A script that may run, and the hash of the text that the user has allowed. The process that runs it compares both.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AllowedScript {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The SHA-256 of its text.
    pub sha256: String,
    /// The file that records the imports of a script that the user starts, one line for each.
    pub imports_file: PathBuf,
    /// The hashes of the imported files, by their paths, if pi starts the script by itself: no other files may be
    /// imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imports: Option<BTreeMap<PathBuf, String>>,
}

/// The reason why a script may not run.
#[derive(Debug, thiserror::Error)]
pub enum ScriptRefused {
    /// Node does not run files of this name.
    #[error("{} is not a script: its name must end with one of {}", path_text(_0), extensions())]
    NotAScript(PathBuf),
    /// There is no such file.
    #[error("there is no file {}", path_text(_0))]
    Missing(PathBuf),
    /// The user could not read the whole file.
    #[error(
        "{} has more than {MAX_CONFIRMED_BYTES} bytes: move parts of it to files that it imports",
        path_text(_0)
    )]
    TooLarge(PathBuf),
    /// The file cannot be read.
    #[error("{} cannot be read", path_text(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A setting forbids it.
    #[error("{} may not run: `{setting}` does not allow programs of a project", quoted(path))]
    Denied {
        /// The file, as the caller wrote it.
        path: String,
        /// The key of the setting.
        setting: &'static str,
    },
    /// The user said no.
    #[error("{} was not started: you said no", quoted(_0))]
    Declined(String),
    /// The user did not answer.
    #[error("{} was not started: the question was closed without an answer", quoted(_0))]
    Unanswered(String),
    /// The user has allowed another text.
    #[error("{} has changed since you allowed it", path_text(_0))]
    Changed(PathBuf),
    /// An imported file is not the one of the last start by the user.
    #[error("{}, which it imports, has changed since you started it", path_text(_0))]
    ImportChanged(PathBuf),
}

/// A line of the file that records imports.
#[derive(serde::Deserialize)]
struct Import {
    path: PathBuf,
    sha256: String,
}

/// Admits the script at `path`, which is relative to `cwd`. Asks the user unless the text was allowed before.
///
/// # Errors
///
/// If a setting forbids it, the user does not allow it, or the file is no readable script.
pub async fn allow_script(
    path: &str,
    cwd: &Path,
    context: &Arc<HostContext>,
    callbacks: &dyn HostCallbacks,
) -> Result<AllowedScript, ScriptRefused> {
    let (script, text, policies) = {
        // Reports write the home directory as `~`.
        let file = cwd.join(expand_home(path.into(), context.home.as_deref()));
        let (cwd, context) = (cwd.to_owned(), Arc::clone(context));
        let read = move || {
            let config = CallSettings::read(&cwd, &context).config();
            let (script, text) = read_script(&file, &cwd, &context)?;
            // If this fails, the script runs anyway, but pi does not continue it by itself.
            drop(private::create_dir_all(&layout::script_imports(&context.agent_dir)));
            let project = outer_project(&script.path, &cwd);
            let is_allowed =
                is_confirmed(&context.agent_dir, script.file(project.as_deref()), &script.sha256);
            Ok::<_, ScriptRefused>((script, text, (config, project, is_allowed)))
        };
        blocking(read).await?
    };
    let (config, project, is_allowed) = policies;
    let denied = |setting| Err(ScriptRefused::Denied { path: path.to_owned(), setting });
    match config.project_agent_policy {
        ProjectAgentPolicy::Allow => return Ok(script),
        ProjectAgentPolicy::Deny => return denied("projectAgentPolicy"),
        ProjectAgentPolicy::Confirm if is_allowed => return Ok(script),
        ProjectAgentPolicy::Confirm if callbacks.is_interactive() => {}
        ProjectAgentPolicy::Confirm if config.non_interactive_policy == NonInteractivePolicy::Allow => {
            return Ok(script);
        }
        ProjectAgentPolicy::Confirm => return denied("nonInteractivePolicy"),
    }
    let request = question(&script, project.as_deref(), &text, context);
    let answered = tokio::time::timeout(callbacks.answer_timeout(), callbacks.confirm(request));
    match answered.await.ok().flatten() {
        Some(true) => {}
        Some(false) => return Err(ScriptRefused::Declined(path.to_owned())),
        None => return Err(ScriptRefused::Unanswered(path.to_owned())),
    }
    let saved = {
        let (script, agent_dir) = (script.clone(), context.agent_dir.clone());
        // A failure only means that the user is asked again.
        move || drop(confirm(&agent_dir, script.file(project.as_deref()), &script.sha256))
    };
    blocking(saved).await;
    Ok(script)
}

/// Admits the script at `path` again without a question: if the user has allowed its present text, or if the policy needs no
/// consent. In both cases, its imports must be the ones of the last start by the user. Blocks.
///
/// # Errors
///
/// If the policy forbids it, the script or an import has changed, or the file is no readable script.
pub fn allowed_script(
    path: &Path,
    cwd: &Path,
    context: &HostContext,
) -> Result<AllowedScript, ScriptRefused> {
    let policy = CallSettings::read(cwd, context).config().project_agent_policy;
    let (mut script, _) = read_script(path, cwd, context)?;
    let project = outer_project(&script.path, cwd);
    let is_allowed = || is_confirmed(&context.agent_dir, script.file(project.as_deref()), &script.sha256);
    match policy {
        ProjectAgentPolicy::Deny => {
            let path = path.to_string_lossy().into_owned();
            return Err(ScriptRefused::Denied { path, setting: "projectAgentPolicy" });
        }
        ProjectAgentPolicy::Confirm if !is_allowed() => {
            return Err(ScriptRefused::Changed(path.to_owned()));
        }
        ProjectAgentPolicy::Confirm | ProjectAgentPolicy::Allow => {}
    }
    let imports = recorded_imports(&script.imports_file);
    let is_changed = |(path, hash): &(&PathBuf, &String)| {
        !std::fs::read(path).is_ok_and(|bytes| content_hash(&bytes) == **hash)
    };
    if let Some((import, _)) = imports.iter().find(is_changed) {
        return Err(ScriptRefused::ImportChanged(import.clone()));
    }
    script.imports = Some(imports);
    Ok(script)
}

impl AllowedScript {
    /// Returns the file to which the user agrees.
    fn file<'a>(&'a self, project: Option<&'a Path>) -> ConfirmedFile<'a> {
        ConfirmedFile { path: &self.path, project }
    }
}

/// Returns the project around `cwd`, unless it contains the file at `path`.
fn outer_project(path: &Path, cwd: &Path) -> Option<PathBuf> {
    let project = root_of(&canonical(cwd));
    (!path.starts_with(&project)).then_some(project)
}

/// Reads the imports of the last start by the user. Empty if they are unknown: then the script may import nothing.
fn recorded_imports(file: &Path) -> BTreeMap<PathBuf, String> {
    let text = owned::open(file, std::fs::File::options().read(true)).and_then(std::io::read_to_string);
    let text = text.unwrap_or_default();
    let imports = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    imports.map(|Import { path, sha256 }| (path, sha256)).collect()
}

/// Returns true if Node runs a file of this name.
#[must_use]
pub fn is_script(file: &Path) -> bool {
    file.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}

fn read_script(
    file: &Path,
    cwd: &Path,
    context: &HostContext,
) -> Result<(AllowedScript, String), ScriptRefused> {
    if !is_script(file) {
        return Err(ScriptRefused::NotAScript(file.to_owned()));
    }
    let read = || {
        let path = std::fs::canonicalize(file)?;
        let (text, sha256) = text_to_confirm(&path)?;
        let name = content_hash(format!("{}\0{}", path.display(), canonical(cwd).display()).as_bytes());
        let imports_file = layout::script_imports(&context.agent_dir).join(name).with_extension("jsonl");
        Ok((AllowedScript { path, sha256, imports_file, imports: None }, text))
    };
    read().map_err(|source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => ScriptRefused::Missing(file.to_owned()),
        io::ErrorKind::FileTooLarge => ScriptRefused::TooLarge(file.to_owned()),
        _ => ScriptRefused::Unreadable { path: file.to_owned(), source },
    })
}

fn path_text(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

fn extensions() -> String {
    EXTENSIONS.map(|extension| format!("`.{extension}`")).join(", ")
}

/// Replaces the tabs of indentation, which would be marks that hide the code.
fn with_spaces(text: &str) -> String {
    let line = |line: &str| {
        let code = line.trim_start_matches('\t');
        format!("{}{code}", "  ".repeat(line.len() - code.len()))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Builds the question. It shows the whole file.
fn question(
    script: &AllowedScript,
    project: Option<&Path>,
    text: &str,
    context: &HostContext,
) -> ConfirmRequest {
    let path = Visible::path(&script.path);
    let name = script.path.file_name().unwrap_or_default().to_string_lossy();
    let mut message = Visible::default();
    message.push_labeled("file: ", &path);
    message.push_static("\nIt runs as a program with all of your rights, also when no run is active.");
    message.push_static("\nFiles that it imports are not shown here. If one changes, pi does not continue the script by itself.");
    message
        .push_labeled("", &file_changes(&context.agent_dir, script.file(project), text).unwrap_or_default());
    message.push_static("\n\nYou will be asked again when the file changes.");
    let whole = whole_file(&with_spaces(text));
    message.push_labeled(marks_note(&message, &whole), &whole);
    let mut title = Visible::default();
    title.push_labeled("Run the workflow ", &Visible::line(&name));
    title.push_static("?");
    let run_id = RunId::random().into();
    ConfirmRequest { run_id, agent: name.into_owned(), title, message, path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_has_no_marks_and_other_tabs_do() {
        let shown = whole_file(&with_spaces("if (a) {\n\t\tb(\"\t\");\n}\n")).into_string();
        assert!(shown.contains("|     b(\"<U+0009>\");\n"), "{shown}");
    }
}
