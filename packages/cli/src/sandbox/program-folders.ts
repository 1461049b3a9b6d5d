/**
 * The folders that the sandbox of a server shows because of its program, such as the project of a script: they are found
 * as the sandbox finds them. Reads the file system, and starts nothing.
 */

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ToolServerConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { defaultSandboxLimits, hiddenPathsOf, type SandboxPolicy } from "@toolcrib/sandbox";
import type { CliContext } from "../cli-context.ts";
import { wordsOf, workingFolderOf } from "../config/lint-arguments.ts";
import { findExecutable } from "../find-executable.ts";
import { createSandboxes, userHomeOf } from "./create-sandboxes.ts";

/**
 * Returns the folders that the program, the arguments and the declared working folder of a contained server show, with
 * everything in them. The installation of a program that `PATH` finds, such as that of Node, is not among them.
 *
 * @param files the configuration and its policy files, which are hidden
 */
export async function programFolders(
  context: CliContext,
  server: ToolServerConfig,
  files: readonly string[],
): Promise<readonly string[]> {
  const { transport, containment } = server;
  if (transport.kind !== "stdio" || !containment.needsSandbox) return [];
  const { directory, env, options, platform } = context;
  const { readsArguments, filesystemWrite, writePaths } = containment.effective;
  const userHome = userHomeOf(context);
  const started = workingFolderOf(directory, server);
  const own = transport.env["PATH"];
  const path = (own?.kind === "literal" ? own.text : env["PATH"]) ?? "";
  const command = transport.command.kind === "literal" ? transport.command.text : "";
  const program = findExecutable(command, { path, directory: started, platform });
  if (program === undefined) return [];
  const request = { program, args: wordsOf(transport.args), env: { PATH: path }, directory: started };
  const isBundle = dirname(started) === join(options.home, "bundles");
  const folder = dirname(resolve(directory, server.source.name));
  const complete = (one: string): string =>
    one.startsWith("~/") ? join(userHome, one.slice(2)) : resolve(folder, one);
  const policy: SandboxPolicy = {
    network: "deny",
    readPaths: [],
    writePaths: filesystemWrite === "allow" ? [userHome] : writePaths.map(complete),
    readsArguments,
    ownPaths: isBundle ? [started] : [],
    home: "temporary",
    hiddenPaths: hiddenPathsOf({ home: options.home, configFiles: files, directory, env }),
    limits: defaultSandboxLimits,
  };
  const sandboxes = createSandboxes(context);
  const isInstallation = (one: string): boolean =>
    one.includes("/node_modules/") || !existsSync(join(one, "package.json"));
  try {
    const all = await sandboxes.foldersOf(request, policy);
    const ofProgram = /[\\/]/.test(command)
      ? []
      : await sandboxes.foldersOf({ ...request, args: [] }, policy);
    const folders = all.filter((one) => !(ofProgram.includes(one) && isInstallation(one)));
    const isShown = isBundle || transport.cwd === undefined || folders.includes(started);
    return isShown ? folders : [...folders, started];
  } catch (error) {
    // Such a server does not start.
    if (isCodedError(error)) return [];
    throw error;
  }
}
