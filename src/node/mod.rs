//! The napi edge: converts in, calls the core, converts out.
//!
//! It decides nothing. Everything that a user or a child can cause resolves as data. A rejection is a programming
//! error.
//!
//! ```text
//! options + context   what JavaScript passes in → RunSpec, TasksSpec, SpawnRequest, HostContext
//! handle, early       calls: start, update, abort; children that boot while a call still arrives
//! background/         runs that outlive their call
//! json                the core's values → JavaScript, as one text that `JSON.parse` reads
//! ```
//!
//! | Question | File |
//! |---|---|
//! | Which options does a call take, and what are their defaults? | `options`; environment and directories: `context/`, which also knows where the addon and its warden are |
//! | How does a call run beside JavaScript, and who ends it? | `handle`; with its thread: `teardown` |
//! | How does a child boot while its call still arrives? | `early` |
//! | How does native code call JavaScript back? | `callbacks` |
//! | How does a value of the core become JavaScript's? | `json`; its type is in `types.d.ts`, its shape is the core's serde. |
//! | What is drawn? | `drawing`, `cards`, `present`; of background runs, with the panel: `runs` |
//! | How does a script of runs begin and end? | `workflow` |
//! | Which agents, tools and settings are there? | `agents`; what is wrong with them: `doctor` |
//! | Sanitizing, truncating, collecting without a run | `text/` |
//! | Which threads are there? | `runtime` |
//!
//! `native.d.ts` is `types.d.ts` and what napi generates from the exported items and their doc comments. Write them for callers in TypeScript: units, bounds,
//! `@default`, and an `@example` for each function, which `__test__/types/api.ts` repeats, so that `tsc` checks it.

#![expect(unreachable_pub, reason = "napi exports what is public, and nothing in Rust reaches it")]
#![expect(clippy::needless_pass_by_value, reason = "JavaScript hands its strings over")]

/// The macros write the types to this directory of `napi build`. Cargo must expand them again when it is another one.
const _: Option<&str> = option_env!("NAPI_TYPE_DEF_TMP_FOLDER");

mod agents;
mod background;
mod callbacks;
mod cards;
mod context;
mod doctor;
mod drawing;
mod early;
mod handle;
mod json;
mod options;
mod present;
mod runs;
mod runtime;
mod teardown;
mod text;
mod workflow;
