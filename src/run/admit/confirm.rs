//! Decides whether an agent that a project defines may run: by policy, or by asking the user.

use super::reach::only_reads;
use super::refusal::Refusal;
use super::resolve::ResolvedRun;
use crate::agent::{AgentDefinition, Source, ToolPlan, change, confirm, is_confirmed};
use crate::config::{NonInteractivePolicy, ProjectAgentPolicy};
use crate::run::callbacks::ConfirmRequest;
use crate::run::context::HostContext;
use crate::text::{ChangedLine, Sanitizer, changed_lines, one_line};

/// The longest line of a question, in characters.
const QUESTION_CHARS: usize = 300;
/// The longest command of a question: as long as one may be. What is not shown has not been agreed to.
const COMMAND_CHARS: usize = 1024;
/// As many changed lines are shown.
const CHANGED_LINES: usize = 40;

impl ResolvedRun {
    /// The question that the user has to answer first. `None` when the agent may run without one.
    ///
    /// # Errors
    ///
    /// When policy refuses it without asking.
    pub(in crate::run) fn question(
        &self,
        run_id: String,
        plan: &ToolPlan,
        context: &HostContext,
        interactive: bool,
        sanitizer: &Sanitizer,
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
            ProjectAgentPolicy::Confirm if interactive => {
                Ok(Some(self.request(run_id, plan, context, sanitizer)))
            }
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
        path.is_some_and(|path| is_confirmed(&context.agent_dir, path, &self.agent.content_hash))
    }

    fn path(&self) -> String {
        self.agent.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The question. Everything that the project wrote is on lines of its own, so that it cannot pass for our words.
    fn request(
        &self,
        run_id: String,
        plan: &ToolPlan,
        context: &HostContext,
        sanitizer: &Sanitizer,
    ) -> ConfirmRequest {
        let AgentDefinition { name, description, readonly, .. } = &*self.agent;
        let line = |text: &str| sanitizer.line(text, QUESTION_CHARS).into_string();
        let command = |text: &str| sanitizer.line(text, COMMAND_CHARS).into_string();
        let path = line(&self.path());
        let writes = self.config.allow_write.is_on();
        let rights = if *readonly {
            "It can only read."
        } else if only_reads(&self.agent, &self.values, &self.config, plan) {
            "It has only tools that read, and can change no file."
        } else if !writes {
            "It can only read while `allowWrite` is off."
        } else {
            self.write_rights(plan)
        };
        let undo = self.undo_note.filter(|_| !readonly && writes);
        let undo = undo.map(|note| format!(" {}", sentence(note))).unwrap_or_default();
        // Of the file, also where the settings have nothing run of it now: the answer counts for later runs, too.
        let commands = [("check", &self.agent.check), ("setup", &self.agent.setup)];
        let commands: String = commands
            .iter()
            .filter_map(|(field, value)| Some(format!("\n{field}: {}", command(value.as_deref()?))))
            .filter(|_| !readonly)
            .collect();
        let changed = self.change(context, sanitizer).map(|change| format!("\n\n{change}"));
        ConfirmRequest {
            run_id,
            agent: name.clone(),
            title: format!("Run the project's agent {name}?"),
            message: format!(
                "file: {path}\nit says: {}\ntools: {}{commands}{}\n\nThe project, not you, wrote its instructions. {rights}{undo} \
                 You will be asked again when the file changes.",
                line(description),
                command(&tools(plan)),
                changed.unwrap_or_default()
            ),
            path,
        }
    }

    /// What a child may do that has more than tools that read, or a command.
    fn write_rights(&self, plan: &ToolPlan) -> &'static str {
        match (plan.only_reads(), plan.starts_programs(), &self.scope) {
            (true, _, _) => "Its tools only read; the commands above may change files.",
            (false, true, Some(_)) => "It may change files of this project and run programs.",
            (false, true, None) => "It may change files and run programs.",
            (false, false, Some(_)) => "It may change files of this project.",
            (false, false, None) => "It may change files.",
        }
    }

    /// How the definition differs from what the user allowed before, if there was such a time.
    fn change(&self, context: &HostContext, sanitizer: &Sanitizer) -> Option<String> {
        let (path, hash) = (self.agent.path.as_ref()?, &self.agent.content_hash);
        let (before, after) = change(&context.agent_dir, path, hash)?;
        let clean = |text: &str| sanitizer.sanitize(text).into_string();
        let (before, after) = (clean(&before), clean(&after));
        let changed = changed_lines(&before, &after);
        if before.is_empty() || after.is_empty() || changed.is_empty() {
            return Some("The file has changed since you allowed it.".to_owned());
        }
        let lines = changed.iter().take(CHANGED_LINES).map(|line| match line {
            ChangedLine::Removed(text) => format!("\n- {}", one_line(text, QUESTION_CHARS)),
            ChangedLine::Added(text) => format!("\n+ {}", one_line(text, QUESTION_CHARS)),
        });
        let left = match changed.len().saturating_sub(CHANGED_LINES) {
            0 => String::new(),
            left => format!("\n… {left} more changed lines; read them in the file"),
        };
        Some(format!("The file has changed since you allowed it:{}{left}", lines.collect::<String>()))
    }

    /// Records that the user allowed this definition of the agent.
    ///
    /// # Errors
    ///
    /// When the answer cannot be written. It still holds for this run.
    pub(in crate::run) fn remember(&self, context: &HostContext) -> std::io::Result<()> {
        match &self.agent.path {
            Some(path) => confirm(&context.agent_dir, path, &self.agent.content_hash),
            None => Ok(()),
        }
    }

    /// The refusal when the user said no, or nothing.
    #[must_use]
    pub(in crate::run) fn refused(&self, answer: Option<bool>) -> Refusal {
        let has_answered = answer.is_some();
        Refusal::ProjectRefused { agent: self.agent.name.clone(), path: self.path(), has_answered }
    }
}

/// The tools of a child, and those that it asks for and does not get at present: the answer counts for later runs, too.
fn tools(plan: &ToolPlan) -> String {
    let now = if plan.tools.is_empty() { "none".to_owned() } else { plan.tools.join(", ") };
    let not_now = plan.not_now().collect::<Vec<_>>().join(", ");
    if not_now.is_empty() { now } else { format!("{now} (not at present: {not_now})") }
}

/// A note as a sentence among others.
fn sentence(note: &str) -> String {
    let mut rest = note.chars();
    let first: String = rest.by_ref().take(1).flat_map(char::to_uppercase).collect();
    format!("{first}{}.", rest.as_str())
}
