/** `toolcrib config`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

const load = () => import("../config/check-config.ts");

export const command: CliCommandGroup = {
  name: "config",
  summary: "check the configuration, or print its JSON Schema",
  commands: [
    defineCommand({
      name: "check",
      summary: "print OK for each valid file, or every problem and its position (exit code 2)",
      arguments: {
        files: {
          isOptional: true,
          isVariadic: true,
          help: "files, merged from left to right (default: the configuration of this folder)",
        },
      },
      run: async (context, { files }) => (await load()).checkConfig(context, files),
    }),
    defineCommand({
      name: "schema",
      summary: "print the JSON Schema of toolcrib.yaml",
      run: async (context) => (await load()).printSchema(context),
    }),
  ],
};
