//! The configuration, as JavaScript sees it.

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use serde_json::Value;

use super::agents::Diagnostic;
use super::into_js::{IntoJs, object_into_js};
use super::options::SurfaceOptions;
use super::runtime::{off_thread, promise};
use crate::run;
use agents::config;

/// The effective configuration in a directory.
#[napi(object, object_from_js = false)]
pub struct LoadedConfig {
    /// The object under `subagents`, every key present, defaults filled in. 0 means "no limit", as in the files.
    #[napi(ts_type = "Record<string, unknown>")]
    pub values: Value,
    /// The files that were looked for, whether they exist or not.
    pub sources: Vec<ConfigSource>,
    /// Mistakes in the files, and keys without effect yet; at most ten of each file.
    pub diagnostics: Vec<Diagnostic>,
    /// Set when a file cannot be read or parsed: every run is then refused for this reason.
    pub broken: Option<Diagnostic>,
}

/// A configuration file.
#[napi(object, object_from_js = false)]
pub struct ConfigSource {
    /// The kind of file. A project file may only tighten what the user's file allows.
    #[napi(ts_type = "\"user\" | \"project\"")]
    pub origin: &'static str,
    /// The path of the file, also if it does not exist.
    pub path: String,
    /// False when there is no such file, which is no mistake.
    pub present: bool,
}

/// Reads the configuration of a directory. Rejects when `options.config` itself has invalid values; mistakes in files
/// are `diagnostics`.
///
/// @example
/// ```ts
/// import { loadConfig } from "pi-subagent-native";
///
/// const { values, diagnostics, broken } = await loadConfig({ cwd: process.cwd() });
/// console.log(values.maxConcurrent, broken?.message ?? "readable", diagnostics.length);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<LoadedConfig>")]
pub fn load_config(env: Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'static, LoadedConfig>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let loaded = off_thread(move || run::load_config(&cwd, &context)).await?;
        let loaded = loaded.map_err(|refusal| napi::Error::from_reason(refusal.to_string()))?;
        Ok(LoadedConfig {
            values: serde_json::to_value(&loaded.config)?,
            sources: loaded.sources.into_js(),
            diagnostics: loaded.diagnostics.into_js(),
            broken: loaded.broken.into_js(),
        })
    })
}

object_into_js! { |source: config::ConfigSource| ConfigSource { origin, path, present } }
