//! The import of a private tree from another machine: every byte is checked first.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::repository::{ID, Scene};
use worktree::{Imported, RemoteChanges, RemoteTree, SnapshotStore};

const BRANCH: &str = "subagent/0badcafe";

/// A project, the objects that are sent, and the child's clone.
struct RemoteClone {
    scene: Scene,
    store: SnapshotStore,
    tree: RemoteTree,
}

impl RemoteClone {
    async fn new() -> Self {
        let scene = Scene::committed();
        scene.write("second.txt", "second");
        scene.commit();
        let store = scene.sandboxed().await;
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        let tree =
            store.remote_tree(&snapshot, &scene.at("agent/trees")).await.expect("the remote tree is created");
        fs::create_dir_all(scene.at("clone")).expect("the directory is created");
        scene.git_in(&scene.at("clone"), &["init", "-q"]);
        let this = Self { scene, store, tree };
        this.feed(&["index-pack", "--stdin"], &fs::read(&this.tree.pack).expect("the file is readable"));
        fs::write(this.scene.at("clone/.git/shallow"), format!("{}\n", this.tree.base))
            .expect("the file is written");
        this.git(&["reset", "-q", "--hard", &this.tree.base]);
        this
    }

    fn git(&self, args: &[&str]) -> String {
        self.scene.git_in(&self.scene.at("clone"), args)
    }

