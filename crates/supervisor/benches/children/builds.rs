//! Builds a tree, to measure the cost of confinement for a child that may write.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use supervisor::{Sandbox, ToolShell};

/// Sources, each compiled by a process of its own that reads headers and writes a file.
const SOURCE_COUNT: usize = 24;
/// Directories and files of the tree that no build touches.
const OTHER_COUNT: usize = 200;

/// A tree with sources and a repository.
pub(crate) struct Tree {
    root: PathBuf,
    /// The shell of the child's tools.
    pub(crate) shell: PathBuf,
}

impl Tree {
    /// Creates the tree below `folder`.
    pub(crate) fn new(warden: &Path, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let root = folder.join("tree");
        for name in [".git/objects", ".git/refs", ".pi/agents"] {
            fs::create_dir_all(root.join(name))?;
        }
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        let mut rules = String::from("all:");
        for number in 0..SOURCE_COUNT {
            write!(rules, " f{number}.o")?;
            let text = format!(
                "#include <stdio.h>\n#include <stdlib.h>\nint f{number}(void) {{ return puts(\"x\"); }}\n"
            );
            fs::write(root.join(format!("f{number}.c")), text)?;
        }
        rules.push_str("\nclean:\n\trm -f *.o\n");
        fs::write(root.join("Makefile"), rules)?;
        for number in 0..OTHER_COUNT {
            let directory = root.join(format!("other/{number}"));
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("file"), "")?;
        }
        let own = folder.join("own");
        fs::create_dir(&own)?;
        let tools = ToolShell {
            shell: "/bin/sh".into(),
            writable: vec![root.clone()],
            hidden: vec![own.clone()],
            network: true,
            unix_sockets: true,
            ..ToolShell::default()
        };
        let shell = own.join(ToolShell::NAME);
        fs::write(own.join(format!("{}{}", ToolShell::NAME, ToolShell::OPTIONS_SUFFIX)), tools.to_bytes())?;
        symlink(fs::canonicalize(warden)?, &shell)?;
        Ok(Self { root, shell })
    }

    /// Returns the sandbox of a child that may write in the tree.
    pub(crate) fn sandbox(&self) -> Sandbox {
        Sandbox {
            writable: vec![self.root.clone()],
            protected: [".git", ".pi"].map(|name| self.root.join(name)).to_vec(),
            metadata: true,
            ..Sandbox::default()
        }
    }

    /// Returns the command that builds the tree from nothing.
    pub(crate) fn build(&self) -> String {
        format!("cd '{}' && make -s clean && make -s -j2 CC=cc && echo built", self.root.display())
    }
}
