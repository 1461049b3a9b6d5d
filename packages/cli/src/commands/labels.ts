/** `toolcrib labels`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

const load = () => import("../labels/manage-labels.ts");

export const command: CliCommandGroup = {
  name: "labels",
  summary: "show and forget the labels of the data that clients received",
  commands: [
    defineCommand({
      name: "show",
      summary: "list the labels of each client, and the calls that brought them",
      arguments: { client: { isOptional: true, help: "only this client (default: all)" } },
      run: async (context, { client }) => (await load()).showLabels(context, client),
    }),
    defineCommand({
      name: "forget",
      summary: "treat a client as one that has received no labelled data",
      arguments: { client: { help: 'name of a token, or "ISSUER SUBJECT"' } },
      run: async (context, { client }) => (await load()).forgetLabels(context, client),
    }),
  ],
};
