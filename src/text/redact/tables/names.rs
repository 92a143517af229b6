//! Names: the words by which they are found, and what their words mean.

/// Parts of names whose value may be a secret, whatever stands around them. The sign of `sig=` is part of its word
/// because `sig` alone begins many others.
pub(crate) const TRIGGERS: &[&str] =
    words!("key token secret pass pwd credential creds auth cookie sig= signature _pat jwt");

/// Words that may follow the one that counts: `password2`, `API_KEY_PROD`, `secret_value`.
pub(crate) const SUFFIXES: &[&str] = words!(
    "prod production dev development staging stage test testing live sandbox local main backup old new
     current value val raw plain plaintext str string base64 b64 encoded hex v1 v2 v3 confirmation confirm
     again repeat base a b primary secondary"
);

pub(crate) const PASSWORDS: &[&str] = words!("password passwd passphrase passcode pwd passwrd");

/// Words of a variable in capitals that tell a secret although others follow: `GITHUB_TOKEN_CI`, `DB_PASSWORD_MASTER`.
pub(crate) const TELLING: &[&str] = words!("password passwd token secret apikey");

/// What follows when the variable is about a secret and has none.
pub(crate) const ABOUT: &[&str] = words!(
    "url uri file path dir name id ids length len count size limit max min type kind expiry expires expiration ttl
     timeout hash policy enabled disabled required header prefix suffix field key keys regex pattern format env var
     endpoint issuer audience error invalid missing class version scope scopes index offset default
     lifespan lifetime seconds query param params test text label message prompt"
);

/// Before `key`: what makes it secret.
pub(crate) const KEY_OF: &[&str] = words!(
    "api access secret private auth encryption encrypt decryption signing master account admin root aes hmac
     jwt webhook subscription consumer deploy license preshared psk unseal recovery shared integration ingest
     wireguard openai anthropic stripe sendgrid mailgun azure gemini mistral cohere deepseek groq openrouter
     datadog algolia twilio"
);

/// Before `key`: what makes it a secret or the name of a place to store something.
pub(crate) const KEY_PERHAPS: &[&str] = words!(
    "session app application client host function functions write server cookie token service google user
     storage crypto cipher hash project team bot license"
);

/// Before `key`: what makes it public or an index.
pub(crate) const KEY_NOT: &[&str] = words!(
    "public primary foreign partition sort cache row group unique index lookup hash object query state event
     hot short map dict sub arrow publishable pub i18n react translation shortcut return enter tab escape
     delete space home any registry dedupe idempotency routing composite natural range search site s3 widget
     list item data"
);

/// Before `token`: what makes it a credential.
pub(crate) const TOKEN_OF: &[&str] = words!(
    "access auth refresh id bearer api session secret personal bot github gitlab gh gl npm slack discord
     telegram oauth jwt login user admin deploy service vault webhook pypi hf huggingface cloudflare
     digitalocean heroku vercel netlify sentry account app private job ci codecov sonar security
     registration verification reset device do fly railway influx influxdb mapbox notion linear jira circleci
     travis twilio replicate databricks doppler consul nomad terraform snyk rubygems cargo docker registry"
);

/// Before `token`: lexers, models and pages, and what a page gives to each visitor, so that a form comes from there:
/// without the cookie that goes with it, nobody gets in by it, and with a marker in its place no form can be sent.
pub(crate) const TOKEN_NOT: &[&str] = words!(
    "next prev previous page continuation cancel cancellation abort start end eos bos pad unk sep cls mask
     stop current peek lookahead design color syntax max min per first last eof open close operator input
     output prompt completion special sync change public lock csrf xsrf authenticity antiforgery"
);

/// Words of an environment variable that holds a secret, in the singular.
pub(crate) const SAYS: &[&str] =
    words!("key token secret password passwd pass pwd passphrase credential creds pat jwt");

/// Ends of such words.
pub(crate) const SAYS_AT_END: &[&str] = words!("key token secret password credential");

/// Words that only end so.
pub(crate) const SAYS_NOT: &[&str] = words!("monkey donkey turkey hockey whiskey jockey");

/// What other languages say for a password. Each word has the ending by which it is found: most begin with letters
/// that begin many words of code.
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
