/** The official conformance suite gives the same through the gateway as without it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { runProcess } from "@toolcrib/testing";

const root = join(import.meta.dirname, "../..");

const skip = process.env["CI"] ? false : "npm run conformance does it; CI does it here";

it("MCP 2025-11-25: all 30 required scenarios pass directly and through the gateway", { skip }, async () => {
  const { code, stdout, stderr } = await runProcess(
    process.execPath,
    ["--conditions=toolcrib-source", join(root, "scripts/conformance.ts")],
    { cwd: root, timeoutMs: 110_000 },
  );
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  assert.match(
    stdout,
    /direct 30\/30 {2}gateway\(stdio\) 30\/30 {2}gateway\(http\) 30\/30\n90 passed, 0 failed\s*$/,
  );
});
