//! The script that starts pi elsewhere. It comes over the standard input, so that neither the prompt nor a variable stands in the
//! list of processes, and no length is bounded.

use std::fmt::Write as _;

/// Stands for the script's own directory there, at the beginning of an argument.
pub(super) const PLACE: &str = "/dev/null/pi-subagent";
/// The directory of sessions there, below the home directory.
pub(super) const SESSIONS: &str = ".pi-subagent";
pub(super) const PROMPT: &str = "prompt.md";
pub(super) const GUARD: &str = "guard.cjs";
pub(super) const SESSION: &str = "session.jsonl";

/// The line between what a launcher prints, such as a banner, and what pi does.
pub(super) const STARTED: &str = "pi-subagent-started";

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
    /// pi with its arguments.
    pub argv: Vec<String>,
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
        let mut text = String::from(
            "u=$(umask); umask 077\n\
             d=$(mktemp -d \"${TMPDIR:-/tmp}/pi-subagent.XXXXXX\") || exit 1\n\
             trap 'rm -rf \"$d\"' EXIT; trap 'exit 143' HUP INT TERM\n",
        );
        let task = self.task.map(|task| ("task", task));
        for (name, content) in [(PROMPT, self.prompt), (GUARD, self.guard)].into_iter().chain(task) {
            let _ = writeln!(text, "printf %s {} >\"$d/{name}\" || exit 1", quoted(content));
        }
        text.push_str("umask \"$u\"\n");
        for name in self.unset {
            let _ = writeln!(text, "unset {name}");
        }
        for (name, value) in &self.env {
            let _ = writeln!(text, "export {name}={}", quoted(value));
        }
        if let Some(cwd) = self.cwd {
            let _ = writeln!(text, "cd {} || exit 1", quoted(cwd));
        }
        // What was printed before may have left its last line open.
        let _ = writeln!(text, "echo; echo {STARTED}\n{}\nexec 3<&0", self.before);
        let argv: Vec<String> = self.argv.iter().map(|word| argument(word)).collect();
        // The end of the script's own input is the end of pi: a child that does not leave then is asked to by a signal.
        let (made, input, watch) = if self.task.is_some() {
            ("", "task", "{ cat >/dev/null; kill -TERM $p; } <&3 3<&- >/dev/null")
        } else {
            let watch = "{ cat; exec >&-; sleep 5; kill -TERM $p; } <&3 3<&- >\"$d/in\"";
            ("mkfifo \"$d/in\" || exit 1\n", "in", watch)
        };
        let _ = writeln!(text, "{made}{} <\"$d/{input}\" 3<&- &\np=$!", argv.join(" "));
        text.push_str("trap 'kill -TERM $p 2>/dev/null' HUP INT TERM\n");
        let _ = writeln!(text, "{watch} 2>/dev/null &\nw=$!");
        text.push_str(
            "exec 0</dev/null 3<&-\nwait $p; c=$?\nwhile kill -0 $p 2>/dev/null; do wait $p; c=$?; done\n",
        );
        if let Some(name) = self.session {
            let _ = writeln!(
                text,
                "mkdir -p ~/{SESSIONS} && cp \"$d/{SESSION}\" ~/{SESSIONS}/{} 2>/dev/null",
                quoted(name)
            );
        }
        text.push_str("kill $w 2>/dev/null\nexit $c\n");
        text
    }
}

/// A word as a POSIX shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_/.,:=@%+-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// An argument of pi, which may lie in the script's directory.
fn argument(word: &str) -> String {
    word.strip_prefix(PLACE).map_or_else(|| quoted(word), |rest| format!("\"$d\"{}", quoted(rest)))
}
