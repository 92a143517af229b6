//! Refuses system calls by number.

use std::io;
use std::ops::RangeInclusive;

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JGE, BPF_JGT, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter,
};

/// The offset of the call number in the data that the filter sees.
const NUMBER: u32 = 0;
/// The bit that marks the second set of call numbers on x86-64 (x32).
const SECOND_SET: u32 = 0x4000_0000;
/// Without this flag, some kernels slow the whole program down with mitigations against speculative execution.
const FLAGS: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;

/// Makes calls with these numbers fail with `EPERM`, for this process and everything it starts. The process must have
/// given up gaining privileges.
///
/// Only for calls from number 424 on: those have the same number on every architecture, so a program cannot evade the
/// filter by claiming another one.
pub(crate) fn refuse_calls(refused: &[RangeInclusive<u32>]) -> io::Result<()> {
    let mut program =
        vec![step(BPF_LD | BPF_W | BPF_ABS, NUMBER), step(BPF_ALU | BPF_AND | BPF_K, !SECOND_SET)];
    for range in refused {
        // Below the range: skip the refusal. Above it: the same.
        program.push(sock_filter { jf: 2, ..step(BPF_JMP | BPF_JGE | BPF_K, *range.start()) });
        program.push(sock_filter { jt: 1, ..step(BPF_JMP | BPF_JGT | BPF_K, *range.end()) });
        program.push(step(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()));
    }
    program.push(step(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: the structure and the steps it points to are alive during the call, and the kernel copies them.
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, FLAGS, std::ptr::from_ref(&filter))
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: 0, k }
}
