/** `toolcrib doctor`: finds problems with the setup, prints how to fix them, and with `--fix` makes the safe repairs. */

import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { type Style, safeText } from "../output/output.ts";
import { asTyped } from "../serve/source-table.ts";
import type { Finding, Repair } from "./check.ts";
import { checkClients } from "./check-clients.ts";
import { checkPauses } from "./check-guards.ts";
import { checkLeftovers } from "./check-leftovers.ts";
import { checkHome, checkNode, checkTokens, checkTrail } from "./check-machine.ts";
import { checkModes } from "./check-modes.ts";
import { checkSecrets } from "./check-secrets.ts";
import { checkConfigured } from "./check-servers.ts";
import { checkDisk, checkFileSystem, checkOpenFiles, checkTiers } from "./check-system.ts";
import { checkVersions } from "./check-versions.ts";
import { makeRepairs } from "./make-repairs.ts";

const marks: { readonly [S in Finding["status"]]: { readonly mark: string; readonly style: Style } } = {
  ok: { mark: "✓", style: "green" },
  warning: { mark: "!", style: "yellow" },
  failed: { mark: "✗", style: "red" },
  unknown: { mark: "?", style: "yellow" },
};

/** A finding with the title of its group. */
type GroupedFinding = Finding & { readonly group: string };

/** Options of the command. */
export interface DoctorFlags {
  readonly fix?: boolean;
  readonly yes?: boolean;
  /** Asks the network, too. */
  readonly online?: boolean;
}

/** Runs the command. */
export async function runDoctor(context: CliContext, flags: DoctorFlags): Promise<ExitCode> {
  const findings = new ReportedFindings(context);
  await runChecks(context, flags, findings);
  const repaired = flags.fix === true ? await makeRepairs(context, findings.all, flags) : undefined;
  return conclude(context, findings.all, repaired?.done);
}

/** Findings in their groups, each printed when it is reported. */
class ReportedFindings {
  readonly all: GroupedFinding[] = [];
  readonly #context: CliContext;
  #group = "";

  constructor(context: CliContext) {
    this.#context = context;
  }

  /** Begins a group. */
  begin(title: string): void {
    const { output } = this.#context;
    output.print(...(this.#group === "" ? [] : [""]), output.style("bold", title));
    this.#group = title;
  }

  report({ fix: plainFix, ...rest }: Finding): void {
    const { output } = this.#context;
    const fix = plainFix === undefined ? undefined : asTyped(plainFix, this.#context);
    const finding = { group: this.#group, ...rest, fix };
    this.all.push(finding);
    const { mark, style } = marks[finding.status];
    const [first = "", ...more] = safeText(finding.message).split("\n");
    output.prose(
      `${output.style(style, mark)} ${finding.subject}: ${first}`,
      ...more.map((line) => `    ${line}`),
    );
    if (fix === undefined) return;
    const fixing = `    ${output.style("cyan", "fix")}: ${safeText(fix)}`;
    // A command line stays whole, so that it can be copied.
    if (/^(?:npx |sudo )?(?:toolcrib|chmod|chown|kill|ulimit|rm) /.test(fix)) output.print(fixing);
    else output.prose(fixing);
  }
}

async function runChecks(context: CliContext, flags: DoctorFlags, findings: ReportedFindings): Promise<void> {
  const report = (finding: Finding) => findings.report(finding);
  findings.begin("Machine");
  report(checkNode());
  report(checkDisk(context));
  checkOpenFiles(context).forEach(report);
  report(await checkTiers(context));
  findings.begin("Home");
  report(checkHome(context));
  const modes = checkModes(context);
  modes.forEach(report);
  const closing = modes.find(({ repair }) => repair !== undefined)?.repair;
  (await checkFileSystem(context)).forEach(report);
  (await checkLeftovers(context)).forEach(report);
  checkTokens(context, closing).forEach(report);
  (await checkSecrets(context, closing)).forEach(report);
  (await checkTrail(context)).forEach(report);
  (await checkPauses(context)).forEach(report);
  findings.begin("Clients");
  (await checkClients(context)).forEach(report);
  findings.begin("Configuration and servers");
  checkVersions(context).forEach(report);
  const loaded = await checkConfigured(context, report);
  if (flags.online === true && loaded !== undefined) {
    findings.begin("Network");
    await (await import("./online/check-online.ts")).checkOnline(context, loaded, report);
  }
}

/** Prints how many problems are left, and returns the exit code. @param repaired the repairs that were made; undefined without `--fix` */
function conclude(
  context: CliContext,
  findings: readonly GroupedFinding[],
  repaired: ReadonlySet<Repair> | undefined,
): ExitCode {
  const { output } = context;
  const isRepaired = (repair: Repair | undefined) => repair !== undefined && repaired?.has(repair) === true;
  const left = findings.filter(({ status, repair }) => status === "failed" && !isRepaired(repair));
  const repairable = findings.filter(({ repair }) => repair !== undefined).length;
  const unknown = findings.filter(({ status }) => status === "unknown").length;
  output.json({
    ok: left.length === 0,
    unknown,
    findings: findings.map(({ repair, ...finding }) => ({
      ...finding,
      ...(repair === undefined ? {} : { repair: repair.does, isRepaired: isRepaired(repair) }),
    })),
  });
  const missed = unknown === 0 ? "" : ` ${counted(unknown, "check")} could not be made (?).`;
  output.print(
    "",
    `${left.length === 0 ? "No problems found." : `${counted(left.length, "problem")} found.`}${missed}`,
  );
  if (repairable > 0 && repaired === undefined)
    output.print(`${asTyped("toolcrib doctor --fix", context)} repairs ${repairable} of the findings.`);
  if (left.length > 0) return exitCodes.failed;
  return unknown === 0 ? exitCodes.done : exitCodes.unavailable;
}
