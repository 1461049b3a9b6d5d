/** Checks that the secrets of a server or hook can be read and that its command exists. Starts nothing. */

import {
  commandHint,
  resolveTransport,
  runnerOf,
  SecretResolver,
  type ToolServerConfig,
} from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { findExecutable } from "../find-executable.ts";
import { safeLine } from "../output/output.ts";
import { type Finding, failed, ok } from "./check.ts";

/** The resolved declaration of a process. */
export type ResolvedProcess = Extract<
  Awaited<ReturnType<typeof resolveTransport>>,
  { readonly kind: "stdio" }
>;

/**
 * Checks one declaration.
 *
 * @param what what it is, for messages. @default "Tool server"
 * @param more checks a process whose command exists. @default nothing more is checked
 */
export async function checkDeclared(
  context: CliContext,
  subject: string,
  declared: Pick<ToolServerConfig, "id" | "transport" | "problems" | "source" | "adopted">,
  what?: string,
  more?: (process: ResolvedProcess) => Finding | undefined,
): Promise<Finding> {
  const { options } = context;
  const source = declared.adopted?.files?.source;
  const secrets = new SecretResolver({
    env: context.env,
    readFile: readRegularFile,
    home: options.home,
  });
  try {
    const transport = await resolveTransport(declared, secrets, what);
    const count = secrets.values().length;
    const read = count === 0 ? "" : `; ${count} secret${count === 1 ? "" : "s"} read`;
    if (transport.kind !== "stdio") return ok(subject, `valid declaration${read}`);
    const path = transport.env["PATH"] ?? context.env["PATH"] ?? "";
    const directory = transport.cwd ?? context.directory;
    const found = findExecutable(transport.command, { path, directory, platform: context.platform });
    if (found !== undefined) return more?.(transport) ?? ok(subject, `starts ${safeLine(found)}${read}`);
    return failed(
      subject,
      `its command ${JSON.stringify(transport.command)} is not found, or is not executable`,
      source === undefined ? commandHint(transport.command) : runnerOf(source).hint,
    );
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return failed(subject, error.message, error.hint);
  }
}
