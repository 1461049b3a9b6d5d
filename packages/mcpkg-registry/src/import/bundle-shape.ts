/**
 * The shape of the manifest of a bundle (https://github.com/modelcontextprotocol/mcpb, versions 0.1 to
 * 0.4, also under the earlier name dxt_version). Members that an import does not use are findings.
 */

import { anyJson, choice, dictionary, flag, list, record, text, type ValueOf } from "@toolcrib/document";
import { partial } from "./import-kind.ts";

const long = (description: string) => text({ description, maxLength: 65_536, minLength: 0 });
const name = { source: "[^\\u0000]{1,200}", meaning: "1 to 200 characters" };

const commandFields = {
  command: long("Program."),
  args: list(long("An argument."), { description: "Arguments.", maxItems: 500 }),
  env: dictionary(long("A value."), { description: "Environment.", maxEntries: 200, key: name }),
} as const;

const setting = partial({
  description: "A value of the user.",
  fields: {
    type: {
      required: choice({
        description: "Type of the value.",
        values: ["string", "number", "boolean", "directory", "file"],
      }),
    },
    title: long("Name for people."),
    description: long("What it is for."),
    required: flag("Whether a value is needed."),
    default: anyJson("The value without another one."),
    multiple: flag("Whether it can have several values."),
    sensitive: flag("Whether it is a credential."),
  },
});

const version = text({
  description: "Version of the format.",
  maxLength: 20,
  pattern: { source: "0\\.[1-4](?:\\.\\d+)?", meaning: "0.1, 0.2, 0.3 or 0.4" },
});

/** The shape of the manifest of a bundle. */
export const bundleManifestShape = partial({
  description: "Manifest of a bundle.",
  fields: {
    $schema: long("URL of the schema."),
    manifest_version: version,
    dxt_version: version,
    name: { required: text({ description: "Name of the server.", maxLength: 200 }) },
    display_name: long("Name for people."),
    version: { required: text({ description: "Version of the server.", maxLength: 100 }) },
    description: long("What it does."),
    server: {
      required: partial({
        description: "How the server runs.",
        fields: {
          type: {
            required: choice({
              description: "Type of the server.",
              values: ["node", "python", "binary", "uv"],
            }),
          },
          entry_point: long("Main file."),
          mcp_config: partial({
            description: "The command.",
            fields: {
              ...commandFields,
              platform_overrides: dictionary(
                partial({ description: "The command on one platform.", fields: commandFields }),
                {
                  description: "Commands by platform: darwin, linux or win32.",
                  maxEntries: 20,
                  key: name,
                },
              ),
            },
          }),
        },
      }),
    },
    tools: list(
      record({ description: "A tool.", isOpen: true, fields: { name: { required: long("Its name.") } } }),
      { description: "Tools that the server offers.", maxItems: 2000 },
    ),
    tools_generated: flag("Whether it offers others, too."),
    compatibility: anyJson("What the server needs."),
    user_config: dictionary(setting, { description: "Values of the user.", maxEntries: 200, key: name }),
  },
});

/** The manifest of a bundle. */
export type BundleManifest = ValueOf<typeof bundleManifestShape>;
