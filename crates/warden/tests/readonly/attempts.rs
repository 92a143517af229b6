//! The attempts of a child or its tools with system calls, made by this program itself: it is run again inside the sandboxes,
//! with the name of one attempt.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The environment variable with the name of the attempt.
const ATTEMPT: &str = "ATTEMPT";
/// The exit codes of an attempt that worked, and of a refused one.
pub(crate) const WORKED: i32 = 0;
pub(crate) const REFUSED: i32 = 1;
/// The arguments with which this program makes an attempt.
pub(crate) const ARGUMENTS: &str = "attempts::attempt --exact --ignored --nocapture --test-threads=1";

/// Makes the attempt that the environment names.
#[test]
#[ignore = "run by the other tests, inside a sandbox"]
fn attempt() {
    let Ok(name) = std::env::var(ATTEMPT) else { return };
    let code = match perform(&name) {
        Ok(()) => WORKED,
        Err(error) => {
            drop(writeln!(io::stderr(), "{name}: {error}"));
            REFUSED
        }
    };
    std::process::exit(code);
}

#[expect(clippy::too_many_lines, reason = "a table: what each name stands for")]
fn perform(name: &str) -> io::Result<()> {
    match name {
        "limit of another" => limit(process("VICTIM"), true),
        "limit of the warden" => limit(process("WARDEN"), true),
        "limit of another is read" => limit(process("VICTIM"), false),
        "own limit" => limit(0, true),
        "lease" => {
            let file = File::open(path("TREE").join("src/a.txt"))?;
            // The kernel looks at the low half of the command.
            call(|| syscall3(libc::SYS_fcntl, i64::from(file.as_raw_fd()), (1 << 32) | 1024, 0))
        }
        "lock" => {
            let file = File::create(path("TMPDIR").join("lock"))?;
            call(|| syscall3(libc::SYS_fcntl, i64::from(file.as_raw_fd()), i64::from(libc::F_GETFL), 0))?;
            rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).map_err(Into::into)
        }
        "key" => {
            let kind = c"user";
            let text = c"a";
            // SAFETY: the strings are constants, and the length is the length of the payload.
            call(|| unsafe {
                libc::syscall(libc::SYS_add_key, kind.as_ptr(), text.as_ptr(), text.as_ptr(), 1_usize, -3_i32)
            })
        }
        // The number of the user's keyring.
        "keyring" => call(|| syscall3(libc::SYS_keyctl, 0, -4, 1)),
        "page faults" => call(|| syscall3(libc::SYS_userfaultfd, 1, 0, 0)),
        // In a fork, because a program with threads cannot.
        "user namespace" => {
            in_a_fork(|| call(|| syscall3(libc::SYS_unshare, i64::from(libc::CLONE_NEWUSER), 0, 0)))
        }
        "user namespace of a child" => {
            let flags = i64::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
            ended(call_number(|| syscall3(libc::SYS_clone, flags, 0, 0))?)
        }
        "user namespace by clone3" => {
            let mut arguments = [0_u64; 11];
            arguments[0] = u64::try_from(libc::CLONE_NEWUSER).expect("it is positive");
            arguments[4] = u64::try_from(libc::SIGCHLD).expect("it is positive");
            // SAFETY: the structure is alive during the call, and its size is passed with it.
            let clone =
                || unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) };
            ended(call_number(clone)?)
        }
        "ring" => {
            let parameters = [0_u8; 120];
            // SAFETY: the structure is zeroed, as the call wants it, and of its size.
            call(|| unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_ptr()) })
        }
        "host of a virtual machine" => call(|| syscall3(libc::SYS_socket, i64::from(libc::AF_VSOCK), 1, 0)),
        "typing" => in_a_fork(type_into_own_terminal),
        "second set of calls" => call(|| syscall3(0x4000_0000 | libc::SYS_keyctl, 0, -4, 1)),
        "32-bit calls" => in_a_fork(call_as_32_bit),
        "threads" => {
            std::thread::spawn(|| ()).join().map_err(|_| io::ErrorKind::Other)?;
            // SAFETY: the set is zeroed and of the size that is passed.
            let mut set = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
            // SAFETY: as above.
            call(|| unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) }.into())?;
            call(|| {
                // SAFETY: as above; the thread names itself by its id.
                unsafe { libc::sched_setaffinity(libc::gettid(), size_of_val(&set), &raw const set) }.into()
            })
        }
        "terminal of the person" => read_file(&path("TERMINAL")),
        "device of the machine" => open_device(),
        "packets of the machine" => call(|| syscall3(libc::SYS_socket, i64::from(libc::AF_PACKET), 3, 3)),
        "packets of other programs" => {
            call(|| syscall3(libc::SYS_socket, i64::from(libc::AF_INET), 3, i64::from(libc::IPPROTO_TCP)))
        }
        "before all others" => {
            let first = libc::sched_param { sched_priority: 99 };
            in_a_fork(|| {
                // SAFETY: the structure is alive during the call.
                call(|| unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const first) }.into())
            })
        }
        "message queue" => {
            let key = std::env::var("QUEUE").expect("it is set").parse().expect("a number");
            // SAFETY: takes no pointers.
            call(|| unsafe { libc::msgget(key, 0) }.into())
        }
        "server" | "server in /tmp" => UnixStream::connect(path("SERVER")).map(drop),
        "server in the environment" => UnixStream::connect(path("NAMED_SERVER")).map(drop),
        "abstract socket" => {
            let name = SocketAddr::from_abstract_name(path("ABSTRACT").as_os_str().as_bytes())?;
            UnixStream::connect_addr(&name).map(drop)
        }
        "own server" => {
            let own = path("TMPDIR").join("socket");
            drop(fs::remove_file(&own));
            let listener = UnixListener::bind(&own)?;
            UnixStream::connect(&own)?.write_all(b"x")?;
            listener.accept()?.0.read_exact(&mut [0])
        }
        "pair" => {
            let (mut one, mut other) = UnixStream::pair()?;
            one.write_all(b"x")?;
            other.read_exact(&mut [0])
        }
        "network" => call(|| syscall3(libc::SYS_socket, 1 << 32 | i64::from(libc::AF_INET), 1, 0)),
        "newer network" => call(|| syscall3(libc::SYS_socket, i64::from(libc::AF_INET6), 2, 0)),
        "kernel's messages" => call(|| syscall3(libc::SYS_socket, i64::from(libc::AF_NETLINK), 3, 0)),
        "hidden file" => read_file(&path("HIDDEN").join("secret")),
        "hidden file by another way" => read_file(
            &Path::new("/proc/self/root")
                .join(path("HIDDEN").join("secret").strip_prefix("/").expect("it is absolute")),
        ),
        "late file" => read_file(&path("LATE")),
        "single hidden file" => read_file(&path("AUTH")),
        "shown file" => read_file(&path("HIDDEN").join("own/shown")),
        "shown file that may be written" => {
            OpenOptions::new().append(true).open(path("HIDDEN").join("own/written"))?.write_all(b"x")
        }
        "sibling of the hidden file" => read_file(&path("PRIVATE").join("settings.json")),
        "huge file" => {
            let mut file = File::create(path("TMPDIR").join("huge"))?;
            file.write_all(&[0; 4096])?;
            file.set_len(1 << 50).or_else(|_| file.write_all(&vec![0; 1 << 20]))
        }
        "session" => OpenOptions::new().append(true).open(path("SESSION")).map(drop),
        "private directory" => fs::write(path("PRIVATE").join("planted"), "x"),
        "temporary file" => fs::write(path("TMPDIR").join("own"), "x"),
        "environment of pi" => read_file(&of_parent("environ")),
        "memory of pi" => File::open(of_parent("mem")).map(drop),
        "output of pi" => OpenOptions::new().write(true).open(of_parent("fd/1")).map(drop),
        "root of pi" => fs::read_dir(of_parent("root")).map(drop),
        // SAFETY: takes no pointers.
        "signal to pi" => call(|| unsafe { libc::kill(libc::getppid(), libc::SIGCONT) }.into()),
        "semaphore" => semaphore(),
        "shared memory" => shared_memory(),
        "file in /tmp" => {
            let mut template = *b"/tmp/own-attempt.XXXXXX\0";
            // SAFETY: the call writes the name into the template, which it keeps as long as it is.
            let mut file = unsafe {
                let fd = call_number(|| libc::mkstemp(template.as_mut_ptr().cast()).into())?;
                <File as std::os::fd::FromRawFd>::from_raw_fd(i32::try_from(fd).map_err(io::Error::other)?)
            };
            file.write_all(b"text")?;
            let directory = Path::new("/tmp/own-attempt.directory");
            fs::create_dir(directory)?;
            let name = std::ffi::OsStr::from_bytes(template.strip_suffix(b"\0").unwrap_or(&template));
            fs::rename(name, directory.join("moved"))?;
            fs::read(directory.join("moved")).map(drop)
        }
        "socket in /tmp" => {
            let own = Path::new("/tmp/own-attempt.socket");
            let listener = UnixListener::bind(own)?;
            UnixStream::connect(own)?.write_all(b"x")?;
            listener.accept()?.0.read_exact(&mut [0])
        }
        "file of others in /tmp" => {
            read_file(&path("FILE"))?;
            OpenOptions::new().append(true).open(path("FILE"))?.write_all(b"x")
        }
        "shared memory of others" => read_file(&path("MEMORY")),
        "secret variable" => std::env::var("A_TOKEN").map(drop).map_err(io::Error::other),
        unknown => panic!("no such attempt: {unknown}"),
    }
}

