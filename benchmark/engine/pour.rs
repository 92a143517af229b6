//! Writers: a file to standard output, in the writes of `cat` or in those of pi.

use std::fs::File;
use std::io::{self, Read, Write};

use super::buffer::Buffer;
use super::stdio::stdout;

/// In writes of 64 KiB.
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

/// In one write per line, as pi writes its events.
pub(crate) fn lines(file: &str) -> io::Result<()> {
    let bytes = std::fs::read(file)?;
    let mut output = wide(stdout()?);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        output.write_all(line)?;
    }
    Ok(())
}

/// The pipe as a run has it: `process` widens the one it reads from, whoever reads here gets the same.
fn wide(output: File) -> File {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&output, 1024 * 1024);
    output
}
