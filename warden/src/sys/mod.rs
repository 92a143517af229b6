//! The raw system calls of this program, and all of its unsafe code.

mod process;
pub(crate) mod sandbox;
pub(crate) mod trial;

pub(crate) use process::{
    Forked, Reaped, block_signals, child_events, close_from, die_like, exec, fork, fork_into,
    heed_broken_pipes, limit_files, reap, signal_events, signal_everybody, unblock_signals, unshare,
    unshare_with_user, wait,
};
