//! The configuration, as JavaScript sees it.

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use serde_json::Value;

use super::agents::{Diagnostic, shown};
use super::options::SurfaceOptions;
use super::runtime::off_thread;
use crate::config;
use crate::run;

/// The configuration in force in a directory.
#[napi(object, object_from_js = false)]
pub struct LoadedConfig {
    /// Every setting with its value: the object under `subagents`.
    #[napi(ts_type = "Record<string, unknown>")]
    pub values: Value,
    /// The files that were looked for.
    pub sources: Vec<ConfigSource>,
    /// What is wrong with them, and what has no effect yet.
    pub diagnostics: Vec<Diagnostic>,
    /// Set when a file cannot be read: every run is then refused for this reason.
    pub broken: Option<Diagnostic>,
}

/// A configuration file.
#[napi(object, object_from_js = false)]
pub struct ConfigSource {
    /// Whose it is.
    #[napi(ts_type = "\"user\" | \"project\"")]
    pub origin: &'static str,
    /// Where it is, or would be.
    pub path: String,
    /// Whether it exists.
    pub present: bool,
}

/// Reads the configuration of a directory. Rejects for values of the caller's own that are not valid.
#[napi(catch_unwind, ts_return_type = "Promise<LoadedConfig>")]
pub fn load_config(env: &Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'_, LoadedConfig>> {
    let (cwd, context) = options.into_context();
    env.spawn_future(async move {
        let loaded = off_thread(move || run::load_config(&cwd, &context)).await?;
        let loaded = loaded.map_err(|refusal| napi::Error::from_reason(refusal.to_string()))?;
        Ok(LoadedConfig {
            values: serde_json::to_value(&loaded.config)?,
            sources: loaded.sources.into_iter().map(Into::into).collect(),
            diagnostics: loaded.diagnostics.into_iter().map(Into::into).collect(),
            broken: loaded.broken.map(Into::into),
        })
    })
}

impl From<config::ConfigSource> for ConfigSource {
    fn from(source: config::ConfigSource) -> Self {
        Self { origin: source.origin.as_str(), path: shown(&source.path), present: source.present }
    }
}
