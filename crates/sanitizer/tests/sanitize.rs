//! The text that the sanitizer removes, and the text that it keeps.

use sanitizer::{Redaction, Sanitizer, SanitizerOptions, settled_length};
use serde_json::json;

use crate::allowed::{MINE, OTHER};

pub(crate) fn plain() -> Sanitizer {
    Sanitizer::new(SanitizerOptions::default())
}

pub(crate) fn knowing() -> Sanitizer {
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
        ("password=k9x2\nnext", "password=[REDACTED]\nnext"),
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
fn a_password_on_the_next_line_is_redacted_and_a_sentence_there_is_not() {
    for (input, expected) in [
        ("Password:\nk9x2m4p7q1", "Password:\n[REDACTED]"),
        ("Password:\nk9x2m4p7q1\nDone.", "Password:\n[REDACTED]\nDone."),
        ("Password:\nk9x2m4p7q1 is too old", "Password:\nk9x2m4p7q1 is too old"),
    ] {
        assert_eq!(&*plain().sanitize(input), expected);
    }
}

#[test]
fn the_text_before_a_key_is_shown_while_the_key_arrives() {
    let text = "Here it is:\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B";
    assert_eq!(&text[..settled_length(text)], "Here it is:\n");
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

/// The name has only a closing quote, and nothing before it.
#[test]
fn a_text_may_start_with_a_name_that_has_only_a_closing_quote() {
    for text in ["password\\u0022: |", "password\\u0022: |\n  k9x2m4p7q1\n"] {
        let sanitizer = Sanitizer::new(SanitizerOptions::default());
        assert_eq!(sanitizer.sanitize(&sanitizer.sanitize(text)), sanitizer.sanitize(text));
    }
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
