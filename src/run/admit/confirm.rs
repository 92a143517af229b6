//! Decides whether an agent that a project defines may run: by policy, or by asking the user.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use super::refusal::Refusal;
use super::resolve::ResolvedRun;
use super::write_reach::only_reads;
use crate::run::callbacks::ConfirmRequest;
use crate::run::context::HostContext;
use agents::config::{NonInteractivePolicy, ProjectAgentPolicy};
use agents::{
    AgentDefinition, ConfirmedFile, Source, ToolPlan, allowed_text, confirm, definition_text, is_confirmed,
};
use sanitizer::{ChangedLine, Visible, changed_lines, figures};

/// The prefix of each line of an agent file, so that no line can pass for a line of the question.
const BAR: &str = "| ";
/// The lines of the prompt, and the characters of one, that are shown before the whole file. They fit on a screen of 24
/// rows with the facts and the answers.
const PROMPT_LINES: usize = 3;
const PROMPT_CHARS: usize = 160;
/// The maximum number of remembered refusals. Above it the oldest are dropped, and pi asks the user again.
const MAX_REFUSED: usize = 1000;

impl ResolvedRun {
    /// Returns the question that the user has to answer first. `None` if the agent may run without one.
    ///
    /// # Errors
    ///
    /// Fails if policy refuses the agent without asking.
    pub(crate) fn question(
        &self,
        run_id: String,
        plan: &ToolPlan,
        context: &HostContext,
        interactive: bool,
    ) -> Result<Option<ConfirmRequest>, Refusal> {
        if self.agent.source != Source::Project {
            return Ok(None);
        }
        let path = self.path();
        let denied = |setting| {
            Err(Refusal::ProjectPolicy { agent: self.agent.name.clone(), path: path.clone(), setting })
        };
        match self.config.project_agent_policy {
            ProjectAgentPolicy::Allow => Ok(None),
            ProjectAgentPolicy::Deny => denied("projectAgentPolicy"),
            ProjectAgentPolicy::Confirm if self.is_confirmed(context) => Ok(None),
            ProjectAgentPolicy::Confirm if self.is_refused(context) => Err(self.refused(Some(false))),
            ProjectAgentPolicy::Confirm if interactive => self.request(run_id, plan, context).map(Some),
            ProjectAgentPolicy::Confirm
                if self.config.non_interactive_policy == NonInteractivePolicy::Allow =>
            {
                Ok(None)
            }
            ProjectAgentPolicy::Confirm => denied("nonInteractivePolicy"),
        }
    }

    fn is_confirmed(&self, context: &HostContext) -> bool {
        let path = self.agent.path.as_ref();
        path.is_some_and(|path| {
            is_confirmed(&context.agent_dir, path.as_path().into(), &self.agent.content_hash)
        })
    }

    fn is_refused(&self, context: &HostContext) -> bool {
        let session = context.host.session_id.as_deref();
        let path = self.agent.path.as_ref();
        path.is_some_and(|path| is_refused(session, path, &self.agent.content_hash))
    }

