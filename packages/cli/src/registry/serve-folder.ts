/** `toolcrib registry serve`: serves the folder of a registry, read only, until it is interrupted. */

import { readRegistryFolder, serveRegistry } from "@toolcrib/mcpkg-registry";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { untilInterrupted } from "../serve/serve-stdio.ts";
import { registryFolderOf } from "./open-package-registries.ts";

/** Runs the command. */
export async function serveFolder(
  context: CliContext,
  folder: string,
  { listen }: { readonly listen: string },
): Promise<ExitCode> {
  const { output } = context;
  const path = await registryFolderOf(context, folder);
  const { statement } = await readRegistryFolder(path);
  await using server = await serveRegistry(path, parseListen(listen));
  output.json({ url: server.url, keyId: statement.keyId });
  output.print(
    `Serving ${safeLine(folder)} at ${server.url}: ${counted(statement.list.count, "version")}, key ${statement.keyId}`,
  );
  const { hostname } = new URL(server.url);
  if (!/^(?:127\.|\[::1\]|localhost$)/.test(hostname)) {
    output.note(
      "It is plain HTTP without access control: everyone who reaches the address can read the packages; clients on other machines need https in front of it",
    );
  }
  output.note("Stop it with Ctrl-C");
  await untilInterrupted(context);
  return exitCodes.done;
}

function parseListen(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new CliError("CLI_USAGE", `Cannot listen on "${text}"`, {
    hint: "write ADDRESS:PORT, such as 127.0.0.1:7421",
  });
}
