//! Processes and signals, where there is no safe wrapper.

use std::ffi::{CString, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt as _;
use std::time::Duration;

use pi_subagent_warden::Ending;
use rustix::process::{Pid, Resource, Rlimit, getegid, geteuid, getrlimit, setrlimit};
use rustix::thread::UnshareFlags;

/// The two sides of a fork.
pub(crate) enum Forked {
    /// In the new process.
    Child,
    /// In the old process, with the id of the new one.
    Parent(Pid),
}

/// A process that has ended and been reaped.
pub(crate) struct Reaped {
    /// Its id, which the kernel may reuse from now on.
    pub pid: Pid,
    /// The exit status.
    pub ending: Ending,
    /// CPU time of the process and of the children it had waited for.
    pub cpu: Duration,
    /// The peak resident memory of the process or of one of those children, whichever is larger.
    pub max_rss_bytes: u64,
}

/// Forks this process.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the program has one thread, so the child's copy of memory holds no lock that would never be released.
    forked(unsafe { libc::fork() }.into())
}

fn forked(pid: libc::c_long) -> io::Result<Forked> {
    let pid = i32::try_from(pid).map_err(|_| io::ErrorKind::Other)?;
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Pid::from_raw(pid).map_or(Forked::Child, Forked::Parent))
}

/// Defined here because the C library's constant has a type that cannot hold the value.
const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// Forks this process directly into a control group, given as its directory.
///
/// Moving a process there later waits for every processor, which takes longer than the rest of a start together.
pub(crate) fn fork_into(group: BorrowedFd<'_>) -> io::Result<Forked> {
    let arguments = CloneArguments {
        flags: CLONE_INTO_CGROUP,
        exit_signal: libc::SIGCHLD.unsigned_abs().into(),
        cgroup: group.as_raw_fd().unsigned_abs().into(),
        ..CloneArguments::default()
    };
    // SAFETY: without shared memory this is a fork, and the program has one thread; the structure is alive during the
    // call, and its size is passed with it.
    forked(unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<CloneArguments>()) })
}

