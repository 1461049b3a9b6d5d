/** `toolcrib import`. */

import { InvalidArgumentError } from "commander";
import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { nameValuePair, wholeNumber } from "../option-values.ts";

const serverOptions = {
  id: {
    value: "id",
    help: "id in the configuration, the first half of its tools' names (default: its name)",
  },
  set: {
    value: "name=value",
    isRepeatable: true,
    parse: valueOfInput,
    help: "a value that the server asks for, by the name that the findings show; repeatable",
  },
  secret: {
    value: "name=secret",
    isRepeatable: true,
    parse: nameValuePair("name=secret"),
    help: "the name of the stored secret for a secret that the server asks for; repeatable",
  },
  dryRun: { help: "show the entry and write nothing" },
} as const;

/** Reads `NAME=VALUE`, in which the value can be empty. */
function valueOfInput(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Write it as name=value.");
  return [text.slice(0, at).trim(), text.slice(at + 1)];
}

export const command: CliCommandGroup = {
  name: "import",
  summary:
    "take over the servers of the clients on this machine; turn OpenAPI documents into toolspecs, and server.json files and bundles into tool servers",
  defaultCommand: "clients",
  commands: [
    defineCommand({
      name: "clients",
      summary:
        "show the servers that clients on this machine have, and add them to the configuration, after asking",
      arguments: {
        clients: {
          isVariadic: true,
          isOptional: true,
          help: "only these clients, such as claude-code, cursor or vscode",
        },
      },
      options: {
        from: {
          value: "file",
          isRepeatable: true,
          help: "import this file of a client instead, wherever it is; repeatable",
        },
        yes: { help: "import without asking" },
        dryRun: { help: "show what would be imported and write nothing" },
        measure: {
          help: "start each server contained, and show the tokens that its list of tools costs; with --yes without asking",
        },
        move: {
          help: "also take these servers out of the user's files of the clients, and write the gateway in their place, as toolcrib connect does; toolcrib disconnect restores the files",
        },
        withDisabled: { help: "import servers too that are switched off in their clients" },
        withRemoved: { help: "import servers too that toolcrib remove took out of this configuration" },
      },
      examples: [
        "toolcrib import",
        "toolcrib import --dry-run",
        "toolcrib import clients cursor vscode --yes",
        "toolcrib import --move",
        "toolcrib import --from backup/mcp.json",
      ],
      run: async (context, { clients }, options) =>
        (await import("../import/import-clients.ts")).importClients(context, clients, options),
    }),
    defineCommand({
      name: "openapi",
      summary:
        "write the manifest and the toolspec of an OpenAPI 3.0 or 3.1 document, and list what they leave out",
      arguments: { document: { help: "a file, YAML or JSON, or an https URL" } },
      options: {
        operation: {
          short: "o",
          value: "id",
          isRepeatable: true,
          help: "only this operation, by its operationId or as 'GET /path'; repeatable",
        },
        tag: {
          short: "t",
          value: "tag",
          isRepeatable: true,
          help: "only operations with this tag; repeatable",
        },
        path: {
          short: "p",
          value: "pattern",
          isRepeatable: true,
          help: "only paths that match: * matches no slash, ** matches anything; repeatable",
        },
        method: { short: "m", value: "method", isRepeatable: true, help: "only this method; repeatable" },
        name: { value: "name", help: "name of the manifest (default: from the title)" },
        specVersion: { value: "version", help: "version of the manifest (default: 0.1.0)" },
        baseUrl: { value: "url", help: "https://HOST/PATH, instead of the document's servers" },
        maxTools: {
          value: "count",
          parse: wholeNumber(1, 1000),
          help: "most tools, 1 to 1000 (default: 200)",
        },
        keepArgument: {
          value: "name",
          isRepeatable: true,
          help: "keep this parameter or body member as an argument, although it looks like a credential; repeatable",
        },
        hideArgument: {
          value: "name",
          isRepeatable: true,
          help: "this parameter or body member is a credential of the API, and no argument; repeatable",
        },
        out: { value: "dir", default: ".", help: "folder for manifests/ and toolspecs/" },
        list: { help: "list the operations of the document and write nothing" },
        force: { help: "overwrite existing files" },
      },
      examples: [
        "toolcrib import openapi openapi.yaml --list",
        "toolcrib import openapi openapi.yaml --tag issues",
      ],
      run: async (context, { document }, options) =>
        (await import("../openapi/import-document.ts")).importDocument(context, document, options),
    }),
    defineCommand({
      name: "server",
      summary: "add a server of the MCP registry (server.json) to the configuration, unverified and pinned",
      arguments: { file: { help: "a server.json, or an https URL of one" } },
      options: {
        list: { help: "list the packages and endpoints of the server and write nothing" },
        use: {
          value: "number",
          parse: wholeNumber(1, 400),
          help: "which of its packages and endpoints, as --list numbers them (default: the first)",
        },
        ...serverOptions,
      },
      examples: ["toolcrib import server server.json --set db_type=postgres"],
      run: async (context, { file }, options) =>
        (await import("../server-import/import-server.ts")).importServer(context, file, options),
    }),
    defineCommand({
      name: "bundle",
      summary:
        "unpack the bundle of a server (.mcpb) into the home and add it to the configuration, unverified",
      arguments: { file: { help: "a bundle, or an https URL of one" } },
      options: {
        sha256: { value: "digest", help: "the SHA-256 that the bundle must have" },
        ...serverOptions,
      },
      examples: ["toolcrib import bundle notes.mcpb --set folder=./notes"],
      run: async (context, { file }, options) =>
        (await import("../server-import/import-bundle.ts")).importBundle(context, file, options),
    }),
  ],
};