/// Uses a POSIX semaphore, as Python's `multiprocessing` does.
fn semaphore() -> io::Result<()> {
    let name = c"/own-attempt";
    // SAFETY: the name is a constant, and the semaphore is open until it is closed.
    unsafe {
        let semaphore = libc::sem_open(name.as_ptr(), libc::O_CREAT | libc::O_EXCL, 0o600, 1);
        if semaphore == libc::SEM_FAILED {
            return Err(io::Error::last_os_error());
        }
        call(|| libc::sem_wait(semaphore).into())?;
        call(|| libc::sem_post(semaphore).into())?;
        call(|| libc::sem_close(semaphore).into())?;
        call(|| libc::sem_unlink(name.as_ptr()).into())
    }
}

/// Uses shared memory by a name, and leaves it there.
fn shared_memory() -> io::Result<()> {
    const SIZE: u16 = 4096;
    // SAFETY: the name is a constant, and the memory is mapped until the end.
    unsafe {
        let fd = call_number(|| {
            libc::shm_open(c"/own-attempt.memory".as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o600).into()
        })?;
        let fd = i32::try_from(fd).map_err(io::Error::other)?;
        call(|| libc::ftruncate(fd, SIZE.into()).into())?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let memory = libc::mmap(std::ptr::null_mut(), SIZE.into(), access, libc::MAP_SHARED, fd, 0);
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        memory.cast::<u8>().write_volatile(1);
    }
    Ok(())
}

