//! Guards the process tree of one child. The library of this crate, in the same folder, defines its arguments and messages.
//!
//! | Question | File |
//! |---|---|
//! | what are the steps of a run, what does `--probe` print | `linux` |
//! | what happens from the start of the child to the end of its tree, and after the death of the host | `guard`; `start` forks the child |
//! | how messages from and to the host travel | `channel` |
//! | which processes belong to the tree, how they are ended, and whether they exceed a limit | `tree/` |
//! | what a sandboxed child may write | `sandbox/` |
//! | why a machine does not allow a feature | `unavailable` |
//! | what happens when a child's tool runs it as a shell | `shell` |
//! | what happens when a shell script starts it (`--hold`) | `script_host` |
//! | raw system calls | `sys/`, and nowhere else |

#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod script_host;
#[cfg(target_os = "linux")]
mod shell;
#[cfg(target_os = "linux")]
mod start;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod unavailable;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    std::process::exit(2);
}
