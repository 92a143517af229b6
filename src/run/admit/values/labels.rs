//! Formats the values of an agent, with their sources.

use std::time::Duration;

use super::agent::{AgentValues, ValueSource};
use agents::{Context, Skills};
use sanitizer::figures;

impl AgentValues {
    /// Formats every value with its source.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        self.labels().into_iter().map(|(label, source)| format!("{label} ({source})")).collect()
    }

    /// Formats the values that are not defaults on one line, grouped by source.
    #[must_use]
    pub fn by_source(&self) -> String {
        let mut groups: Vec<(&ValueSource, Vec<String>)> = Vec::new();
        for (label, source) in
            self.labels().into_iter().filter(|(_, source)| **source != ValueSource::Default)
        {
            match groups.iter_mut().find(|(known, _)| *known == source) {
                Some((_, group)) => group.push(label),
                None => groups.push((source, vec![label])),
            }
        }
        let groups = groups.into_iter().map(|(source, labels)| format!("{source}: {}", labels.join(", ")));
        groups.collect::<Vec<_>>().join("; ")
    }

    /// Formats the values that no source sets.
    #[must_use]
    pub fn defaults(&self) -> Vec<String> {
        let labels = self.labels().into_iter().filter(|(_, source)| **source == ValueSource::Default);
        labels.map(|(label, _)| label).collect()
    }

    /// Formats the values that the settings of a user or a project set.
    #[must_use]
    pub fn from_settings(&self) -> Vec<String> {
        let is_given =
            |source: &ValueSource| matches!(source, ValueSource::Settings(_) | ValueSource::Project);
        let given = self.labels().into_iter().filter(|(_, source)| is_given(source));
        given.map(|(label, source)| format!("{label} ({source})")).collect()
    }

    fn labels(&self) -> Vec<(String, &ValueSource)> {
        let Self {
            model,
            thinking,
            timeout,
            idle_timeout,
            max_turns,
            max_cost,
            loop_stop_after,
            reads_context,
            isolation,
            skills,
            tools,
            check,
            setup,
            tool_bounds,
            own_timeout: _,
            other_models: _,
            disabled: _,
        } = self;
        let seen = match &skills.value {
            Skills::All(true) => "all".to_owned(),
            Skills::Named(names) if !names.is_empty() => names.join(", "),
            Skills::All(false) | Skills::Named(_) => "none".to_owned(),
        };
        let is_within = |tool: &&String| tool_bounds.iter().all(|bound| bound.contains(tool));
        let asked = match &tools.value {
            None => "as allowed".to_owned(),
            Some(asked) => {
                let within: Vec<&str> = asked.iter().filter(is_within).map(String::as_str).collect();
                if within.is_empty() { "none".to_owned() } else { within.join(", ") }
            }
        };
        let checked = check.value.as_ref().map(|command| (format!("check `{command}`"), &check.source));
        let mut labels = vec![
            (format!("model {}", model.value.clone().unwrap_or_else(as_in_session)), &model.source),
            (format!("thinking {}", thinking.value.clone().unwrap_or_else(as_in_session)), &thinking.source),
            (format!("tools {asked}"), &tools.source),
            (format!("timeoutMs {}", span(timeout.value)), &timeout.source),
            (format!("idleTimeoutMs {}", span(idle_timeout.value)), &idle_timeout.source),
            (
                format!("maxTurns {}", or_none(max_turns.value.map(|turns| turns.to_string()))),
                &max_turns.source,
            ),
            (format!("maxCost {}", or_none(max_cost.value.map(|cost| format!("${cost}")))), &max_cost.source),
            (
                format!("loopStopAfter {}", or_none(loop_stop_after.value.map(|times| times.to_string()))),
                &loop_stop_after.source,
            ),
            (format!("skills {seen}"), &skills.source),
            (
                format!("context {}", if reads_context.value { Context::Project } else { Context::None }),
                &reads_context.source,
            ),
        ];
        // Most agents do not write, so isolation is only shown if it is set.
        if isolation.source != ValueSource::Default {
            labels.push((format!("isolation {}", isolation.value), &isolation.source));
        }
        labels.extend(setup.value.as_ref().map(|command| (format!("setup `{command}`"), &setup.source)));
        labels.extend(checked);
        labels
    }
}

fn or_none(value: Option<String>) -> String {
    value.unwrap_or_else(|| "none".to_owned())
}

fn span(limit: Option<Duration>) -> String {
    or_none(limit.map(figures::duration))
}

fn as_in_session() -> String {
    "as in the session".to_owned()
}
