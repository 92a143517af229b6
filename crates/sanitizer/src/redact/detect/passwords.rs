//! Finds the passwords that programs take: in addresses, in options and in files.
//!
//! - Addresses: the credentials in a URL, and curl's option `-u` or `--user`.
//! - Options: a flag that does not say password, as in `mysql -psecret`.
//! - Databases: `IDENTIFIED BY 'x'`, and the lines of a `.pgpass` file.

use std::ops::Range;

use crate::redact::cursor::{Cursor, run_before};
use crate::redact::judgement::{JUDGED, Place, is_secret};
use crate::redact::names::NameKind;
use crate::redact::rule::{Edit, Found, REDACTED, Rule};
use crate::redact::search::Trigger;
use crate::redact::shape::{Shape, shape_of};

const RULE: &str = "url_credentials";

/// The maximum length of the user information that is recognized, in bytes.
const REACH: usize = 512;

/// The rule for `://user:pass@`, which redacts the password, and for an opaque `://token@`, which redacts all of it.
pub(crate) struct UserInfo;

impl Rule for UserInfo {
    fn triggers(&self) -> Vec<Trigger> {
        vec![Trigger::exact("://")]
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let start = trigger.end;
        let nothing = Err(start);
        let window = &cursor.bytes[start..cursor.bytes.len().min(start + REACH)];
        let is_end = |&byte: &u8| ends_url(byte) || matches!(byte, b'/' | b'?' | b'#');
        let authority = window.iter().position(is_end).unwrap_or(window.len());
        if authority == 0 {
            return nothing;
        }
        let window = &window[..window.iter().position(|&byte| ends_url(byte)).unwrap_or(window.len())];
        // The next URL has its own credentials.
        let window = &window[..memchr::memmem::find(window, b"://").unwrap_or(window.len())];
        let authority = authority.min(window.len());
        let host_at = match memchr::memrchr(b'@', &window[..authority]) {
            Some(at) => at,
            // A password may contain an unescaped slash: the text after the colon is not a port, and an `@` follows
            // later.
            None => match (memchr::memchr(b':', &window[..authority]), memchr::memchr(b'@', window)) {
                (Some(colon), Some(at)) if !window[colon + 1..authority].iter().all(u8::is_ascii_digit) => at,
                _ => return nothing,
            },
        };
        let colon = memchr::memchr(b':', &window[..host_at]);
        let secret = colon.map_or(0, |colon| colon + 1)..host_at;
        let value = &cursor.text[start + secret.start..start + secret.end];
        let is_secret = match shape_of(value) {
            Shape::Empty | Shape::Placeholder | Shape::Reference => false,
            // Addresses contain only escaped brackets. `[user[:password]@]host` is a description of the syntax.
            _ if value.contains(['[', ']']) => false,
            Shape::Random | Shape::Mixed => true,
            Shape::Plain | Shape::Word if is_form(&window[..secret.start.max(1) - 1], value) => false,
            _ => colon.is_some(),
        };
        if !is_secret {
            return nothing;
        }
        let range = start + secret.start..start + secret.end;
        Ok(Edit::new(range, REDACTED, RULE))
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let rest = &cursor.bytes[trigger.end..];
        (rest.len() < REACH && !rest.iter().any(|&byte| ends_url(byte))).then_some(trigger.end)
    }
}

/// The rule for `curl … -u user:pass`, which redacts the password.
pub(crate) struct CurlUser;

impl Rule for CurlUser {
    fn triggers(&self) -> Vec<Trigger> {
        [" -u ", " --user ", " --user="].map(Trigger::any_case).into()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let nothing = Err(trigger.start + 1);
        if !is_curl_flag(cursor, &trigger) {
            return nothing;
        }
        // Take the whole value, even if it is long. Otherwise a second pass would find another value in the rest.
        let Range { start, end } = cursor.word(cursor.skip_blanks(trigger.end), ends_url);
        let window = &cursor.bytes[start..end];
        let Some(colon) = memchr::memchr(b':', &window[..window.len().min(REACH)]) else { return nothing };
        let range = start + colon + 1..end;
        let judged = start + colon + 1..cursor.floor_char(end.min(start + colon + 1 + REACH));
        match shape_of(&cursor.text[judged.clone()]) {
            Shape::Empty | Shape::Placeholder | Shape::Reference => nothing,
            Shape::Plain | Shape::Word if is_form(&window[..colon], &cursor.text[judged.clone()]) => nothing,
            _ => Ok(Edit::new(range, REDACTED, RULE)),
        }
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let continues = cursor.word_is_open(cursor.skip_blanks(trigger.end), ends_url);
        (continues && is_curl_flag(cursor, &trigger)).then_some(trigger.end)
    }
}

/// Returns true if a flag is the first of its kind after `curl`.
fn is_curl_flag(cursor: &Cursor<'_>, flag: &Range<usize>) -> bool {
    cursor.options_of(flag.start + 1, b"curl").is_some_and(|options| {
        [&b" -u "[..], b" --user"].iter().all(|flag| memchr::memmem::find(options, flag).is_none())
    })
}

