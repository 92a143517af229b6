//! The raw system calls of this program, and all of its unsafe code.

mod process;

pub(crate) use process::{
    Forked, Reaped, block_signals, child_events, close_from, die_like, exec, fork, in_fork, reap,
    signal_everybody, unblock_signals, unshare, wait,
};