fn path(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is set")).into()
}

fn process(variable: &str) -> i32 {
    std::env::var(variable).expect("it is set").parse().expect("a number")
}

fn of_parent(file: &str) -> PathBuf {
    // SAFETY: takes no pointers.
    format!("/proc/{}/{file}", unsafe { libc::getppid() }).into()
}

fn read_file(path: &Path) -> io::Result<()> {
    let mut file = open_for_reading(path)?;
    match file.read(&mut [0; 16]) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(_) => Ok(()),
        // No one types at the moment.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        Err(error) => Err(error),
    }
}

/// Opens a device that shows the disks, the kernel's log, or a console.
fn open_device() -> io::Result<()> {
    let mut refused = io::ErrorKind::NotFound.into();
    for entry in fs::read_dir("/dev")?.flatten() {
        let name = entry.file_name();
        let is_one = ["vd", "sd", "nvme", "dm-", "loop", "mem", "kmsg", "vcs", "tty", "console"]
            .iter()
            .any(|begin| name.as_bytes().starts_with(begin.as_bytes()));
        if is_one && !entry.file_type()?.is_dir() {
            match open_for_reading(&entry.path()) {
                Ok(_) => return Ok(()),
                Err(error) => refused = error,
            }
        }
    }
    Err(refused)
}

