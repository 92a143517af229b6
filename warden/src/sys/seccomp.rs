//! Refusing system calls by number.

use std::io;
use std::ops::RangeInclusive;

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JGE, BPF_JGT, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter,
};

/// Where the number of the call is in what the filter sees.
const NUMBER: u32 = 0;
/// What the second set of numbers on x86-64 adds to each.
const SECOND_SET: u32 = 0x4000_0000;
/// Without it, some kernels slow the whole program down for its own protection.
const FLAGS: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;

/// Has the kernel answer `EPERM` to calls with these numbers, for this process and all that it starts. It must not be able
/// to gain privileges.
///
/// Only for calls from number 424 on: those have the same one on every architecture, so a program cannot get past by
/// pretending to be of another.
pub(crate) fn refuse_calls(refused: &[RangeInclusive<u32>]) -> io::Result<()> {
    let mut program =
        vec![step(BPF_LD | BPF_W | BPF_ABS, NUMBER), step(BPF_ALU | BPF_AND | BPF_K, !SECOND_SET)];
    for range in refused {
        // Below the range: go on behind the refusal. Above it: the same.
        program.push(sock_filter { jf: 2, ..step(BPF_JMP | BPF_JGE | BPF_K, *range.start()) });
        program.push(sock_filter { jt: 1, ..step(BPF_JMP | BPF_JGT | BPF_K, *range.end()) });
        program.push(step(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()));
    }
    program.push(step(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: the structure and the steps that it points to are alive during the call, and the kernel copies them.
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, FLAGS, std::ptr::from_ref(&filter))
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: 0, k }
}
