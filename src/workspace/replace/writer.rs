//! Replaces files one after the other, and removes the old ones when no program can write into them any more.

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

use super::aside::{ATTEMPTS, is_unsupported, keep, place, take};
use super::compare::{expect, is_no_directory};
use super::directories::{parent, remove_empty};
use super::step::{Failure, LINK, OnFailure, State, Step, WriteError};

/// The mode of a file that can be executed.
const EXECUTABLE: u32 = 0o100_755;
/// The least time between the exchange of a file and the removal of the old one. A program that was opening the file at
/// that moment has opened it by then, and shows. A time slice of the kernel is shorter.
const SETTLE: Duration = Duration::from_millis(10);
/// Old files that wait for that at a time. Each has an open directory, and a process may have 1024 open files.
const MAX_WAITING: usize = 256;

/// Replaces files below `root`, those that are removed first: a directory can take the place of a file, and a file that
/// of a directory. `asides` begins the names of our files next to them. Returns the files that were not replaced.
pub(in crate::workspace) fn write_all<'a>(
    root: &'a Path,
    asides: &'a str,
    steps: Vec<Step<'a>>,
    on_failure: OnFailure,
) -> Vec<Failure> {
    let mut writer = Writer::new(root, asides);
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
        let is_gone = |step: &&Step<'_>| step.to.is_none() && !failed.contains(step.path);
        group.iter().filter(is_gone).for_each(|step| remove_empty(root, step.path));
    }
    writer.failed
}

/// Replaces files, and holds those that came out until they have settled.
struct Writer<'a> {
    root: &'a Path,
    asides: &'a str,
    /// The number of the next file of ours.
    number: u32,
    /// Whether the file system can exchange two files. `false`: it has refused once.
    exchanges: bool,
    waiting: VecDeque<Waiting<'a>>,
    failed: Vec<Failure>,
}

/// An old file that is to be removed.
struct Waiting<'a> {
    at: At<'a>,
    /// Its name now.
    aside: OsString,
    /// What it was when it came out.
    state: State<'a>,
    /// What to do if it is that no more.
    back: Back<'a>,
    since: Instant,
}

/// Where an old file goes if it has changed after it came out.
#[derive(Clone, Copy)]
enum Back<'a> {
    /// To its place, in exchange for the file that we have put there.
    Exchange(State<'a>),
    /// To its place, which is free.
    Move,
    /// Another version has its place.
    Keep,
}

/// A file of a tree, by its open directory.
struct At<'a> {
    directory: OwnedFd,
    name: OsString,
    path: &'a Path,
}

impl<'a> Writer<'a> {
    fn new(root: &'a Path, asides: &'a str) -> Self {
        Self { root, asides, number: 0, exchanges: true, waiting: VecDeque::new(), failed: Vec::new() }
    }

    fn write(&mut self, step: Step<'a>) {
        if let Err(error) = self.replace(&step) {
            self.failed.push((step.path.to_owned(), error));
        }
        while self.waiting.front().is_some_and(|file| file.since.elapsed() >= SETTLE) {
            self.remove_next();
        }
        if self.waiting.len() >= MAX_WAITING {
            self.settle();
        }
    }

    /// Removes all old files, or puts them back.
    fn settle(&mut self) {
        while let Some(last) = self.waiting.back() {
            std::thread::sleep(SETTLE.saturating_sub(last.since.elapsed()));
            for _ in 0..self.waiting.len() {
                self.remove_next();
            }
        }
    }

