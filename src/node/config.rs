//! The configuration, as JavaScript sees it.

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use serde_json::json;

use super::json::Json;
use super::options::SurfaceOptions;
use super::runtime::{off_thread, promise};
use crate::run;
use agents::config;

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
