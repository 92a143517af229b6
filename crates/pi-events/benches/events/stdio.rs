//! The standard streams, without the buffers of the standard library.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd as As;
#[cfg(windows)]
use std::os::windows::io::AsHandle as As;

pub(crate) fn stdin() -> io::Result<File> {
    own(&io::stdin())
}

pub(crate) fn stdout() -> io::Result<File> {
    own(&io::stdout())
}

pub(crate) fn stderr() -> io::Result<File> {
    own(&io::stderr())
}

fn own(stream: &impl As) -> io::Result<File> {
    #[cfg(unix)]
    let borrowed = stream.as_fd();
    #[cfg(windows)]
    let borrowed = stream.as_handle();
    Ok(File::from(borrowed.try_clone_to_owned()?))
}
