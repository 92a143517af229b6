//! Writers that copy a file to standard output, with the write sizes of `cat` or of pi.

use std::fs::File;
use std::io::{self, Read, Write};

use super::stdio::{Buffer, stdout};

/// The pipe capacity that `supervisor` asks for when it reads a child, in bytes.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1024 * 1024;

/// Copies in writes of 64 KiB.
pub(crate) fn chunks(file: &str) -> io::Result<()> {
    let mut input = File::open(file)?;
    let mut output = wide(stdout()?);
    let mut buffer = Buffer::new();
    loop {
        let count = input.read(&mut buffer.0)?;
        if count == 0 {
            return Ok(());
        }
        output.write_all(&buffer.0[..count])?;
    }
}

/// Copies without a buffer of its own, so that the reader sets the pace.
pub(crate) fn sent(file: &str) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let input = File::open(file)?;
        let output = wide(stdout()?);
        while rustix::fs::sendfile(&output, &input, None, PIPE_BYTES)? > 0 {}
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    chunks(file)
}

/// Copies in one write per line, as pi writes its events.
pub(crate) fn lines(file: &str) -> io::Result<()> {
    let bytes = std::fs::read(file)?;
    let mut output = wide(stdout()?);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        output.write_all(line)?;
    }
    Ok(())
}

/// Widens the pipe as `supervisor` does for a run, so that all readers get the same.
fn wide(output: File) -> File {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE_BYTES);
    output
}
