//! The objects outside that a child must not reach: a terminal, a message queue, servers, hidden files.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::scene::Scene;

pub(crate) struct Outside {
    _terminal: OwnedFd,
    queue: i32,
    _servers: [UnixListener; 2],
    _directory: TempDir,
    environment: Vec<(&'static str, OsString)>,
}

impl Outside {
    /// Makes them for the user of a scene.
    pub(crate) fn new(scene: &Scene) -> io::Result<Self> {
        let (terminal, slave) = terminal()?;
        fs::set_permissions(&slave, Permissions::from_mode(0o666))?;
        // As `tmux` names it.
        let directory = tempfile::Builder::new().prefix("tmux-").tempdir_in("/tmp")?;
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755))?;
        let servers = [directory.path().join("default"), scene.path("named.sock")];
        let listen = |path: &PathBuf| {
            let server = UnixListener::bind(path)?;
            fs::set_permissions(path, Permissions::from_mode(0o666))?;
            Ok::<_, io::Error>(server)
        };
        let listeners = [listen(&servers[0])?, listen(&servers[1])?];
        let hidden = scene.path("hidden");
        fs::create_dir_all(hidden.join("own"))?;
        for (file, text) in [("secret", "secret"), ("own/shown", "shown"), ("own/written", "")] {
            fs::write(hidden.join(file), text)?;
            chown(hidden.join(file), scene.owner(), scene.owner())?;
        }
        let private = scene.path("private");
        for name in ["auth.json", "settings.json"] {
            fs::write(private.join(name), "{}")?;
            chown(private.join(name), scene.owner(), scene.owner())?;
        }
        let key = i32::try_from(std::process::id()).unwrap_or(0) | 0x5000_0000;
        // SAFETY: takes no pointers.
        let queue = unsafe { libc::msgget(key, libc::IPC_CREAT | 0o666) };
        if queue == -1 {
            return Err(io::Error::last_os_error());
        }
        let [server, named] = servers;
        let environment = vec![
            ("TERMINAL", slave.into()),
            ("QUEUE", key.to_string().into()),
            ("SERVER", server.into()),
            ("NAMED_SERVER", named.into()),
            ("HIDDEN", hidden.into()),
            ("AUTH", private.join("auth.json").into()),
            ("A_TOKEN", "secret".into()),
        ];
        Ok(Self { _terminal: terminal, queue, _servers: listeners, _directory: directory, environment })
    }

    /// The variables with which an attempt finds them.
    pub(crate) fn environment(&self, attempt: &str) -> Vec<(&'static str, OsString)> {
        let mut environment = self.environment.clone();
        environment.push(("ATTEMPT", attempt.into()));
        environment
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // SAFETY: removing takes no pointer.
        unsafe { libc::msgctl(self.queue, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// A terminal at which a person could sit, and its path.
fn terminal() -> io::Result<(OwnedFd, PathBuf)> {
    let mut name = [0; 64];
    // SAFETY: the name is written into a buffer of the size that is passed; a descriptor that is not -1 is new.
    let master = unsafe {
        let master = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        if master == -1 {
            return Err(io::Error::last_os_error());
        }
        let master = OwnedFd::from_raw_fd(master);
        if libc::grantpt(master.as_raw_fd()) == -1
            || libc::unlockpt(master.as_raw_fd()) == -1
            || libc::ptsname_r(master.as_raw_fd(), name.as_mut_ptr(), name.len()) != 0
        {
            return Err(io::Error::last_os_error());
        }
        master
    };
    // SAFETY: the call has written a string that ends.
    let name = unsafe { std::ffi::CStr::from_ptr(name.as_ptr()) };
    Ok((master, Path::new(name.to_str().map_err(io::Error::other)?).to_owned()))
}
