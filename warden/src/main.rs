//! The guardian of one child's process tree. The library of this crate says what it is told and what it answers.
//!
//! | Question | File |
//! |---|---|
//! | which arguments, and what `--probe` says | `linux` |
//! | what happens from the start to the end | `guard`; `start` forks the child |
//! | how the host is heard and answered | `channel` |
//! | who belongs to the tree, and how they are ended | `tree`, `cgroup`, `namespace` |
//! | what the tree uses, and its limits | `usage` |
//! | what a sandboxed child may write | `sandbox/` |
//! | raw system calls | `sys/`, and nowhere else |

#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod start;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod usage;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    std::process::exit(2);
}