/// Returns true if credentials are placeholders: `USER:PASSWORD`, `user:password`.
fn is_form(user: &[u8], password: &str) -> bool {
    /// Placeholders for a password in examples.
    const PASSWORD_PLACEHOLDERS: [&str; 11] =
        ["pass", "password", "passwd", "pwd", "pw", "test", "xyz", "token", "secret", "key", "yyy"];
    // A description puts optional parts in brackets.
    let user = user.strip_prefix(b"[").unwrap_or(user);
    let is_user = |word: &&[u8]| user.eq_ignore_ascii_case(word);
    password.bytes().all(|byte| byte.is_ascii_uppercase())
        || (PASSWORD_PLACEHOLDERS.contains(&password)
            && [&b"user"[..], b"username", b"test", b"abc", b"xxx"].iter().any(is_user))
}

fn ends_url(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|')
}

/// Name prefixes of the database and directory programs.
const MONGO: &[u8] = b"mongo";
const LDAP: &[u8] = b"ldap";

/// The rule for `mysql -psecret`, `sshpass -p secret`, `mongosh -p secret`, `docker login -p secret` and similar
/// commands.
pub(crate) struct PasswordFlag;

impl Rule for PasswordFlag {
    /// Returns the flags, with the blank before them.
    fn triggers(&self) -> Vec<Trigger> {
        [" -p", " -P ", " -w ", " -a ", " -k ", " -passin ", " -passout ", " -pass "]
            .map(Trigger::exact)
            .into()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let resume = trigger.end - usize::from(cursor.bytes[trigger.end - 1] == b' ');
        let start = value_start(cursor, &trigger).ok_or(resume)?;
        // Take the whole value, even if it is long. Otherwise a second pass would find another value in the rest.
        let value = cursor.word(start, ends_word);
        let judged = &cursor.text[value.start..cursor.floor_char(value.end.min(value.start + JUDGED))];
        match shape_of(judged) {
            Shape::Empty
            | Shape::Placeholder
            | Shape::Reference
            | Shape::Plain
            | Shape::Path
            | Shape::Url => Err(resume),
            // A port, or ports.
            Shape::Number if judged.len() < 6 => Err(resume),
            _ => Ok(Edit::new(value, REDACTED, "command_password")),
        }
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let start = value_start(cursor, &trigger)?;
        cursor.word_is_open(start, ends_word).then_some(trigger.end)
    }
}

/// Returns the position of the value, if the flag is the first of its kind after a program that takes a password
/// there.
fn value_start(cursor: &Cursor<'_>, trigger: &Range<usize>) -> Option<usize> {
    let flag = &cursor.bytes[trigger.clone()];
    let next = cursor.skip_blanks(trigger.end);
    let is_attached = next == trigger.end;
    let programs: &[&[u8]] = match flag {
        b" -p" if is_attached => &[b"mysql", b"mariadb"],
        b" -p" => &[b"sshpass", b" login", MONGO],
        b" -P " => &[b"sqlcmd", b"bcp"],
        b" -w " => &[LDAP],
        b" -a " => &[b"redis-cli"],
        b" -k " => &[b"openssl enc"],
        _ => &[b"openssl"],
    };
    let (program, mut options) = programs
        .iter()
        .find_map(|program| cursor.options_of(trigger.start, program).map(|options| (*program, options)))?;
    if memchr::memmem::find(options, flag).is_some() {
        return None;
    }
    if matches!(program, MONGO | LDAP | b"sqlcmd" | b"bcp") {
        // The rest of a name such as `mongodump` or `ldapsearch`. Another command on the line must not follow.
        options = &options[options.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()..];
        let is_run = options.first().is_none_or(|byte| *byte == b' ')
            && memchr::memchr3(b';', b'|', b'&', options).is_none()
            && cursor.byte(next) != Some(b'-');
        is_run.then_some(())?;
    }
    match (flag, program) {
        // `docker run --name mysql -p3306:3306`.
        (b" -p", b"mysql" | b"mariadb") if cursor.options_of(trigger.start, b"docker").is_some() => None,
        // Later flags belong to the program that gets the password.
        (b" -p", b"sshpass") => options.is_empty().then_some(next),
        (b" -passin " | b" -passout " | b" -pass ", _) => {
            cursor.bytes[next..].starts_with(b"pass:").then(|| next + "pass:".len())
        }
        _ => Some(next),
    }
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'|' | b';' | b')')
}

/// The number of bytes of a statement that are read before `IDENTIFIED`, and the maximum distance to the value after
/// it.
const STATEMENT: usize = 256;

/// The rule for `CREATE USER u IDENTIFIED BY 'x'`, with or without the plug-in that checks the password.
pub(crate) struct IdentifiedBy;

