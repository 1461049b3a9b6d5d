/** The systemd of the user: whether there is one, and its commands. */

import { join } from "node:path";
import { runCommand } from "@toolcrib/process";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { findExecutable } from "../find-executable.ts";
import { reasonLine } from "../output/output.ts";

const commandLimits = { timeoutMs: 60_000, outputMaxBytes: 1024 * 1024 };

/** Returns the folder of the units of the user. */
export function unitFolder({ env, userDirectory }: Pick<CliContext, "env" | "userDirectory">): string {
  const config = env["XDG_CONFIG_HOME"] ?? "";
  return join(config.startsWith("/") ? config : join(userDirectory, ".config"), "systemd", "user");
}

/** Returns the path of a program of systemd. @throws {CliError} `CLI_SERVICE_UNAVAILABLE` */
export function systemdProgram(context: CliContext, name: "systemctl" | "journalctl"): string {
  const { env, directory, platform } = context;
  const found =
    platform === "linux" ? findExecutable(name, { path: env["PATH"] ?? "", directory, platform }) : undefined;
  if (found !== undefined) return found;
  throw unavailable(platform === "linux" ? `${name} is not on the PATH` : `${platform} has no systemd`);
}

/** Fails where the user has no systemd that runs. @throws {CliError} `CLI_SERVICE_UNAVAILABLE` */
export async function requireSystemd(context: CliContext): Promise<void> {
  const { code, stderr } = await run(context, ["show", "--property=Version"]);
  if (code !== 0)
    throw unavailable(stderr.trim() === "" ? `systemctl --user ended with ${code}` : stderr.trim());
}

/** Runs `systemctl --user`, and returns its output. @throws {CliError} `CLI_SERVICE_FAILED` for an exit code that is not 0 */
export async function systemctl(context: CliContext, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(context, args);
  if (code === 0) return stdout;
  throw new CliError(
    "CLI_SERVICE_FAILED",
    `systemctl --user ${args.join(" ")} ended with ${code}${stderr.trim() === "" ? "" : `: ${reasonLine(stderr)}`}`,
    { hint: "toolcrib service logs shows why a service does not start" },
  );
}

async function run(context: CliContext, args: readonly string[]) {
  const program = systemdProgram(context, "systemctl");
  const { code, stdout, stderr } = await runCommand(
    { program, args: ["--user", "--no-pager", ...args], env: context.env },
    commandLimits,
  );
  return { code, stdout: stdout.toString("utf8"), stderr };
}

function unavailable(reason: string): CliError {
  return new CliError(
    "CLI_SERVICE_UNAVAILABLE",
    `No systemd of this user can run a service: ${reasonLine(reason)}`,
    {
      hint: "log in with a session of your own (loginctl enable-linger keeps its services running), let another supervisor run toolcrib serve --quiet, or run the image of the gateway in a container",
    },
  );
}
