//! Tokens of language models and of search services for them.

use crate::redact::tables::vendor::Alphabet::{Alnum, Dotted, Hex, Url, Uuid, Word};
use crate::redact::tables::vendor::Before::BoundaryButDash;
use crate::redact::tables::vendor::Needs::{DigitAndCapitalOrLength, NoWords};
use crate::redact::tables::vendor::{Vendor, token};

pub(super) static VENDORS: &[Vendor] = &[
    token("anthropic_key", &["sk-ant-"], Url, 16, "OhbVrpoiVgRV5IfLBcbf"),
    token(
        "anthropic_key",
        &["sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-"],
        Url,
        16,
        "OhbVrpoiVgRV5IfLBcbf",
    )
    .glued(95),
    token("openrouter_key", &["sk-or-"], Url, 16, "noGMbJmTPSIAoCLrZ3aW"),
    token("openai_key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Url, 16, "ZkSBvrjn9Wvgfygw2wMq"),
    token("openai_key", &["sk-"], Url, 20, "ZcUDIh7yfJs1ON43xKmTecQoXsf2o3gyrDO1xkxw")
        .with(DigitAndCapitalOrLength)
        .after(BoundaryButDash),
    token("hugging_face_token", &["hf_"], Alnum, 20, "62dfOB1rcavXiOqkVCJTBJah").with(NoWords),
    token("hugging_face_token", &["api_org_"], Alnum, 20, "e84S5jIc1xLJjBictx57Y3c5").with(NoWords),
    token("groq_key", &["gsk_"], Alnum, 24, "X4gXBolZ9SHDdJp62hDiZDQHJMu8").with(NoWords),
    token("xai_key", &["xai-"], Word, 24, "W5CN0U5GB16JC5kV3ECqWp1OrXXH").with(NoWords),
    token("perplexity_key", &["pplx-"], Alnum, 24, "FOprCeTsprvu5IfijoySjTneAAvI"),
    token("replicate_token", &["r8_"], Word, 24, "DAdn1Ay5XL8Sb24WKyEa8wtWy259").with(NoWords),
    token("nvidia_key", &["nvapi-"], Url, 40, "Gnswph8PRvQSuEqcTdr3ZZx6HQO35UWzQXzoohJK"),
    token("tavily_key", &["tvly-"], Url, 24, "jqqRKApEHmVBFRN2YZl7c5mG").with(NoWords),
    token("firecrawl_key", &["fc-"], Hex, 32, "3b53f68e6f9833288305d32df5ce9fed"),
    token("jina_key", &["jina_"], Alnum, 40, "am0GQeZPc3n8fEkJftRkcB0tZ8bBWtkX8eQWThMC"),
    token("cerebras_key", &["csk-"], Alnum, 40, "ojezQGYGCMTBAlgSh7zWQHC9JxMAOQ3gQLPNmr6V").with(NoWords),
    token("fireworks_key", &["fw_"], Alnum, 22, "Suw5XCj6mv8ywKgp1MXfYP9Y")
        .with(NoWords)
        .after(BoundaryButDash),
    token("langsmith_key", &["lsv2_pt_", "lsv2_sk_"], Word, 32, "ijx6Uf68nCPp7bexVFQzGIMDs7JNQfcI"),
    token("langfuse_key", &["sk-lf-"], Uuid, 30, "c138bdd4-e724-5407-b1de-8fa2b132d315"),
    token("pinecone_key", &["pcsk_"], Word, 40, "EAyrTCIY4lJA4cdy3fthBSFRPSrlpgAjyPuA7W5H"),
    token("together_key", &["tgp_v1_"], Url, 36, "2HZYcSWu7VBQIS9kzxtT9Nhl15cB5pEcVkYy"),
    token("weights_and_biases_key", &["wandb_v1_"], Word, 36, "mbQrw9aMyBY3tePY0hHwO0PMQ23EPyFd3qjD"),
    token("e2b_key", &["e2b_"], Hex, 36, "069de7225be6c3bf6baf915e48f914109fb9b540"),
    token("runpod_key", &["rpa_"], Alnum, 36, "NgxEI4lO53T2Zle0mzWLWP23joWV0hbHACT3").with(NoWords),
    token("voyage_key", &["pa-"], Url, 40, "5RKTMzyMHg2vO7YSmcHYxHcxmwzEt0i07PDliNii")
        .with(NoWords)
        .after(BoundaryButDash),
    token("context7_key", &["ctx7sk-"], Url, 30, "wlYMiFIX3oe1HFxv8F3jlOO58GIeje"),
    token("apify_token", &["apify_api_"], Alnum, 30, "UYgEpq44XH5gV2RKdetxGoWCicUAwD"),
    token("voiceflow_key", &["VF.DM.", "VF.WS."], Dotted, 30, "efa1a27cc606850dc2da5f3b.DWp3GOKUbqJ1ZSp9"),
    token("elevenlabs_key", &["sk_"], Alnum, 24, "iYMPiGWgsy77K6RbDLw9EboVe0Mj484s48bJw8jiwsaTtPzS")
        .with(NoWords)
        .after(BoundaryButDash),
];
