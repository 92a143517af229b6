//! The part of a script that creates a private tree on the remote machine, and sends the work in it back.
//!
//! The tree is a repository of the child's. Its objects are in a repository of ours next to it. At the end, our
//! repository records the files, without using the child's configuration. The child has all rights of its account, so
//! nothing that comes back is trusted here.

use std::fmt::Write as _;

use worktree::RemoteTree;

/// Uses the variables `d`, the script's directory; `t`, the tree; `b`, the commit that the tree is created from; `r`,
/// the full name of its branch.
const FUNCTIONS: &str = r#"own() {
	HOME=$d/none XDG_CONFIG_HOME=$d/none GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0 LC_ALL=C \
	GIT_AUTHOR_NAME=files GIT_AUTHOR_EMAIL=files GIT_COMMITTER_NAME=files GIT_COMMITTER_EMAIL=files \
	git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.protectHFS=true -c core.protectNTFS=true -c gc.auto=0 "$@"
}
ours() { own --git-dir="$d/git" --work-tree="$t" "$@"; }
theirs() { own --git-dir="$t/.git" "$@" 2>/dev/null; }
size() { echo $(($(wc -c <"$1"))); }
take() {
	: >"$2" || return 1
	n=0
	while [ $n -lt $1 ]; do
		l=$(($1 - n))
		[ $l -le 65536 ] || l=65536
		dd bs=$l count=1 >>"$2" 2>/dev/null
		m=$(size "$2")
		[ $m -gt $n ] || return 1
		n=$m
	done
}
pack() {
	printf '%s\n' "$@" "^$b" | ours pack-objects --revs --stdout -q >"$d/back" 2>/dev/null && [ $(size "$d/back") -le $most ]
}
back() {
	cd "$t" || return 1
	ours add -A --ignore-errors --no-warn-embedded-repo . >"$d/notes" 2>&1
	f=$(ours write-tree) || return 1
	if [ "$f" = "$(ours rev-parse "$b^{tree}")" ]; then f=$b; else f=$(ours commit-tree "$f" -p "$b" -m files </dev/null) || return 1; fi
	h=$(theirs rev-parse -q --verify "$r^{commit}") || h=-
	o=$({ theirs for-each-ref '--format=%(refname)'; theirs symbolic-ref -q HEAD || echo; } | sort -u)
	if [ "$o" = "$r" ]; then o=0; else o=1; fi
	n=$(size "$d/notes")
	[ $n -le 2048 ] || n=2048
	[ "$f $h $o $n" != "$b $b 0 0" ] || { echo "$k same"; return; }
	printf '%s\n' "$t/.git/objects" >"$d/git/objects/info/alternates"
	if [ $h = - ]; then pack $f || return 1; else pack $f $h || { h=-; pack $f; } || return 1; fi
	echo "$k back $f $h $o $n $(size "$d/back")"
	dd bs=2048 count=1 <"$d/notes" 2>/dev/null
	cat "$d/back"
}
"#;

/// Ends a script whose tree cannot be created.
const REFUSED: &str =
    r#"{ echo "isolation: private, but unavailable on the child's machine: $w" >&2; exit 1; }"#;

/// Creates the tree and changes to the directory in it that corresponds to `inner`. Reads the pack from the standard
/// input.
pub(super) fn make(tree: &RemoteTree, inner: &str, key: &str) -> String {
    let name = tree.snapshot.root.file_name().map_or_else(|| "tree".into(), |name| name.to_string_lossy());
    let [config, attributes, ignored] =
        tree.settings.each_ref().map(|text| quoted(&String::from_utf8_lossy(text)));
    let format = if tree.snapshot.is_sha256 { " --object-format=sha256" } else { "" };
    let shallow = if tree.is_shallow { r#"echo $b >"$d/git/shallow" &&"# } else { "" };
    let mut text = format!(
        "t=$d/tree/{} b={} r=refs/heads/{} k={key} most={}\n{FUNCTIONS}",
        quoted(&name),
        tree.base,
        tree.branch,
        tree.limit
    );
    let _ = write!(
        text,
        r#"w='there is no `git`'
{{ command -v git && unset $(git rev-parse --local-env-vars); }} >/dev/null || {REFUSED}
w='the tree cannot be written'
mkdir -p "$t" "$d/none" && ours init -q --template={format} && mkdir -p "$d/git/info" "$d/git/objects/info" &&
	printf %s {config} >"$d/git/config" && printf %s {attributes} >"$d/git/info/attributes" &&
	printf %s {ignored} >"$d/git/info/exclude" && {shallow} cp -R "$d/git" "$t/.git" &&
	printf '%s\n' "$d/git/objects" >"$t/.git/objects/info/alternates" &&
	take {bytes} "$d/pack" && ours index-pack --stdin <"$d/pack" >/dev/null && rm "$d/pack" &&
	ours read-tree -u --reset $b || {REFUSED}
w='some of its names become the same file there'
[ -z "$(ours diff-files --name-only)" ] || {REFUSED}
w='the tree cannot be written'
cp -p "$d/git/index" "$t/.git/index" && mkdir -p "$t/.git/$r" && rmdir "$t/.git/$r" && echo $b >"$t/.git/$r" &&
	echo "ref: $r" >"$t/.git/HEAD" && mkdir -p "$t/"{inner} && cd "$t/"{inner} || {REFUSED}
"#,
        bytes = tree.pack_bytes,
        inner = quoted(inner),
    );
    text
}

/// Reports the script's directory, and at the end its removal. Directories that the child has made inaccessible
/// are opened for the removal.
pub(super) const REPORT_DIRECTORY: &str = r#"echo "$k at $d"
trap 'rm -rf "$d" 2>/dev/null || { chmod -R u+rwx "$d"; rm -rf "$d"; } 2>/dev/null; [ -e "$d" ] || printf "\n%s gone\n" "$k"' EXIT
"#;

/// Sends the work back after the child has ended.
pub(super) const SEND_CHANGES: &str = r#"echo
(back) || printf '\n%s lost git failed on that machine, or they are more than `snapshot.maxBytes` allows\n' "$k"
"#;

/// Quotes a word for a POSIX shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_/.,:=@%+-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
