//! A program that saves files while another program writes to the same tree.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A way in which editors save a file.
#[derive(Clone, Copy)]
enum Style {
    /// Opens the file, truncates it and writes to it.
    InPlace,
    /// Writes a new file and renames it over the old one.
    Renamed,
}

/// A file that is saved once.
pub(crate) struct Plan {
    pub(crate) file: PathBuf,
    /// The file whose replacement or removal starts the save. By default the save starts at once.
    pub(crate) after: Option<PathBuf>,
}

/// A thread that saves files, each with a different text.
pub(crate) struct Saver {
    has_ended: Arc<AtomicBool>,
    saving: JoinHandle<Vec<(PathBuf, String)>>,
}

impl Saver {
    /// Starts saving the files of `plans`, in their order and in both styles.
    pub(crate) fn start(plans: Vec<Plan>) -> Self {
        let inode = |path: &Path| fs::symlink_metadata(path).map(|found| found.ino()).ok();
        let plans: Vec<_> = plans
            .into_iter()
            .map(|Plan { file, after }| (file, after.map(|path| (inode(&path), path))))
            .collect();
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&has_ended);
        let saving = std::thread::spawn(move || {
            let mut saved = Vec::new();
            for (number, (file, after)) in plans.into_iter().enumerate() {
                if let Some((before, path)) = after {
                    while inode(&path) == before && !ended.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                }
                let style = if number % 2 == 0 { Style::InPlace } else { Style::Renamed };
                let text = format!("save {number}\n");
                save(&file, &text, style);
                saved.push((file, text));
            }
            saved
        });
        Self { has_ended, saving }
    }

    /// Tells the saver that the other program has ended. Checks that every save is in its file or in one of the `kept`
    /// files, and returns the number of saves.
    pub(crate) fn check(self, kept: &[PathBuf]) -> usize {
        self.has_ended.store(true, Ordering::Release);
        let saved = self.saving.join().expect("the saver does not panic");
        let kept: Vec<_> =
            kept.iter().map(|path| fs::read_to_string(path).expect("the file is readable")).collect();
        let is_lost = |(file, text): &&(PathBuf, String)| {
            fs::read_to_string(file).ok().as_ref() != Some(text) && !kept.contains(text)
        };
        let lost: Vec<_> = saved.iter().filter(is_lost).collect();
        assert!(lost.is_empty(), "{} of {} saves were lost, such as {:?}", lost.len(), saved.len(), lost[0]);
        saved.len()
    }
}

fn save(file: &Path, text: &str, style: Style) {
    let target = match style {
        Style::InPlace => file.to_owned(),
        Style::Renamed => file.with_extension("new"),
    };
    let mut written = fs::File::create(&target).expect("the file is created");
    // Two parts, so that the other program can act between them.
    for part in [&text[..3], &text[3..]] {
        written.write_all(part.as_bytes()).expect("the file is written");
    }
    drop(written);
    if target != file {
        fs::rename(target, file).expect("the rename succeeds");
    }
}
