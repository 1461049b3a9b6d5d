/** `toolcrib doctor`: looks for everything that keeps Toolcrib from working, and says how to mend it. */

import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Style, safeText } from "../output/output.ts";
import type { Finding } from "./check.ts";
import { checkHome, checkNode, checkTokens, checkTrail } from "./check-machine.ts";
import { checkSecrets } from "./check-secrets.ts";
import { checkConfigured } from "./check-servers.ts";

const marks: { readonly [S in Finding["status"]]: { readonly mark: string; readonly style: Style } } = {
  ok: { mark: "✓", style: "green" },
  warning: { mark: "!", style: "yellow" },
  failed: { mark: "✗", style: "red" },
};

/** Run the command. */
export async function runDoctor(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  const findings: Finding[] = [];
  const tell = (finding: Finding) => {
    findings.push(finding);
    const { mark, style } = marks[finding.status];
    const [first = "", ...rest] = safeText(finding.message).split("\n");
    output.print(
      `${output.style(style, mark)} ${finding.subject}: ${first}`,
      ...rest.map((line) => `    ${line}`),
    );
    if (finding.fix !== undefined)
      output.print(`    ${output.style("cyan", "fix")}: ${safeText(finding.fix)}`);
  };
  tell(checkNode());
  tell(checkHome(context));
  checkTokens(context).forEach(tell);
  (await checkSecrets(context)).forEach(tell);
  (await checkTrail(context)).forEach(tell);
  await checkConfigured(context, tell);
  const failures = findings.filter(({ status }) => status === "failed").length;
  output.json({ ok: failures === 0, findings });
  output.print(
    "",
    failures === 0 ? "Nothing is wrong." : `${failures} thing${failures === 1 ? " is" : "s are"} wrong.`,
  );
  return failures === 0 ? exitCodes.done : exitCodes.failed;
}
