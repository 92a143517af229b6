//! The raw system calls of this program, and all of its unsafe code.

mod process;
pub(crate) mod sandbox;
pub(crate) mod trial;

pub(crate) use process::{
    Forked, Reaped, block_signals, child_events, close_from, exec, exit_like, fork, fork_into, limit_files,
    reap, reset_broken_pipe_signal, signal_all, signal_events, unblock_signals, unshare, unshare_with_user,
    wait,
};
