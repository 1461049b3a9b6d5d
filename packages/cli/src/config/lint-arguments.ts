/**
 * Warns about arguments of servers that name a folder which their sandbox does not show, such as the whole home of the
 * user: the server starts, and finds nothing. Reads the file system, and starts nothing.
 */

import { dirname, join, resolve } from "node:path";
import type { ToolServerConfig } from "@toolcrib/config";
import type { Diagnostic, Span } from "@toolcrib/diagnostics";
import { toDiagnostic } from "@toolcrib/document";
import { hiddenPathsOf, unseenArguments } from "@toolcrib/sandbox";
import type { CliContext } from "../cli-context.ts";
import { userHomeOf } from "./lint-write-paths.ts";

type Place = Pick<CliContext, "env" | "directory" | "options">;
type LintedServer = Pick<ToolServerConfig, "id" | "transport" | "containment" | "source">;

/** A folder or file in the arguments of a server that it does not see. */
export interface UnseenPlace {
  readonly path: string;
  readonly reason: ReturnType<typeof unseenArguments>[number]["reason"];
  /** A predicate without its subject: "is contained and sees nothing in …". */
  readonly problem: string;
  /** Allowed alternatives, for people. */
  readonly hint: string;
  readonly span: Span;
}

/** Returns a warning for each argument of `servers` that names what its server does not see. */
export function lintArguments(
  context: Place,
  servers: readonly LintedServer[],
  files: readonly string[],
): readonly Diagnostic[] {
  return servers.flatMap((server) =>
    unseenPlaces(context, server, files).map(({ problem, hint, span }) =>
      toDiagnostic(
        {
          severity: "warning",
          code: "CLI_ARGUMENT_UNSEEN",
          message: `The server "${server.id}" ${problem}`,
          hint,
          span,
        },
        server.source,
      ),
    ),
  );
}

/** Returns what the arguments of a server name and its sandbox does not show. @param files the configuration and its policy files, which are hidden, too */
export function unseenPlaces(
  { env, directory, options }: Place,
  server: LintedServer,
  files: readonly string[],
): readonly UnseenPlace[] {
  const { transport, containment, source } = server;
  if (transport.kind !== "stdio" || !containment.needsSandbox) return [];
  const { args, cwd, command } = transport;
  const userHome = userHomeOf(env);
  const folder = dirname(resolve(directory, source.name));
  const started = workingFolderOf(directory, server);
  const isBundle = dirname(started) === join(options.home, "bundles");
  const unseen = unseenArguments(wordsOf(args), {
    directory: started,
    userHome,
    hiddenPaths: hiddenPathsOf({ home: options.home, configFiles: files, directory, env }),
    namedPaths: namedPathsOf(server, folder, userHome, cwd === undefined ? undefined : started),
    ownPath: isBundle ? started : undefined,
    readsArguments: containment.effective.readsArguments,
  });
  return unseen.map(({ index, path, reason }) => ({
    path,
    reason,
    problem: `is contained and sees nothing in "${path}": ${reasons[reason]}`,
    hint: hints[reason],
    span: args[index]?.span ?? command.span,
  }));
}

const reasons = {
  wide: "no sandbox shows a whole home, or a folder that holds homes or belongs to the system",
  hidden:
    "no sandbox shows the home of Toolcrib, its configuration and policies, a .env beside them, and folders with credentials",
  undeclared: "it is its working folder, which its entry does not declare",
  running: "no argument shows what is in /sys and /run",
  foreign:
    "the author of the server wrote its arguments (read_arguments: false), and only you decide what it sees",
};

const hints = {
  wide: "name the folders below it that the server works with; or name it in read_paths, and the server reads all of it but folders with credentials",
  hidden:
    "name another folder; what the server needs of it, copy into that, or write its variables as env into the entry",
  undeclared: "write cwd into its transport, or its whole path",
  running: "name a folder elsewhere; or name it in read_paths, if it has no sockets",
  foreign: "if it may read it, name it in read_paths, or with toolcrib add --read PATH",
};

type StdioTransport = Extract<ToolServerConfig["transport"], { kind: "stdio" }>;

/** Returns the arguments of a server; an empty one for a secret. */
export function wordsOf(args: StdioTransport["args"]): readonly string[] {
  return args.map((one) => (one.kind === "literal" ? one.text : ""));
}

/** Returns the folder in which the process of a server starts. */
export function workingFolderOf(directory: string, { transport, source }: LintedServer): string {
  const cwd = transport.kind === "stdio" ? transport.cwd : undefined;
  return cwd?.kind === "literal" ? resolve(dirname(resolve(directory, source.name)), cwd.text) : directory;
}

function namedPathsOf(
  { containment }: LintedServer,
  folder: string,
  userHome: string,
  cwd: string | undefined,
): readonly string[] {
  const { readPaths, writePaths, filesystemWrite } = containment.effective;
  const complete = (path: string): string =>
    path.startsWith("~/") ? join(userHome, path.slice(2)) : resolve(folder, path);
  return [
    ...[...readPaths, ...writePaths].map(complete),
    ...(filesystemWrite === "allow" ? [userHome] : []),
    ...(cwd === undefined ? [] : [cwd]),
  ];
}
