//! An agent file gives an agent, a diagnostic or neither. Reading it never panics and never gives a partial agent.

use std::path::Path;

use agents::{AgentDefinition, Parsed, Source, parse};
use sanitizer::Severity;

/// Checks that an agent has no errors and stays within its limits, and that Windows line ends and a byte order mark
/// change nothing.
pub(crate) fn frontmatter(content: &[u8]) {
    let Parsed { agent, diagnostics, .. } = read(content);
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    assert!(agent.is_none() || errors == 0, "the agent has errors: {diagnostics:?}");
    assert!(diagnostics.iter().all(|found| !found.to_string().contains('\n')), "{diagnostics:?}");
    let Some(agent) = agent else { return };
    let name = &agent.name;
    assert!((1..=64).contains(&name.chars().count()) && name.starts_with(char::is_alphanumeric), "{name:?}");
    let is_special =
        |c: char| c.is_whitespace() || c.is_control() || (c.is_ascii_punctuation() && !"._-".contains(c));
    assert!(!name.contains(is_special) && name.len() <= 240, "{name:?}");
    let description = &agent.description;
    assert!(description.chars().count() <= 1000 && !description.contains('\n'), "{description:?}");
    assert!(agent.tools.iter().chain(&agent.extensions).all(|list| list.len() <= 256));
    assert!(agent.prompt.trim() == agent.prompt && !agent.prompt.contains("\r\n"), "{:?}", agent.prompt);

    let text = std::str::from_utf8(content).expect("the file of an agent is UTF-8");
    if !text.starts_with('\u{feff}') {
        let marked = read(format!("\u{feff}{text}").as_bytes());
        assert_eq!(
            marked.agent.map(without_hash),
            Some(without_hash(agent.clone())),
            "a byte order mark changes nothing"
        );
    }
    if !text.contains('\r') {
        let windows = read(text.replace('\n', "\r\n").as_bytes());
        assert_eq!(
            windows.agent.map(without_hash),
            Some(without_hash(agent)),
            "CRLF line ends change nothing"
        );
    }
}

fn read(content: &[u8]) -> Parsed {
    parse(content, Source::Project, Some(Path::new("agent.md")))
}

fn without_hash(agent: AgentDefinition) -> AgentDefinition {
    AgentDefinition { content_hash: String::new(), ..agent }
}
