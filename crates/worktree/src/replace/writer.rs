//! Replaces files one after another, and removes an old file once no program can write into it.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawMode, RenameFlags, fchmod, fstat, openat, renameat_with, statat,
    symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::aside::{ATTEMPTS, is_unsupported, keep, move_to_name, set_aside};
use super::compare::{expect, is_no_directory};
use super::directories::{parent, remove_empty};
use super::step::{Failure, LINK, OnFailure, State, Step, WriteError, random};

/// The mode of an executable file.
const EXECUTABLE: u32 = 0o100_755;
/// The minimum time between the exchange and the removal of the old file. A program that was opening the file during
/// the exchange has finished opening it by then, so that the kernel reports it. A time slice of the kernel is shorter.
const REMOVAL_DELAY: Duration = Duration::from_millis(10);
/// The time that programs get to close their files, for all files together. A save takes less. So does a fork: the new
/// process shares the open files of its parent until it runs its own program.
const MAX_CLOSE_WAIT: Duration = Duration::from_millis(300);
/// The time between two checks of an open file.
const PAUSE: Duration = Duration::from_millis(2);
/// The maximum number of old files that wait for their removal. Each keeps a directory open, and many systems allow a
/// process 1024 open files.
const MAX_WAITING: usize = 256;

/// Replaces files below `root`. Removes files first, so that a directory can take the place of a file and a file the
/// place of a directory. The names of temporary files begin with `aside_prefix`. Returns the files that were not replaced.
pub(crate) fn write_all<'a>(
    root: &'a Path,
    aside_prefix: &'a str,
    steps: Vec<Step<'a>>,
    on_failure: OnFailure,
) -> Vec<Failure> {
    let mut writer = Writer::new(root, aside_prefix);
    let (removed, others): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| step.to.is_none());
    for group in [removed, others] {
        for step in &group {
            if on_failure == OnFailure::Stop && !writer.failed.is_empty() {
                break;
            }
            writer.write(*step);
        }
        writer.settle();
        let failed: BTreeSet<_> = writer.failed.iter().map(|(path, _)| path.as_path()).collect();
        let is_removed = |step: &&Step<'_>| step.to.is_none() && !failed.contains(step.path);
        group.iter().filter(is_removed).for_each(|step| remove_empty(root, step.path));
    }
    writer.failed
}

/// A series of replacements, with the old files that wait for their removal.
struct Writer<'a> {
    root: &'a Path,
    aside_prefix: &'a str,
    /// False once the file system has refused to exchange two files.
    exchanges: bool,
    /// The remaining time for programs to close their files.
    close_wait: Duration,
    waiting: VecDeque<Waiting<'a>>,
    failed: Vec<Failure>,
}

/// An old file that waits for its removal.
struct Waiting<'a> {
    at: At<'a>,
    /// The temporary name of the file.
    aside: OsString,
    /// The state of the file at the exchange.
    state: State<'a>,
    /// The treatment of the file if another program changes it.
    on_change: OnChange<'a>,
    since: Instant,
}

/// The treatment of an old file that changes after the exchange.
#[derive(Clone, Copy)]
enum OnChange<'a> {
    /// Exchange it with the new file again, which has this state.
    Exchange(State<'a>),
    /// Move it back to its free place.
    Move,
    /// Keep it next to the version in its place.
    Keep,
}

/// A path of a tree with its open parent directory.
struct At<'a> {
    directory: OwnedFd,
    name: OsString,
    path: &'a Path,
}

impl<'a> Writer<'a> {
    fn new(root: &'a Path, aside_prefix: &'a str) -> Self {
        Self {
            root,
            aside_prefix,
            exchanges: true,
            close_wait: MAX_CLOSE_WAIT,
            waiting: VecDeque::new(),
            failed: Vec::new(),
        }
    }

    fn write(&mut self, step: Step<'a>) {
        if let Err(error) = self.replace(&step) {
            self.failed.push((step.path.to_owned(), error));
        }
        while self.waiting.front().is_some_and(|file| file.since.elapsed() >= REMOVAL_DELAY) {
            self.remove_next();
        }
        if self.waiting.len() >= MAX_WAITING {
            self.settle();
        }
    }

    /// Removes every old file, or puts it back if it has changed.
    fn settle(&mut self) {
        while let Some(last) = self.waiting.back() {
            std::thread::sleep(REMOVAL_DELAY.saturating_sub(last.since.elapsed()));
            for _ in 0..self.waiting.len() {
                self.remove_next();
            }
        }
    }

