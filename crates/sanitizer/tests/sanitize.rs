//! The text that the sanitizer removes, and the text that it keeps.

use std::time::Duration;

use proptest::prelude::*;
use sanitizer::{Allowed, HomePaths, Redaction, Sanitizer, SanitizerOptions, check_allowed, settled_length};
use serde_json::{Value, json};

/// Returns the processor time that `work` takes. Other programs on the machine do not count.
#[cfg(unix)]
fn processor_time(work: impl FnOnce()) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("the time is not negative");
    let begin = now();
    work();
    now().saturating_sub(begin)
}

#[cfg(not(unix))]
fn processor_time(work: impl FnOnce()) -> Duration {
    let begin = std::time::Instant::now();
    work();
    begin.elapsed()
}

fn plain() -> Sanitizer {
    Sanitizer::new(SanitizerOptions::default())
}

fn knowing() -> Sanitizer {
    let secrets = vec!["Kn0wn-Value-77".to_owned(), "multi\nline-Kn0wn".to_owned()];
    Sanitizer::new(SanitizerOptions {
        secrets,
        homes: ["/root", "/srv/people/ann/", "/home/ann", "/Users/ann", r"C:\Users\ann"]
            .map(str::to_owned)
            .into(),
        ..SanitizerOptions::default()
    })
}

#[test]
fn the_decided_part_of_a_growing_text_is_shown_at_once() {
    let github = ["gh", "p_", "x9Kq2Lm7Vb4Tn8Rw3YpZc5Hd1Fg6Js0AeBu"].concat();
    let jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "c2lnbmF0dXJlLW9mLXRoaXM"].join(".");
    for secret in [&github, &jwt] {
        let shown = plain().sanitize_growing(&format!("The key {secret} is used there. Then more follows"));
        assert!(
            !shown.contains(secret) && shown.ends_with("] is used there. Then more follows"),
            "{}",
            &*shown
        );
    }
}

/// A known value and a vendor's whole token directly after a letter, for every position of a chunk boundary. A token is secret
/// after its prefix, a known value from its first byte.
#[test]
fn a_letter_before_a_secret_does_not_prevent_its_redaction() {
    /// This number of characters in a row reveals nothing.
    const PART: usize = 6;
    let body = "x9Kq2Lm7Vb4Tn8Rw3YpZc5Hd1Fg6Js0AeBu4";
    let anthropic = [body, body, &body[..23]].concat();
    for (prefix, body) in
        [("gh\u{70}_", body), ("np\u{6d}_", body), ("sk-ant-api\u{30}3-", &anthropic), ("", "Kn0wn-Value-77")]
    {
        for before in ["m", "7", "key is m", "\"m", "\\nm"] {
            let text = format!("{before}{prefix}{body} and more\n");
            for end in 0..=text.len() {
                let arrived = &text[..end];
                let shown = knowing().sanitize_growing(&arrived[..settled_length(arrived)]);
                let parts = body.as_bytes().windows(PART);
                let is_shown = |part: &[u8]| shown.as_bytes().windows(PART).any(|window| window == part);
                assert!(!parts.into_iter().any(is_shown), "{arrived:?} shows {:?}", &*shown);
            }
            assert!(knowing().sanitize(&text).ends_with("REDACTED] and more\n"), "{text}");
        }
    }
    // A name that only ends like a prefix stays, and so does a text that is shorter than a token.
    for name in ["weighp_of_the_whole_team_and_more", "laughp_x9Kq2Lm7Vb4Tn8Rw3Yp"] {
        assert_eq!(&*plain().sanitize(name), name);
    }
}