    fn path(&self) -> String {
        self.agent.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Builds the question. It shows the whole file, without redacting or cutting anything, because the answer covers
    /// all of it. Everything that the project wrote is on lines of its own, so that it cannot pass for our text.
    ///
    /// # Errors
    ///
    /// Fails if the file has changed since it was read, because the user could not see what would run.
    fn request(
        &self,
        run_id: String,
        plan: &ToolPlan,
        context: &HostContext,
    ) -> Result<ConfirmRequest, Refusal> {
        let AgentDefinition { name, description, readonly, prompt, .. } = &*self.agent;
        let text = self.agent.path.as_ref().and_then(|path| definition_text(path, &self.agent.content_hash));
        let Some(text) = text else {
            return Err(Refusal::ProjectChanged { agent: name.clone(), path: self.path() });
        };
        let path = self.agent.path.as_deref().map(Visible::path).unwrap_or_default();
        let mut message = Visible::default();
        // Commands come first, because they run as they are. Taken from the file, even if the settings disable the command
        // now: the answer also counts for later runs.
        for (label, command) in [("check: ", &self.agent.check), ("setup: ", &self.agent.setup)] {
            let Some(command) = command.as_deref().filter(|_| !readonly) else { continue };
            message.push_labeled(label, &Visible::command(command));
            if let Some(letters) = Visible::outside_ascii(command) {
                message.push_labeled("\n  it has letters outside ASCII: ", &letters);
            }
            message.push_static("\n");
        }
        message.push_labeled("tools: ", &Visible::line(&tools(plan)));
        // The changes are news to a user who has allowed the file before; otherwise the prompt is. They come before the
        // facts that take more lines, so that a small screen begins with them.
        let change = self
            .agent
            .path
            .as_ref()
            .and_then(|path| file_changes(&context.agent_dir, path.as_path().into(), &text));
        match &change {
            Some(change) => message.push_labeled("", change),
            None => message.push_labeled("", &beginning(prompt)),
        }
        message.push_static(if change.is_some() { "\n" } else { "" });
        message.push_labeled("\nfile: ", &path);
        message.push_labeled("\n", &self.rights(plan));
        message.push_labeled("\nit says: ", &Visible::line(description));

        let file = whole_file(&text);
        message.push_static("\n\nThe project, not you, wrote its instructions.");
        message.push_static(" You will be asked again when the file changes.");
        message.push_labeled(marks_note(&message, &file), &file);

        let mut title = Visible::default();
        title.push_labeled("Run the project's agent ", &Visible::line(name));
        title.push_static("?");
        Ok(ConfirmRequest { run_id, agent: name.clone(), title, message, path })
    }

    /// Describes the agent's rights to change files.
    fn rights(&self, plan: &ToolPlan) -> Visible {
        let writes = self.config.allow_write.is_on();
        let rights = if self.agent.readonly {
            "It can only read."
        } else if only_reads(&self.agent, &self.values, &self.config, plan) {
            "It has only reading tools, so it cannot change files."
        } else if !writes {
            "It can only read while `allowWrite` is off."
        } else {
            self.write_rights(plan)
        };
        let undo = self.undo_note.filter(|_| !self.agent.readonly && writes);
        let undo = undo.map(|note| format!(" {}", sentence(note))).unwrap_or_default();
        let mut description = Visible::default();
        description.push_labeled(rights, &Visible::line(&undo));
        description
    }

    /// Describes the rights of a child that has a command, or more than tools that read.
    fn write_rights(&self, plan: &ToolPlan) -> &'static str {
        match (plan.only_reads(), plan.starts_programs(), &self.scope) {
            (true, _, _) => "Its tools only read; the commands above may change files.",
            (false, true, Some(_)) => "It may change files of this project and run programs.",
            (false, true, None) => "It may change files and run programs.",
            (false, false, Some(_)) => "It may change files of this project.",
            (false, false, None) => "It may change files.",
        }
    }

    /// Records that the user allowed this definition of the agent.
    ///
    /// # Errors
    ///
    /// Fails if the answer cannot be written. The answer still counts for this run.
    pub(crate) fn remember(&self, context: &HostContext) -> std::io::Result<()> {
        match &self.agent.path {
            Some(path) => confirm(&context.agent_dir, path.as_path().into(), &self.agent.content_hash),
            None => Ok(()),
        }
    }

    /// Records that the user refused this definition in the session.
    pub(crate) fn remember_no(&self, context: &HostContext) {
        if let Some(path) = &self.agent.path {
            refuse(context.host.session_id.as_deref(), path, &self.agent.content_hash);
        }
    }

    /// Returns the refusal for a user who said no or gave no answer.
    #[must_use]
    pub(crate) fn refused(&self, answer: Option<bool>) -> Refusal {
        let has_answered = answer.is_some();
        Refusal::ProjectRefused { agent: self.agent.name.clone(), path: self.path(), has_answered }
    }
}

/// Lists the differences from the text that the user allowed before. `None` if the user never allowed the file.
pub(super) fn file_changes(agent_dir: &Path, file: ConfirmedFile<'_>, text: &str) -> Option<Visible> {
    let before = allowed_text(agent_dir, file)?;
    let mut difference = Visible::default();
    difference.push_static("\n\nThe file has changed since you allowed it");
    let Some(before) = before else {
        difference.push_static(". The text that you allowed was not kept.");
        return Some(difference);
    };
    let changed = changed_lines(&before, text);
    difference.push_static(if changed.is_empty() { ", but only in its line endings." } else { ":" });
    for line in changed {
        match line {
            ChangedLine::Removed(text) => difference.push_labeled("\n- ", &Visible::line(text)),
            ChangedLine::Added(text) => difference.push_labeled("\n+ ", &Visible::line(text)),
        }
    }
    Some(difference)
}