    /// Fails unless a file is exactly in this state and no program has it open for writing. Waits for programs that
    /// close the file soon.
    fn expect(&mut self, at: &At<'a>, name: &OsStr, state: State<'_>) -> Result<(), WriteError> {
        loop {
            match expect(&at.directory, name, state) {
                Err(WriteError::OpenForWriting) if !self.close_wait.is_zero() => {
                    std::thread::sleep(PAUSE);
                    self.close_wait = self.close_wait.saturating_sub(PAUSE);
                }
                expected => return expected,
            }
        }
    }

    fn replace(&mut self, step: &Step<'a>) -> Result<(), WriteError> {
        let at = At::open(self.root, step.path, step.from.is_none() && step.to.is_some())?;
        match (step.from, step.to) {
            (None, None) => Ok(()),
            (None, Some(to)) => {
                let (aside, _) = self.make(&at, to, step.permissions)?;
                move_to_name(&at.directory, &aside, &at.name).map_err(|error| {
                    at.remove(&aside);
                    if error == Errno::EXIST { WriteError::Changed } else { WriteError::Io(error.into()) }
                })
            }
            (Some(from), None) => {
                self.expect(&at, &at.name, from)?;
                let aside = self.move_aside(&at, from)?;
                self.defer_removal(at, aside, from, OnChange::Move);
                Ok(())
            }
            (Some(from), Some(to)) => self.exchange(at, from, to, step.permissions),
        }
    }

    fn exchange(
        &mut self,
        at: At<'a>,
        from: State<'a>,
        to: State<'a>,
        permissions: Option<u32>,
    ) -> Result<(), WriteError> {
        self.expect(&at, &at.name, from)?;
        let (aside, file) = self.make(&at, to, permissions)?;
        match if self.exchanges { at.exchange(&aside) } else { Err(Errno::NOSYS) } {
            Err(error) if is_unsupported(error) => {
                self.exchanges = false;
                // Otherwise the kernel reports that a program writes to the new file.
                drop(file);
                return self.exchange_by_moves(at, &aside, from);
            }
            Err(error) => {
                at.remove(&aside);
                return Err(if error == Errno::NOENT {
                    WriteError::Changed
                } else {
                    WriteError::Io(error.into())
                });
            }
            Ok(()) => {}
        }
        if let (Some(file), None) = (file, permissions) {
            // The old file may have become private in the meantime.
            let _ = narrow(&at.directory, &aside, &file);
        }
        if let Err(cause) = self.expect(&at, &aside, from) {
            return Err(self.put_back(at, aside, to, cause));
        }
        self.defer_removal(at, aside, from, OnChange::Exchange(to));
        Ok(())
    }

    /// Replaces a file on a file system that cannot exchange files. The file is missing for a moment.
    fn exchange_by_moves(&mut self, at: At<'a>, new: &OsStr, from: State<'a>) -> Result<(), WriteError> {
        let aside = self.move_aside(&at, from).inspect_err(|_| at.remove(new))?;
        let Err(error) = move_to_name(&at.directory, new, &at.name) else {
            self.defer_removal(at, aside, from, OnChange::Keep);
            return Ok(());
        };
        at.remove(new);
        if error == Errno::EXIST {
            // Another program saved the file in that moment.
            self.defer_removal(at, aside, from, OnChange::Keep);
            return Err(WriteError::Changed);
        }
        Err(at.move_back(&aside, WriteError::Io(error.into())))
    }

    /// Moves a file to a temporary name, and back if it is not in the expected state.
    fn move_aside(&mut self, at: &At<'a>, from: State<'a>) -> Result<OsString, WriteError> {
        let aside =
            self.free_name(|aside| set_aside(&at.directory, &at.name, aside)).map_err(
                |error| match error {
                    Errno::NOENT => WriteError::Changed,
                    error => WriteError::Io(error.into()),
                },
            )?;
        match self.expect(at, &aside, from) {
            Ok(()) => Ok(aside),
            Err(cause) => Err(at.move_back(&aside, cause)),
        }
    }

