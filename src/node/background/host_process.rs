//! The process that carries a run on after its pi has ended.

use std::io::{self, Write};
use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;

use crate::node::callbacks::HostCallbacks;
use crate::node::context::location::addon;
use crate::node::runtime::promise;
use crate::orchestrate::background;
use supervisor::Detached;

/// The script of a host process: it loads this addon, outlives its terminal, and ends its run on SIGTERM.
const SCRIPT: &str = "const addon = require(process.argv.at(-1)); process.title = 'pi-subagent-host'; \
     for (const signal of ['SIGHUP', 'SIGINT']) process.on(signal, () => {}); \
     process.on('SIGTERM', () => addon.endBackground().finally(() => process.exit(0))); \
     const alive = setInterval(() => {}, 1 << 30); \
     addon.hostRun().finally(() => clearInterval(alive));";

/// Returns the command that starts a host process: the program that runs this process, even if that is Bun or Electron.
/// `None` if the addon's own file is not known.
pub(crate) fn host_process() -> Option<Detached> {
    let program = std::env::current_exe().ok()?;
    let args = ["-e".into(), SCRIPT.into(), addon()?.as_os_str().to_owned()].into();
    // Options for Node are meant for the host: an inspector would stop the host process before it begins.
    let env = [("BUN_BE_BUN", "1"), ("ELECTRON_RUN_AS_NODE", "1"), ("NODE_OPTIONS", "")];
    Some(Detached { program, args, env: env.map(|(name, value)| (name.into(), value.into())).into() })
}

/// Runs one background run in a process of its own: reads the request from standard input, answers with a line on
/// standard output, and resolves when the run has ended. Only the addon calls this, in the process it starts for
/// `background.onExit: "keep"`.
///
/// @example
/// ```ts
/// import { hostRun } from "pi-subagent-native/extension";
///
/// await hostRun();
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn host_run(env: Env) -> napi::Result<PromiseRaw<'static, ()>> {
    promise(env, async move {
        background::host_run(Arc::new(HostCallbacks::default()), answer)
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
