//! The standard streams without the buffers of the standard library, and the buffer that pipes are read with.

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

/// The default capacity of a pipe, in bytes.
pub(crate) const READ_BYTES: usize = 64 * 1024;

/// A buffer as in `supervisor`. It is aligned to a cache line: copies by the kernel into an unaligned buffer ran up to 4 times slower.
#[repr(align(64))]
pub(crate) struct Buffer(pub(crate) [u8; READ_BYTES]);

impl Buffer {
    #[expect(
        clippy::large_stack_arrays,
        reason = "safe code has no other way to an aligned array on the heap"
    )]
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self([0; READ_BYTES]))
    }
}
