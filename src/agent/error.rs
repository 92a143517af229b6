//! Why an agent cannot run.

use std::fmt;

use crate::text::one_line;

/// Names listed in a message; a longer list would crowd out the message itself.
const LISTED: usize = 100;
/// The longest valid name, plus a few characters to show that a name is too long.
const SHOWN_NAME_CHARS: usize = 80;

/// No agent has this name. The calling model reads the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnknownAgent {
    /// The requested name.
    pub name: String,
    /// All agents, in catalog order.
    pub available: Vec<String>,
    /// The agent that was probably meant.
    pub nearest: Option<String>,
}

impl fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = self.available.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
        write!(f, "Unknown agent: {}. Available agents: {listed}", one_line(&self.name, SHOWN_NAME_CHARS))?;
        if let Some(more) = self.available.len().checked_sub(LISTED).filter(|more| *more > 0) {
            write!(f, " and {more} more")?;
        }
        match &self.nearest {
            Some(nearest) => write!(f, ". Did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

/// This pi has none of the tools that the agent could have used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("agent `{agent}` needs {}; install a package that provides {}", one_of(.missing), pronoun(.missing))]
pub struct NoToolsLeft {
    /// The agent's name.
    pub agent: String,
    /// The missing tools; any one of them would let the agent run.
    pub missing: Vec<String>,
}

fn one_of(tools: &[String]) -> String {
    match tools {
        [only] => only.clone(),
        several => format!("one of {}", several.join(", ")),
    }
}

fn pronoun(tools: &[String]) -> &'static str {
    if tools.len() == 1 { "it" } else { "them" }
}
