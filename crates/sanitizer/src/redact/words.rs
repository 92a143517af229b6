//! Word lists: a macro for them, and the words and prefixes that distinguish a value from a placeholder for it.

/// Splits one text into a list of words at compile time.
macro_rules! words {
    ($text:literal) => {
        &$crate::redact::words::split::<{ $crate::redact::words::count($text) }>($text)
    };
}

/// Returns true if a list contains a word, in capitals or small letters.
pub(crate) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| other.eq_ignore_ascii_case(word))
}

/// Counts the words in a text.
pub(crate) const fn count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut words = 0;
    while at < bytes.len() {
        let begins = at == 0 || bytes[at - 1].is_ascii_whitespace();
        if begins && !bytes[at].is_ascii_whitespace() {
            words += 1;
        }
        at += 1;
    }
    words
}

/// Returns the `N` words of a text.
pub(crate) const fn split<const N: usize>(text: &str) -> [&str; N] {
    let bytes = text.as_bytes();
    let mut words = [""; N];
    let mut at = 0;
    let mut word = 0;
    while word < N {
        while bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && !bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        words[word] = text.split_at(at).0.split_at(start).1;
        word += 1;
    }
    words
}

/// Types, literals and answers that follow `token:` in code, schemas, forms and status lines.
pub(crate) const PLAIN: &[&str] = words!(
    "string str text char varchar number int integer float double bool boolean bytes byte buffer any unknown
     void never object array list map set dict struct enum symbol function func fn required optional none
     null nil undefined nan true false yes no on off ok present missing absent empty unset valid invalid
     expired default hidden masked redacted disabled enabled auto automatic env file prompt stdin keychain
     keyring inherit unchanged changed wrong incorrect correct weak long short new old input field id name
     type identifier keyword punctuation comment operator sha1 sha256 sha384 sha512 md5 aes256 rs256 hs256
     es256 utf8 base64 hex ed25519 bearer basic oauth oauth2 apikey password passwd token key value this self
     async await typeof void new delete return bytearray uint8array rsa hmac passwordfield textfield todo local tbd n/a"
);

/// Unpronounceable parts of identifiers.
pub(crate) const ABBREVIATIONS: &[&str] = words!(
    "http https html xml css sql json yaml tls ssl ssh ecdsa ecdsap dsa pkcs der pem crt csr dns tcp udp rpc grpc ctx cfg
     mgr svc str ptr buf len num src dst req res resp params args sts iam aws gcp mfa otp jwks jwt pkce smtp ftp sdk
     cli db px tmp std utf x86 x509 sigv4 sigv4a sha rsa aes p256 ed25519"
);

/// Words that make an identifier a placeholder.
pub(crate) const PLACEHOLDERS: &[&str] =
    words!("your example placeholder insert replace todo xxx xxxx xxxxx redacted changeme");

/// Words that only occur in sentences. They are unlikely in a passphrase of random words.
pub(crate) const PROSE: &[&str] = words!(
    "is are was be been must should can cannot could will would may has have the a an of to in for with and
     or not at by from on if as your you this that it its no please enter required invalid incorrect least
     when per do does did we our use used via than into which new forgot confirm wrong"
);

/// Words that only describe the expected value: `api_key`, `new-password`, `userToken`.
pub(crate) const LABELS: &[&str] = words!(
    "password passwd pass pwd passphrase token key secret api apikey access auth authorization client user
     new old current confirm repeat id field input label name header pw x private public refresh session
     credential credentials db env form login account hash test dummy fake mock"
);

/// Prefixes of a value that refers to a secret stored in another place.
pub(crate) const LOOKUPS: &[&str] = words!(
    "process.env import.meta os.environ os.getenv env. env( ENV[ env!( std::env Deno.env secrets. vault:
     op:// ref+ npm:@ workspace: this. self. exports. module. arn:aws file:// keychain: env:"
);

/// YAML tags with the same meaning.
pub(crate) const REFERENCE_TAGS: &[&str] = words!("!ref !get !sub !import !env !secret !include !find");

/// Functions that are called with a secret in quotes: `String::from("x")`.
pub(crate) const WRAPPERS: &[&str] = &[
    "String::from",
    "SecretString::from",
    "SecretString::new",
    "Secret::new",
    "Some",
    "SecretStr",
    "Optional.of",
    "new String",
];

/// Endings of file names that occur in the place of a secret.
pub(crate) const FILE_ENDINGS: &[&str] = words!(
    ".pem .key .pub .crt .cer .p12 .pfx .jks .json .yaml .yml .toml .txt .env .js .ts .rs .py .go .md .sock
     .gpg .csv .parquet .html .log .lock"
);

/// The first word of an `Authorization` header.
pub(crate) const SCHEMES: &[&str] = words!(
    "bearer basic digest token apikey api-key key negotiate ntlm hawk oauth sso-key signature
     aws4-hmac-sha256 sharedkey genie bot"
);
