//! Reads git's index, which lists the tracked files and git's knowledge of them.

/// The header: `DIRC`, a version, the number of entries.
const HEADER: usize = 12;
/// The bytes before the object name of an entry: times, device, inode, mode, owner, size.
const BEFORE: usize = 40;
const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;
/// The type of a submodule, and the type of a directory in a sparse index.
const GITLINK: u32 = 0o160_000;
const DIRECTORY: u32 = 0o040_000;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a bit that git keeps for a file")]
pub(super) struct Entry {
    pub path: Vec<u8>,
    pub mode: u32,
    /// The name of the object, in hexadecimal.
    pub object: String,
    /// The size of the file in the work tree, its lower 32 bits.
    pub size: u32,
    /// True if the file has git's `assume-unchanged` bit, so that git does not check it.
    pub is_assumed: bool,
    /// True if the file is missing from a sparse work tree.
    pub is_sparse: bool,
    /// True if only its name is staged.
    pub is_intended: bool,
    /// True if it is one side of a conflict.
    pub is_unmerged: bool,
}

impl Entry {
    pub(super) fn is_submodule(&self) -> bool {
        self.mode & 0o170_000 == GITLINK
    }
}

/// Returns the entries of an index of version 2 or 3. Returns `None` for any other form, such as a split index. git can
/// rewrite an index of another form. `object_bytes` is 20, or 32 in a repository that hashes with SHA-256.
pub(super) fn parse(index: &[u8], object_bytes: usize) -> Option<Vec<Entry>> {
    let (header, mut rest) = index.split_at_checked(HEADER)?;
    if &header[..4] != b"DIRC" || !matches!(number(header, 4)?, 2 | 3) {
        return None;
    }
    let count = number(header, 8)? as usize;
    let mut entries = Vec::with_capacity(count.min(index.len() / (BEFORE + object_bytes)));
    for _ in 0..count {
        let (entry, length) = entry(rest, object_bytes)?;
        rest = rest.get(length..)?;
        if entry.mode & 0o170_000 == DIRECTORY {
            return None;
        }
        entries.push(entry);
    }
    // Extensions: a name, a length and content. The checksum is last.
    while rest.len() > object_bytes + 8 {
        let name = &rest[..4];
        let length = number(rest, 4)? as usize;
        // `link`: a shared index. Other lower-case names must be understood to read the index.
        if name[0].is_ascii_lowercase() {
            return None;
        }
        rest = rest.get(8 + length..)?;
    }
    Some(entries)
}

fn entry(bytes: &[u8], object_bytes: usize) -> Option<(Entry, usize)> {
    let flags_at = BEFORE + object_bytes;
    let flags = u16::from_be_bytes(bytes.get(flags_at..flags_at + 2)?.try_into().ok()?);
    let (more, path_at) = if flags & EXTENDED == 0 {
        (0, flags_at + 2)
    } else {
        (u16::from_be_bytes(bytes.get(flags_at + 2..flags_at + 4)?.try_into().ok()?), flags_at + 4)
    };
    let path = bytes.get(path_at..)?;
    let path = &path[..memchr::memchr(0, path)?];
    let entry = Entry {
        path: path.to_vec(),
        mode: number(bytes, 24)?,
        object: hex(bytes.get(BEFORE..flags_at)?),
        size: number(bytes, 36)?,
        is_assumed: flags & ASSUME_VALID != 0,
        is_sparse: more & SKIP_WORKTREE != 0,
        is_intended: more & INTENT_TO_ADD != 0,
        is_unmerged: flags & STAGE != 0,
    };
    // Padded with one to eight zeroes to a multiple of eight.
    Some((entry, (path_at + path.len() + 8) & !7))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).expect("it is below 16");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index with one entry, as git writes it.
    fn index(flags: u16, more: Option<u16>, path: &str, extension: Option<&[u8]>) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x03\0\0\0\x01".to_vec();
        let start = bytes.len();
        bytes.extend([0; 24]);
        bytes.extend(0o100_644_u32.to_be_bytes());
        bytes.extend([0; 8]);
        bytes.extend(7_u32.to_be_bytes());
        bytes.extend([0xab; 20]);
        bytes.extend(flags.to_be_bytes());
        bytes.extend(more.into_iter().flat_map(u16::to_be_bytes));
        bytes.extend(path.bytes());
        bytes.push(0);
        while !(bytes.len() - start).is_multiple_of(8) {
            bytes.push(0);
        }
        bytes.extend(extension.into_iter().flatten());
        bytes.extend([0; 20]);
        bytes
    }

    #[test]
    fn the_bits_of_an_index_entry_are_read() {
        let plain = parse(&index(4, None, "a.rs", None), 20).expect("the index is valid");
        assert_eq!((plain[0].path.as_slice(), plain[0].size), (b"a.rs".as_slice(), 7));
        assert_eq!(plain[0].object, "ab".repeat(20));
        assert!(!plain[0].is_assumed && !plain[0].is_sparse && !plain[0].is_unmerged);
        assert!(parse(&index(0x8004, None, "a", None), 20).expect("the index is valid")[0].is_assumed);
        assert!(parse(&index(0x2004, None, "a", None), 20).expect("the index is valid")[0].is_unmerged);
        assert!(parse(&index(0x4004, Some(0x4000), "a", None), 20).expect("the index is valid")[0].is_sparse);
        assert!(
            parse(&index(0x4004, Some(0x2000), "a", None), 20).expect("the index is valid")[0].is_intended
        );
    }

    #[test]
    fn a_split_index_and_a_broken_one_are_not_read() {
        let with = |name: &[u8; 4]| [name.as_slice(), &[0, 0, 0, 1, 9]].concat();
        assert!(parse(&index(4, None, "a", Some(&with(b"TREE"))), 20).is_some());
        assert!(parse(&index(4, None, "a", Some(&with(b"link"))), 20).is_none());
        let whole = index(4, None, "some/path", None);
        for cut in [0, 3, 11, 30, 60, 75] {
            assert!(parse(&whole[..cut], 20).is_none(), "{cut}");
        }
        assert!(parse(&[b"DIRC\0\0\0\x04".as_slice(), &[0; 80]].concat(), 20).is_none());
    }
}