    fn replace(&mut self, step: &Step<'a>) -> Result<(), WriteError> {
        let at = At::open(self.root, step.path, step.from.is_none() && step.to.is_some())?;
        match (step.from, step.to) {
            (None, None) => Ok(()),
            (None, Some(to)) => {
                let (aside, _) = self.make(&at, to, step.permissions)?;
                place(&at.directory, &aside, &at.name).map_err(|error| {
                    at.remove(&aside);
                    if error == Errno::EXIST { WriteError::Changed } else { WriteError::Io(error.into()) }
                })
            }
            (Some(from), None) => {
                at.expect(&at.name, from)?;
                let aside = self.take_out(&at, from)?;
                self.wait(at, aside, from, Back::Move);
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
        at.expect(&at.name, from)?;
        let (aside, file) = self.make(&at, to, permissions)?;
        match if self.exchanges { at.exchange(&aside) } else { Err(Errno::NOSYS) } {
            Err(error) if is_unsupported(error) => {
                self.exchanges = false;
                // Closed first: it is ours, and open for writing.
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
            // It may have become private in the meantime.
            let _ = narrow(&at.directory, &aside, &file);
        }
        if let Err(cause) = at.expect(&aside, from) {
            return Err(self.put_back(at, aside, to, cause));
        }
        self.wait(at, aside, from, Back::Exchange(to));
        Ok(())
    }

    /// For file systems that cannot exchange: for a moment nothing is in the place of the file.
    fn exchange_by_moves(&mut self, at: At<'a>, new: &OsStr, from: State<'a>) -> Result<(), WriteError> {
        let aside = self.take_out(&at, from).inspect_err(|_| at.remove(new))?;
        let Err(error) = place(&at.directory, new, &at.name) else {
            self.wait(at, aside, from, Back::Keep);
            return Ok(());
        };
        at.remove(new);
        if error == Errno::EXIST {
            // It was saved in that moment.
            self.wait(at, aside, from, Back::Keep);
            return Err(WriteError::Changed);
        }
        Err(at.move_back(&aside, WriteError::Io(error.into())))
    }

    /// Moves a file aside. One that is not what was expected goes back.
    fn take_out(&mut self, at: &At<'a>, from: State<'a>) -> Result<OsString, WriteError> {
        let aside =
            self.free_name(|aside| take(&at.directory, &at.name, aside)).map_err(|error| match error {
                Errno::NOENT => WriteError::Changed,
                error => WriteError::Io(error.into()),
            })?;
        match at.expect(&aside, from) {
            Ok(()) => Ok(aside),
            Err(cause) => Err(at.move_back(&aside, cause)),
        }
    }

    /// Puts a file back that came out for `to`. That file of ours goes, unless another program has saved into it or over
    /// it. Then the newer version gets the place, and the older one is kept next to it.
    fn put_back(&mut self, at: At<'a>, aside: OsString, to: State<'a>, cause: WriteError) -> WriteError {
        match at.exchange(&aside) {
            Ok(()) => {}
            // It was removed, or is being saved by an editor that moves it away first.
            Err(Errno::NOENT) => return at.move_back(&aside, cause),
            Err(_) => return at.keep(&aside),
        }
        if at.expect(&aside, to).is_ok() {
            self.wait(at, aside, to, Back::Keep);
            return cause;
        }
        let _ = at.exchange(&aside);
        at.keep(&aside)
    }

    /// Makes a file or a link aside. The file is still open.
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
            // Before anything is in it, and again after writing, which may take permissions away.
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

    /// Tries names until `makes` finds one that is free.
    fn free_name(&mut self, mut makes: impl FnMut(&OsStr) -> Result<(), Errno>) -> Result<OsString, Errno> {
        for _ in 0..ATTEMPTS {
            let name = OsString::from(format!("{}-{}", self.asides, self.number));
            self.number += 1;
            match makes(&name) {
                Err(Errno::EXIST) => {}
                made => return made.map(|()| name),
            }
        }
        Err(Errno::EXIST)
    }

    fn wait(&mut self, at: At<'a>, aside: OsString, state: State<'a>, back: Back<'a>) {
        self.waiting.push_back(Waiting { at, aside, state, back, since: Instant::now() });
    }

    /// Removes the oldest of the waiting files if it is still what it was.
    fn remove_next(&mut self) {
        let Some(Waiting { at, aside, state, back, .. }) = self.waiting.pop_front() else { return };
        let Err(cause) = at.expect(&aside, state) else { return at.remove(&aside) };
        if !at.has(&aside) {
            return;
        }
        let path = at.path.to_owned();
        let error = match back {
            Back::Exchange(to) => self.put_back(at, aside, to, cause),
            Back::Move => at.move_back(&aside, cause),
            Back::Keep => at.keep(&aside),
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

    fn expect(&self, name: &OsStr, state: State<'_>) -> Result<(), WriteError> {
        expect(&self.directory, name, state)
    }

    fn exchange(&self, aside: &OsStr) -> Result<(), Errno> {
        renameat_with(&self.directory, aside, &self.directory, &self.name, RenameFlags::EXCHANGE)
    }

    /// Moves a file back to its place, or keeps it if another one has that by now.
    fn move_back(&self, aside: &OsStr, cause: WriteError) -> WriteError {
        match place(&self.directory, aside, &self.name) {
            Ok(()) => cause,
            Err(_) => self.keep(aside),
        }
    }

    fn keep(&self, aside: &OsStr) -> WriteError {
        WriteError::Kept { aside: keep(&self.directory, aside, self.path) }
    }

    fn remove(&self, aside: &OsStr) {
        let _ = unlinkat(&self.directory, aside, AtFlags::empty());
    }
}

/// Makes a link, or a file to write to. Its other permissions are those of a new file of this user.
fn make(directory: impl AsFd, name: &OsStr, to: State<'_>) -> Result<Option<File>, Errno> {
    if to.mode == LINK {
        return symlinkat(OsStr::from_bytes(to.content), directory, name).map(|()| None);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let permissions = if to.mode == EXECUTABLE { 0o777 } else { 0o666 };
    openat(directory, name, flags, Mode::from_raw_mode(permissions)).map(|file| Some(file.into()))
}

/// Takes the permissions from a new file that the one called `name` does not have.
fn narrow(directory: impl AsFd, name: &OsStr, file: &File) -> io::Result<()> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode).is_file() => {
            let kept = Mode::from_raw_mode(found.st_mode) | Mode::RWXU;
            Ok(fchmod(file, Mode::from_raw_mode(fstat(file)?.st_mode) & kept)?)
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
        State { mode: 0o100_644, content: content.as_bytes(), is_mode_kept: true }
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = fs::read_dir(root).expect("readable").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Each row: the content of the file, and the expected and the new state.
    #[test]
    fn a_file_that_is_not_as_expected_stays_as_it_is() {
        let (old, new) = (Some(text("old")), Some(text("new")));
        for (is, from, to) in [
            (Some("theirs"), old, new),
            (Some("theirs"), old, None),
            (Some("theirs"), None, new),
            (Some("old and more"), old, new),
            (None, old, new),
            (None, old, None),
        ] {
            let root = tempfile::tempdir().expect("a directory");
            let file = root.path().join("file");
            if let Some(is) = is {
                fs::write(&file, is).expect("written");
            }
            let step = Step { path: Path::new("file"), from, to, permissions: None };
            let failed = write_all(root.path(), ASIDES, vec![step], OnFailure::Continue);
            assert!(matches!(failed[..], [(_, WriteError::Changed)]), "{is:?}: {failed:?}");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), is);
            assert_eq!(
                names(root.path()).len(),
                usize::from(is.is_some()),
                "{is:?}: nothing of ours is left"
            );
        }
    }

    /// A file that is saved by another program, and how it is replaced.
    struct Raced {
        path: PathBuf,
        save: String,
        from: Option<State<'static>>,
        to: Option<State<'static>>,
    }

    /// Saves a file in place or by a rename, so that all of it is on the disk when this returns.
    fn save(root: &Path, number: usize, Raced { path, save, .. }: &Raced) {
        if number.is_multiple_of(2) {
            fs::write(root.join(path), save).expect("saved");
        } else {
            let new = root.join(format!("new{number}"));
            fs::write(&new, save).expect("saved");
            fs::rename(new, root.join(path)).expect("saved");
        }
    }

    /// One thread replaces files, and another one saves each of them at the same moment, with and without the exchange of
    /// files.
    #[test]
    fn a_save_at_any_moment_is_in_the_file_or_in_the_one_that_is_named() {
        const FILES: usize = 250;
        const ROUNDS: usize = 40;
        for round in 0..ROUNDS {
            let root = tempfile::tempdir().expect("a directory");
            let root = root.path();
            let file = |number: usize| {
                let (from, to) = [
                    (Some(text("of the run")), Some(text("before it"))),
                    (Some(text("of the run")), None),
                    (None, Some(text("before it"))),
                ][number / 2 % 3];
                let path = PathBuf::from(format!("file{number:03}"));
                if let Some(from) = from {
                    fs::write(root.join(&path), from.content).expect("written");
                }
                Raced { path, save: format!("save {number}"), from, to }
            };
            let files: Vec<Raced> = (0..FILES).map(file).collect();
            let now = AtomicUsize::new(0);
            let failed = std::thread::scope(|scope| {
                scope.spawn(|| {
                    for (number, file) in files.iter().enumerate() {
                        while now.load(Ordering::Acquire) < number {
                            std::hint::spin_loop();
                        }
                        // Each time at another moment of the replacement.
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
                    WriteError::Kept { aside } => {
                        kept.push(fs::read_to_string(root.join(aside)).expect("kept"));
                    }
                    WriteError::Io(error) => panic!("{}: {error}", path.display()),
                }
            }
            for Raced { path, save, .. } in &files {
                let found = fs::read_to_string(root.join(path)).ok();
                let is_there = found.as_ref() == Some(save) || kept.contains(save);
                assert!(is_there, "{}: {found:?} instead of {save}; kept: {kept:?}", path.display());
            }
            let ours: Vec<_> = names(root).into_iter().filter(|name| name.starts_with(ASIDES)).collect();
            assert_eq!(ours, Vec::<String>::new(), "nothing of ours is left");
        }
    }

    /// A program that has opened the old file before the exchange writes into it afterwards.
    #[test]
    fn a_late_save_goes_back_to_its_place_or_is_kept_next_to_a_newer_one() {
        let rows = [Some(text("new")), None].into_iter().flat_map(|to| {
            [true, false]
                .into_iter()
                .flat_map(move |exchanges| [true, false].map(|again| (to, exchanges, again)))
        });
        for (to, exchanges, is_saved_again) in rows {
            let root = tempfile::tempdir().expect("a directory");
            let file = root.path().join("file");
            fs::write(&file, "old").expect("written");
            let mut writer = Writer::new(root.path(), ASIDES);
            writer.exchanges = exchanges;
            writer.write(Step { path: Path::new("file"), from: Some(text("old")), to, permissions: None });
            let aside = names(root.path()).into_iter().find(|name| name.starts_with(ASIDES));
            fs::write(root.path().join(aside.expect("the old file")), "late").expect("saved");
            if is_saved_again {
                fs::write(&file, "newest").expect("saved");
            }
            writer.settle();

            let row = format!("{to:?}, exchanges: {exchanges}, saved again: {is_saved_again}");
            let found = fs::read_to_string(&file).expect("there");
            let kept = fs::read_to_string(root.path().join("file.kept")).ok();
            let is_free = to.is_none() || exchanges;
            let expected = match (is_saved_again, is_free) {
                (true, _) => ("newest", Some("late")),
                (false, true) => ("late", None),
                (false, false) => ("new", Some("late")),
            };
            assert_eq!((found.as_str(), kept.as_deref()), expected, "{row}");
            match &writer.failed[..] {
                [(_, WriteError::Kept { aside })] => assert_eq!(aside, Path::new("file.kept"), "{row}"),
                [(_, WriteError::Changed)] => assert_eq!(kept, None, "{row}"),
                failed => panic!("{row}: {failed:?}"),
            }
            assert_eq!(names(root.path()).len(), 1 + usize::from(kept.is_some()), "{row}");
        }
    }

    /// An editor may open the new file while the old one goes back.
    #[test]
    fn a_save_into_the_new_file_is_not_lost_when_the_old_one_goes_back() {
        let root = tempfile::tempdir().expect("a directory");
        let file = root.path().join("file");
        fs::write(&file, "newest").expect("written");
        fs::write(root.path().join(".aside-0"), "saved before").expect("written");
        let mut writer = Writer::new(root.path(), ASIDES);
        let at = At::open(root.path(), Path::new("file"), false).expect("there");
        let error = writer.put_back(at, ".aside-0".into(), text("new"), WriteError::Changed);
        assert!(matches!(error, WriteError::Kept { .. }), "{error:?}");
        assert_eq!(fs::read_to_string(&file).expect("there"), "newest");
        assert_eq!(fs::read_to_string(root.path().join("file.kept")).expect("there"), "saved before");
    }

    #[test]
    fn a_new_file_has_no_permission_that_the_old_one_does_not_have() {
        let root = tempfile::tempdir().expect("a directory");
        let file = root.path().join("file");
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("set");
        let (from, to) = (Some(text("old")), Some(State { mode: EXECUTABLE, ..text("new") }));
        let step = Step { path: Path::new("file"), from, to, permissions: None };
        let failed = write_all(root.path(), ASIDES, vec![step], OnFailure::Continue);
        assert!(failed.is_empty(), "{failed:?}");
        assert_eq!(fs::metadata(file).expect("there").permissions().mode() & 0o777, 0o700);
    }
}
