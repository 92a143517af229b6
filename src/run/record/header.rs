//! The first line of a recording.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::agent::{Asks, OutputSchema};
use crate::config::Config;
use crate::run::admit::admitted::AdmittedRun;
use crate::run::admit::pi::PiProgram;
use crate::text::figures::epoch_ms;

/// What a recording is, among files of JSON lines.
const KIND: &str = "subagent-recording";
/// Changes with the meaning of an entry.
const VERSION: u32 = 1;

/// The settings that decide what becomes of a child's output. A replay takes these and no others: none of them has a value
/// that could start a program or name a file.
const SETTINGS: [&str; 9] = [
    "protocol",
    "timeoutMs",
    "idleTimeoutMs",
    "toolTimeoutMs",
    "graceMs",
    "retry",
    "output",
    "budget",
    "loop",
];

/// What a replay has to know of the run. Not sanitized. Blocks.
pub(super) fn header_of(run: &AdmittedRun) -> Value {
    let resolved = &run.resolved;
    let agent = &resolved.agent;
    let configured = resolved.config.pi_command.as_deref();
    let pi = PiProgram::locate(configured, &run.spec.cwd, &run.spec.context).ok().and_then(|pi| pi.version);
    json!({
        "kind": KIND,
        "version": VERSION,
        "recordedMs": epoch_ms(SystemTime::now()),
        "engine": env!("CARGO_PKG_VERSION"),
        "pi": pi.map(|version| version.to_string()),
        "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "agent": {
            "name": agent.name,
            "source": agent.source.as_str(),
            "readonly": agent.readonly,
            "sandboxed": resolved.sandbox.is_read_only(),
            "tools": run.tools(),
            "ask": run.asks() != Asks::Nobody,
            "extensionsMayAsk": resolved.may_ask(&run.spec.context, run.tools()),
            "outputSchema": agent.output_schema.as_ref().map(OutputSchema::own),
        },
        "task": run.spec.task,
        "model": resolved.model,
        "thinking": resolved.thinking,
        "config": settings(&Config {
            timeout: resolved.timeout,
            idle_timeout: resolved.idle_timeout,
            budget: resolved.budget,
            loops: resolved.loops,
            ..run.config().clone()
        }),
    })
}

fn settings(config: &Config) -> Map<String, Value> {
    let all = serde_json::to_value(config).unwrap_or_default();
    SETTINGS.iter().filter_map(|key| Some(((*key).to_owned(), all.get(key)?.clone()))).collect()
}
