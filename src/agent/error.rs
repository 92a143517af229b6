//! Why an agent cannot run.

use std::fmt;

use crate::text::one_line;

/// Names listed in a message; a longer list would fill the answer.
const LISTED: usize = 100;
/// The longest valid name, and a few characters more to show that a name is too long.
const SHOWN_NAME_CHARS: usize = 80;

/// No agent has this name. Its text is what the caller of the tool reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnknownAgent {
    /// The name asked for.
    pub name: String,
    /// Every agent there is, in the order of the catalog.
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

/// Every tool the agent could have used is one this pi does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("agent `{agent}` needs {}; install a package that provides {}", one_of(.missing), pronoun(.missing))]
pub struct NoToolsLeft {
    /// The agent's name.
    pub agent: String,
    /// The tools any one of which would let it run.
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
