//! The script that starts pi elsewhere. It comes over the standard input, so that neither the prompt nor a variable stands in the
//! list of processes, and no length is bounded.

use std::fmt::Write as _;

use super::held::{self, HOLD};
use super::quoted::quoted;
use super::tree;
use crate::workspace::TreeThere;

/// Stands for the script's own directory there, at the beginning of an argument.
pub(super) const PLACE: &str = "/dev/null/pi-subagent";
/// The directory of sessions there, below the home directory.
pub(super) const SESSIONS: &str = ".pi-subagent";
pub(super) const PROMPT: &str = "prompt.md";
pub(super) const GUARD: &str = "guard.cjs";
pub(super) const SESSION: &str = "session.jsonl";

/// The line between what a launcher prints, such as a banner, and what pi does.
pub(super) const STARTED: &str = "pi-subagent-started";

/// The line that says that pi has ended there. Without it, the launcher was the first to end.
pub(super) const ENDED: &str = "pi-subagent-ended";

/// Why nothing could be written there: shells say of a full disk that there was an error of input and output.
const CANNOT_WRITE: &str = r#"f() { echo "cannot write below ${TMPDIR:-/tmp}; is the disk full?" >&2; df -P "${TMPDIR:-/tmp}" >&2; exit 1; }
"#;

/// What is started there: reads the length of the script in a line, then exactly the script, and runs it. `read` and `dd` with
/// blocks of one byte take nothing of the input behind it.
const LOADER: &str = r#"read -r n && eval "$(dd bs=1 count=$n 2>/dev/null)""#;

/// What a script does.
pub(super) struct Script<'a> {
    /// The directory to change to, if the launcher does not choose it.
    pub cwd: Option<&'a str>,
    /// Set for pi.
    pub env: Vec<(&'a str, &'a str)>,
    /// Removed from what the launcher hands over.
    pub unset: &'a [&'a str],
    pub prompt: &'a str,
    pub guard: &'a str,
    /// The standard input of pi, if that is not the script's own.
    pub task: Option<&'a str>,
    /// Shell commands before pi is started.
    pub before: &'a str,
    /// Where the session is put in the end, below [`SESSIONS`].
    pub session: Option<&'a str>,
    /// The private tree that pi works in, instead of `cwd`.
    pub tree: Option<Private<'a>>,
    /// pi with its arguments.
    pub argv: Vec<String>,
}

/// A private tree there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Private<'a> {
    pub tree: &'a TreeThere,
    /// The directory in it that pi works in.
    pub inner: &'a str,
    /// Begins what the script says for us.
    pub key: &'a str,
}

/// The words that read a script from their standard input and run it.
pub(super) fn loader(run_id: &str) -> [String; 4] {
    ["sh".to_owned(), "-c".to_owned(), LOADER.to_owned(), format!("pi-subagent-{run_id}")]
}

impl Script<'_> {
    /// What the loader reads.
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
        // `s`: something there has asked the script to end, so pi has not ended by itself.
        text.push_str("s=\n");
        // Nobody may read any more, and shells say of a child that it was terminated. A handler, because pi would inherit what is
        // ignored.
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
            (Some(Private { tree, inner, key }), _) => text.push_str(&tree::make(tree, inner, key)),
            (None, Some(cwd)) => {
                let _ = writeln!(text, "cd {} || exit 1", quoted(cwd));
            }
            (None, None) => {}
        }
        text.push_str(held::FIND);
        // What was printed before may have left its last line open.
        let _ = writeln!(text, "echo; echo {STARTED}\n{}", self.before);
        if self.tree.is_some() {
            text.push_str(tree::ANNOUNCE);
        }
        text.push_str("exec 3<&0\n");
        let argv: Vec<String> = self.argv.iter().map(|word| argument(word)).collect();
        // The end of the script's own input is the end of pi: a child that does not leave then is asked to by a signal.
        let (made, input, watch) = if self.task.is_some() {
            ("", "task", "{ cat >/dev/null; : >\"$d/over\"; kill -TERM $p; } <&3 3<&- >/dev/null")
        } else {
            let watch = "{ cat; exec >&-; : >\"$d/over\"; sleep 5; kill -TERM $p; } <&3 3<&- >\"$d/in\"";
            ("mkfifo \"$d/in\" || f\n", "in", watch)
        };
        let _ = writeln!(text, "{made}{HOLD}{} <\"$d/{input}\" 3<&- &\np=$!", argv.join(" "));
        text.push_str("trap 's=1; kill -TERM $p 2>/dev/null' HUP INT TERM\n");
        let _ = writeln!(text, "{watch} 2>/dev/null &\nw=$!");
        text.push_str(
            "exec 0</dev/null 3<&-\nwait $p; c=$?\nwhile kill -0 $p 2>/dev/null; do wait $p; c=$?; done\n",
        );
        // A cluster signals the processes of a job one after the other, so the child may end before this script has its own signal:
        // wait a second for it, unless we have asked the child to end.
        text.push_str("case $c in 129|130|143) [ $s ] || [ -e \"$d/over\" ] || sleep 1;; esac\n");
        if let Some(name) = self.session {
            let _ = writeln!(
                text,
                "mkdir -p ~/{SESSIONS} && cp \"$d/{SESSION}\" ~/{SESSIONS}/{} 2>/dev/null",
                quoted(name)
            );
        }
        if self.tree.is_some() {
            text.push_str(tree::BACK);
        }
        let _ =
            writeln!(text, "kill $w 2>/dev/null\n[ $s ] || {{ echo; echo {ENDED}; }} 2>/dev/null\nexit $c");
        text
    }
}

/// An argument of pi, which may lie in the script's directory.
fn argument(word: &str) -> String {
    word.strip_prefix(PLACE).map_or_else(|| quoted(word), |rest| format!("\"$d\"{}", quoted(rest)))
}
