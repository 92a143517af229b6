//! The agents and the configuration of a directory, and the tools that offer the agents, as JavaScript sees them.

use std::path::Path;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use serde_with_macros::skip_serializing_none;

use super::json::Json;
use super::options::SurfaceOptions;
use super::runtime::{off_thread, promise};
use crate::run::{self, CallSettings, HostCapabilities};
use agents::{Tool, ToolSurface, config};

/// Lists the agents of a directory, and the tools that a child of each would get. Reads agent files, and asks the
/// warden what this machine can enforce.
///
/// @example
/// ```ts
/// import { discoverAgents } from "pi-subagent-native/extension";
///
/// const { agents, diagnostics } = await discoverAgents({ cwd: process.cwd() });
/// for (const { name, source, tools } of agents) console.log(name, source, tools.join(" "));
/// for (const { severity, message } of diagnostics) console.error(severity, message);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<AgentCatalog>")]
pub fn discover_agents(env: Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'static, Json>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let capabilities = HostCapabilities::probe(&context).await;
        let listing = off_thread(move || {
            let settings = CallSettings::read(&cwd, &context);
            run::list_agents(&cwd, &context, &settings, &capabilities)
        });
        let run::Listing { agents, shadowed, diagnostics, .. } = listing.await?;
        let agents: Vec<_> = agents.into_iter().map(run::Listed::info).collect();
        Json::new(&json!({ "agents": agents, "shadowed": shadowed, "diagnostics": diagnostics }))
    })
}

/// Reads the configuration of a directory. Rejects when `options.config` itself has invalid values; mistakes in files
/// are `diagnostics`.
///
/// @example
/// ```ts
/// import { loadConfig } from "pi-subagent-native/extension";
///
/// const { values, diagnostics, broken } = await loadConfig({ cwd: process.cwd() });
/// console.log(values.maxConcurrent, broken?.message ?? "readable", diagnostics.length);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<LoadedConfig>")]
pub fn load_config(env: Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'static, Json>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let loaded = off_thread(move || run::load_config(&cwd, &context)).await?;
        let loaded = loaded.map_err(|refusal| napi::Error::from_reason(refusal.to_string()))?;
        let config::LoadedConfig { config, sources, diagnostics, broken, .. } = loaded;
        let mut json = json!({ "values": config, "sources": sources, "diagnostics": diagnostics });
        if let Some(broken) = broken {
            json["broken"] = json!(broken);
        }
        Json::new(&json)
    })
}

/// Returns the mistakes in the text of an agent, as a program gives it in `agents`. Empty if it can run.
///
/// @example
/// ```ts
/// import os from "node:os";
/// import { checkAgent } from "pi-subagent-native/extension";
///
/// const lines = ["---", "name: scout", "tools: gerp", "---", "Look."];
/// for (const { message } of checkAgent(lines.join(os.EOL))) console.error(message);
/// ```
#[napi(catch_unwind, ts_return_type = "Array<Diagnostic>")]
pub fn check_agent(text: String) -> napi::Result<Json> {
    Json::new(&agents::check_program_agent(&text))
}

/// Returns the reason why a value is not a schema of results. `null` for a schema.
///
/// @example
/// ```ts
/// import { checkSchema } from "pi-subagent-native/extension";
///
/// console.log(checkSchema({ type: "object", properties: { files: { type: "array" } } }) ?? "a schema");
/// ```
#[napi(catch_unwind)]
pub fn check_schema(#[napi(ts_arg_type = "unknown")] schema: Value) -> Option<String> {
    agents::OutputSchema::new(schema).err().map(|error| error.to_string())
}

/// Returns the first mistake in a configuration, as a program gives it in `config`. `null` for a valid one.
///
/// @example
/// ```ts
/// import { checkConfig } from "pi-subagent-native/extension";
///
/// console.log(checkConfig({ maxConcurrent: 4 }) ?? "valid");
/// ```
#[napi(catch_unwind)]
pub fn check_config(#[napi(ts_arg_type = "Record<string, unknown>")] config: Value) -> Option<String> {
    config::overlay(&config::Config::default(), &config).err().map(|mistake| mistake.message)
}

