//! `doctor`, as JavaScript sees it.

use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use serde_json::json;

use super::callbacks::HostCallbacks;
use super::json::Json;
use super::options::SurfaceOptions;
use super::runtime::promise;
use crate::doctor;

/// Checks everything a delegation needs: configuration, agents, pi's command, directories, the sandbox. Starts pi once
/// to ask for its version and waits at most 20 seconds for it. Findings never reject.
///
/// @example
/// ```ts
/// import { doctor } from "pi-subagent-native/extension";
///
/// const { ok, checks } = await doctor({ cwd: process.cwd() });
/// for (const { status, area, message, hint = "" } of checks) console.log(status, area, message, hint);
/// process.exitCode = ok ? 0 : 1;
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<DoctorReport>")]
pub fn doctor(env: Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'static, Json>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let checks = doctor::doctor(cwd, Arc::new(context), Arc::new(HostCallbacks::default())).await;
        let ok = checks.iter().all(|check| check.status != doctor::Status::Error);
        Json::new(&json!({ "ok": ok, "checks": checks }))
    })
}

/// Returns what to tell the user about names of this package that the hosting pi gives to something else (`takenNames`):
/// whose they are, and what to remove. Sanitized.
///
/// @example
/// ```ts
/// import { takenNameNotices } from "pi-subagent-native/extension";
///
/// const takenNames = [{ kind: "tool" as const, name: "subagent", path: "/home/user/other.ts" }];
/// for (const notice of takenNameNotices({ cwd: process.cwd(), takenNames })) console.error(notice);
/// ```
#[napi(catch_unwind)]
pub fn taken_name_notices(options: SurfaceOptions) -> Vec<String> {
    let (cwd, context) = options.into_context();
    doctor::taken_names(&cwd, &context)
}
