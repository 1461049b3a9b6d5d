/** `toolcrib secret`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

const load = () => import("../secret/manage-secrets.ts");

export const command: CliCommandGroup = {
  name: "secret",
  summary: "store the secrets that secret_key_ref names, encrypted in Toolcrib's home",
  commands: [
    defineCommand({
      name: "set",
      summary: "store a secret; reads its value from standard input or a prompt, never from an argument",
      arguments: { name: { help: "name for secret_key_ref" } },
      options: {
        fromEnv: { value: "variable", help: "use the value of this environment variable" },
        fromFile: { value: "file", help: "use the content of this file, without one trailing line break" },
        identity: {
          value: "client",
          help: "that of one client (secret_key_ref: { store: NAME, per: identity }): a token, an entry of policy.clients, cli, stdio, anonymous, or SUBJECT@ISSUER",
        },
      },
      examples: [
        "toolcrib secret set github-token",
        "toolcrib secret set github-token --from-env GITHUB_TOKEN",
        "toolcrib secret set notes-token --identity ci",
      ],
      // The command itself refuses excess words: it explains why, and does not repeat a secret.
      acceptsExcess: true,
      run: async (context, { name }, options, excess) =>
        (await load()).setSecret(context, name, { ...options, isInArguments: excess.length > 0 }),
    }),
    defineCommand({
      name: "list",
      summary: "list the names of the stored secrets and when they were set; never a value",
      run: async (context) => (await load()).listSecrets(context),
    }),
    defineCommand({
      name: "rm",
      summary: "remove a secret (exit code 4 if there is none)",
      arguments: { name: { completes: "secret", help: "name of the secret" } },
      options: { identity: { value: "client", help: "that of one client" } },
      run: async (context, { name }, options) => (await load()).removeSecret(context, name, options),
    }),
    defineCommand({
      name: "test",
      summary: "show whether secret_key_ref: NAME finds a secret, where, and its length; never the value",
      arguments: { name: { completes: "secret", help: "name of the secret" } },
      options: { identity: { value: "client", help: "that of one client" } },
      run: async (context, { name }, options) => (await load()).testSecret(context, name, options),
    }),
  ],
};
