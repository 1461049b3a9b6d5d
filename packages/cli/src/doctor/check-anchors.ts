/** Checks the places that keep the signed ends of the audit trail. Only reads. */

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import type { GatewayStatus } from "@toolcrib/gateway";
import type { CliContext } from "../cli-context.ts";
import { findExecutable } from "../find-executable.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

/** Checks `audit.anchor` of a configuration from this terminal. */
export function checkAnchors(
  context: CliContext,
  { file, command }: GatewayConfig["audit"]["anchor"],
): Finding[] {
  const findings: Finding[] = [];
  if (file !== undefined) findings.push(checkFile(context, file));
  const [program] = command ?? [];
  if (program !== undefined) findings.push(checkCommand(context, program));
  return findings;
}

function checkFile({ env, options }: CliContext, file: string): Finding {
  const userHome = env["HOME"] ?? homedir();
  const path = /^~[\\/]/.test(file) ? join(userHome, file.slice(2)) : file;
  const shown = safeLine(path);
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return failed(
      "anchor",
      `the folder of audit.anchor.file ${shown} does not exist`,
      `mkdir -p ${shellQuote(folder)}`,
    );
  const inHome = relative(options.home, path);
  if (!inHome.startsWith("..") && !isAbsolute(inHome))
    return warning(
      "anchor",
      `audit.anchor.file ${shown} is in the home: a person who can change the trail can change it too`,
      "choose a file that only other users, or another machine, can change",
    );
  return ok("anchor", `the signed ends of the trail are appended to ${shown}`);
}

function checkCommand(context: CliContext, program: string): Finding {
  const { env, directory, platform } = context;
  const found = findExecutable(program, { path: env["PATH"] ?? "", directory, platform });
  if (found !== undefined) return ok("anchor", `${safeLine(found)} takes the signed ends of the trail`);
  const message = `the program ${JSON.stringify(program)} of audit.anchor.command is not found, or is not executable`;
  return failed("anchor", message, "install it, or write its complete path");
}

/** The state of a place in the running gateway. */
export function anchorFinding({
  place,
  anchored,
  dropped,
  reason,
}: GatewayStatus["anchors"][number]): Finding {
  const lost = dropped === 0 ? "" : `, ${dropped} lost`;
  if (reason === undefined)
    return ok("anchor", `${safeLine(place)}: ${counted(anchored, "signed end")}${lost}`);
  return warning(
    "anchor",
    `${safeLine(place)} fails: ${safeLine(reason)}${lost}`,
    "calls are not affected; the gateway tries again with the next signed end, within a minute",
  );
}
