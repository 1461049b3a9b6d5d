/** The text of a new toolcrib.yaml: a valid configuration, with the other settings in comments. Pure. */

import { configJsonSchema } from "@toolcrib/config";

/** Name of the schema file next to the configuration, for editors. */
export const schemaFileName = "toolcrib.schema.json";

/** Returns the JSON Schema of a configuration as the text of its file. */
export function schemaText(): string {
  return `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;
}

/** Returns the configuration with `serverLines` below `tool_servers`, or with examples in comments if there are none. */
export function configTemplate(serverLines: readonly string[]): string {
  const servers =
    serverLines.length === 0 ? ["tool_servers: []", ...exampleServers] : ["tool_servers:", ...serverLines];
  return `# yaml-language-server: $schema=./${schemaFileName}
#
# Configuration of Toolcrib. Check it with: toolcrib config check toolcrib.yaml

# The MCP servers whose tools are served. Tool names are <id>__<tool>.
${servers.join("\n")}

# REST APIs as tools. List them with toolcrib catalog list, and add one with toolcrib add NAME.
# toolspecs:
#   - name: github
#     credentials:
#       token: { secret_key_ref: github-token }

# The endpoint. These are the defaults.
# serve:
#   listen: 127.0.0.1:7420
#   auth: token          # bearer tokens in <home>/tokens; the first start creates one
#   mode: full           # search: clients get four tools that find, call and read the others; auto: where the list is long
#   tools:
#     hidden: []         # patterns of tools that are never listed, such as files:write_*
#     pinned: []         # patterns of tools that are listed in every mode

# The tools that clients may use, by id (server:tool).
# policy:
#   allow: ["*"]
#   deny: ["*:delete_*"]
#   clients:
#     ci: { allow: ["files:read_*"] }   # the client with this token: toolcrib token create ci

# When an audit record is durable: it survives a crash of the process, or of the machine (fsync).
# audit:
#   durability: process
`;
}

const exampleServers: readonly string[] = [
  "# Examples: copy one into the list above; where that is [], it takes the place of [].",
  "#  - id: files",
  "#    transport:",
  "#      kind: stdio",
  "#      command: npx",
  '#      args: ["-y", "@modelcontextprotocol/server-filesystem", "."]',
  "#      cwd: .",
  "#  - id: search",
  "#    transport:",
  "#      kind: streamable_http",
  "#      url: https://mcp.example.com/mcp",
  "#      headers:",
  "#        # from toolcrib secret set search-token, or the variable TOOLCRIB_SECRET_SEARCH_TOKEN",
  '#        Authorization: { prefix: "Bearer ", secret_key_ref: search-token }',
  "#    trust_state: verified            # unverified, verified or certified: your trust in the server",
  "#    containment:",
  "#      max_execution_seconds: 60      # deadline of each call",
];
