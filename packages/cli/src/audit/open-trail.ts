/** Opens the trail of the home for the records of a command of the operator, with and without a running gateway. */

import { randomBytes } from "node:crypto";
import { openStore, type Store } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { asTyped } from "../serve/source-table.ts";

/**
 * Opens the store for writing. Its records are signed. It deletes no old segments: the limits are in the configuration,
 * which the gateway applies.
 */
export function openTrail(context: CliContext): Promise<Store> {
  const { options, now, output } = context;
  return openStore(
    {
      home: options.home,
      audit: { retainMaxBytes: Number.MAX_SAFE_INTEGER, retainMaxAgeMs: Number.MAX_SAFE_INTEGER },
    },
    {
      now,
      randomBytes,
      onProblem: ({ code, message }) => {
        if (code === "AUDIT_DAMAGED")
          output.note(`${message}; ${asTyped("see toolcrib audit verify", context)}`);
      },
    },
  );
}
