//! The raw system calls of this program, and all of its unsafe code.

pub(crate) mod landlock;
pub(crate) mod mount;
mod process;
pub(crate) mod seccomp;
pub(crate) mod trial;

pub(crate) use process::{
    Forked, Reaped, block_signals, child_events, close_from, die_like, exec, fork, fork_into, reap,
    signal_everybody, unblock_signals, unshare, wait,
};
