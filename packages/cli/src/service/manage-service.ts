/** `toolcrib service`: the gateway as a service of the user's systemd. */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { removeFile } from "@toolcrib/files";
import { findReachableGateways } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { runProgram } from "../egress/run-program.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { lastingPath } from "../lasting-path.ts";
import { launcherPath } from "../launcher-path.ts";
import { safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { version } from "../version.ts";
import { writeUserFile } from "../write-user-file.ts";
import { requireSystemd, systemctl, systemdProgram, unitFolder } from "./systemd.ts";
import { unitHeader, unitText } from "./unit-text.ts";

/** The unit that a command is about. */
export interface ServiceName {
  readonly name: string;
}

/** Options of `service install`. */
export interface InstallFlags extends ServiceName {
  readonly listen?: string;
  readonly dryRun?: boolean;
  readonly start: boolean;
  readonly force?: boolean;
}

/** Options of `service logs`. */
export interface LogFlags extends ServiceName {
  readonly follow?: boolean;
  readonly lines?: number;
}

/** Runs `service install`. */
export async function installService(context: CliContext, flags: InstallFlags): Promise<ExitCode> {
  const { output } = context;
  const { dryRun = false, force = false, start } = flags;
  const unit = unitOf(flags);
  const path = join(unitFolder(context), unit);
  const text = await textOf(context, flags);
  if (dryRun) {
    output.json({ path, text, written: false });
    output.print(`# ${path}`);
    if (!output.isJson) context.stdout.write(text);
    return exitCodes.done;
  }
  await requireSystemd(context);
  if (existsSync(path) && !force && !readFileSync(path, "utf8").startsWith(unitHeader)) {
    throw new CliError("CLI_FILE_EXISTS", `${path} exists, and toolcrib service install did not write it`, {
      hint: "choose another --name, or replace it with --force",
    });
  }
  mkdirSync(unitFolder(context), { recursive: true });
  await writeUserFile(path, text);
  await systemctl(context, "daemon-reload");
  await systemctl(context, "enable", unit);
  // A service that runs already takes the new unit over.
  if (start) await systemctl(context, "restart", unit);
  output.json({ path, text, written: true, started: start });
  output.print(
    `Installed ${safeLine(path)}${start ? " and started it" : ""}`,
    `It starts with your session; loginctl enable-linger lets it run without one`,
    `Variables for it, such as secrets, belong into ${safeLine(environmentFile(context))} (NAME=VALUE, readable by you alone)`,
    `See it: ${ownCommand(context)} service status`,
  );
  return exitCodes.done;
}

/** Runs `service status`. The exit code is 5 where it does not run, 4 where it is not installed, 1 where neither is known. */
export async function serviceStatus(context: CliContext, flags: ServiceName): Promise<ExitCode> {
  const { output, options } = context;
  const unit = unitOf(flags);
  await requireSystemd(context);
  const names = [
    "LoadState",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "MainPID",
    "NRestarts",
    "ExecMainStatus",
  ];
  const shown = await systemctl(context, "show", unit, `--property=${names.join(",")}`);
  const facts = Object.fromEntries(
    shown.split("\n").flatMap((line) => {
      const at = line.indexOf("=");
      return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
  const {
    LoadState,
    ActiveState = "unknown",
    SubState = "unknown",
    UnitFileState,
    MainPID,
    NRestarts,
  } = facts;
  const isInstalled = LoadState !== "not-found";
  const gateways = await findReachableGateways(options.home);
  const own = gateways.find(({ pid }) => String(pid) === MainPID);
  output.json({
    unit,
    installed: isInstalled,
    ...facts,
    gateway: own === undefined ? null : { url: own.url, pid: own.pid, startedAt: own.startedAt },
  });
  if (!isInstalled) {
    output.print(`${unit} is not installed: ${ownCommand(context)} service install`);
    return exitCodes.notFound;
  }
  output.print(
    `${unit}: ${safeLine(ActiveState)} (${safeLine(SubState)}), ${safeLine(UnitFileState ?? "")}, process ${safeLine(MainPID ?? "")}, ${safeLine(NRestarts ?? "0")} restarts`,
  );
  if (own !== undefined)
    output.print(`It serves ${safeLine(own.url)}/mcp; ${ownCommand(context)} status shows its servers`);
  else if (ActiveState === "active") output.print("It does not listen yet");
  else output.print(`See why: ${ownCommand(context)} service logs`);
  return ActiveState === "active" ? exitCodes.done : exitCodes.unavailable;
}

/** Runs `service logs`: the journal of the unit. */
export async function serviceLogs(context: CliContext, flags: LogFlags): Promise<ExitCode> {
  const { follow = false, lines = 100 } = flags;
  const command = systemdProgram(context, "journalctl");
  const args = ["--user", "--no-pager", "--unit", unitOf(flags), "--lines", String(lines)];
  const code = await runProgram(
    { command, args: follow ? [...args, "--follow"] : args, env: context.env as NodeJS.ProcessEnv },
    context,
  );
  return code === 0 ? exitCodes.done : exitCodes.failed;
}

/** Runs `service uninstall`. */
export async function uninstallService(context: CliContext, flags: ServiceName): Promise<ExitCode> {
  const { output } = context;
  const unit = unitOf(flags);
  const path = join(unitFolder(context), unit);
  if (!existsSync(path)) {
    output.json({ path, removed: false });
    output.print(`${unit} is not installed`);
    return exitCodes.notFound;
  }
  await requireSystemd(context);
  await systemctl(context, "disable", "--now", unit);
  await removeFile(path);
  await systemctl(context, "daemon-reload");
  output.json({ path, removed: true });
  output.print(`Stopped and removed ${safeLine(path)}; the home and the configuration stay`);
  return exitCodes.done;
}

/** @throws {CliError} `CLI_USAGE` */
function unitOf({ name }: ServiceName): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(name)) return `${name}.service`;
  throw new CliError("CLI_USAGE", "A service cannot have this name", {
    hint: "write letters, digits and _ . -, such as toolcrib",
  });
}

/** The unit for this installation, home and configuration, which must be valid. */
async function textOf(context: CliContext, { listen }: InstallFlags): Promise<string> {
  const { options, directory } = context;
  const { files } = await loadCliConfig(context, listen === undefined ? {} : { listen });
  const config = files.flatMap((file) => ["--config", resolve(directory, file)]);
  const result = unitText({
    command: [
      process.execPath,
      launcherPath,
      ...["--home", options.home, ...config, "serve", "--quiet"],
      ...(listen === undefined ? [] : ["--listen", listen]),
    ],
    directory,
    path: lastingPath(context.env),
    environmentFile: environmentFile(context),
    version,
  });
  if ("text" in result) return result.text;
  throw new CliError("CLI_USAGE", "A path with a line break cannot be in a service", {
    hint: "rename the folder or file",
  });
}

function environmentFile({ options }: CliContext): string {
  return join(options.home, "service.env");
}
