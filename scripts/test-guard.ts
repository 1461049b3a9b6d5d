/**
 * Loaded into every test file by `npm test`: when its tests are done and
 * something still keeps the process alive (a socket, a child, a timer), the
 * file fails and says what it is, in place of hanging for ever.
 */

import { after } from "node:test";

/** How long what was disposed of may take to go. Tests of the guard itself do not wait that long. */
const graceMs = Number(process.env["TOOLCRIB_TEST_GRACE_MS"] ?? 30_000);

// The process that runs the files loads this too.
if (process.env["NODE_TEST_CONTEXT"]?.startsWith("child")) {
  after(() => {
    const timer = setTimeout(() => {
      const resources = [...new Set(process.getActiveResourcesInfo())].join(", ");
      console.error(
        `The tests ended ${graceMs / 1000} s ago and something keeps their process: ${resources}`,
      );
      process.exit(1);
    }, graceMs);
    timer.unref();
  });
}
