//! pi's `json` mode: one prompt as text, events out, no commands.

use super::child_protocol::ChildProtocol;

#[derive(Debug)]
pub(super) struct Json;

impl ChildProtocol for Json {
    fn args(&self) -> &'static [&'static str] {
        &["--mode", "json", "-p"]
    }

    fn first_bytes(&self, task: &str) -> Vec<u8> {
        literal_when_trimmed(task).into_bytes()
    }
}

/// Prefixes a task that pi would read as a command: pi trims it and then looks for a leading slash.
fn literal_when_trimmed(task: &str) -> String {
    if task.trim_start().starts_with('/') { format!("Task: {task}") } else { task.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_never_a_command() {
        assert_eq!(literal_when_trimmed(" \n/quit now"), "Task:  \n/quit now");
        assert_eq!(literal_when_trimmed("look at /etc"), "look at /etc");
    }
}
