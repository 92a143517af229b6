//! The trigger words of names, and the meanings of the words in names.

/// Parts of names whose value may be a secret, with any text around them. The sign of `sig=` is part of its word
/// because many other words begin with `sig`.
pub(crate) const TRIGGERS: &[&str] =
    words!("key token secret pass pwd credential creds auth cookie sig= signature _pat jwt");

/// Words that may follow the decisive word: `password2`, `API_KEY_PROD`, `secret_value`.
pub(crate) const SUFFIXES: &[&str] = words!(
    "prod production dev development staging stage test testing live sandbox local main backup old new
     current value val raw plain plaintext str string base64 b64 encoded hex v1 v2 v3 confirmation confirm
     again repeat base a b primary secondary"
);

pub(crate) const PASSWORDS: &[&str] = words!("password passwd passphrase passcode pwd passwrd");

/// Words that mark a variable in capitals as a secret even if other words follow: `GITHUB_TOKEN_CI`,
/// `DB_PASSWORD_MASTER`.
pub(crate) const SECRET_WORDS: &[&str] = words!("password passwd token secret apikey");

/// Words that follow if the variable is about a secret but does not contain one.
pub(crate) const METADATA_WORDS: &[&str] = words!(
    "url uri file path dir name id ids length len count size limit max min type kind expiry expires expiration ttl
     timeout hash policy enabled disabled required header prefix suffix field key keys regex pattern format env var
     endpoint issuer audience error invalid missing class version scope scopes index offset default
     lifespan lifetime seconds query param params test text label message prompt"
);

/// Words before `key` that make it secret.
pub(crate) const SECRET_KEYS: &[&str] = words!(
    "api access secret private auth encryption encrypt decryption signing master account admin root aes hmac
     jwt webhook subscription consumer deploy license preshared psk unseal recovery shared integration ingest
     wireguard openai anthropic stripe sendgrid mailgun azure gemini mistral cohere deepseek groq openrouter
     datadog algolia twilio"
);

/// Words before `key` that make it either a secret or the name of a storage location.
pub(crate) const POSSIBLE_KEYS: &[&str] = words!(
    "session app application client host function functions write server cookie token service google user
     storage crypto cipher hash project team bot license"
);

/// Words before `key` that make it public or an index.
pub(crate) const PUBLIC_KEYS: &[&str] = words!(
    "public primary foreign partition sort cache row group unique index lookup hash object query state event
     hot short map dict sub arrow publishable pub i18n react translation shortcut return enter tab escape
     delete space home any registry dedupe idempotency routing composite natural range search site s3 widget
     list item data"
);

/// Words before `token` that make it a credential.
pub(crate) const SECRET_TOKENS: &[&str] = words!(
    "access auth refresh id bearer api session secret personal bot github gitlab gh gl npm slack discord
     telegram oauth jwt login user admin deploy service vault webhook pypi hf huggingface cloudflare
     digitalocean heroku vercel netlify sentry account app private job ci codecov sonar security
     registration verification reset device do fly railway influx influxdb mapbox notion linear jira circleci
     travis twilio replicate databricks doppler consul nomad terraform snyk rubygems cargo docker registry"
);

/// Words before `token` that make it harmless: tokens of lexers and models, and the form token that a page gives to
/// each visitor. A form token is useless without its cookie, and if a marker replaced it, the form could not be sent.
pub(crate) const HARMLESS_TOKENS: &[&str] = words!(
    "next prev previous page continuation cancel cancellation abort start end eos bos pad unk sep cls mask
     stop current peek lookahead design color syntax max min per first last eof open close operator input
     output prompt completion special sync change public lock csrf xsrf authenticity antiforgery"
);

/// Words of an environment variable that contains a secret, in the singular.
pub(crate) const SECRET_VARIABLE_WORDS: &[&str] =
    words!("key token secret password passwd pass pwd passphrase credential creds pat jwt");

/// Endings of such words.
pub(crate) const SECRET_VARIABLE_ENDINGS: &[&str] = words!("key token secret password credential");

/// Words that have such an ending but are harmless.
pub(crate) const HARMLESS_WORDS: &[&str] = words!("monkey donkey turkey hockey whiskey jockey");

/// Words for a password in other languages. Each word has the ending that a search looks for, because many words of
/// code begin like these words.
pub(crate) const FOREIGN: [(&str, &str); 11] = [
    ("nnwort", "kennwort"),
    ("seña", "contraseña"),
    ("enha", "senha"),
    ("chtwoord", "wachtwoord"),
    ("asło", "hasło"),
    ("пароль", "пароль"),
    ("密码", "密码"),
    ("密碼", "密碼"),
    ("パスワード", "パスワード"),
    ("비밀번호", "비밀번호"),
    ("passwort", "passwort"),
];
