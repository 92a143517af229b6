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

/// A condition on one argument of a call. The call is refused if all conditions hold.
struct Argument {
    index: u8,
    length: SeccompCmpArgLen,
    is: SeccompCmpOp,
    value: u64,
}

/// The bit that marks the second set of call numbers on x86-64 (x32).
const X32: u32 = 0x4000_0000;
/// Typing into a terminal. The C libraries give it different types.
const TIOCSTI: u64 = 0x5412;
/// `TIOCLINUX`, with which the selection of a console is pasted into it.
const TIOCLINUX: u64 = 0x541c;
/// `open_tree_attr`, which the `libc` crate does not know. It has this number on every architecture.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Instructions: `BPF_JMP | BPF_JA`, `BPF_LD | BPF_W | BPF_ABS`, `BPF_JMP | BPF_JSET | BPF_K`, and `BPF_RET | BPF_K`.
const JUMP: u16 = 0x05;
const LOAD: u16 = 0x20;
const UNLESS_SET: u16 = 0x45;
const RETURN: u16 = 0x06;

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
        // A lease stops a process that opens the file for writing, for most of a minute.
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

/// Calls that look missing in the kernel, because programs then use older calls, which a filter can check: the flags of `clone3`
/// lie in memory, and the requests of `io_uring` pass every filter.
fn missing() -> Vec<Refused> {
    [libc::SYS_clone3, libc::SYS_io_uring_setup].map(always).into()
}

/// Restricts this process and everything it starts. It gives up gaining privileges, if it has not yet.
pub(super) fn refuse_dangerous() -> io::Result<()> {
    apply(&dangerous().map_err(io::Error::other)?)
}

/// One program, because the kernel compiles each, and runs each at every call.
fn dangerous() -> Result<BpfProgram, seccompiler::BackendError> {
    Ok(chain(compile(forbidden(), Errno::PERM)?, compile(missing(), Errno::NOSYS)?))
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
    apply_filter(&whole(program)).map_err(|error| match error {
        Error::Prctl(error) | Error::Seccomp(error) => error,
        other => io::Error::other(other),
    })
}

/// Adds the beginning of a program: all calls of the second set of x86-64, which few kernels have, are missing. Otherwise each
/// refused call would have to be listed with two numbers.
fn whole(program: &BpfProgram) -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return program.clone();
    }
    let missing = libc::SECCOMP_RET_ERRNO | Errno::NOSYS.raw_os_error().unsigned_abs();
    // The kernel shows the number of the call first.
    let beginning = [(LOAD, 0, 0), (UNLESS_SET, 1, X32), (RETURN, 0, missing)];
    let beginning = beginning.map(|(code, jf, k)| sock_filter { code, jt: 0, jf, k });
    [&beginning, &program[..]].concat()
}

/// Joins two programs: where the first allows a call, the second decides.
fn chain(mut first: BpfProgram, second: BpfProgram) -> BpfProgram {
    let length = first.len();
    for (at, instruction) in first.iter_mut().enumerate() {
        if instruction.code == RETURN && instruction.k == libc::SECCOMP_RET_ALLOW {
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
        // An empty list of rules refuses every such call.
        let rules = rules.entry(call).or_default();
        if !conditions.is_empty() {
            rules.push(SeccompRule::new(conditions)?);
        }
    }
    let errno = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, errno, std::env::consts::ARCH.try_into()?)?.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a program's answer to a call, with the steps of the kernel that such programs need.
    fn answer(program: &[sock_filter], call: u32, arguments: [u64; 3]) -> u32 {
        let arch = match std::env::consts::ARCH {
            "x86_64" => 0xc000_003e_u32,
            "aarch64" => 0xc000_00b7,
            other => panic!("the filter has no number for {other}"),
        };
        let mut data = [call, arch, 0, 0].map(u32::to_ne_bytes).concat();
        data.extend(arguments.into_iter().flat_map(u64::to_ne_bytes));
        let mut at = 0;
        let mut value = 0;
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            let jump = |holds: bool| usize::from(if holds { jt } else { jf });
            at += 1;
            match code {
                0x20 => {
                    let word = data[k as usize..].first_chunk().expect("the offset is within the call");
                    value = u32::from_ne_bytes(*word);
                }
                0x54 => value &= k,
                0x05 => at += k as usize,
                0x15 => at += jump(value == k),
                0x25 => at += jump(value > k),
                0x35 => at += jump(value >= k),
                0x45 => at += jump(value & k != 0),
                0x06 => return k,
                other => panic!("unknown instruction {other:#x}"),
            }
        }
    }

    #[test]
    fn each_system_call_is_allowed_or_refused() {
        let program = whole(&dangerous().expect("the filter is compiled"));
        let error = |errno: Errno| libc::SECCOMP_RET_ERRNO | errno.raw_os_error().unsigned_abs();
        let allowed = libc::SECCOMP_RET_ALLOW;
        let refused = error(Errno::PERM);
        let missing = error(Errno::NOSYS);
        let second = u64::from(X32);
        for (label, call, arguments, expected) in [
            ("read", libc::SYS_read, [0; 3], allowed),
            ("keyctl", libc::SYS_keyctl, [0; 3], refused),
            ("clone3", libc::SYS_clone3, [0; 3], missing),
            ("an own limit", libc::SYS_prlimit64, [0, 7, second << 8], allowed),
            ("another's limit, asked", libc::SYS_prlimit64, [7, 7, 0], allowed),
            ("another's limit", libc::SYS_prlimit64, [7, 7, second << 8], refused),
            ("typing", libc::SYS_ioctl, [0, TIOCSTI | (1 << 40), 0], refused),
            ("a size", libc::SYS_ioctl, [0, 0x5413, 0], allowed),
        ] {
            let number = u32::try_from(call).expect("the number fits");
            assert_eq!(answer(&program, number, arguments), expected, "{label}");
            if cfg!(target_arch = "x86_64") {
                assert_eq!(answer(&program, X32 | number, arguments), missing, "{label}, second set");
            }
        }
    }
}
