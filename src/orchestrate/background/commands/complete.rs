//! Completes a typed command.

use std::path::Path;

use serde::Serialize;

use super::parse::{ABORT, SUBCOMMANDS, WAIT, WITH_FLAGGED, YES};
use crate::orchestrate::background::conversation::project_runs::UNKNOWN;
use crate::present::{PATHS, ShownWorkflow, agent_and_label, state};
use crate::run::{RunRecord, is_script};
use sanitizer::one_line;

/// The maximum number of completions offered.
const MAX_OFFERED: usize = 20;

/// The maximum number of entries of a directory that are read.
const MAX_READ: usize = 1_000;

/// The flag of `info`.
const PATHS_FLAG: (&str, &str) = (PATHS, "its paths and keys");

/// One completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Completion {
    /// The whole line that then follows `/subagents `.
    pub value: String,
    /// Its name in the list.
    pub label: String,
    /// The description in the list.
    pub description: String,
}

/// Completions for `prefix`, everything typed after `/subagents `: subcommands, then the runs on which they have an effect,
/// newest first as given, and the workflows, or the agents, by name and purpose. A complete line gets no list, so that Enter runs
/// it at once.
#[must_use]
pub fn complete(
    prefix: &str,
    runs: &[RunRecord],
    workflows: &[ShownWorkflow],
    agents: &[(String, String)],
) -> Vec<Completion> {
    let mut offered = complete_workflow(prefix, workflows);
    offered.extend(complete_run(prefix, runs, agents));
    offered.truncate(MAX_OFFERED);
    offered
}

/// The names of the workflows on which a command has an effect.
fn complete_workflow(prefix: &str, workflows: &[ShownWorkflow]) -> Vec<Completion> {
    let Some((command, rest)) = prefix.trim_start().split_once(char::is_whitespace) else {
        return Vec::new();
    };
    let does: fn(&ShownWorkflow) -> bool = match command {
        "stop" => ShownWorkflow::can_stop,
        "resume" => ShownWorkflow::can_resume,
        "info" => |_| true,
        "discard" => |workflow| !workflow.is_running(),
        _ => return Vec::new(),
    };
    let rest = rest.trim_start();
    let (flag, typed) = match rest.strip_prefix(YES).filter(|_| command == "discard") {
        Some(typed) => (format!("{YES} "), typed.trim_start()),
        None => (String::new(), rest),
    };
    let typed = typed.trim_matches('"');
    let fits = |workflow: &&ShownWorkflow| {
        let (id, word) = (&workflow.id, workflow.word().trim_matches('"').to_owned());
        let names = [Some(id), Some(&workflow.name), workflow.file.as_ref(), Some(&word)];
        let mut names = names.into_iter().flatten();
        does(workflow)
            && names.clone().all(|name| name != typed)
            && names.any(|name| name.to_lowercase().starts_with(&typed.to_lowercase()))
    };
    let completion = |workflow: &ShownWorkflow| Completion {
        value: format!("{command} {flag}{}", workflow.word()),
        label: one_line(&workflow.name, 40).into_string(),
        description: one_line(&format!("workflow · {}", workflow.sentence()), 100).into_string(),
    };
    workflows.iter().filter(fits).map(completion).collect()
}

fn complete_run(prefix: &str, runs: &[RunRecord], agents: &[(String, String)]) -> Vec<Completion> {
    let typed = prefix.trim_start();
    let Some((name, rest)) = typed.split_once(char::is_whitespace) else {
        return subcommands(typed);
    };
    let rest = rest.trim_start();
    match (name, rest.split_once(char::is_whitespace)) {
        ("list", None) => keywords(name, "", rest, &[("all", "the runs of every session")]),
        ("log", Some((run, more))) => {
            keywords(&format!("log {run}"), more, last_word(more), &[("tools", "with tool calls")])
        }
        ("stop", None) => {
            let live = runs.iter().filter(|run| run.is_live());
            let mut offered = runs_of(name, rest, live.clone());
            if live.count() > 1 {
                let all = keywords(name, "", rest, &[("all", "every run of this session")]);
                offered.truncate(MAX_OFFERED - all.len());
                offered.extend(all);
            }
            offered
        }
        ("run", None) => agents_of(name, rest, agents),
        ("run", Some((WAIT, more))) => agents_of(&format!("{name} {WAIT}"), more.trim_start(), agents),
        ("background", None) => {
            runs_of(name, rest, runs.iter().filter(|run| run.is_live() && run.is_foreground))
        }
        ("apply", Some((flag @ (ABORT | WITH_FLAGGED), more))) => {
            let does = if flag == ABORT { RunRecord::can_abort_apply } else { RunRecord::can_apply };
            runs_of(&format!("{name} {flag}"), more.trim_start(), runs.iter().filter(|run| does(run)))
        }
        ("info", None) if rest.starts_with('-') => keywords(name, "", rest, &[PATHS_FLAG]),
        ("info", Some((flag, more))) if flag == PATHS => {
            runs_of(&format!("{name} {flag}"), more.trim_start(), runs.iter().filter(|run| has_record(run)))
        }
        ("info", Some((run, more))) => {
            keywords(&format!("{name} {run}"), "", more.trim_start(), &[PATHS_FLAG])
        }
        ("agents", None) => {
            // The name is all: Enter shows the agent.
            let mut offered = agents_of(name, rest, agents);
            offered.retain(|agent| agent.label != rest);
            for agent in &mut offered {
                agent.value.truncate(agent.value.trim_end().len());
            }
            offered
        }
        (_, None) => {
            let does: fn(&RunRecord) -> bool = match name {
                "resume" => RunRecord::can_resume,
                "undo" => |run| run.can_undo() || run.can_abort_apply(),
                "diff" => RunRecord::can_diff,
                "discard" => RunRecord::can_discard,
                "apply" => RunRecord::can_apply,
                "send" => |run| run.is_live() || run.can_resume(),
                "log" => |run| run.is_live() || run.transcript.is_some(),
                "info" => has_record,
                _ => return Vec::new(),
            };
            runs_of(name, rest, runs.iter().filter(|run| does(run)))
        }
        _ => Vec::new(),
    }
}

