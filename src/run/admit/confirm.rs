//! Decides whether an agent that a project defines may run: by policy, or by asking the user.

use super::refusal::Refusal;
use super::resolve::ResolvedRun;
use crate::agent::{AgentDefinition, Source, confirm, is_confirmed};
use crate::config::{NonInteractivePolicy, ProjectAgentPolicy};
use crate::run::callbacks::ConfirmRequest;
use crate::run::context::HostContext;
use crate::text::{Sanitizer, one_line};

/// The longest line of a question, in characters.
const QUESTION_CHARS: usize = 300;

impl ResolvedRun {
    /// The question that the user has to answer first. `None` when the agent may run without one.
    ///
    /// # Errors
    ///
    /// When policy refuses it without asking.
    pub(in crate::run) fn question(
        &self,
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
            ProjectAgentPolicy::Confirm if interactive => Ok(Some(self.request(sanitizer))),
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
    fn request(&self, sanitizer: &Sanitizer) -> ConfirmRequest {
        let AgentDefinition { name, description, readonly, .. } = &*self.agent;
        let line = |text: &str| sanitizer.sanitize(&one_line(text, QUESTION_CHARS)).into_string();
        let path = line(&self.path());
        let rights = if *readonly || !self.config.allow_write {
            "It can only read."
        } else {
            "It may change files and run programs."
        };
        ConfirmRequest {
            agent: name.clone(),
            title: format!("Run the project's agent {name}?"),
            message: format!(
                "file: {path}\nit says: {}\n\nThe project, not you, wrote its instructions. {rights} \
                 You will be asked again when the file changes.",
                line(description)
            ),
            path,
        }
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

    /// The refusal when the user said no.
    #[must_use]
    pub(in crate::run) fn refused(&self) -> Refusal {
        Refusal::ProjectRefused { agent: self.agent.name.clone(), path: self.path() }
    }
}
