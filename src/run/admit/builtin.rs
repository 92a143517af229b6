//! The extensions that pi brings along, and which of them a child cannot do without.

/// What their names begin with, where pi takes an extension.
pub(in crate::run) const PREFIX: &str = "builtin:";
/// The one that connects to MCP servers.
pub(in crate::run) const MCP: &str = "builtin:mcp";
/// What the tools of servers begin with.
const MCP_TOOLS: &str = "mcp__";
/// Tools that come one by one.
const TOOLS: [(&str, &str); 5] = [
    ("list_mcp_resources", MCP),
    ("list_mcp_resource_templates", MCP),
    ("read_mcp_resource", MCP),
    ("codemode", "builtin:codemode"),
    ("tool_search", "builtin:tool-search"),
];
/// The provider of models on llama.cpp servers, which is an extension as well.
const LLAMA: (&str, &str) = ("llama.cpp", "builtin:llama.cpp");

/// Whether a provider is one of pi's own extensions.
pub(in crate::run) fn is_provider(provider: &str) -> bool {
    provider == LLAMA.0
}

/// Those that provide one of these tools or this provider.
pub(in crate::run) fn needed(tools: &[String], provider: Option<&str>) -> Vec<&'static str> {
    let of_tool = |tool: &String| {
        let named = TOOLS.iter().find(|(name, _)| name == tool).map(|(_, extension)| *extension);
        if tool.starts_with(MCP_TOOLS) { Some(MCP) } else { named }
    };
    let of_provider = provider.filter(|provider| is_provider(provider)).map(|_| LLAMA.1);
    let mut needed: Vec<&str> = tools.iter().filter_map(of_tool).chain(of_provider).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_needs_what_provides_its_tools_and_its_model() {
        let cases = [
            (&["read", "bash"][..], None, &[][..]),
            (&["read"], Some("anthropic"), &[]),
            (&["read", "mcp__git__log", "mcp__web__*"], None, &["builtin:mcp"]),
            (&["read_mcp_resource", "codemode"], None, &["builtin:codemode", "builtin:mcp"]),
            (&["tool_search"], Some("llama.cpp"), &["builtin:llama.cpp", "builtin:tool-search"]),
        ];
        for (tools, provider, expected) in cases {
            let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
            assert_eq!(needed(&tools, provider), expected, "{tools:?}");
        }
    }
}
