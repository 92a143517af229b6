//! The script that starts pi on another machine. It is sent through the standard input, so that neither the prompt nor
//! a variable appears in the list of processes, and the length is unlimited.
//!
//! A part of it creates a private tree on the remote machine, and sends the work in it back. The tree is a repository
//! of the child's. Its objects are in a repository of ours next to it. At the end, our repository records the files,
//! without using the child's configuration. The child has all rights of its account, so nothing that comes back is
//! trusted here.

use std::fmt::Write as _;

use worktree::RemoteTree;

/// A placeholder for the script's own directory on the remote machine, at the beginning of an argument.
pub(super) const PLACE: &str = "/dev/null/pi-subagent";
/// The directory of sessions on the remote machine, below the home directory.
pub(super) const SESSIONS: &str = ".pi-subagent";
pub(super) const PROMPT: &str = "prompt.md";
pub(super) const GUARD: &str = "guard.cjs";
pub(super) const SESSION: &str = "session.jsonl";

/// The line between the output of the launcher, such as a banner, and the output of pi.
pub(super) const STARTED: &str = "pi-subagent-started";

/// The line that reports that the remote pi has ended. Without it, the launcher ended first.
pub(super) const ENDED: &str = "pi-subagent-ended";

/// Explains why nothing could be written: for a full disk, shells only report an input/output error.
const CANNOT_WRITE: &str = r#"f() { echo "cannot write below ${TMPDIR:-/tmp}; is the disk full?" >&2; df -P "${TMPDIR:-/tmp}" >&2; exit 1; }
"#;

// The script uses the warden of the remote machine, if this package is installed there: the warden restrains the child's
// process tree as on this machine. The script continues without one if there is none, or if the kernel or an older
// version makes it useless.

/// Sets `w` to the path of a working warden, or to nothing.
const FIND_WARDEN: &str = r#"w=; for f in "${PI_CODING_AGENT_DIR:-$HOME/.pi/agent}"/npm/node_modules/pi-subagent-native-*/pi-subagent-warden; do
"$f" --hold -- /bin/sh -c : </dev/null >/dev/null 2>&1 && { w=$f; break; }; done
"#;

/// A prefix that makes the warden in `w` run a command. The shell finds the program, because a warden does not search
/// `PATH`.
const RUN_IN_WARDEN: &str = r#"${w:+"$w" --hold --grace-ms 5000 -- /bin/sh -c 'exec "$@"' sh} "#;

/// Prints [`WARDEN_IS_FOUND`] if there is a warden.
pub(super) const REPORT_WARDEN: &str = "echo ${w:+pi-subagent-held}";
pub(super) const WARDEN_IS_FOUND: &str = "pi-subagent-held";

/// The program that is started on the remote machine. It reads the length of the script from a line, then exactly the
/// script, and runs it. `read`, and `dd` with blocks of one byte, consume no input after the script.
const LOADER: &str = r#"read -r n && eval "$(dd bs=1 count=$n 2>/dev/null)""#;

/// The parts of a script.
pub(super) struct Script<'a> {
    /// The directory to change to, if the launcher does not choose it.
    pub cwd: Option<&'a str>,
    /// The variables to set for pi.
    pub env: Vec<(&'a str, &'a str)>,
    /// The variables to remove from the environment that the launcher passes on.
    pub unset: &'a [&'a str],
    pub prompt: &'a str,
    pub guard: &'a str,
    /// The standard input of pi, if it is not the script's own.
    pub task: Option<&'a str>,
    /// Shell commands that run before pi.
    pub before: &'a str,
    /// The file name of the saved session, below [`SESSIONS`].
    pub session: Option<&'a str>,
    /// The private tree that pi works in, instead of `cwd`.
    pub tree: Option<Private<'a>>,
    /// The command of pi with its arguments.
    pub argv: Vec<String>,
}

/// A private tree on the remote machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Private<'a> {
    pub tree: &'a RemoteTree,
    /// The directory in the tree that pi works in.
    pub inner: &'a str,
    /// The prefix of the script's messages to us.
    pub key: &'a str,
}

/// Returns the words of a command that reads a script from its standard input and runs it.
pub(super) fn loader(run_id: &str) -> [String; 4] {
    ["sh".to_owned(), "-c".to_owned(), LOADER.to_owned(), format!("pi-subagent-{run_id}")]
}