fn open_for_reading(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

fn limit(pid: i32, changes: bool) -> io::Result<()> {
    let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is alive during the calls; a null pointer is allowed for either.
    call(|| unsafe { libc::prlimit(pid, libc::RLIMIT_CORE, std::ptr::null(), &raw mut old) }.into())?;
    let new = libc::rlimit { rlim_cur: 0, ..old };
    if !changes {
        return Ok(());
    }
    // SAFETY: as above.
    call(|| unsafe { libc::prlimit(pid, libc::RLIMIT_CORE, &raw const new, std::ptr::null_mut()) }.into())
}

/// Makes an attempt in a fork of this program, which tells no more than an error number.
fn in_a_fork(attempt: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: the fork makes system calls alone, and ends without the handlers of the original.
    unsafe {
        match libc::fork() {
            -1 => return Err(io::Error::last_os_error()),
            0 => libc::_exit(attempt().map_or_else(|error| error.raw_os_error().unwrap_or(255), |()| 0)),
            pid => libc::waitpid(pid, &raw mut status, 0),
        };
    }
    match libc::WEXITSTATUS(status) {
        0 if libc::WIFEXITED(status) => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Asks for the number of the user's keyring, by the number that `keyctl` has in 32-bit programs.
#[cfg(target_arch = "x86_64")]
fn call_as_32_bit() -> io::Result<()> {
    let mut answer = 288_i32;
    // SAFETY: takes no pointers; the register that the compiler keeps to itself is restored.
    unsafe {
        std::arch::asm!(
            "xchg {first}, rbx",
            "int 0x80",
            "xchg {first}, rbx",
            first = inout(reg) 0_i64 => _,
            inout("eax") answer,
            in("ecx") -4_i32,
            in("edx") 1_i32,
        );
    }
    if answer < 0 { Err(io::Error::from_raw_os_error(-answer)) } else { Ok(()) }
}

#[cfg(not(target_arch = "x86_64"))]
fn call_as_32_bit() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn type_into_own_terminal() -> io::Result<()> {
    // SAFETY: the name is written into a buffer of the size that is passed, and the letter is a constant.
    unsafe {
        libc::setsid();
        let master = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY);
        let mut name = [0; 64];
        if master == -1
            || libc::unlockpt(master) == -1
            || libc::ptsname_r(master, name.as_mut_ptr(), name.len()) != 0
        {
            return Err(io::Error::last_os_error());
        }
        let slave = libc::open(name.as_ptr(), libc::O_RDWR);
        if slave == -1 {
            return Err(io::Error::last_os_error());
        }
        // Both stay open: closing the first would end this process.
        call(|| libc::syscall(libc::SYS_ioctl, slave, 0x1_0000_5412_u64, c"x".as_ptr()))
    }
}

fn syscall3(number: libc::c_long, first: i64, second: i64, third: i64) -> libc::c_long {
    // SAFETY: the calls made through this take numbers, and none of them is a pointer that is not null.
    unsafe { libc::syscall(number, first, second, third, 0_i64, 0_i64) }
}

fn call(call: impl FnMut() -> libc::c_long) -> io::Result<()> {
    call_number(call).map(drop)
}

fn call_number(mut call: impl FnMut() -> libc::c_long) -> io::Result<i64> {
    match call() {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer),
    }
}

/// Ends the child that a call has made, in which this also returns.
fn ended(pid: i64) -> io::Result<()> {
    // SAFETY: the child ends at once; the parent waits for it.
    unsafe {
        if pid == 0 {
            libc::_exit(0);
        }
        libc::waitpid(i32::try_from(pid).map_err(io::Error::other)?, std::ptr::null_mut(), 0);
    }
    Ok(())
}
