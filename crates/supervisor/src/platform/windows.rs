//! The same on Windows, where only the child itself is ended: the processes it started are not followed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::super::signaller::Signaller;

/// The interval at which the child is polled for its exit: the standard library cannot wait and kill at the same time.
const POLL: Duration = Duration::from_millis(10);

pub(crate) fn lead_own_group(_command: &mut Command) {}

pub(crate) fn widen<T>(_pipe: &T, _bytes: usize) {}

/// A child. Its open handle reserves its process id, so a kill cannot hit another process.
pub(crate) struct Group {
    child: Mutex<Child>,
}

impl Group {
    pub(crate) fn new(child: Child) -> Self {
        Self { child: Mutex::new(child) }
    }

    /// Blocks until the child has ended.
    pub(crate) fn wait(&self) -> Option<ExitStatus> {
        loop {
            match self.child.lock().try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => {}
                Err(_) => return None,
            }
            thread::sleep(POLL);
        }
    }

    #[expect(clippy::unused_self, reason = "the same function as on Unix")]
    pub(crate) fn clear(&self) {}
}

impl Signaller for Group {
    fn id(&self) -> u32 {
        self.child.lock().id()
    }

    /// Does nothing, as there is no polite signal: the child gets its grace period and is then killed.
    fn ask(&self) {}

    fn kill(&self) {
        // An error usually means that the child has already ended.
        drop(self.child.lock().kill());
    }
}

pub(crate) fn exit_signal(_status: ExitStatus) -> Option<i32> {
    None
}

pub(crate) fn signal_name(_signal: i32) -> Option<&'static str> {
    None
}

pub(crate) fn is_path_variable(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case("PATH")
}

/// The file names to try for a program called `name`.
pub(crate) fn file_names(name: &OsStr) -> impl Iterator<Item = OsString> {
    // npm puts a shell script without an extension next to its batch file. Only the batch file can be executed here.
    [".exe", ".cmd", ""].into_iter().map(|extension| {
        let mut file = name.to_os_string();
        file.push(extension);
        file
    })
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

pub(crate) fn may_enter(directory: &Path) -> io::Result<()> {
    std::fs::read_dir(directory).map(drop)
}

pub(crate) fn is_too_many_files(error: &io::Error) -> bool {
    /// `ERROR_TOO_MANY_OPEN_FILES`
    const TOO_MANY_OPEN_FILES: i32 = 4;
    error.raw_os_error() == Some(TOO_MANY_OPEN_FILES)
}

pub(crate) fn is_exec_format(error: &io::Error) -> bool {
    /// `ERROR_BAD_EXE_FORMAT`
    const BAD_EXE_FORMAT: i32 = 193;
    error.raw_os_error() == Some(BAD_EXE_FORMAT)
}