    /// Exchanges a changed old file with the new file again. If another program has saved into the new file or over it,
    /// the newer version stays in the place and the old file is kept next to it.
    fn put_back(&mut self, at: At<'a>, aside: OsString, to: State<'a>, cause: WriteError) -> WriteError {
        match at.exchange(&aside) {
            Ok(()) => {}
            // Another program removed the file, or an editor has moved it away to save a new one.
            Err(Errno::NOENT) => return at.move_back(&aside, cause),
            Err(_) => return at.keep(&aside),
        }
        if self.expect(&at, &aside, to).is_ok() {
            self.defer_removal(at, aside, to, OnChange::Keep);
            return cause;
        }
        let _ = at.exchange(&aside);
        at.keep(&aside)
    }

    /// Makes a temporary file or link. A file is still open.
    fn make(
        &mut self,
        at: &At<'a>,
        to: State<'a>,
        permissions: Option<u32>,
    ) -> Result<(OsString, Option<File>), WriteError> {
        let mut file = None;
        let aside = self.free_name(|aside| {
            file = make(&at.directory, aside, to)?;
            Ok(())
        });
        let aside = aside.map_err(io::Error::from)?;
        let write = |file: &mut File| {
            let set = |file: &File| match permissions {
                Some(mode) => Ok(fchmod(file, Mode::from_raw_mode(mode as RawMode))?),
                None => narrow(&at.directory, &at.name, file),
            };
            // Set before the content is readable, and again because writing clears some permissions.
            set(file)?;
            file.write_all(to.content)?;
            set(file)
        };
        if let Err(error) = file.as_mut().map_or(Ok(()), write) {
            at.remove(&aside);
            return Err(WriteError::Io(error));
        }
        Ok((aside, file))
    }

    /// Tries temporary names until `makes` succeeds.
    fn free_name(&self, mut makes: impl FnMut(&OsStr) -> Result<(), Errno>) -> Result<OsString, Errno> {
        for _ in 0..ATTEMPTS {
            let name = OsString::from(format!("{}-{}", self.aside_prefix, random()));
            match makes(&name) {
                Err(Errno::EXIST) => {}
                made => return made.map(|()| name),
            }
        }
        Err(Errno::EXIST)
    }

    fn defer_removal(&mut self, at: At<'a>, aside: OsString, state: State<'a>, on_change: OnChange<'a>) {
        self.waiting.push_back(Waiting { at, aside, state, on_change, since: Instant::now() });
    }

    /// Removes the oldest waiting file, unless it has changed.
    fn remove_next(&mut self) {
        let Some(Waiting { at, aside, state, on_change, .. }) = self.waiting.pop_front() else { return };
        let Err(cause) = self.expect(&at, &aside, state) else { return at.remove(&aside) };
        if !at.has(&aside) {
            return;
        }
        let path = at.path.to_owned();
        let error = match on_change {
            OnChange::Exchange(to) => self.put_back(at, aside, to, cause),
            OnChange::Move => at.move_back(&aside, cause),
            OnChange::Keep => at.keep(&aside),
        };
        self.failed.push((path, error));
    }
}

