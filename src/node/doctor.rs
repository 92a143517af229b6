//! `doctor`, as JavaScript sees it.

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use tokio::runtime::Handle;

use super::options::SurfaceOptions;
use super::runtime::off_thread;
use crate::{doctor, run};

/// What one answer may fill: a program that fails can say a lot.
const MAX_MESSAGE: usize = 4 * 1024;

/// What stands in the way of a delegation.
#[napi(object, object_from_js = false)]
pub struct DoctorReport {
    /// True when no check is an error.
    pub ok: bool,
    /// In the order in which a person would look.
    pub checks: Vec<DoctorCheck>,
}

/// The answer of one check.
#[napi(object, object_from_js = false)]
pub struct DoctorCheck {
    /// What was looked at.
    pub area: String,
    /// How good the answer is.
    #[napi(ts_type = "\"ok\" | \"info\" | \"warning\" | \"error\"")]
    pub status: &'static str,
    /// The answer.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Looks at everything a delegation needs: configuration, agents, the child's command, directories. Starts pi once to
/// ask for its version. Never rejects for what it finds.
#[napi(catch_unwind, ts_return_type = "Promise<DoctorReport>")]
pub fn doctor(env: &Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'_, DoctorReport>> {
    let (cwd, context) = options.into_context();
    // Looks at files all along, which may hang in a file system; so not on a thread that serves children.
    env.spawn_future(off_thread(move || {
        let sanitizer = run::sanitizer_for(&cwd, &context);
        let checks = Handle::current().block_on(doctor::doctor(&cwd, &context));
        let ok = checks.iter().all(|check| check.status != doctor::Status::Error);
        let clean = |text: &str| sanitizer.sanitize(text).clip(MAX_MESSAGE).into_string();
        let convert = |check: doctor::Check| DoctorCheck {
            area: check.area.to_owned(),
            status: check.status.as_str(),
            message: clean(&check.message),
            hint: check.hint.as_deref().map(clean),
        };
        DoctorReport { ok, checks: checks.into_iter().map(convert).collect() }
    }))
}
