/**
 * Finds the secrets among the texts of a client's entry or of a command line: what `secretVerdict` says of each, and
 * which arguments no preview shows. Pure.
 */

import { judgeArguments } from "@toolcrib/config";
import { secretVerdict } from "@toolcrib/redaction";

/** Where a text is. */
export type TextRole = Parameters<typeof secretVerdict>[0];

/** Whether a text is a secret. @param name of the variable or header */
export function isSecretValue(role: TextRole, name: string, value: string): boolean {
  return secretVerdict(role, name, value) !== undefined;
}

/**
 * Returns the positions of values of `-p`, `-P` and `-k` that no preview shows: passwords in some programs, and a name
 * in others. Numbers, paths, addresses and versions are shown.
 */
export function doubtfulArguments(command: string, args: readonly string[]): ReadonlySet<number> {
  const { isLaunchers } = judgeArguments(command, args);
  return new Set(
    args.flatMap((word, at) => {
      const value = args[at + 1] ?? "";
      const isShown = /^(?:-|\d+$|$)/.test(value) || /[./\\:@]/.test(value) || settingValue.test(value);
      return /^-[pPk]$/.test(word) && !isLaunchers(at) && !isShown ? [at + 1] : [];
    }),
  );
}

/** Values that switch something, and are no password. */
const settingValue = /^(?:true|false|yes|no|on|off|none|null|basic|bearer|oauth2?|token|\d)$/i;

/** Whether a value only stands for one, as examples in documentation do. */
export function isPlaceholder(value: string): boolean {
  const word = value.replace(/^(?:Bearer|Basic|Token)\s+/i, "").trim();
  return (
    /^(?:<.*>|\[.*\]|\{\{.*\}\}|x{3,}|\*{3,}|\.{3,}|changeme|change-me|todo|none|null)$/i.test(word) ||
    /^(?:your|my|insert|enter|replace|add)[-_ ]/i.test(word) ||
    /[-_ ]here$/i.test(word)
  );
}
