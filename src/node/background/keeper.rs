//! The process of a run that outlives the pi that asked for it.

use std::io::{self, Write};

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;

use crate::node::callbacks::JsCallbacks;
use crate::node::location::addon;
use crate::orchestrate::background;
use crate::process::Detached;

/// What a keeper runs: this addon. It lives on when the terminal goes, and ends its run when it is asked to end.
const SCRIPT: &str = "const addon = require(process.argv.at(-1)); process.title = 'pi-subagent-keeper'; \
     for (const signal of ['SIGHUP', 'SIGINT']) process.on(signal, () => {}); \
     process.on('SIGTERM', () => addon.endBackground().finally(() => process.exit(0))); \
     const alive = setInterval(() => {}, 1 << 30); \
     addon.keepRun().finally(() => clearInterval(alive));";

/// How a keeper is started: with the program that runs this process, whatever else that is (compiled with Bun, or part of
/// Electron). `None` where the addon's own place is not known.
pub(in crate::node) fn keeper() -> Option<Detached> {
    let program = std::env::current_exe().ok()?;
    let args = ["-e".into(), SCRIPT.into(), addon()?.as_os_str().to_owned()].into();
    // Options for Node are meant for the host: an inspector, say, would stop the keeper before it begins.
    let env = [("BUN_BE_BUN", "1"), ("ELECTRON_RUN_AS_NODE", "1"), ("NODE_OPTIONS", "")];
    Some(Detached { program, args, env: env.map(|(name, value)| (name.into(), value.into())).into() })
}

/// What the process of a run does that goes on after its pi has ended: reads the request for it from standard input,
/// answers with a line on standard output, and resolves when the run is over. Not meant to be called by anybody else.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn keep_run(env: &Env) -> napi::Result<PromiseRaw<'_, ()>> {
    env.spawn_future(async move {
        background::keep(JsCallbacks(None), answer)
            .await
            .map_err(|error| napi::Error::from_reason(error.to_string()))
    })
}

fn answer(bytes: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(bytes)?;
    output.write_all(b"\n")?;
    output.flush()
}