impl Rule for IdentifiedBy {
    /// Returns the end of the word, because many other words have the same beginning.
    fn triggers(&self) -> Vec<Trigger> {
        ["ied by ", "ied with "].map(Trigger::any_case).into()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let value = password(cursor, &trigger).ok_or(trigger.end)?;
        let judged = &cursor.text[value.start..cursor.floor_char(value.end.min(value.start + JUDGED))];
        if is_secret(NameKind::Password, "password", judged, Place::Quoted) {
            Ok(Edit::new(value, REDACTED, "sql_password"))
        } else {
            Err(trigger.end)
        }
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let value = password(cursor, &trigger)?;
        (value.end == cursor.bytes.len()).then_some(value.start)
    }
}

/// Returns the password of a statement. Prose contains `identified by`, too. So in small letters, or for a value
/// without quotes, a statement about users must precede.
fn password(cursor: &Cursor<'_>, trigger: &Range<usize>) -> Option<Range<usize>> {
    let begin = trigger.start.checked_sub("identif".len()).filter(|begin| *begin >= cursor.floor)?;
    let word = &cursor.bytes[begin..trigger.start];
    (word.eq_ignore_ascii_case(b"identif") && cursor.is_token_start(begin)).then_some(())?;
    let mut at = cursor.skip_blanks(trigger.end);
    if cursor.bytes[trigger.clone()].eq_ignore_ascii_case(b"ied with ") {
        at = after_plugin(cursor, at)?;
    }
    at = after_word(cursor, at, b"password ").unwrap_or(at);
    let before = cursor.line_before(begin, STATEMENT).to_ascii_lowercase();
    let is_statement = [&b"user "[..], b"grant ", b"role ", b"link "]
        .iter()
        .any(|word| memchr::memmem::find(&before, word).is_some());
    let is_quoted = cursor.quote(at).is_some_and(|quote| quote.mark != b'`');
    if !(is_statement || (is_quoted && word == b"IDENTIF")) {
        return None;
    }
    let value =
        cursor.word(at, |byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b',' | b'"' | b'\''));
    // A bound variable, or an option of the statement, is not a password.
    (is_quoted || !matches!(cursor.byte(at), None | Some(b':' | b'@' | b'('))).then_some(value)
}

/// Returns the position after the `BY` of `mysql_native_password BY`.
fn after_plugin(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    let plugin = cursor.word(at, |byte| byte.is_ascii_whitespace());
    let next = cursor.skip_blanks((plugin.end + (plugin.start - at)).min(cursor.bytes.len()));
    after_word(cursor, next, b"by ")
}

fn after_word(cursor: &Cursor<'_>, at: usize, word: &[u8]) -> Option<usize> {
    let found = cursor.bytes.get(at..at + word.len())?;
    found.eq_ignore_ascii_case(word).then(|| cursor.skip_blanks(at + word.len()))
}

/// The rule for `host:5432:database:user:password`, a line of `.pgpass`.
pub(crate) struct PasswordFile;

impl Rule for PasswordFile {
    /// Returns the usual ports, and `*`.
    fn triggers(&self) -> Vec<Trigger> {
        [":5432:", ":5433:", ":6432:", ":*:"].map(Trigger::exact).into()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let value = last_field(cursor, &trigger).ok_or(trigger.end)?;
        if is_secret(NameKind::Password, "password", &cursor.text[value.clone()], Place::Quoted) {
            Ok(Edit::new(value, REDACTED, "password_file"))
        } else {
            Err(trigger.end)
        }
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let value = last_field(cursor, &trigger)?;
        (value.end == cursor.bytes.len()).then_some(value.start)
    }
}

/// Returns the password of a line that has a host before the port, and database and user after it.
fn last_field(cursor: &Cursor<'_>, port: &Range<usize>) -> Option<Range<usize>> {
    /// The maximum length of a line in such a file.
    const MAX_LINE: usize = 512;
    let before = cursor.line_before(port.start, MAX_LINE);
    let host = run_before(before, |byte| byte.is_ascii_alphanumeric() || b".-_*".contains(&byte));
    let begins =
        before.len() == host || matches!(before[before.len() - host - 1], b' ' | b'"' | b'\'' | b'n');
    (host > 0 && begins).then_some(())?;
    let rest = &cursor.bytes[port.end..cursor.line_end(port.end, MAX_LINE)];
    let length = rest.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
    let rest = &rest[..length.unwrap_or(rest.len())];
    let database = memchr::memchr(b':', rest)?;
    let user = database + 1 + memchr::memchr(b':', &rest[database + 1..])?;
    let password = &rest[user + 1..];
    // A colon within the password is escaped. A backslash and `n` are a line end of JSON.
    let length = memchr::memmem::find(password, b"\\n").unwrap_or(password.len());
    let is_last = !password[..length].contains(&b':') || memchr::memmem::find(password, b"\\:").is_some();
    (database > 0 && user > database + 1 && length > 0 && is_last)
        .then_some(port.end + user + 1..port.end + user + 1 + length)
}