    /// Returns git's output in the clone for an input.
    fn feed(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let mut git = Command::new("git")
            .args(args)
            .current_dir(self.scene.at("clone"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git runs");
        git.stdin.take().expect("the input is a pipe").write_all(input).expect("the input is written");
        let done = git.wait_with_output().expect("git ends");
        assert!(done.status.success(), "{args:?}");
        done.stdout
    }

    fn object(&self, kind: &str, bytes: &[u8]) -> String {
        let name = self.feed(&["hash-object", "-t", kind, "-w", "--literally", "--stdin"], bytes);
        String::from_utf8_lossy(&name).trim().to_owned()
    }

    fn commit(&self, tree: &str, parent: &str) -> String {
        self.git(&["commit-tree", tree, "-p", parent, "-m", "of the child"])
    }

    /// Creates a commit with a file on top of the base.
    fn file(&self, name: &str, text: &str) -> (String, String) {
        let blob = self.object("blob", text.as_bytes());
        let entry = format!("100644 blob {blob}\t{name}\n");
        let tree = String::from_utf8_lossy(&self.feed(&["mktree"], entry.as_bytes())).trim().to_owned();
        (self.commit(&tree, &self.tree.base), blob)
    }

    /// Imports a pack with these objects.
    async fn import(&self, objects: &[&str], files: &str, tip: &str) -> Imported {
        let pack = self.feed(&["pack-objects", "--stdout", "-q"], objects.join("\n").as_bytes());
        self.import_pack(&pack, files, tip).await
    }

    async fn import_pack(&self, pack: &[u8], files: &str, tip: &str) -> Imported {
        fs::write(&self.tree.returned_pack, pack).expect("the file is written");
        let brought =
            RemoteChanges { files: files.to_owned(), tip: Some(tip.to_owned()), ..RemoteChanges::default() };
        let imported = self.store.import_remote(&self.tree, Ok(Some(brought))).await;
        assert!(!self.tree.returned_pack.exists());
        self.scene.git(&["fsck", "--strict"]);
        imported
    }

    fn tree_of(&self, commit: &str) -> String {
        self.git(&["rev-parse", &format!("{commit}^{{tree}}")])
    }
}

#[tokio::test]
async fn a_pack_becomes_a_branch_and_nothing_else_is_imported() {
    let remote = RemoteClone::new().await;
    assert_eq!(remote.git(&["log", "--format=%s"]), "all", "the pack has no history");
    let (files, blob) = remote.file("a.txt", "a");
    let secret = remote.object("blob", b"not part of it");
    let imported = remote.import(&[&files, &remote.tree_of(&files), &blob, &secret], &files, &files).await;
    assert_eq!(imported.notices, Vec::<String>::new());
    assert_eq!((imported.branch.as_deref(), imported.commits, &imported.kept_tree), (Some(BRANCH), 1, &None));
    assert_eq!(remote.scene.git(&["show", &format!("{BRANCH}:a.txt")]), "a");
    assert_eq!(remote.scene.git(&["rev-parse", BRANCH]), files);
    assert!(!remote.scene.git(&["cat-file", "--batch-all-objects", "--batch-check"]).contains(&secret));
}

#[tokio::test]
async fn an_invalid_pack_is_kept_as_a_bundle() {
    let remote = RemoteClone::new().await;
    let base = remote.tree.base.clone();
    let (good, good_blob) = remote.file("a.txt", "a");
    let good_tree = remote.tree_of(&good);
    let all = [&*good, &good_tree, &good_blob];
    // A tree with the name `.git`, which git itself never writes.
    let raw: Vec<u8> = (0..20)
        .map(|at| u8::from_str_radix(&good_tree[2 * at..2 * at + 2], 16).expect("the digits are hexadecimal"))
        .collect();
    let bad_tree = remote.object("tree", &[b"40000 .git\0".as_slice(), &raw].concat());
    let bad = remote.commit(&bad_tree, &base);
    let foreign = remote.git(&["commit-tree", &good_tree, "-m", "of another history"]);
    let older = remote.scene.git(&["rev-parse", "HEAD^"]);
    let whole = remote.feed(&["pack-objects", "--stdout", "-q"], all.join("\n").as_bytes());
    let many = [b"PACK\0\0\0\x02\xff\xff\xff\xff", &whole[12..]].concat();
    for (label, pack, files, tip, expected) in [
        ("no pack", b"#!/bin/sh\nexit 0\n".to_vec(), &good, &base, "the child's files were not imported"),
        ("half a pack", whole[..whole.len() / 2].to_vec(), &good, &base, "`git index-pack` failed"),
        ("too many objects", many, &good, &base, "more than 200000 objects"),
        ("an older commit", whole.clone(), &older, &base, "they do not descend from the commit"),
        ("another history", whole.clone(), &base, &foreign, "the child's commits were not imported"),
    ] {
        let imported = remote.import_pack(&pack, files, tip).await;
        assert!(imported.notices.concat().contains(expected), "{label}: {:?}", imported.notices);
        assert_eq!(imported.branch, None, "{label}");
        let kept = imported.kept_tree.expect("the tree is kept");
        assert!(fs::read(&kept).expect("the file is readable").ends_with(&pack), "{label}");
        assert!(kept.starts_with(remote.scene.at("agent/trees")), "{}", kept.display());
        remote.scene.git(&["bundle", "list-heads", &kept.to_string_lossy()]);
    }
    for (label, objects, files, tip) in [
        ("a name that git refuses", vec![&*bad, &bad_tree, &good_tree, &good_blob], &bad, &base),
        ("a missing file", vec![&*good, &good_tree], &good, &base),
        ("a missing commit", vec![&*good_blob], &good, &base),
    ] {
        let imported = remote.import(&objects, files, tip).await;
        assert!(
            imported.notices[0].starts_with("the child's files were not imported"),
            "{label}: {:?}",
            imported.notices
        );
        assert!(imported.branch.is_none() && imported.kept_tree.is_some(), "{label}");
    }
    // Files count without commits that are refused.
    let objects = [all.as_slice(), &[&foreign]].concat();
    let imported = remote.import(&objects, &good, &foreign).await;
    assert!(imported.notices.concat().contains("they do not descend"), "{:?}", imported.notices);
    assert_eq!((imported.branch.as_deref(), imported.commits), (Some(BRANCH), 0));
    assert_eq!(remote.scene.git(&["show", &format!("{BRANCH}:a.txt")]), "a");
    let kept = imported.kept_tree.expect("the tree is kept");
    remote.scene.git(&["fetch", "-q", &kept.to_string_lossy(), &format!("refs/heads/{BRANCH}-files")]);
}
