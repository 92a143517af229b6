//! Decides how the kernel restrains a child: what it may write, what it sees, and whether it gets a shell. Knows the agent, the
//! configuration and the machine, but no run.
//!
//! | File | Contents |
//! |---|---|
//! | `capabilities` | the means that this machine has to restrain a child |
//! | `plan` | the decision for one agent: enforced, not enforced, or declared by the user; whether it gets a shell |
//! | `write_scope` | the directories that a writing child may change |
//! | `hidden` | the files that a sandboxed child does not see |

mod capabilities;
pub(crate) mod hidden;
mod plan;
mod write_scope;

pub use capabilities::{HostCapabilities, WardenUnknown};
pub use plan::SandboxUnavailable;
pub(crate) use plan::{EnforcedSandbox, SandboxPlan, may_write, shell_policy};
pub use write_scope::ScopeError;
pub(crate) use write_scope::{WriteScope, untrusted};