impl Script<'_> {
    /// Returns the input of the loader.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let script = self.text().replace('\0', "");
        format!("{}\n{script}", script.len()).into_bytes()
    }

    fn text(&self) -> String {
        let mut text = String::from(CANNOT_WRITE);
        text.push_str(
            "u=$(umask); umask 077\n\
             d=$(mktemp -d \"${TMPDIR:-/tmp}/pi-subagent.XXXXXX\") || f\n\
             trap 'rm -rf \"$d\"' EXIT; trap 'exit 143' HUP INT TERM\n",
        );
        // `s` is set if a signal asked the script to end, so pi has not ended by itself.
        text.push_str("s=\n");
        // The reader may be gone, and shells report that a child was terminated. This is a handler, because pi would
        // inherit an ignored signal.
        text.push_str("trap : PIPE\n");
        let task = self.task.map(|task| ("task", task));
        for (name, content) in [(PROMPT, self.prompt), (GUARD, self.guard)].into_iter().chain(task) {
            let _ = writeln!(text, "printf %s {} >\"$d/{name}\" || f", quoted(content));
        }
        text.push_str("umask \"$u\"\n");
        for name in self.unset {
            let _ = writeln!(text, "unset {name}");
        }
        for (name, value) in &self.env {
            let _ = writeln!(text, "export {name}={}", quoted(value));
        }
        match (&self.tree, self.cwd) {
            (Some(Private { tree, inner, key }), _) => text.push_str(&make_private_tree(tree, inner, key)),
            (None, Some(cwd)) => {
                let _ = writeln!(text, "cd {} || exit 1", quoted(cwd));
            }
            (None, None) => {}
        }
        text.push_str(FIND_WARDEN);
        // Earlier output may end without a line break.
        let _ = writeln!(text, "echo; echo {STARTED}\n{}", self.before);
        if self.tree.is_some() {
            text.push_str(REPORT_DIRECTORY);
        }
        text.push_str("exec 3<&0\n");
        let argv: Vec<String> = self.argv.iter().map(|word| argument(word)).collect();
        // pi ends when the script's own input ends. A child that does not exit then receives a signal.
        let (made, input, watch) = if self.task.is_some() {
            ("", "task", "{ cat >/dev/null; kill -TERM $p; } <&3 3<&- >/dev/null")
        } else {
            let watch = "{ cat; exec >&-; sleep 5; kill -TERM $p; } <&3 3<&- >\"$d/in\"";
            ("mkfifo \"$d/in\" || f\n", "in", watch)
        };
        let _ = writeln!(text, "{made}{RUN_IN_WARDEN}{} <\"$d/{input}\" 3<&- &\np=$!", argv.join(" "));
        text.push_str("trap 's=1; kill -TERM $p 2>/dev/null' HUP INT TERM\n");
        let _ = writeln!(text, "{watch} 2>/dev/null &\nw=$!");
        text.push_str(
            "exec 0</dev/null 3<&-\nwait $p; c=$?\nwhile kill -0 $p 2>/dev/null; do wait $p; c=$?; done\n",
        );
        // A cluster signals the processes of a job one after the other, so the child may end before this script
        // receives its own signal. Waits a second for that signal. The input may have ended before.
        text.push_str("case $c in 129|130|143) [ $s ] || sleep 1;; esac\n");
        if let Some(name) = self.session {
            let _ = writeln!(
                text,
                "mkdir -p ~/{SESSIONS} && cp \"$d/{SESSION}\" ~/{SESSIONS}/{} 2>/dev/null",
                quoted(name)
            );
        }
        if self.tree.is_some() {
            text.push_str(SEND_CHANGES);
        }
        let _ =
            writeln!(text, "kill $w 2>/dev/null\n[ $s ] || {{ echo; echo {ENDED}; }} 2>/dev/null\nexit $c");
        text
    }
}

/// Formats an argument of pi, which may be a path in the script's directory.
fn argument(word: &str) -> String {
    word.strip_prefix(PLACE).map_or_else(|| quoted(word), |rest| format!("\"$d\"{}", quoted(rest)))
}

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
const REFUSED: &str = r#"{ echo "a private tree is unavailable on the child's machine: $w" >&2; exit 1; }"#;

/// Creates the tree and changes to the directory in it that corresponds to `inner`. Reads the pack from the standard
/// input.
fn make_private_tree(tree: &RemoteTree, inner: &str, key: &str) -> String {
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
const REPORT_DIRECTORY: &str = r#"echo "$k at $d"
trap 'rm -rf "$d" 2>/dev/null || { chmod -R u+rwx "$d"; rm -rf "$d"; } 2>/dev/null; [ -e "$d" ] || printf "\n%s gone\n" "$k"' EXIT
"#;

/// Sends the work back after the child has ended.
const SEND_CHANGES: &str = r#"echo
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
