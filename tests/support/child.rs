//! Scripted children: a child is described by the events of pi that it writes, and becomes a shell script that plays pi.
//!
//! ```ignore
//! Child::new().receives().starts().says("The answer.").settles().listens()
//! ```
//!
//! is a child in RPC mode: it receives a command, starts its work, answers, reports the end of the work, and listens for further
//! commands until the host closes its input. `replies("The answer.")` is short for its first four steps. A child in `json` mode
//! gets its task as its whole input: it has `reads_task` in place of `receives`, and no `listens`. Steps run one after the other.
//! After the last one the child exits with 0.
//!
//! `runs` is the way to the shell, for effects on files, processes and signals. Shell code can use
//!
//! - `$home`: the directory of the test, [`super::stage::stage`]; the working directory is the project's,
//! - `$line`: the last command that the child received,
//! - `receive`: receives the next command, and fails once the host has closed the input,
//! - the steps of another child, which are shell code when formatted with `{}`.

use std::fmt::{self, Display, Formatter};

use serde_json::Value;

/// Returns an object as JSON text with its keys in the written order. `json!` would sort them, and the order of pi's keys matters
/// to a reader that skims long events. A value is a single token, an object, a list, or an expression in parentheses.
macro_rules! ordered {
    ({ $($key:literal: $value:tt),* $(,)? }) => {{
        let fields: Vec<String> =
            vec![$(format!("\"{}\":{}", $key, $crate::support::child::ordered!($value))),*];
        format!("{{{}}}", fields.join(","))
    }};
    ([ $($value:tt),* $(,)? ]) => {{
        let values: Vec<String> = vec![$($crate::support::child::ordered!($value)),*];
        format!("[{}]", values.join(","))
    }};
    ($value:tt) => {
        serde_json::json!($value).to_string()
    };
}
pub(crate) use ordered;

/// The shell functions of every script. A child that waits for a file ends with its test, which removes the directory.
const FUNCTIONS: &str = r#"home=${0%/*}
receive() { IFS= read -r line && printf '%s\n' "$line" >> "$home/received"; }
wait_for() { until test -e "$home/$1"; do test -d "$home" || exit 1; sleep 0.02; done; }
"#;

/// Starts the process of [`Child::leaves_a_process`].
const LEAVES: &str = r#"setsid sh -c 'trap "" TERM HUP; echo $$ >"$0.new"; mv "$0.new" "$0"; while :; do sleep 1; done' \
    "$home/left" <&- >&- 2>&- &
until [ -e "$home/left" ]; do :; done"#;

/// The key of our guard. A question whose title begins with it comes from our tool `ask`.
pub(crate) const GUARD_KEY: &str = "pi-subagent-ask:0b7e3c1a-8f1d-4f0e-9d5e-2f6a1c3b4d5e";

/// A child and its steps so far.
#[derive(Clone, Default)]
pub(crate) struct Child(Vec<Step>);

#[derive(Clone)]
enum Step {
    Shell(String),
    Message { text: Text, stop_reason: &'static str, error: Option<String> },
}

#[derive(Clone)]
enum Text {
    Exact(String),
    /// The shell expands it, as in double quotes.
    Expanded(String),
}

impl Child {
    /// Returns a child without steps.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns a child in RPC mode that has received its task and has started.
    pub(crate) fn working() -> Self {
        Self::new().receives().starts()
    }

    /// Returns a child that has started, in a protocol. In `json` mode it has not read its task.
    pub(crate) fn working_in(protocol: &str) -> Self {
        if protocol == "json" { Self::new().starts() } else { Self::working() }
    }

    /// Returns a child in RPC mode that has done its task, with the answer `The whole answer.`
    pub(crate) fn answering() -> Self {
        Self::new().replies("The whole answer.")
    }

