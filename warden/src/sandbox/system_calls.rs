//! The system call filters: what Landlock and the mount namespace do not see.
//!
//! A filter sees the number of a call and its arguments, not what pointers point to. It compares the low 32 bits of
//! arguments that are numbers, as the kernel does. A program of another architecture (32-bit, on a 64-bit machine) is
//! killed at its first call, because its numbers mean other calls.

use std::io;

use rustix::io::Errno;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter, sock_filter,
};

/// A call that is refused, always or with these arguments.
struct Refused {
    call: libc::c_long,
    arguments: Vec<Argument>,
}

/// What an argument has to be.
struct Argument {
    index: u8,
    length: SeccompCmpArgLen,
    is: SeccompCmpOp,
    value: u64,
}

/// The bit that marks the second set of call numbers on x86-64 (x32).
const X32: libc::c_long = 0x4000_0000;
/// The number of `ioctl` in the second set, one of the few that differ there.
const X32_IOCTL: libc::c_long = X32 | 0x202;
/// Typing into a terminal. The C libraries give it different types.
const TIOCSTI: u64 = 0x5412;
/// `TIOCLINUX`, with which the selection of a console is pasted into it.
const TIOCLINUX: u64 = 0x541c;
/// `open_tree_attr`, which the `libc` crate does not know. It has this number on every architecture.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// `BPF_JMP | BPF_JA`, in the type of an instruction.
const JUMP: u16 = 0x05;

/// Calls that no program in the sandbox may make, and that fail with `EPERM`.
fn forbidden() -> Vec<Refused> {
    // They create, copy, move and change mounts without naming a path, which Landlock does not see. With them a
    // program in a user namespace could join an overlay to a directory, and the kernel itself would write there.
    let mounts = [
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fspick,
        libc::SYS_mount_setattr,
        OPEN_TREE_ATTR,
    ];
    // The keys of the user, shared by all of his processes; and page faults that stop the kernel where the child wants.
    let keys = [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key, libc::SYS_userfaultfd];
    let mut refused: Vec<_> = mounts.into_iter().chain(keys).map(always).collect();
    let new_user = libc::CLONE_NEWUSER.unsigned_abs().into();
    refused.extend([
        // A new limit for another process, the warden for example. Zero is the process itself, a null pointer asks.
        when(
            libc::SYS_prlimit64,
            vec![number(0, Ne, 0), Argument { length: SeccompCmpArgLen::Qword, ..number(2, Ne, 0) }],
        ),
        // A lease stops whoever opens the file for writing, for most of a minute.
        when(libc::SYS_fcntl, vec![number(1, Eq, libc::F_SETLEASE.unsigned_abs().into())]),
        when(libc::SYS_unshare, vec![number(0, MaskedEq(new_user), new_user)]),
        when(libc::SYS_clone, vec![number(0, MaskedEq(new_user), new_user)]),
        // The host of a virtual machine.
        when(libc::SYS_socket, vec![number(0, Eq, libc::AF_VSOCK.unsigned_abs().into())]),
        when(libc::SYS_ioctl, vec![number(1, Eq, TIOCSTI)]),
        when(libc::SYS_ioctl, vec![number(1, Eq, TIOCLINUX)]),
    ]);
    refused
}

/// Calls that are made to look as if the kernel had none, because programs then use older ones, which a filter can
/// check: the flags of `clone3` lie in memory, and the requests of `io_uring` pass every filter.
fn missing() -> Vec<Refused> {
    [libc::SYS_clone3, libc::SYS_io_uring_setup].map(always).into()
}

/// Restricts this process and everything it starts. It gives up gaining privileges, if it has not yet.
pub(super) fn refuse_dangerous() -> io::Result<()> {
    // One program, because the kernel compiles each, and runs each at every call.
    let forbidden = compile(forbidden(), Errno::PERM).map_err(io::Error::other)?;
    let missing = compile(missing(), Errno::NOSYS).map_err(io::Error::other)?;
    apply(&chain(forbidden, missing))
}

/// Refuses new sockets: without `network` all but Unix sockets, without `unix` these. Pairs of connected Unix sockets
/// remain.
pub(super) fn refuse_sockets(network: bool, unix: bool) -> io::Result<()> {
    let unix_family = libc::AF_UNIX.unsigned_abs().into();
    let mut refused = Vec::new();
    if !network {
        refused.push(when(libc::SYS_socket, vec![number(0, Ne, unix_family)]));
    }
    if !unix {
        refused.push(when(libc::SYS_socket, vec![number(0, Eq, unix_family)]));
    }
    if refused.is_empty() {
        return Ok(());
    }
    apply(&compile(refused, Errno::ACCESS).map_err(io::Error::other)?)
}

fn always(call: libc::c_long) -> Refused {
    when(call, Vec::new())
}

fn when(call: libc::c_long, arguments: Vec<Argument>) -> Refused {
    Refused { call, arguments }
}

fn number(index: u8, is: SeccompCmpOp, value: u64) -> Argument {
    Argument { index, length: SeccompCmpArgLen::Dword, is, value }
}

fn apply(program: &BpfProgram) -> io::Result<()> {
    apply_filter(program).map_err(|error| match error {
        Error::Prctl(error) | Error::Seccomp(error) => error,
        other => io::Error::other(other),
    })
}

/// Joins two programs: where the first allows a call, the second decides.
fn chain(mut first: BpfProgram, second: BpfProgram) -> BpfProgram {
    let length = first.len();
    for (at, instruction) in first.iter_mut().enumerate() {
        if u32::from(instruction.code) == libc::BPF_RET && instruction.k == libc::SECCOMP_RET_ALLOW {
            // The kernel takes no program that is longer than 4096, and counts from the next instruction.
            let ahead = u32::try_from(length - at - 1).unwrap_or(u32::MAX);
            *instruction = sock_filter { code: JUMP, jt: 0, jf: 0, k: ahead };
        }
    }
    first.extend(second);
    first
}

fn compile(refused: Vec<Refused>, errno: Errno) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules = std::collections::BTreeMap::<_, Vec<_>>::new();
    for Refused { call, arguments } in refused {
        let conditions = arguments
            .into_iter()
            .map(|Argument { index, length, is, value }| SeccompCondition::new(index, length, is, value));
        let conditions: Vec<_> = conditions.collect::<Result<_, _>>()?;
        for number in numbers(call) {
            // An empty list of rules refuses every such call.
            let rules = rules.entry(number).or_default();
            if !conditions.is_empty() {
                rules.push(SeccompRule::new(conditions.clone())?);
            }
        }
    }
    let errno = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, errno, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// The numbers of a call. The `seccompiler` crate compares the whole number, so the second set is listed too.
fn numbers(call: libc::c_long) -> Vec<i64> {
    let second = if call == libc::SYS_ioctl { vec![X32 | call, X32_IOCTL] } else { vec![X32 | call] };
    let second = if cfg!(target_arch = "x86_64") { second } else { Vec::new() };
    [call].into_iter().chain(second).collect()
}