impl<'a> At<'a> {
    fn open(root: &Path, path: &'a Path, makes: bool) -> Result<Self, WriteError> {
        match parent(root, path, makes) {
            Ok((directory, name)) => Ok(Self { directory, name, path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound || is_no_directory(&error) => {
                Err(WriteError::Changed)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn has(&self, name: &OsStr) -> bool {
        !matches!(statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
    }

    fn exchange(&self, aside: &OsStr) -> Result<(), Errno> {
        renameat_with(&self.directory, aside, &self.directory, &self.name, RenameFlags::EXCHANGE)
    }

    /// Moves a file back to its place, or keeps it if another file is there.
    fn move_back(&self, aside: &OsStr, cause: WriteError) -> WriteError {
        match move_to_name(&self.directory, aside, &self.name) {
            Ok(()) => cause,
            Err(_) => self.keep(aside),
        }
    }

    fn keep(&self, aside: &OsStr) -> WriteError {
        WriteError::KeptVersion { aside: keep(&self.directory, aside, self.path) }
    }

    fn remove(&self, aside: &OsStr) {
        let _ = unlinkat(&self.directory, aside, AtFlags::empty());
    }
}

/// Makes a link, or an empty file with the usual permissions of a new file.
fn make(directory: impl AsFd, name: &OsStr, to: State<'_>) -> Result<Option<File>, Errno> {
    if to.mode == LINK {
        return symlinkat(OsStr::from_bytes(to.content), directory, name).map(|()| None);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let permissions = if to.mode == EXECUTABLE { 0o777 } else { 0o666 };
    openat(directory, name, flags, Mode::from_raw_mode(permissions)).map(|file| Some(file.into()))
}

/// Removes the permissions from a new file that the file `name` does not have.
fn narrow(directory: impl AsFd, name: &OsStr, file: &File) -> io::Result<()> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode).is_file() => {
            let allowed = Mode::from_raw_mode(found.st_mode) | Mode::RWXU;
            Ok(fchmod(file, Mode::from_raw_mode(fstat(file)?.st_mode) & allowed)?)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const ASIDES: &str = ".aside";

    fn text(content: &str) -> State<'_> {
        State { mode: 0o100_644, content: content.as_bytes(), has_mode: true }
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = fs::read_dir(root).expect("the directory is readable").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Each row has the content of the file, the expected state and the new state.
    #[test]
    fn an_unexpected_file_is_not_changed() {
        let old = Some(text("old"));
        let new = Some(text("new"));
        for (is, from, to) in [
            (Some("theirs"), old, new),
            (Some("theirs"), old, None),
            (Some("theirs"), None, new),
            (Some("old and more"), old, new),
            (None, old, new),
            (None, old, None),
        ] {
            let root = tempfile::tempdir().expect("a temporary directory is created");
            let file = root.path().join("file");
            if let Some(is) = is {
                fs::write(&file, is).expect("the file is written");
            }
            let step = Step { path: Path::new("file"), from, to, permissions: None };
            let failed = write_all(root.path(), ASIDES, vec![step], OnFailure::Continue);
            assert!(matches!(failed[..], [(_, WriteError::Changed)]), "{is:?}: {failed:?}");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), is);
            assert_eq!(
                names(root.path()).len(),
                usize::from(is.is_some()),
                "{is:?}: no temporary file stays"
            );
        }
    }

    /// A replacement of a file that another program saves.
    struct Raced {
        path: PathBuf,
        save: String,
        from: Option<State<'static>>,
        to: Option<State<'static>>,
    }

    /// Saves a file in place or by a rename.
    fn save(root: &Path, number: usize, Raced { path, save, .. }: &Raced) {
        if number.is_multiple_of(2) {
            fs::write(root.join(path), save).expect("the file is written");
        } else {
            let new = root.join(format!("new{number}"));
            fs::write(&new, save).expect("the file is written");
            fs::rename(new, root.join(path)).expect("the rename succeeds");
        }
    }

    /// One thread replaces files, with and without exchanging them. Another thread saves each file at the same moment.
    #[test]
    fn a_save_at_any_moment_is_in_the_file_or_in_the_reported_copy() {
        const FILES: usize = 250;
        const ROUNDS: usize = 12;
        for round in 0..ROUNDS {
            // In memory, where this machine has such a place.
            let root = tempfile::tempdir_in("/dev/shm")
                .or_else(|_| tempfile::tempdir())
                .expect("a temporary directory is created");
            let root = root.path();
            let file = |number: usize| {
                let (from, to) = [
                    (Some(text("of the run")), Some(text("before it"))),
                    (Some(text("of the run")), None),
                    (None, Some(text("before it"))),
                ][number / 2 % 3];
                let path = PathBuf::from(format!("file{number:03}"));
                if let Some(from) = from {
                    fs::write(root.join(&path), from.content).expect("the file is written");
                }
                Raced { path, save: format!("save {number}"), from, to }
            };
            let files: Vec<Raced> = (0..FILES).map(file).collect();
            let now = AtomicUsize::new(0);
            let failed = std::thread::scope(|scope| {
                scope.spawn(|| {
                    for (number, file) in files.iter().enumerate() {
                        while now.load(Ordering::Acquire) < number {
                            std::thread::yield_now();
                        }
                        // Hits another moment of the replacement each time.
                        (0..(number * 31 + round * 7) % 64 * 50).for_each(|_| std::hint::spin_loop());
                        save(root, number, file);
                    }
                });
                let mut writer = Writer::new(root, ASIDES);
                writer.exchanges = round % 2 == 0;
                for (number, Raced { path, from, to, .. }) in files.iter().enumerate() {
                    now.store(number, Ordering::Release);
                    writer.write(Step { path, from: *from, to: *to, permissions: None });
                }
                writer.settle();
                writer.failed
            });
            let mut kept = Vec::new();
            for (path, error) in &failed {
                match error {
                    WriteError::Changed | WriteError::OpenForWriting => {}
                    WriteError::KeptVersion { aside } => {
                        kept.push(fs::read_to_string(root.join(aside)).expect("the file is readable"));
                    }
                    WriteError::Io(error) => panic!("{}: {error}", path.display()),
                }
            }
            for Raced { path, save, .. } in &files {
                let found = fs::read_to_string(root.join(path)).ok();
                let is_present = found.as_ref() == Some(save) || kept.contains(save);
                assert!(is_present, "{}: {found:?} instead of {save}; kept: {kept:?}", path.display());
            }
            let temporary: Vec<_> = names(root).into_iter().filter(|name| name.starts_with(ASIDES)).collect();
            assert_eq!(temporary, Vec::<String>::new(), "no temporary file stays");
        }
    }

    /// A program that has opened the old file before the exchange writes into it afterwards.
    #[test]
    fn a_late_save_is_restored_or_kept_next_to_a_newer_one() {
        let rows = [Some(text("new")), None].into_iter().flat_map(|to| {
            [true, false]
                .into_iter()
                .flat_map(move |exchanges| [true, false].map(|again| (to, exchanges, again)))
        });
        for (to, exchanges, is_saved_again) in rows {
            let root = tempfile::tempdir().expect("a temporary directory is created");
            let file = root.path().join("file");
            fs::write(&file, "old").expect("the file is written");
            let mut writer = Writer::new(root.path(), ASIDES);
            writer.exchanges = exchanges;
            writer.write(Step { path: Path::new("file"), from: Some(text("old")), to, permissions: None });
            let aside = names(root.path()).into_iter().find(|name| name.starts_with(ASIDES));
            fs::write(root.path().join(aside.expect("the old file is set aside")), "late")
                .expect("the file is written");
            if is_saved_again {
                fs::write(&file, "newest").expect("the file is written");
            }
            writer.settle();

            let row = format!("{to:?}, exchanges: {exchanges}, saved again: {is_saved_again}");
            let found = fs::read_to_string(&file).expect("the file is readable");
            let kept = fs::read_to_string(root.path().join("file.kept")).ok();
            let is_free = to.is_none() || exchanges;
            let expected = match (is_saved_again, is_free) {
                (true, _) => ("newest", Some("late")),
                (false, true) => ("late", None),
                (false, false) => ("new", Some("late")),
            };
            assert_eq!((found.as_str(), kept.as_deref()), expected, "{row}");
            match &writer.failed[..] {
                [(_, WriteError::KeptVersion { aside })] => {
                    assert_eq!(aside, Path::new("file.kept"), "{row}");
                }
                [(_, WriteError::Changed)] => assert_eq!(kept, None, "{row}"),
                failed => panic!("{row}: {failed:?}"),
            }
            assert_eq!(names(root.path()).len(), 1 + usize::from(kept.is_some()), "{row}");
        }
    }

    /// An editor may open the new file while the old one goes back.
    #[test]
    fn a_save_into_the_new_file_is_not_lost_when_the_old_one_is_restored() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let file = root.path().join("file");
        fs::write(&file, "newest").expect("the file is written");
        fs::write(root.path().join(".aside-0"), "saved before").expect("the file is written");
        let mut writer = Writer::new(root.path(), ASIDES);
        let at = At::open(root.path(), Path::new("file"), false).expect("the directory is opened");
        let error = writer.put_back(at, ".aside-0".into(), text("new"), WriteError::Changed);
        assert!(matches!(error, WriteError::KeptVersion { .. }), "{error:?}");
        assert_eq!(fs::read_to_string(&file).expect("the file is readable"), "newest");
        assert_eq!(
            fs::read_to_string(root.path().join("file.kept")).expect("the file is readable"),
            "saved before"
        );
    }

    #[test]
    fn a_new_file_has_no_additional_permissions() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let file = root.path().join("file");
        fs::write(&file, "old").expect("the file is written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("the permissions are set");
        let from = Some(text("old"));
        let to = Some(State { mode: EXECUTABLE, ..text("new") });
        let step = Step { path: Path::new("file"), from, to, permissions: None };
        let failed = write_all(root.path(), ASIDES, vec![step], OnFailure::Continue);
        assert!(failed.is_empty(), "{failed:?}");
        assert_eq!(fs::metadata(file).expect("the file exists").permissions().mode() & 0o777, 0o700);
    }
}
