/** `toolcrib doctor`: finds problems with the setup and prints how to fix them. */

import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Style, safeText } from "../output/output.ts";
import { withHome } from "../output/with-home.ts";
import type { Finding } from "./check.ts";
import { checkPauses } from "./check-guards.ts";
import { checkHome, checkNode, checkTokens, checkTrail } from "./check-machine.ts";
import { checkSecrets } from "./check-secrets.ts";
import { checkConfigured } from "./check-servers.ts";

const marks: { readonly [S in Finding["status"]]: { readonly mark: string; readonly style: Style } } = {
  ok: { mark: "✓", style: "green" },
  warning: { mark: "!", style: "yellow" },
  failed: { mark: "✗", style: "red" },
};

/** Runs the command. */
export async function runDoctor(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  const findings: Finding[] = [];
  const report = ({ fix: plainFix, ...rest }: Finding) => {
    const fix = plainFix === undefined ? undefined : withHome(plainFix, context.options.homeFlag);
    const finding: Finding = { ...rest, fix };
    findings.push(finding);
    const { mark, style } = marks[finding.status];
    const [first = "", ...more] = safeText(finding.message).split("\n");
    output.print(
      `${output.style(style, mark)} ${finding.subject}: ${first}`,
      ...more.map((line) => `    ${line}`),
    );
    if (fix !== undefined) output.print(`    ${output.style("cyan", "fix")}: ${safeText(fix)}`);
  };
  report(checkNode());
  report(checkHome(context));
  checkTokens(context).forEach(report);
  (await checkSecrets(context)).forEach(report);
  (await checkTrail(context)).forEach(report);
  (await checkPauses(context)).forEach(report);
  await checkConfigured(context, report);
  const failures = findings.filter(({ status }) => status === "failed").length;
  output.json({ ok: failures === 0, findings });
  output.print(
    "",
    failures === 0 ? "No problems found." : `${failures} problem${failures === 1 ? "" : "s"} found.`,
  );
  return failures === 0 ? exitCodes.done : exitCodes.failed;
}
