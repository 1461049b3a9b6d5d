/** The text of a new toolcrib.yaml: working as it is, with the rest in comments. Pure. */

/** Name of the schema file that is written beside the configuration, for editors. */
export const schemaFileName = "toolcrib.schema.json";

/** The configuration with `serverLines` below `tool_servers`; without any, with examples in comments. */
export function configTemplate(serverLines: readonly string[]): string {
  const servers =
    serverLines.length === 0 ? ["tool_servers: []", ...exampleServers] : ["tool_servers:", ...serverLines];
  return `# yaml-language-server: $schema=./${schemaFileName}
#
# Configuration of Toolcrib. Check it with: toolcrib config check toolcrib.yaml

# The MCP servers whose tools are offered. Names of tools are <id>__<tool>.
${servers.join("\n")}

# REST APIs as tools. See toolcrib catalog list, and add one with toolcrib add NAME.
# toolspecs:
#   - name: github
#     credentials:
#       token: { secret_key_ref: github-token }

# The endpoint. Everything below is the default.
# serve:
#   listen: 127.0.0.1:7420
#   auth: token          # bearer tokens in <home>/tokens; the first one is made at the first start
#   mode: full           # search: clients get three tools that find, describe and call the others
#   tools:
#     hidden: []         # patterns of tools that are never listed, such as files:write_*
#     pinned: []         # patterns of tools that are listed in every mode

# Which tools may be used, by id (server:tool), and by whom.
# policy:
#   allow: ["*"]
#   deny: ["*:delete_*"]
#   clients:
#     ci: { allow: ["files:read_*"] }   # the client with the token <home>/tokens/ci

# What an audit record survives: the death of the process, or (fsync) of the machine.
# audit:
#   durability: process
`;
}

const exampleServers: readonly string[] = [
  "# Examples: copy one, and remove the [] above.",
  "#  - id: files",
  "#    transport:",
  "#      kind: stdio",
  "#      command: npx",
  '#      args: ["-y", "@modelcontextprotocol/server-filesystem", "."]',
  "#  - id: search",
  "#    transport:",
  "#      kind: streamable_http",
  "#      url: https://mcp.example.com/mcp",
  "#      headers:",
  "#        # kept by toolcrib secret set search-token, or the variable TOOLCRIB_SECRET_SEARCH_TOKEN",
  '#        Authorization: { prefix: "Bearer ", secret_key_ref: search-token }',
  "#    trust_state: verified            # unverified, verified or certified: what you know of the server",
  "#    containment:",
  "#      max_execution_seconds: 60      # deadline of each call",
];
