/** Explanations of the codes of the package clients. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  CLIENTS_ENTRY_INVALID: {
    cause:
      "One server in the configuration file of a client has a form that is not understood: no command and no URL, a list where a text belongs, or a transport that Toolcrib does not speak. Only this server is left out; the others of the file are imported.",
    files: {
      ".cursor/mcp.json": '{ "mcpServers": { "notes": { "command": "node", "args": "notes.js" } } }\n',
    },
    run: "toolcrib import --dry-run",
    fix: "Correct the server in the client, at the line that the message names, and run toolcrib import again, or add the server with toolcrib add.",
  },
  CLIENTS_FILE_SHAPE: {
    cause:
      "The configuration file of a client is valid, but what would have to be changed has an unexpected form, such as a list where the client keeps a map of servers, or the entry in a notation that cannot be edited without changing more. The file is left as it is.",
    files: { ".cursor/mcp.json": "[]\n" },
    run: "toolcrib import --dry-run",
    fix: "Correct the file (mcpServers is a map from names to servers), or add the server in the settings of the client: toolcrib connect CLIENT --print shows what to paste.",
  },
  CLIENTS_FILE_SYNTAX: {
    cause:
      "The configuration file of a client is not valid JSON (with comments, where the client allows them), TOML or YAML. A file that cannot be read cannot be changed safely, so nothing is written.",
    files: {
      "toolcrib.yaml": "tool_servers: []\n",
      ".codeium/windsurf/mcp_config.json": '{\n  "mcpServers": {}\n  "theme": "dark"\n}\n',
    },
    run: "toolcrib import --dry-run",
    fix: "Correct the place that the message names. If the file is worth nothing, move it away and connect again: a new file is written.",
  },
  CLIENTS_FILE_TOO_LARGE: {
    cause:
      "The file is much larger than a client's configuration should be. Some clients keep histories in the same file; Toolcrib does not rewrite such amounts.",
    did: "~/.claude.json has grown to 60 MB of project histories, and toolcrib connect claude-code is run.",
    prints:
      "The file has 60000000 characters; at most 10000000 are edited\nadd the server in the client itself",
    unrun: "setup",
    tested: "packages/cli/test/import-damaged.process.test.ts",
    fix: "Add the server with the client's own command (such as claude mcp add), or let the client shorten its file. toolcrib connect CLIENT --print shows the entry.",
  },
};