/// Describes the tools to register. Equal files and options give equal bytes, so that prompt caches stay valid.
///
/// @example
/// ```ts
/// import { describeTools } from "pi-subagent-native/extension";
///
/// const { register, tools, delegationPolicy = "" } = await describeTools({ cwd: process.cwd() });
/// if (register) for (const { name, parameters } of tools) console.log(name, JSON.stringify(parameters));
/// console.log(delegationPolicy);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<ToolSurfaces>")]
pub fn describe_tools(env: Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'static, Json>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let capabilities = HostCapabilities::probe(&context).await;
        Json::new(&off_thread(move || surfaces_of(&cwd, &context, &capabilities)).await?)
    })
}

/// Puts the arguments of a call, as JSON, into the form of the tool's schema. A value with only one possible meaning is
/// converted: a list sent as text, a number sent as text, an empty optional value, a name of another harness. Throws if
/// there is no such tool.
///
/// @example
/// ```ts
/// import { prepareArguments } from "pi-subagent-native/extension";
///
/// const sent = JSON.stringify({ subagent_type: "explorer", prompt: "List the tests.", cwd: "" });
/// const { arguments: prepared, problem } = prepareArguments("subagent", sent);
/// console.log(prepared ?? problem);
/// ```
#[napi(catch_unwind, ts_return_type = "PreparedArguments")]
pub fn prepare_arguments(tool: String, json: String) -> napi::Result<Json> {
    let known =
        Tool::parse(&tool).ok_or_else(|| napi::Error::from_reason(format!("there is no tool `{tool}`")))?;
    Json::new(&match agents::prepare_json(known, &json) {
        Ok(arguments) => json!({ "arguments": arguments }),
        Err(misuse) => json!({ "problem": misuse.to_string() }),
    })
}

/// The tools to register, and the words around them.
#[skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolSurfaces {
    register: bool,
    tools: Vec<RunFirst>,
    script_tool: RunFirst,
    delegation_policy: Option<String>,
    notices: Vec<String>,
    background_key: Option<String>,
}

/// JSON that is written with `sessionKey` before the other keys of its object. Models write arguments in the order of the schema: if
/// the run comes before a long message, its child can boot while the message still arrives.
struct RunFirst(Value);

impl Serialize for RunFirst {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Value::Object(fields) => {
                let (first, rest): (Vec<_>, Vec<_>) =
                    fields.iter().partition(|(name, _)| *name == "sessionKey");
                let ordered = first.into_iter().chain(rest);
                serializer.collect_map(ordered.map(|(name, value)| (name, Self(value.clone()))))
            }
            other => other.serialize(serializer),
        }
    }
}

/// A tool with what pi asks of each tool.
fn registered(tool: &ToolSurface, exposure: &str) -> RunFirst {
    let mut json = json!(tool);
    json["promptGuidelines"] = json!(tool.prompt_guidelines);
    json["exposure"] = json!(exposure);
    if Tool::parse(tool.name).is_some_and(Tool::is_read_only) {
        json["annotations"] = json!({ "readOnlyHint": true });
    }
    RunFirst(json)
}

fn surfaces_of(cwd: &Path, context: &run::HostContext, capabilities: &HostCapabilities) -> ToolSurfaces {
    let settings = run::CallSettings::read(cwd, context);
    let described = run::describe(cwd, context, &settings, capabilities);
    let clean = |notice: String| settings.sanitizer().sanitize(&notice).into_string();
    let surface = described.surface;
    ToolSurfaces {
        register: described.register,
        tools: surface.tools.iter().map(|tool| registered(tool, "model-only")).collect(),
        script_tool: registered(&surface.script_tool, "codemode"),
        delegation_policy: described.inject_policy.then_some(surface.delegation_policy),
        notices: described.notices.into_iter().map(clean).collect(),
        background_key: settings.config().background.shortcut(),
    }
}