    /// Returns a pi that passes the checks of `doctor`: it prints its version, or answers the request for its state.
    pub(crate) fn answering_doctor(version: &str) -> Self {
        Self::new().runs(&format!(r#"[ "$1" = --version ] && {{ echo {version}; exit 0; }}"#)).reports_state()
    }

    /// Answers the request for its state.
    pub(crate) fn reports_state(self) -> Self {
        let response = ordered!({ "id": "pi-subagent", "command": "get_state", "success": true });
        self.receives().emits("response", &response).listens()
    }

    /// Waits for the next command, and appends it to the file `received`.
    pub(crate) fn receives(self) -> Self {
        self.runs("receive")
    }

    /// Waits for the next command. If the host closes the input instead, the child exits with 0.
    pub(crate) fn receives_or_exits(self) -> Self {
        self.runs("receive || exit 0")
    }

    /// Receives further commands until the host closes the input, and exits with 0. No later step runs.
    pub(crate) fn listens(self) -> Self {
        self.runs("while receive; do :; done; exit 0")
    }

    /// Reads the task as pi does in `json` mode, up to the end of the input, into the file `task`.
    pub(crate) fn reads_task(self) -> Self {
        self.runs(r#"cat > "$home/task""#)
    }

    /// Begins to work on a command: `agent_start`.
    pub(crate) fn starts(self) -> Self {
        self.writes(r#"{"type":"agent_start"}"#)
    }

    /// Writes a part of a message that is still arriving: `message_update`.
    pub(crate) fn streams(self, text: &str) -> Self {
        let delta = Value::from(text);
        self.writes(&format!(
            r#"{{"type":"message_update","usage":{{}},"assistantMessageEvent":{{"type":"text_delta","contentIndex":0,"delta":{delta}}}}}"#
        ))
    }

    /// Writes a complete message, with the stop reason `stop` and with tokens that cost 0.3: `message_end`.
    pub(crate) fn says(self, text: &str) -> Self {
        self.message(Text::Exact(text.to_owned()))
    }

    /// Writes a message like `says`, but the shell expands its text as in double quotes. The expanded text must be valid inside a JSON
    /// string.
    pub(crate) fn says_expanded(self, text: &str) -> Self {
        self.message(Text::Expanded(text.to_owned()))
    }

    /// Gives the last message another stop reason, such as `toolUse`, `length` or `aborted`.
    pub(crate) fn with_stop_reason(mut self, reason: &'static str) -> Self {
        let Some(Step::Message { stop_reason, .. }) = self.0.last_mut() else {
            panic!("the last step is not a message")
        };
        *stop_reason = reason;
        self
    }

    /// Makes the last message one that failed with an error.
    pub(crate) fn with_error(mut self, message: &str) -> Self {
        self = self.with_stop_reason("error");
        if let Some(Step::Message { error, .. }) = self.0.last_mut() {
            *error = Some(message.to_owned());
        }
        self
    }

    /// Writes an event of this type with these fields, an object of [`ordered`].
    pub(crate) fn emits(self, kind: &str, fields: &str) -> Self {
        let rest = fields.strip_prefix('{').expect("the fields are an object");
        let comma = if rest == "}" { "" } else { "," };
        self.writes(&format!(r#"{{"type":"{kind}"{comma}{rest}"#))
    }

    /// Prints the key of our guard, the first event of a child with our tool `ask`.
    pub(crate) fn shows_guard_key(self) -> Self {
        self.asks("key", GUARD_KEY)
    }

    /// Asks the user for a text.
    pub(crate) fn asks(self, id: &str, title: &str) -> Self {
        self.emits("extension_ui_request", &ordered!({ "id": id, "method": "input", "title": title }))
    }

    /// Lets the user choose between `red` and `green`.
    pub(crate) fn asks_for_colour(self, id: &str, title: &str) -> Self {
        let fields = ordered!({ "id": id, "method": "select", "title": title, "options": ["red", "green"] });
        self.emits("extension_ui_request", &fields)
    }

    /// Lets the model say something and call a tool: `message_end` and `tool_execution_start`.
    pub(crate) fn calls_tool(self, text: &str, name: &str) -> Self {
        let message = ordered!({ "message": {
            "role": "assistant",
            "content": [
                { "type": "text", "text": text },
                { "type": "toolCall", "id": "c1", "name": name, "arguments": {} },
            ],
            "provider": "fake",
            "model": "m1",
            "usage": { "input": 1, "output": 1, "cost": { "total": 0 } },
            "stopReason": "toolUse",
        } });
        self.emits("message_end", &message).starts_tool(name)
    }

    /// Starts a call without arguments and with the id `c1`: `tool_execution_start`.
    pub(crate) fn starts_tool(self, name: &str) -> Self {
        self.emits("tool_execution_start", &ordered!({ "toolCallId": "c1", "toolName": name, "args": {} }))
    }

    /// Ends the work, unless an extension or a retry continues it: `agent_end`.
    pub(crate) fn ends(self) -> Self {
        self.writes(r#"{"type":"agent_end","messages":[],"willRetry":false}"#)
    }

    /// Ends the work until the next command: `agent_end` and `agent_settled`.
    pub(crate) fn settles(self) -> Self {
        self.ends().writes(r#"{"type":"agent_settled","aborted":false}"#)
    }

    /// Fails with an error that pi has retried without success.
    pub(crate) fn gives_up(self, error: &str) -> Self {
        let end = ordered!({ "success": false, "attempt": 3, "finalError": error });
        self.says("").with_error(error).emits("auto_retry_end", &end).settles()
    }

    /// Receives a command and answers it.
    pub(crate) fn replies(self, text: &str) -> Self {
        self.receives().starts().says(text).settles()
    }

    /// Writes the last command to a file.
    pub(crate) fn saves_command(self, file: &str) -> Self {
        self.runs(&format!("printf '%s' \"$line\" > \"$home/{file}\""))
    }

    /// Waits until the test has written this file.
    pub(crate) fn waits_for(self, file: &str) -> Self {
        self.runs(&format!("wait_for '{file}'"))
    }

    /// Does nothing for some seconds, and does not notice the end of the host.
    pub(crate) fn sleeps(self, seconds: u32) -> Self {
        self.runs(&format!("sleep {seconds}"))
    }

    pub(crate) fn exits(self, code: u8) -> Self {
        self.runs(&format!("exit {code}"))
    }

    /// Starts a process that leaves its group and session and ignores requests to exit. Waits until it has written its PID to the
    /// file `left`.
    pub(crate) fn leaves_a_process(self) -> Self {
        self.runs(LEAVES)
    }

    /// Runs shell code.
    pub(crate) fn runs(mut self, shell: &str) -> Self {
        self.0.push(Step::Shell(shell.to_owned()));
        self
    }

    /// Takes the steps of another child.
    pub(crate) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Takes the steps of another child several times.
    pub(crate) fn repeats(self, times: usize, other: &Self) -> Self {
        (0..times).fold(self, |child, _| child.then(other.clone()))
    }

    /// Takes these steps if the file exists.
    pub(crate) fn if_exists(self, file: &str, steps: &Self) -> Self {
        self.runs(&format!("if test -e \"$home/{file}\"; then\n{steps}\nfi"))
    }

    /// Takes these steps in the first process that comes here. It creates the directory `mark`.
    pub(crate) fn once(self, mark: &str, steps: &Self) -> Self {
        self.runs(&format!("if mkdir \"$home/{mark}\" 2>/dev/null; then\n{steps}\nfi"))
    }

    /// Takes the steps next to the first text that the last command contains, or else the last argument.
    pub(crate) fn depending_on_command(self, cases: &[(&str, Self)], otherwise: &Self) -> Self {
        let case = |(text, steps): &(&str, Self)| format!("*{}*)\n{steps}\n;;\n", quoted(text));
        let cases: String = cases.iter().map(case).collect();
        self.runs(&format!("case \"$line\" in\n{cases}*)\n{otherwise}\n;;\nesac"))
    }

    /// Returns the whole script.
    pub(crate) fn into_script(self) -> String {
        format!("{FUNCTIONS}{self}\n")
    }

    /// Writes a line as it is, for events whose exact form matters.
    pub(crate) fn writes(self, line: &str) -> Self {
        let line = quoted(line);
        self.runs(&format!("printf '%s\\n' {line}"))
    }

    fn message(mut self, text: Text) -> Self {
        self.0.push(Step::Message { text, stop_reason: "stop", error: None });
        self
    }
}

/// Writes the steps as shell code, one per line.
impl Display for Child {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            match step {
                Step::Shell(shell) => write!(formatter, "{separator}{shell}")?,
                Step::Message { text, stop_reason, error } => {
                    write!(formatter, "{separator}{}", message(text, stop_reason, error.as_deref()))?;
                }
            }
        }
        // The body of a conditional must not be empty.
        if self.0.is_empty() { formatter.write_str(":") } else { Ok(()) }
    }
}

/// Returns the command that writes a message.
fn message(text: &Text, stop_reason: &str, error: Option<&str>) -> String {
    let text = match text {
        Text::Exact(text) => quoted(&Value::from(text.as_str()).to_string()),
        Text::Expanded(text) => format!(r#"'"'"{text}"'"'"#),
    };
    let error = error.map_or(String::new(), |error| format!(r#","errorMessage":{}"#, Value::from(error)));
    let after = format!(
        r#"}}],"provider":"fake","model":"m1","usage":{{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{{"total":0.3}}}},"stopReason":"{stop_reason}"{error}}}}}"#
    );
    format!(
        r#"printf '%s\n' '{{"type":"message_end","message":{{"role":"assistant","content":[{{"type":"text","text":'{text}{}"#,
        quoted(&after)
    )
}

/// Quotes a text for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