#[test]
fn names_stay_and_values_are_redacted() {
    let sanitizer = knowing();
    let github = ["gh", "p_", "x9Kq2Lm7Vb4Tn8Rw3YpZc5Hd1Fg6Js0AeBu"].concat();
    for (label, input, expected) in [
        ("name=value", "api_key=k9x2m4p7q1", "api_key=[REDACTED]"),
        ("name: value", "my-api-key: k9x2m4p7q1", "my-api-key: [REDACTED]"),
        ("prefix", "DB_PASSWORD=s3cret!", "DB_PASSWORD=[REDACTED]"),
        ("header", "Authorization: Bearer k9x2m4p7q1", "Authorization: [REDACTED]"),
        ("header, lower case", "proxy-authorization: Basic dXNlcjpwYXNz", "proxy-authorization: [REDACTED]"),
        (
            "header in quotes",
            "curl -H 'Authorization: token k9x2m4' u",
            "curl -H 'Authorization: [REDACTED]' u",
        ),
        (
            "header with a long parameter",
            &format!("Authorization: Digest response=\"{}\"\nb", "k9x2m4p7".repeat(50)),
            "Authorization: [REDACTED]\nb",
        ),
        ("cookie", "Set-Cookie: sid=k9x2m4; Path=/", "Set-Cookie: [REDACTED]"),
        ("bearer", "with Bearer k9x2m4p7q1.", "with Bearer [REDACTED]."),
        ("vendor", &format!("push {github} now"), "push [GITHUB_TOKEN_REDACTED] now"),
        ("vendor under a name", &format!("GITHUB_TOKEN={github}"), "GITHUB_TOKEN=[REDACTED]"),
        ("URL", "postgres://app:s3cret@db/x", "postgres://app:[REDACTED]@db/x"),
        ("query", "/cb?token=k9x2m4&a=1", "/cb?token=[REDACTED]&a=1"),
        ("JSON", r#"{"api_key": "k9x2m4p7q1", "a": 1}"#, r#"{"api_key": "[REDACTED]", "a": 1}"#),
        ("JSON with a quote inside", r#"{"password":"a\"b","a":1}"#, r#"{"password":"[REDACTED]","a":1}"#),
        (
            "JSON inside JSON",
            r#"{"b":"{\"password\":\"a\\\"b\"}"}"#,
            r#"{"b":"{\"password\":\"[REDACTED]\"}"}"#,
        ),
        ("escaped line end", r#""a\napi_key=k9x2m4p7q1\nb""#, r#""a\napi_key=[REDACTED]\nb""#),
        (
            "label before a wide blank",
            "password = \"new-password\u{a0}\"",
            "password = \"new-password\u{a0}\"",
        ),
        ("known value", "x Kn0wn-Value-77y", "x [REDACTED]y"),
        ("known value in JSON", r#""multi\nline-Kn0wn""#, r#""[REDACTED]""#),
        ("interrupted by a control sequence", "api_key=k9x2\x1b[1mm4p7q1\x1b[0m", "api_key=[REDACTED]"),
        ("known value, interrupted", "Kn0wn-\x1b[31mValue-77", "[REDACTED]"),
    ] {
        assert_eq!(&*sanitizer.sanitize(input), expected, "{label}");
    }
}

#[test]
fn a_name_that_begins_like_a_vendors_token_stays() {
    for (input, expected) in [
        ("secret_value=k9x2m4p7q1", "secret_value=[REDACTED]"),
        ("SECRET_VALUE=k9x2m4p7q1", "SECRET_VALUE=[REDACTED]"),
        ("client_secret_1: \"k9x2m4p7q1\"", "client_secret_1: \"[REDACTED]\""),
        ("/cb?key-1=k9x2m4p7q1Zz7", "/cb?key-1=[REDACTED]"),
    ] {
        assert_eq!(&*plain().sanitize(input), expected);
    }
}

#[test]
fn a_value_is_found_whatever_sign_or_word_follows_its_name() {
    for (input, expected) in [
        (r#"{"name":"DB_PASSWORD","value":"k9x2m4p7q1"}"#, r#"{"name":"DB_PASSWORD","value":"[REDACTED]"}"#),
        ("{'name': 'DB_PASSWORD', 'value': 'k9x2m4p7q1'}", "{'name': 'DB_PASSWORD', 'value': '[REDACTED]'}"),
        ("API_TOKEN ?= k9x2m4p7q1Zz77Qw", "API_TOKEN ?= [REDACTED]"),
        ("API_TOKEN ::= k9x2m4p7q1Zz77Qw", "API_TOKEN ::= [REDACTED]"),
        ("$apiToken .= 'k9x2m4p7q1Zz77Qw';", "$apiToken .= '[REDACTED]';"),
        ("apiToken ??= 'k9x2m4p7q1Zz77Qw';", "apiToken ??= '[REDACTED]';"),
        ("apiToken ||= 'k9x2m4p7q1Zz77Qw';", "apiToken ||= '[REDACTED]';"),
        ("GITHUB_TOKEN_CI=k9x2m4p7q1Zz77Qw", "GITHUB_TOKEN_CI=[REDACTED]"),
        ("AWS_BEARER_TOKEN_BEDROCK=k9x2m4p7q1Zz77Qw", "AWS_BEARER_TOKEN_BEDROCK=[REDACTED]"),
        ("DB_PASSWORD_MASTER=k9x2m4p7q1Zz", "DB_PASSWORD_MASTER=[REDACTED]"),
    ] {
        assert_eq!(&*plain().sanitize(input), expected);
    }
}

#[test]
fn a_token_with_base64_characters_is_redacted_whole() {
    let body = "lJPE+CAAAA/AAAAdKxxBCn8ZlWq0kP3xw8bN4cR7tY6uJ5hG2fD1sA0zX9vBcE+mQ3nL5k==";
    for (prefix, marker) in [("fm2_", "FLY_TOKEN"), ("glc_", "GRAFANA_TOKEN"), ("sntrys_", "SENTRY_TOKEN")] {
        let text = format!("use {prefix}{body} now");
        assert_eq!(&*plain().sanitize(&text), format!("use [{marker}_REDACTED] now"));
    }
}

#[test]
fn a_value_continues_after_a_semicolon_and_a_statement_does_not() {
    for (input, expected) in [
        ("password=k9x2;m4p7q1", "password=[REDACTED]"),
        ("db.password=k9;x2;m4p7q1\nnext", "db.password=[REDACTED]\nnext"),
        ("Server=db;Pwd=k9x2m4p7;Database=x", "Server=db;Pwd=[REDACTED];Database=x"),
        ("Pwd=k9x2m4p7;Database=x", "Pwd=[REDACTED];Database=x"),
        ("password=k9x2m4p7; echo done", "password=[REDACTED]; echo done"),
        ("password=k9x2m4p7;return y", "password=[REDACTED];return y"),
    ] {
        assert_eq!(&*plain().sanitize(input), expected);
    }
}

#[test]
fn database_passwords_are_redacted_in_commands_and_output() {
    for (input, expected) in [
        ("CREATE USER app IDENTIFIED BY 'k9x2m4p7';", "CREATE USER app IDENTIFIED BY '[REDACTED]';"),
        ("create user app identified by hunter2;", "create user app identified by [REDACTED];"),
        (
            "ALTER USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY 'k9x2m4p7';",
            "ALTER USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY '[REDACTED]';",
        ),
        ("mongosh -u admin -p k9x2m4p7 --host x", "mongosh -u admin -p [REDACTED] --host x"),
        ("mongodump -p 'k9x2 m4p7'", "mongodump -p '[REDACTED]'"),
        ("sqlcmd -S db -U sa -P k9x2m4p7", "sqlcmd -S db -U sa -P [REDACTED]"),
        ("ldapsearch -D cn=x -w k9x2m4p7 -b y", "ldapsearch -D cn=x -w [REDACTED] -b y"),
        ("localhost:5432:app:me:k9x2m4p7\nb", "localhost:5432:app:me:[REDACTED]\nb"),
        ("*:*:*:me:swordfish", "*:*:*:me:[REDACTED]"),
        (
            "| Variable | Value |\n| `DB_PASSWORD` | `k9x2m4p7q1` |",
            "| Variable | Value |\n| `DB_PASSWORD` | `[REDACTED]` |",
        ),
        (" id       | 1\n password | k9x2m4p7q1\n", " id       | 1\n password | [REDACTED]\n"),
        (
            " id | password | name\n----+----------+------\n  1 | hunter2  | ann\n  2 | k9x2m4p7 | bob\n(2 rows)",
            " id | password | name\n----+----------+------\n  1 | [REDACTED]  | ann\n  2 | [REDACTED] | bob\n(2 rows)",
        ),
        (
            "+----+---------+\n| id | api_key |\n+----+---------+\n| 1 | k9x2m4p7q1Zz77Qw |\n+----+---------+",
            "+----+---------+\n| id | api_key |\n+----+---------+\n| 1 | [REDACTED] |\n+----+---------+",
        ),
        (
            "| User | Password |\n|---|:--|\n| ann | `k9x2m4p7` |",
            "| User | Password |\n|---|:--|\n| ann | `[REDACTED]` |",
        ),
    ] {
        assert_eq!(&*plain().sanitize(input), expected);
    }
    for text in [
        "each row is identified by 'name' here",
        "files are identified by name",
        "mkdir -p build && cd mongo && mkdir -p build/x1",
        "db:5432:5432",
        "| Option | Type | Default |\n|--------|------|---------|\n| `password` | `string` | The password |",
        "| Name | Password |\n|---|---|\n| ann | The one that you chose |\n| bob | Required |",
        "| Token | Meaning |\n|---|---|\n| T_STRING | a string |\n| LBRACE1 | `{` |",
        "type Key = Token | Other1;",
    ] {
        assert_eq!(&*plain().sanitize(text), text);
    }
}

#[test]
fn every_value_of_a_kubernetes_secret_is_redacted_and_other_manifests_stay() {
    for (input, expected) in [
        (
            "apiVersion: v1\ndata:\n  a.conf: YWRtaW4=\n  b: \"c\"\nkind: Secret\n",
            "apiVersion: v1\ndata:\n  a.conf: [REDACTED]\n  b: \"[REDACTED]\"\nkind: Secret\n",
        ),
        (
            "kind: Secret\ndata:\n  a: YWRt\n    aW4=\n  b: >-\n    YWRt\n    aW4=\ntype: Opaque",
            "kind: Secret\ndata:\n  a: [REDACTED]\n  b: >-\n    [REDACTED]\ntype: Opaque",
        ),
        (
            "items:\n- apiVersion: v1\n  data:\n    a: YWRt\n  kind: Secret\n- apiVersion: v1\n  data:\n    a: b7f3k\n  kind: ConfigMap\n",
            "items:\n- apiVersion: v1\n  data:\n    a: [REDACTED]\n  kind: Secret\n- apiVersion: v1\n  data:\n    a: b7f3k\n  kind: ConfigMap\n",
        ),
        (
            "{\n  \"data\": {\n    \"a\": \"YWRt\"\n  },\n  \"kind\": \"Secret\",\n  \"x\": {\"data\": {\"a\": \"b\"}}\n}",
            "{\n  \"data\": {\n    \"a\": \"[REDACTED]\"\n  },\n  \"kind\": \"Secret\",\n  \"x\": {\"data\": {\"a\": \"b\"}}\n}",
        ),
        (
            "[{\"kind\":\"Secret\",\"stringData\":{\"a\":\"b\"}},{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"b\"}}]",
            "[{\"kind\":\"Secret\",\"stringData\":{\"a\":\"[REDACTED]\"}},{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"b\"}}]",
        ),
    ] {
        assert_eq!(&*plain().sanitize(input), expected);
    }
    assert_eq!(plain().inspect("kind: Secret\ndata:\n  a: YWRt\n")[0].rule, "kubernetes_secret");
}

#[test]
fn a_block_is_shown_once_its_end_or_enough_of_it_has_arrived() {
    let prose = "the new password must be at least eight characters long, and it is\n  ";
    let text = format!("password: |\n  {}", prose.repeat(40));
    assert_eq!(&*plain().sanitize(&text), text);
    assert!(settled_length(&text) + 100 > text.len(), "{} of {}", settled_length(&text), text.len());
    for end in 0..text.len() {
        assert!(end - settled_length(&text[..end]).min(end) < 1200, "{end}");
    }
}

#[test]
fn a_header_with_an_unknown_scheme_is_redacted_and_prose_about_it_stays() {
    for value in
        ["Zoho-oauthtoken k9x2m4p7q1Zz77Qw", "GoogleLogin auth=k9x2m4p7q1Zz77Qw", "Custom k9x2m4p7q1"]
    {
        assert_eq!(&*plain().sanitize(&format!("Authorization: {value}\nb")), "Authorization: [REDACTED]\nb");
    }
    for text in ["Authorization: see RFC7235 for details", "Authorization: sent by all clients"] {
        assert_eq!(&*plain().sanitize(text), text);
    }
}

#[test]
fn a_redacted_value_is_redacted_in_all_other_places() {
    let value = "k9x2m4p7q1Zz77Qw";
    for (input, expected) in [
        (
            format!("API_KEY={value}\ngot {value}, and x{value}y"),
            "API_KEY=[REDACTED]\ngot [REDACTED], and x[REDACTED]y",
        ),
        (format!("{value}\nAuthorization: Bearer {value}"), "[REDACTED]\nAuthorization: [REDACTED]"),
        (format!("Cookie: a=b; sid={value}\n[{value}]"), "Cookie: [REDACTED]\n[[REDACTED]]"),
        ("password=swordfish\nswordfish".to_owned(), "password=[REDACTED]\nswordfish"),
        ("API_KEY=k9x2m4p7q1\nk9x2m4p7q1".to_owned(), "API_KEY=[REDACTED]\nk9x2m4p7q1"),
    ] {
        assert_eq!(&*plain().sanitize(&input), expected);
    }
    let found = plain().inspect(&format!("API_KEY={value} {value}"));
    assert_eq!(found.iter().map(|found| (found.rule, found.count)).collect::<Vec<_>>(), [("assignment", 2)]);
}

#[test]
fn code_and_placeholders_stay() {
    for text in [
        "--- PASS: TestX509KeyPair (0.00s)",
        "    token = tokens[0];",
        "client.send({ token: params[0], value: params[1] })",
        "const STENCIL_PASS_DEPTH_PASS: u64 = 0x3UL;",
        "readonly STENCIL_BACK_PASS_DEPTH_PASS: 0x8803;",
        r#"AWS_SECRET_KEY: "AWS_SECRET_KEY","#,
        r#"const ENV_SECRET = "AWS_SECRET_ACCESS_KEY";"#,
        r#"accessToken: "STRING_VALUE", // required"#,
        "exports.getSecretToken=getSecretToken;",
        "this.apiKey=options.apiKey,",
        "    PrivateKey: testECDSAP256Key,",
        "    PrivateKey: testRSA2048Key",
        "privateKey: Ed25519PrivateKey",
        "password = args[1:3]",
        "let secret = &buf[4..36];",
        r#"url := fmt.Sprintf("%s?token=%s", base, token)"#,
        "fetch(`/api?api_key=${key}&x=1`)",
        r#""LockToken": "3f2504e0-4f89-11d3-9a0c-0305e82c3301","#,
        "Lock-Token: <opaquelocktoken:e71d4fae-5dec-22d6-fea5-00a0c91e6be4>",
        r#""passwordHash": "5f4dcc3b5aa765d61d8327deb882cf99","#,
        "secretstorage==3.3.3 --hash=sha256:9f4a1f2c3b4d5e6f708192a3b4c5d6e7",
        r#""@octokit/auth-token": "^6.0.0","#,
        r#"<a href="x.html" accesskey="p" rel="prev">"#,
        r#"for (const name of ["authorization", "www-authenticate", "cookie"])"#,
        "authorization: `token 0000000000000000000000000000000000000001`",
        "curl -u 'test:test' http://localhost/",
        "https://user:pass@example.com/",
        "const D3DVSD_TOKEN_END: D3DVSD_TOKENTYPE = 7i32;",
        "curl -u username:token https://example.com/",
        r#"curl --user "xxx:yyy""#,
        "-e SUMO_ACCESS_KEY=`etcdctl get /the_secret`",
        r#"--set server.token="sha256~XXXXXXXXXX_PUT_YOUR_TOKEN_HERE_XXXXXXXXXXXX" "#,
        "login --token=sha256~_xxxxxx_xxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxx-X",
        "glpat-XXXXXXXXXXX-XXXXXXXX",
        "GR134894112312312312312312312",
        "sgp_local_d45b6G86aBb0F2Cee943902dbaDBCFCFDD1dA089",
        "sgp_5555555dAAAAA7777777CcccCFaaaaaaaaaaaaaa",
        "xoxb-12345-abcd234",
        r#"API_KEY="glc_111111111111111111111111111111111111111111=""#,
        r#""token": "xoxp-572370529330-573807301142-####################""#,
        r#""token": "node-1234567890""#,
        "x86_cpu_PAT = x86_cpu_index_1_edx + 16,",
        "?f.token.length==1:f.token=f.token[0]:c",
        "--oauth2-client-secret=SECRET",
        r"$ gcloud secrets delete my\-secret \-\-etag=123",
        "http.proxy: [protocol://][user[:password]@]proxyhost[:port]",
        "[http[s]://][userinfo@]host[:port]",
        "Convert a private key to PKCS#8 format",
        "confinement of login and password changing services",
        r#"#define PEM_STRING_SM2PRIVATEKEY "SM2 PRIVATE KEY""#,
        "<li>Authorization: Included</li>",
        "AAAVt4hkCHEkCPEZHMxQwEAiA2JDawnrSfzAAFt4h/EAAAxQwEAhg2HDaonqyfzAAFt4h3EAAD7AmRzCQEoOyxYMplwMUAAAH1",
        "#define TIPC_CMD_ENABLE_BEARER 0x4101 /* tx */",
        "#define aes128_set_encrypt_key nettle_aes128_set_encrypt_key",
        "&hf_servingcellpriorityparametersdescription_h_prio",
        "img/video_box.ico-7a388b69018576d24b59331fd60aab0c.png",
        "xoxe.xoxp-1-initial",
        r#""SecretId": "arn:aws:secretsmanager:us-east-1:123456789012:secret:MyAppSecret-a1b2c3""#,
        r#""auth-token": ">=1.2.3 <2.0.0","#,
        r#""api-key": "1.2.3-beta.4","#,
        r#""@octokit/auth-token": "npm:@octokit/auth-token@6.0.0","#,
        "System, Version=4.0.0.0, PublicKeyToken=b77a5c561934e089",
        "secret \"db-credentials-7f9c6d\" created",
        "secretName: db-credentials-7f9c6d",
        "secret := buf[..32]",
        r#"url = f"https://{user}:{password}@{host}""#,
        "go.sum: example.com/oauth2token v0.1.0 h1:9f4a1f2c3b4d5e6f708192a3b4c5d6e7f80=",
        "cache_key: 9f4a1f2c3b4d5e6f708192a3b4c5d6e7",
        "token: xxxx-xxxx-xxxx",
        "API_KEY=your_api_key_here",
        r#"AttributeOID.CHALLENGE_PASSWORD: "challengePassword","#,
        r#"(&rfc5912::ID_REG_CTRL_REG_TOKEN, "id-regCtrl-regToken"),"#,
        r#"backend: "Backend", private_key: "_EllipticCurvePrivateKey", data: bytes"#,
        "for providing OAuth 2.0 Device Authorization RFC8628.",
        r#"help="Specify a proxy in the form scheme://[user:passwd@]proxy.server:port.","#,
        r#"    proxy_password=self._socks_options["password"],"#,
        r#"UNRESERVED_PAT = r"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._!\-~""#,
        "'opaqueCMBufferQueueTriggerToken', 'sfntCMapEncoding', 'sfntCMapHeader'",
        "    authorization = authorization[1].encode('ascii')",
        "user_pass = '%s:%s' % (user, password)",
        "credentials (`authorization`, `x-api-key`, `cookie`) the way",
        r#"("aws.auth#sigv4":config.credentials,"aws.auth#sigv4a":config.credentials)"#,
        "exports.getToken=getToken;",
        r#"let username=request.username??"",password=request.password??"";auth=`x`"#,
        "env)||void 0,useBearerToken=bearerToken!==void 0&&!skip;",
        "`text`;this.subjectToken=responseJson.saml_response}else{",
        "exports.auth = exports.GDCH_SERVICE_ACCOUNT_TYPE = exports.GdchClient = x;",
        r#"{"apiKey": "!security find-generic-password -ws 'anthropic'"}"#,
        "createTokenAuth(\"ghp_PersonalAccessToken01245678900000000\");",
        "    pub request_credentials: alljoyn_authlistener_requestcredentialsasync_ptr,",
    ] {
        assert_eq!(&*plain().sanitize(text), text);
    }
}

#[test]
fn homes_become_a_tilde_at_a_path_boundary_only() {
    let sanitizer = knowing();
    for (input, expected) in [
        ("/home/ann/a.rs:3", "~/a.rs:3"),
        ("in /home/ann.", "in ~."),
        ("/home/anna-b/x /home/bob/x", "/home/anna-b/x /home/bob/x"),
        ("/Users/ann/x y", "~/x y"),
        (r"C:\Users\ann\x", r"~\x"),
        (r#""C:\\Users\\ann\\x""#, r#""~\\x""#),
        ("file:///home/ann/x", "file://~/x"),
        ("PATH=/bin:/home/ann/bin", "PATH=/bin:~/bin"),
        ("-I/home/ann/include", "-I~/include"),
        (r#""a\n/home/ann/x""#, r#""a\n~/x""#),
        ("/root/x and /root", "~/x and ~"),
        ("/rooted /root-x /a/root/x", "/rooted /root-x /a/root/x"),
        ("/srv/people/ann/x", "~/x"),
        ("/srv/people/anna/x", "/srv/people/anna/x"),
        (
            "/homework/x /mnt/home/ann/x ./home/ann ~/home/ann",
            "/homework/x /mnt/home/ann/x ./home/ann ~/home/ann",
        ),
        ("/Users/Shared/x /home/ /home", "/Users/Shared/x /home/ /home"),
    ] {
        assert_eq!(&*sanitizer.sanitize(input), expected, "{input}");
    }
    assert_eq!(&*plain().sanitize("/root/x"), "/root/x", "a path outside the known homes is unchanged");
}

#[test]
fn homes_stay_in_code_where_an_edit_would_not_match() {
    let sanitizer = knowing();
    for (label, input, expected) in [
        (
            "fenced",
            "see /home/ann/a\n```sh\ncd /home/ann/a\n```\nsee /home/ann/a",
            "see ~/a\n```sh\ncd /home/ann/a\n```\nsee ~/a",
        ),
        (
            "tildes",
            "~~~\n/home/ann/a\n```\n/home/ann/b\n~~~\n/home/ann/c",
            "~~~\n/home/ann/a\n```\n/home/ann/b\n~~~\n~/c",
        ),
        (
            "indented",
            "x\n    cd /home/ann\n\tcd /home/ann\n  cd /home/ann",
            "x\n    cd /home/ann\n\tcd /home/ann\n  cd ~",
        ),
        (
            "a patch",
            "-    a = /home/ann\n+\tb = /home/ann\n- /home/ann",
            "-    a = /home/ann\n+\tb = /home/ann\n- ~",
        ),
        ("assigned", "const a = \"/home/ann/x\"; // /home/ann/x", "const a = \"/home/ann/x\"; // ~/x"),
        ("passed", "open('/home/ann/x', \"cd /home/ann\")", "open('/home/ann/x', \"cd /home/ann\")"),
        ("an entry", "{\"cwd\":\"/home/ann\"}", "{\"cwd\":\"/home/ann\"}"),
        ("imported", "import x from '/home/ann/x.js';", "import x from '/home/ann/x.js';"),
        ("a message", "ENOENT: no such file, open '/home/ann/x'", "ENOENT: no such file, open '~/x'"),
        ("prose", "it's in `/home/ann/x` and \"/home/ann/y\"", "it's in `~/x` and \"~/y\""),
        ("others", "/home/bob/x and docker's /home/node/app", "/home/bob/x and docker's /home/node/app"),
    ] {
        assert_eq!(&*sanitizer.sanitize(input), expected, "{label}");
        let arrived = (0..=input.len()).map(|end| sanitizer.sanitize_growing(&input[..end]).into_string());
        for shown in arrived {
            let whole = expected.starts_with(shown.trim_end_matches("/home/ann").trim_end_matches('~'));
            assert!(
                whole
                    || shown.ends_with("/home/an")
                    || expected.starts_with(&shown[..shown.len().saturating_sub(9)]),
                "{label}: {shown}"
            );
        }
    }
}

#[test]
fn homes_are_own_all_or_off() {
    let text = "/home/ann/x /home/bob/y /Users/eve\n```\n/home/ann/x\n```";
    for (paths, expected) in [
        (HomePaths::Own, "~/x /home/bob/y /Users/eve\n```\n/home/ann/x\n```"),
        (HomePaths::All, "~/x ~/y ~\n```\n~/x\n```"),
        (HomePaths::Off, text),
    ] {
        let homes = vec!["/home/ann".to_owned()];
        let options = SanitizerOptions { homes, home_paths: paths, ..SanitizerOptions::default() };
        assert_eq!(&*Sanitizer::new(options).sanitize(text), expected, "{paths}");
    }
}

/// A value on the test's list of allowed values, and a value that is not on it.
const MINE: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
const OTHER: &str = "ghp_ZyXwVuTsRqPoNmLkJiHgFeDcBa9876543210";

fn allowing(entries: &[&str]) -> Sanitizer {
    let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    Sanitizer::new(SanitizerOptions {
        secrets: vec!["Kn0wn-Value-77".to_owned(), MINE.to_owned()],
        allowed: Allowed::new(&entries),
        ..SanitizerOptions::default()
    })
}

#[test]
fn only_allowed_values_stay_also_while_they_arrive() {
    let text =
        format!("token: {MINE}, api_key=k9x2m4p7q1 and {OTHER}; Kn0wn-Value-77 password=hunter22x\nend");
    let other = "[GITHUB_TOKEN_REDACTED]";
    for (entries, expected) in [
        (
            &[MINE][..],
            format!("token: {MINE}, api_key=[REDACTED] and {other}; [REDACTED] password=[REDACTED]\nend"),
        ),
        (
            &["k9x2m4p7q1", "hunter22x", "Kn0wn-Value-77"],
            format!(
                "token: [REDACTED], api_key=k9x2m4p7q1 and {other}; Kn0wn-Value-77 password=hunter22x\nend"
            ),
        ),
        (
            &["rule:github_token"],
            format!("token: [REDACTED], api_key=[REDACTED] and {OTHER}; [REDACTED] password=[REDACTED]\nend"),
        ),
        (
            &["rule:assignment"],
            format!("token: {other}, api_key=k9x2m4p7q1 and {other}; [REDACTED] password=hunter22x\nend"),
        ),
    ] {
        let sanitizer = allowing(entries);
        assert_eq!(&*sanitizer.sanitize(&text), expected, "{entries:?}");
        for end in 0..=text.len() {
            let shown = sanitizer.sanitize_growing(&text[..settled_length(&text[..end])]);
            let same = expected.bytes().zip(shown.bytes()).take_while(|(one, other)| one == other).count();
            assert!(shown.len() - same < 8, "{entries:?} {end}: {shown}");
        }
    }
}

#[test]
fn an_allowed_name_of_json_stays_and_an_allowed_rule_costs_no_more_than_one_that_is_on() {
    let value = json!({ "password": "hunter22x", "token": "k9x2m4p7q1" });
    let kept = allowing(&["hunter22x"]).sanitize_json(&value);
    assert_eq!(kept, json!({ "password": "hunter22x", "token": "[REDACTED]" }));
    assert_eq!(allowing(&["rule:assignment"]).sanitize_json(&value), value);

    let took = |sanitizer: &Sanitizer| {
        let text = "token=k9x2m4p7q1".repeat(20_000);
        processor_time(|| drop(sanitizer.sanitize(&text)))
    };
    let [on, off] = [plain(), allowing(&["rule:assignment"])].map(|sanitizer| took(&sanitizer));
    assert!(off < on * 20 + Duration::from_secs(1), "{off:?}, {on:?} with the rule");
}

/// The name has only a closing quote, and nothing before it.
#[test]
fn a_text_may_start_with_a_name_that_has_only_a_closing_quote() {
    for text in ["password\\u0022: |", "password\\u0022: |\n  k9x2m4p7q1\n"] {
        let sanitizer = Sanitizer::new(SanitizerOptions::default());
        assert_eq!(sanitizer.sanitize(&sanitizer.sanitize(text)), sanitizer.sanitize(text));
    }
}

#[test]
fn the_list_of_allowed_values_is_checked() {
    assert_eq!(check_allowed("rule:github_token"), Ok(()));
    assert_eq!(check_allowed("rule:stack_frames"), Ok(()));
    assert_eq!(check_allowed("hunter22x"), Ok(()));
    for (entry, wrong) in [
        ("rule:github_tokn", "did you mean `github_token`?"),
        ("rule:home_directory", "does not exist"),
        ("jwt", "write `rule:jwt`"),
        ("ab", "at least 3 bytes"),
    ] {
        let error = check_allowed(entry).expect_err(entry).to_string();
        assert!(error.contains(wrong), "{error}");
    }
    assert_eq!(Allowed::new(&["rule:github_tokn".to_owned()]), Allowed::default());
}

#[test]
fn redacted_values_are_counted_once_each_and_by_rule() {
    let sanitizer = knowing().with_new_counts();
    let text = format!("{MINE} {MINE} api_key=k9x2m4p7q1 /home/ann/x \x1b[1m {OTHER}");
    let clean = sanitizer.sanitize(&text);
    let _ = sanitizer.sanitize(&clean);
    let _ = sanitizer.sanitize(&text);
    let _ = sanitizer.sanitize_json(&json!({ "password": "hunter22x", "token": "k9x2m4p7q1" }));
    let redacted = sanitizer.redacted();
    let counts: Vec<_> = redacted.iter().map(|redacted| (&*redacted.rule, redacted.count)).collect();
    assert_eq!(counts, [("assignment", 2), ("github_token", 2)]);
    assert_eq!(knowing().redacted(), []);
    assert_eq!(sanitizer.with_new_counts().redacted(), []);
}

#[test]
fn private_keys_are_redacted_whole_or_cut_off() {
    let line = "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfnygWyF8PbnGy0AHB7MaC0Q3n5v1kTz9Lx2";
    let begin = ["-----BEGIN ", "RSA PRIVATE KEY-----"].concat();
    let end = ["-----END ", "RSA PRIVATE KEY-----"].concat();
    let sanitizer = plain();
    for (label, input, expected) in [
        ("whole", format!("a\n{begin}\n{line}\n{line}\n{end}\nb"), "a\n[PRIVATE_KEY_REDACTED]\nb"),
        ("no end", format!("a\n{begin}\n{line}\nq8"), "a\n[PRIVATE_KEY_REDACTED]"),
        ("no beginning", format!("a b\n{line}\n{line}\nQw==\n{end}\nb"), "a b\n[PRIVATE_KEY_REDACTED]\nb"),
        (
            "no end, in a string",
            format!("{{\"a\":\"{begin}\\n{line}\",\"b\":1}}"),
            "{\"a\":\"[PRIVATE_KEY_REDACTED]\",\"b\":1}",
        ),
        (
            "split over strings",
            format!(
                "k = \"{begin}\\n\" +\n  \"{line}\\n\" +\n  \"{line}\\n\" +\n  \"Qw==\\n\" +\n  \"{end}\\n\";\nb"
            ),
            "k = \"[PRIVATE_KEY_REDACTED]\\n\";\nb",
        ),
        (
            "split over strings of C",
            format!("k =\n\"{begin}\\n\"\n\"{line}\\n\"\n\"{end}\\n\";\nb"),
            "k =\n\"[PRIVATE_KEY_REDACTED]\\n\";\nb",
        ),
        (
            "split over strings, no end",
            format!("k = [\n  '{begin}',\n  '{line}',\n  '{line}',\n];\nb"),
            "k = [\n  '[PRIVATE_KEY_REDACTED]',\n];\nb",
        ),
        (
            "split over strings, no beginning",
            format!("k = [\n  '{line}',\n  'Qw==',\n  '{end}'];\nb"),
            "k = [\n  '[PRIVATE_KEY_REDACTED]'];\nb",
        ),
        (
            "a label and names",
            format!("f(\"{begin}\", \"the name of something\", base64EncodedBodyOfTheKey1234567890abcdefgh)"),
            &format!(
                "f(\"{begin}\", \"the name of something\", base64EncodedBodyOfTheKey1234567890abcdefgh)"
            ),
        ),
        ("no body", format!("if (a == \"{begin}\") {{"), &format!("if (a == \"{begin}\") {{")),
    ] {
        assert_eq!(&*sanitizer.sanitize(&input), expected, "{label}");
    }
}

#[test]
fn json_stays_json_with_secrets_at_any_depth() {
    let value = json!({
        "a": [{ "password": "s3cret!", "note": "api_key=k9x2m4p7q1" }, "Bearer k9x2m4p7q1"],
        "clientSecret": "k9x2m4p7q1",
        "Authorization": "Bearer k9x2m4p7q1",
        "pin_password": 123_456,
        "secret": { "deep": "/home/ann/x" },
        "Kn0wn-Value-77": 1,
        "max_tokens": 4096,
        "token": null,
        "type": "string"
    });
    let expected = json!({
        "a": [{ "password": "[REDACTED]", "note": "api_key=[REDACTED]" }, "Bearer [REDACTED]"],
        "clientSecret": "[REDACTED]",
        "Authorization": "[REDACTED]",
        "pin_password": "[REDACTED]",
        "secret": { "deep": "~/x" },
        "[REDACTED]": 1,
        "max_tokens": 4096,
        "token": null,
        "type": "string"
    });
    let sanitizer = knowing();
    assert_eq!(sanitizer.sanitize_json(&value), expected);
    assert_eq!(sanitizer.sanitize_json(&expected), expected);
    let text = serde_json::to_string(&value).expect("the value is serialized");
    let read: Value = serde_json::from_str(&sanitizer.sanitize(&text)).expect("sanitized JSON is JSON");
    assert_eq!(read["clientSecret"], "[REDACTED]");
}

#[test]
fn json_that_hides_a_secret_behind_control_sequences_is_settled_at_once() {
    for value in [
        json!({ "private_key": "-----BE\u{9b}1mGIN PRIVATE E-KY----\nYX16JpXSMAXkyPsIKyhT\u{fffd} a" }),
        json!({ "pass\u{1b}[1mword": "hunter2", "to\u{0}ken": "k9x2m4p7q1Zz" }),
        json!({ "password": "a\u{1b}]0;b c \u{7}k9x2m4p7q1" }),
    ] {
        let once = knowing().sanitize_json(&value);
        assert_eq!(knowing().sanitize_json(&once), once, "{value}");
        assert!(!once.to_string().contains("hunter2") && !once.to_string().contains("k9x2m4p7q1"), "{once}");
    }
}

#[test]
fn the_first_password_flag_of_a_program_counts_and_a_second_pass_finds_no_other() {
    let line = "mysql -pNQEUI2 oks -pykea1 sel -pytel3 mysql -u root -pNQEU9 app";
    let once = plain().sanitize(line);
    assert_eq!(&*once, "mysql -p[REDACTED] oks -pykea1 sel -pytel3 mysql -u root -p[REDACTED] app");
    assert_eq!(plain().sanitize(&once), once);
    assert_eq!(
        &*plain().sanitize("docker run --name mysql -p3306:3306 x"),
        "docker run --name mysql -p3306:3306 x"
    );
    let line = format!("curl -u a:{0} -u b:{0} -u c:d4e5f6g7", "k9x2m4p7".repeat(30));
    let once = plain().sanitize(&line);
    assert!(once.starts_with("curl -u a:[REDACTED] -u b:"), "{once}");
    assert_eq!(plain().sanitize(&once), once);
    for line in ["curl --user 'bob:hut1 ", "curl -u bob:hut1", "mysql -p'hut1 x ", "mysql -phut1"] {
        let once = plain().sanitize(&format!("{line}{}", "k9x2m4p7".repeat(100)));
        assert!(once.ends_with("[REDACTED]"), "{once}");
        assert_eq!(plain().sanitize(&once), once);
    }
}

#[test]
fn keys_that_become_the_same_are_all_kept() {
    let value = json!({ "Kn0wn-Value-77": 1, "multi\nline-Kn0wn": 2 });
    let out = knowing().sanitize_json(&value);
    assert_eq!(out.as_object().map(serde_json::Map::len), Some(2), "{out}");
}

#[test]
fn inspection_points_into_the_input_and_never_shows_a_value() {
    let input = "api_key=k9\x1b[1mx2m4p7q1 /home/ann/x api_key=k9x2m4p7q2";
    let found = knowing().inspect(input);
    let summary: Vec<(&str, usize, Vec<&str>)> = found
        .iter()
        .map(|Redaction { rule, what, count, ranges }| {
            assert!(!what.is_empty());
            (*rule, *count, ranges.iter().map(|range| &input[range.clone()]).collect())
        })
        .collect();
    assert_eq!(
        summary,
        [
            ("assignment", 2, vec!["k9\x1b[1mx2m4p7q1", "k9x2m4p7q2"]),
            ("control_sequence", 1, vec!["\x1b[1m"]),
            ("home_directory", 1, vec!["/home/ann"]),
        ]
    );
    assert_eq!(plain().inspect("nothing here"), []);
}

#[test]
fn a_trace_of_more_than_five_frames_is_folded() {
    let frames = |count: usize| "    at f (a.js:1:1)\n".repeat(count);
    let text = format!("Error: x\n{}after\n", frames(9));
    let expected = format!("Error: x\n{}    ... 4 more stack frames omitted\nafter\n", frames(5));
    assert_eq!(&*plain().sanitize(&text), expected);
}

/// The scanned part of a huge text is as long as the scanned part of a text that is a thousandth of it.
#[test]
fn a_line_of_a_huge_text_costs_as_much_as_its_beginning() {
    let sanitizer = plain();
    let piece = "word ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\n";
    let short = piece.repeat(1 << 10);
    let huge = piece.repeat(1 << 20);
    let least = |text: &str| {
        let shown = || assert!(sanitizer.line(text, 100).chars().count() <= 100);
        (0..5).map(|_| processor_time(shown)).min().expect("the time is measured five times")
    };
    assert!(least(&huge) < least(&short) * 20, "{:?}, {:?}", least(&huge), least(&short));
}

/// Pieces of texts on which a careless rule would take long.
const HOSTILE: &[&str] = &[
    " ",
    "eyJ",
    "eyJaaaaaaaa.",
    "eyJ-",
    "\\\"kind\\\":\\\"Secret\\\",\\\"foo\\\"kind\":\"Secret\"",
    "a",
    "a=",
    "key=",
    "api_key=",
    "token: ",
    "password=\"",
    "pwd=\\\"pwd=\\\\\\\"pwd=\"",
    "at foo(bar)\n",
    "  File \"x\", line 1, in f\n",
    "\\\"",
    "\"",
    "\x1b[",
    "\x1b[1",
    "\x1b]",
    "\x1b]0;",
    "\x1b",
    "\r",
    "\u{9d}",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "\"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAMIIEowIBAAKCAQEA\n",
    "-----END RSA PRIVATE KEY-----\n",
    "aaaa\n-----END RSA PRIVATE KEY-----\n",
    "Authorization: ",
    "Authorization: Bearer ",
    "Authorization: Digest a=\"",
    "Cookie: a=",
    "://",
    "://a:b/",
    "://a@",
    "curl -u ",
    " -u a:b",
    "/home/",
    "/home/a",
    "sk-a",
    "12345678:AA",
    "bearer ",
    "<password>",
    "keykeykey",
    "key-",
    "secret_",
    "secret_a1B",
    "漢字",
    "password=[",
    "--token ",
    " -p",
    "mysql -p",
    "docker login -p \"",
    "openssl -passin ",
    "- name: a_key\n  value: ",
    "variable \"key\" { default = ",
    "password is a ",
    "密码：",
    "passwort ",
    "password: !a ",
    "token = String::from(\"",
    "CREATE USER a IDENTIFIED BY '",
    "identified with \"",
    "h:5432:a:b:c ",
    "h:5432:a:",
    "| password |\n|---|\n| k9x2m4p7 |\n",
    "|---|\n",
    "---",
    "| password ",
    "password=a;b1;",
    "\"-----BEGIN RSA PRIVATE KEY-----\" +\n",
    "\"MIIEowIBAAKCAQEAMIIEowIBAAKCAQEAMIIEowIBAAKCAQEA\\n\" +\n",
    "Authorization: a b=",
    "password:\n  ",
    "password: |\n  ",
    " password: |\n  a b is\n",
    "password = <<A\n",
    "password = <<A\nx1y2 is\n",
    "<key>a_key</key>\n<string>",
    "<password a=\"",
    "%3Fpassword%3D",
    "password%25253D",
    "\\u0022password\\u0022:\\u0022",
    "&amp;amp;password&amp;#61;",
    "password==a1b2 ",
    "password[0]=",
    "password='a''",
    ";PWD={a}};",
    "kind: Secret\n",
    "data:\n  a: b\nkind: Secret\n",
    "kind: Secret\ndata:\n  a: |\n    b\n---\n",
    "\"data\":{\"a\":\"b\"},\"kind\":\"Secret\",",
    "\"kind\":\"Secret\",\"data\":{",
    "eyJhdXRocyI6eyJyZWdpc3RyeS5leGFtcGxl",
    "eyJhdXRocyI6eyJyZWdpc3RyeS5leGFtcGxl\n",
    "eyJhdXRocyI6eyJyZWdpc3RyeS5leGFtcGxl\\n",
    "    a\n",
    "password: |\\n  a1\\n",
];

/// A long text takes as long as eight texts of an eighth of its length. With a quadratic rule it takes eight times as long. A busy
/// machine has cold caches, so the smallest time counts, and a bad result is measured again.
#[test]
fn hostile_text_is_settled_at_once() {
    let sanitizer = plain();
    for piece in HOSTILE {
        let text = |length: usize| piece.repeat(length / piece.len());
        let clean = sanitizer.sanitize(&format!("{}://a:b@c", text(4_000)));
        assert!(sanitizer.sanitize(&clean) == clean, "{piece:?} changes when sanitized twice");
        let time = |text: &str| {
            processor_time(|| {
                assert!(
                    settled_length(text) <= text.len() && sanitizer.sanitize(text).len() <= 2 * text.len()
                );
            })
        };
        let short = text(3_000);
        let long = text(24_000);
        let mut eight = Duration::MAX;
        let mut whole = Duration::MAX;
        let is_linear = (0..30).any(|_| {
            eight = eight.min((0..8).map(|_| time(&short)).sum());
            whole = whole.min(time(&long));
            whole < eight * 3
        });
        assert!(is_linear, "{piece:?} takes {whole:?}, and in eight parts {eight:?}");
    }
}

/// Pieces that meet each other in generated text.
const FRAGMENTS: &[&str] = &[
    "\x1b[31m",
    "\x1b[0m",
    "\x1b]0;t\x07",
    "\x1b]8;;",
    "\r",
    "\r\n",
    "\n",
    " ",
    "\t",
    "\0",
    "\u{202e}",
    "\u{9b}1m",
    "[",
    "]",
    "[REDACTED]",
    "api_key",
    "=",
    ": ",
    "\"",
    "'",
    "\\",
    "\\\"",
    "\\n",
    "password",
    "token",
    "Authorization: ",
    "Bearer ",
    "Basic ",
    "Cookie: ",
    "a=b",
    "key",
    "k9x2m4p7q1Zz",
    "hunter2",
    "Kn0wn-",
    "Value-77",
    "gh",
    "p_",
    "x9Kq2Lm7Vb4Tn8Rw3Yp",
    "eyJ",
    "sk-",
    "://",
    "user:",
    "@host",
    "?",
    "&",
    ";",
    "/home/",
    "/root",
    "ann",
    "/x",
    "~",
    "C:\\Users\\",
    "    at f (a.js:1:2)\n",
    "  File \"a\", line 1, in f\n",
    "   0: a::b\n",
    "-----BEGIN ",
    "-----END ",
    "RSA PRIVATE KEY-----",
    "MIIEowIBAAKCAQEA0Z3VS5JJ\n",
    "漢",
    "<",
    ">",
    "</password>",
    "--token ",
    "curl -u ",
    ",",
    "$",
    "{",
    "}",
    "(",
    ")",
    "AKIA",
    "ABCDEFGHIJ234567",
    "\n  ",
    "\n    ",
    "|",
    ">-",
    "<<EOT",
    "EOT",
    "<key>",
    "</key>",
    "<string>",
    "</string>",
    "%3D",
    "%22",
    "%26",
    "\\u003d",
    "\\u0022",
    "&quot;",
    "&lt;",
    "&amp;",
    "[0]",
    "PWD",
    "''",
    "kind: Secret",
    "data:",
    "a: b1",
    "\"kind\":\"Secret\"",
    "\"data\":{",
    "---",
    "- ",
    "eyJwYXNzd29yZCI6Ims5eDJt",
    "NHA3cTFaeiJ9",
    ".",
    "-",
    "_",
    "1",
];

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![10 => proptest::sample::select(FRAGMENTS.to_vec()).prop_map(str::to_owned), 1 => "[ -~]{0,12}", 1 => "\\PC{0,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sanitizing_twice_changes_nothing(pieces in proptest::collection::vec(fragment(), 0..40)) {
        let sanitizer = knowing();
        let once = sanitizer.sanitize(&pieces.concat());
        let twice = sanitizer.sanitize(&once);
        prop_assert_eq!(&*twice, &*once);
    }

    #[test]
    fn no_known_secret_survives(pieces in proptest::collection::vec(fragment(), 0..20), at in 0_usize..20, cut in 1_usize..13) {
        let mut pieces = pieces;
        let (head, tail) = "Kn0wn-Value-77".split_at(cut);
        pieces.insert(at.min(pieces.len()), format!("{head}\x1b[0m{tail}"));
        let once = knowing().sanitize(&pieces.concat());
        prop_assert!(!once.contains("Kn0wn-Value-77"));
        prop_assert!(!once.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t' | '\r')));
    }

    #[test]
    fn inspection_counts_its_ranges(pieces in proptest::collection::vec(fragment(), 0..20)) {
        let text = pieces.concat();
        for redaction in knowing().inspect(&text) {
            prop_assert_eq!(redaction.count, redaction.ranges.len());
            prop_assert!(redaction.ranges.iter().all(|range| text.get(range.clone()).is_some_and(|hit| !hit.is_empty())));
        }
    }
}

#[test]
fn many_values_with_the_same_beginning_are_searched_in_linear_time() {
    let lines =
        (0..4000).map(|number| format!("api_key=k9x2m4p7q1Zz77Qw{number}\nk9x2m4p7q1Zz77Qv{number}\n"));
    let text: String = lines.collect();
    let clean = plain().sanitize(&text);
    assert!(!clean.contains("77Qw") && clean.contains("77Qv3999"));
}