/// Shows the whole file, on lines that cannot pass for lines of the question.
pub(super) fn whole_file(text: &str) -> Visible {
    let size =
        format!("{}, {}", figures::counted(text.lines().count(), "line"), figures::bytes(text.len() as u64));
    let mut file = Visible::default();
    file.push_labeled("\n\nAll of the file: ", &Visible::line(&size));
    file.push_labeled("\n", &Visible::lines(text.trim_end_matches(['\r', '\n'])).with_line_prefix(BAR));
    file
}

/// Explains the marks in the texts of a question, if there are any.
pub(super) fn marks_note(message: &Visible, file: &Visible) -> &'static str {
    if message.has_marks() || file.has_marks() {
        " A mark such as <U+200B> stands for an invisible character, and <U+200B x3> for three of them."
    } else {
        ""
    }
}

/// Lists the child's tools, and the requested tools that it does not get at present. The answer also counts for later
/// runs.
fn tools(plan: &ToolPlan) -> String {
    let now = if plan.tools.is_empty() { "none".to_owned() } else { plan.tools.join(", ") };
    let not_now = plan.excluded_by_settings().collect::<Vec<_>>().join(", ");
    if not_now.is_empty() { now } else { format!("{now} (not at present: {not_now})") }
}

/// Shows the first lines of a prompt. The whole file follows below, so a long line may be cut here.
fn beginning(prompt: &str) -> Visible {
    let mut lines = prompt.lines().filter(|line| !line.trim().is_empty());
    let mut shown = Visible::default();
    shown.push_static("\nits prompt begins:");
    for line in lines.by_ref().take(PROMPT_LINES) {
        let end = line.char_indices().nth(PROMPT_CHARS).map(|(end, _)| end);
        shown.push_labeled("\n| ", &Visible::line(&line[..end.unwrap_or(line.len())]));
        shown.push_static(if end.is_some() { "…" } else { "" });
    }
    shown.push_static(if lines.next().is_some() { "\n| …" } else { "" });
    shown
}

/// Turns a note into a sentence.
fn sentence(note: &str) -> String {
    let mut rest = note.chars();
    let first: String = rest.by_ref().take(1).flat_map(char::to_uppercase).collect();
    format!("{first}{}.", rest.as_str())
}

/// The project agents that the user has refused, the oldest first. Only the memory of this process has them: a new session, a
/// new process and a changed file ask again.
static REFUSED: Mutex<VecDeque<RefusedAgent>> = Mutex::new(VecDeque::new());

/// A refused definition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RefusedAgent {
    /// The id of the session; empty if the caller has none.
    session: String,
    path: PathBuf,
    content_hash: String,
}

impl RefusedAgent {
    /// Blocks, because it follows links.
    fn new(session: Option<&str>, path: &Path, content_hash: &str) -> Self {
        Self {
            session: session.unwrap_or_default().to_owned(),
            path: fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
            content_hash: content_hash.to_owned(),
        }
    }
}

/// Returns true if the user refused exactly this content of this file in the session. Blocks.
fn is_refused(session: Option<&str>, path: &Path, content_hash: &str) -> bool {
    let agent = RefusedAgent::new(session, path, content_hash);
    REFUSED.lock().contains(&agent)
}

/// Remembers that the user refused it. Blocks.
fn refuse(session: Option<&str>, path: &Path, content_hash: &str) {
    let agent = RefusedAgent::new(session, path, content_hash);
    let mut refused = REFUSED.lock();
    if !refused.contains(&agent) {
        let excess = (refused.len() + 1).saturating_sub(MAX_REFUSED);
        refused.drain(..excess);
        refused.push_back(agent);
    }
}

/// Forgets the refusal, because the user has asked for the agent. Blocks.
pub(crate) fn ask_again(session: Option<&str>, path: &Path, content_hash: &str) {
    let agent = RefusedAgent::new(session, path, content_hash);
    REFUSED.lock().retain(|refused| *refused != agent);
}