/// Completes the file after `workflow`, relative to `cwd`: directories, and files with the extension of a script. `None`
/// for any other command. Reads one directory.
#[must_use]
pub fn complete_script(prefix: &str, cwd: &Path) -> Option<Vec<Completion>> {
    let typed = prefix.trim_start().strip_prefix("workflow")?.strip_prefix(char::is_whitespace)?.trim_start();
    let (directory, beginning) =
        typed.rsplit_once('/').map_or(("", typed), |(directory, rest)| (directory, rest));
    let folder =
        if typed.starts_with('/') && directory.is_empty() { Path::new("/") } else { Path::new(directory) };
    let shown = &typed[..typed.len() - beginning.len()];
    let entries = std::fs::read_dir(cwd.join(folder)).into_iter().flatten().flatten().take(MAX_READ);
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_directory = entry.path().is_dir();
            let fits = name.starts_with(beginning) && (beginning.starts_with('.') || !name.starts_with('.'));
            let is_offered = is_directory || (is_script(Path::new(&name)) && name != beginning);
            (fits && is_offered).then(|| if is_directory { format!("{name}/") } else { name })
        })
        .collect();
    names.sort();
    names.truncate(MAX_OFFERED);
    let completion = |name: String| Completion {
        value: format!("workflow {shown}{name}"),
        description: String::new(),
        label: name,
    };
    Some(names.into_iter().map(completion).collect())
}

/// Returns false for a run whose record was removed.
fn has_record(run: &RunRecord) -> bool {
    run.agent != UNKNOWN
}

fn subcommands(typed: &str) -> Vec<Completion> {
    let fits = |name: &str| name != typed && name.starts_with(typed);
    SUBCOMMANDS
        .iter()
        .filter(|known| fits(known.name))
        .map(|known| Completion {
            value: known.name.to_owned(),
            label: format!("{}{}", known.name, known.arguments),
            description: known.description.to_owned(),
        })
        .collect()
}

fn last_word(text: &str) -> &str {
    text.rsplit(char::is_whitespace).next().unwrap_or_default()
}

/// The known words that can follow `before` and the complete words in `given`.
fn keywords(before: &str, given: &str, typed: &str, known: &[(&str, &str)]) -> Vec<Completion> {
    let given = given[..given.len() - typed.len().min(given.len())].trim();
    let fits = |word: &str| {
        word != typed && word.starts_with(typed) && !given.split_whitespace().any(|one| one == word)
    };
    let known = known.iter().filter(|(word, _)| fits(word));
    known
        .map(|(word, description)| Completion {
            value: [before, given, word]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
            label: (*word).to_owned(),
            description: (*description).to_owned(),
        })
        .collect()
}

fn agents_of(before: &str, typed: &str, agents: &[(String, String)]) -> Vec<Completion> {
    let fits = |(name, _): &&(String, String)| name.to_lowercase().starts_with(&typed.to_lowercase());
    let agents = agents.iter().filter(fits).take(MAX_OFFERED);
    agents
        .map(|(agent, purpose)| Completion {
            // The task follows.
            value: format!("{before} {agent} "),
            label: agent.clone(),
            description: one_line(purpose, 100).into_string(),
        })
        .collect()
}

fn runs_of<'a>(command: &str, typed: &str, runs: impl Iterator<Item = &'a RunRecord>) -> Vec<Completion> {
    let lower = typed.trim_matches('"').to_lowercase();
    let runs: Vec<_> = runs.collect();
    // A word that already names one run is complete, so that Enter runs it at once.
    let is_number =
        !lower.is_empty() && lower.trim_start_matches('#').bytes().all(|byte| byte.is_ascii_digit());
    let is_name = |run: &&RunRecord| {
        let label = run.label.as_deref().unwrap_or_default().to_lowercase();
        [run.run_id.as_str(), run.key.as_str(), run.session_key.as_str(), label.as_str()]
            .contains(&lower.as_str())
    };
    if !lower.is_empty() && (lower == "last" || is_number || runs.iter().any(is_name)) {
        return Vec::new();
    }
    let fits = |run: &&RunRecord| {
        let label = run.label.as_deref().unwrap_or_default().to_lowercase();
        let names = [run.run_id.as_str(), label.as_str(), run.agent.as_str(), run.session_key.as_str()];
        names.iter().any(|name| name.starts_with(&lower))
    };
    runs.into_iter()
        .filter(fits)
        .take(MAX_OFFERED)
        .map(|run| Completion {
            // A message follows the id. Other commands are complete, so Enter runs them.
            value: format!("{command} {}{}", run.run_id, if command == "send" { " " } else { "" }),
            label: run.run_id.clone(),
            description: one_line(&format!("{} · {} · {}", agent_and_label(run), state(run), run.task), 100)
                .into_string(),
        })
        .collect()
}
