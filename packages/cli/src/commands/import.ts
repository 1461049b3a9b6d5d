/** `toolcrib import`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { wholeNumber } from "../option-values.ts";

export const command: CliCommandGroup = {
  name: "import",
  summary: "create a manifest and a toolspec from an OpenAPI document",
  commands: [
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
  ],
};
