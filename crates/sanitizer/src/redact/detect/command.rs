//! Finds passwords after a program's flag that does not say password: `mysql -psecret`.

use std::ops::Range;

use crate::redact::cursor::Cursor;
use crate::redact::rule::{Edit, Found, REDACTED, Rule};
use crate::redact::triggers::Trigger;
use crate::redact::value::judgement::JUDGED;
use crate::redact::value::shape::{Shape, shape_of};

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