/// The kernel's `struct clone_args`, up to the last field needed.
#[derive(Default)]
#[repr(C, align(8))]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Replaces this process with a program, given as a path and its arguments, without the environment variables of these
/// names. Returns only on failure.
pub(crate) fn exec(command: &[OsString], unset: &[OsString]) -> io::Error {
    for name in unset.iter().filter(|name| is_name(name)) {
        // SAFETY: the program has one thread.
        unsafe { std::env::remove_var(name) };
    }
    let texts: Result<Vec<CString>, _> =
        command.iter().map(|word| CString::new(word.clone().into_vec())).collect();
    let Ok(texts) = texts else { return io::ErrorKind::InvalidInput.into() };
    let mut pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: the pointers belong to strings that live until the end of this function, and a null ends them; the
    // first exists because a command is never empty.
    unsafe { libc::execv(pointers[0], pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// Returns true if this can be the name of an environment variable; the standard library panics for others.
fn is_name(name: &OsString) -> bool {
    let name = name.as_encoded_bytes();
    !name.is_empty() && !name.iter().any(|byte| [0, b'='].contains(byte))
}

/// Blocks every signal that can be blocked, so that only SIGKILL and SIGSTOP reach this process. Also resets SIGCHLD,
/// which may have been inherited as ignored, so that ended children stay until they are reaped.
pub(crate) fn block_signals() {
    // SAFETY: the set is initialized by `sigfillset` before it is read; the calls take no other pointers.
    unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut());
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// Gives a new process the signals as programs expect them: all unblocked, all with their default action.
/// [`limit_files`] comes after it.
pub(crate) fn unblock_signals() {
    // SAFETY: as above; the call fails for the signals that cannot be changed, which does not matter here.
    unsafe {
        for signal in 1..=libc::SIGRTMAX() {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

/// Makes a write to a pipe without a reader end the program, as programs expect. The runtime of this program ignores the signal,
/// and executed programs inherit ignored signals.
pub(crate) fn reset_broken_pipe_signal() {
    // SAFETY: takes no pointers but a constant that stands for the default.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Limits the size of the files that this process and its children can write. A larger write then fails instead of ending the
/// program, because the signal is ignored, and executed programs inherit ignored signals.
pub(crate) fn limit_files(bytes: u64) -> io::Result<()> {
    let allowed = getrlimit(Resource::Fsize).maximum.map_or(bytes, |maximum| maximum.min(bytes));
    setrlimit(Resource::Fsize, Rlimit { current: Some(allowed), maximum: Some(allowed) })?;
    // SAFETY: takes no pointers but a constant that stands for ignoring.
    if unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A descriptor that becomes readable when a child ends.
pub(crate) fn child_events() -> io::Result<OwnedFd> {
    signal_events(&[libc::SIGCHLD])
}

/// A descriptor that is readable when one of these signals has come. They must be blocked.
pub(crate) fn signal_events(signals: &[i32]) -> io::Result<OwnedFd> {
    // SAFETY: the set is initialized by `sigemptyset`; a descriptor that is not -1 is new and ours.
    unsafe {
        let mut set = MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        match libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// Closes every descriptor from `first` on: descriptors that a host leaked must not reach the child.
pub(crate) fn close_from(first: RawFd) {
    let first = first.unsigned_abs();
    // SAFETY: nothing in this process owns such a descriptor yet; the caller calls this before it opens any.
    if unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) } == -1 {
        for fd in first..1024 {
            // SAFETY: as above.
            unsafe { libc::close(fd.cast_signed()) };
        }
    }
}

/// Reaps the next child that has ended, without waiting for one.
///
/// # Errors
///
/// `ECHILD` when there is no child at all, ended or not.
pub(crate) fn reap() -> io::Result<Option<Reaped>> {
    wait4(libc::WNOHANG)
}

/// Waits for a child to end, and reaps it.
///
/// # Errors
///
/// `ECHILD` when there is no child at all.
pub(crate) fn wait() -> io::Result<Reaped> {
    wait4(0)?.ok_or_else(|| io::ErrorKind::Interrupted.into())
}

fn wait4(options: i32) -> io::Result<Option<Reaped>> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to live variables of the right types.
    let pid = unsafe { libc::wait4(-1, &raw mut status, options, usage.as_mut_ptr()) };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    let Some(pid) = Pid::from_raw(pid) else { return Ok(None) };
    // SAFETY: all bits zero is a valid value, and the call has filled it.
    let usage = unsafe { usage.assume_init() };
    let ending = if libc::WIFSIGNALED(status) {
        Ending::Signal { number: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) }
    } else {
        Ending::Code(libc::WEXITSTATUS(status))
    };
    Ok(Some(Reaped {
        pid,
        ending,
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        max_rss_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
    }))
}

/// Moves this process into new namespaces.
pub(crate) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: none of the flags used here affects how descriptors or memory are shared.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces) }?)
}

/// Moves this process into new namespaces and into a user namespace, which anybody may do on most systems. It maps only
/// the own user and group, unchanged.
pub(crate) fn unshare_with_user(namespaces: UnshareFlags) -> io::Result<()> {
    let user = geteuid().as_raw();
    let group = getegid().as_raw();
    unshare(namespaces | UnshareFlags::NEWUSER)?;
    // The kernel allows an unprivileged process to map a group only after `setgroups` is denied, as it could drop
    // unmapped groups otherwise.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

fn duration(time: libc::timeval) -> Duration {
    let micros = u32::try_from(time.tv_usec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), micros * 1000)
}

/// Sends a signal to every process it can reach, except this one. Only the first process of a pid namespace may call
/// it: for that one, every process is the namespace.
pub(crate) fn signal_all(signal: i32) {
    assert_eq!(std::process::id(), 1, "anybody else would signal all of the user's processes");
    // SAFETY: takes no pointers.
    unsafe { libc::kill(-1, signal) };
}

/// Ends this process the way its child ended, so that its parent sees the same status.
pub(crate) fn exit_like(ending: Ending) -> ! {
    let code = match ending {
        Ending::Code(code) => code,
        Ending::Signal { number, .. } => {
            // Keeps this process from writing a core dump of its own.
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
            unblock_signals();
            // SAFETY: takes no pointers.
            unsafe {
                libc::raise(number);
            }
            // Reached if the signal does not end this process, for example as the first process of a pid namespace. Then the exit
            // code is the code that a shell would show.
            128 + number
        }
    };
    std::process::exit(code)
}
