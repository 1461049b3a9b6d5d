/** A client that calls without end is refused before earlier records leave the audit trail; others call on. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isCodedError } from "@toolcrib/diagnostics";
import { slowTest, startEchoHttpServer } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { onHttp, startTestGateway, textOf } from "./gateway-harness.ts";

test(
  "the calls of a client end at its budget of audit records, and its first record stays",
  slowTest,
  async () => {
    await using remote = await startEchoHttpServer();
    await using running = await startTestGateway({
      tool_servers: [
        onHttp("s", remote.url),
        onHttp("u", remote.url, { trust_state: "unverified", first_contact: "pin" }),
      ],
      policy: { deny: ["s:sleep"] },
      audit: { retention_max_bytes: 128 * 1024 * 1024, client_max_bytes_per_day: 1024 * 1024 },
    });
    const { gateway } = running;
    const flood = localIdentity("token", "flood");
    const call = async (identity: typeof flood, tool: string) => {
      const outcome = await gateway.call(identity, tool, { text: "x".repeat(4000), ms: 1 });
      if (outcome.kind === "result") return textOf(outcome.result);
      return outcome.kind === "denied" ? outcome.reason : outcome.error.message;
    };
    assert.match(await call(flood, "u:echo"), /needs the operator's approval/);
    const [waiting] = (await gateway.approvals.waiting()).calls;
    await gateway.approvals.decideCall(waiting?.id ?? "", "approved", localIdentity("cli", "cli"));
    let answer = "x";
    let count = 0;
    for (; answer.startsWith("x"); count += 1) answer = await call(flood, "s:echo");
    assert(count > 50 && count < 2000, `${count} calls`);
    const refused = await gateway.call(flood, "s:echo", { text: "y" });
    assert.equal(
      refused.kind === "failed" && isCodedError(refused.error) && refused.error.code,
      "AUDIT_BUDGET_EXCEEDED",
    );
    assert.match(answer, /not made because it could not be recorded.*"flood" have used the 1048576 bytes/);
    // An approved call that cannot be recorded is not made, and stays approved.
    assert.match(await call(flood, "u:echo"), /not made because it could not be recorded/);
    const { records: approvals } = JSON.parse(
      readFileSync(join(running.home, "approvals", "calls.json"), "utf8"),
    ) as { readonly records: readonly { readonly state: string }[] };
    assert.deepEqual(
      approvals.map(({ state }) => state),
      ["approved"],
    );
    for (let n = 0; n < 2000; n += 1) await call(flood, "s:sleep");
    assert.match(await call(localIdentity("token", "other"), "s:echo"), /^x/);

    await running.stop();
    const records = await running.audit();
    const ofFlood = records.filter(
      ({ data }) => (data as { client?: { name: string } }).client?.name === "flood",
    );
    const denials = ofFlood.filter(({ type }) => type === "call.denied");
    assert(denials.length > 0 && denials.length < 300, `${denials.length} denials`);
    const returned = denials.filter(({ data }) => "isApprovalReturned" in data);
    assert.deepEqual(
      returned.map(({ data }) => (data as { approval?: string }).approval),
      [waiting?.id],
    );
    const limited = records.filter(({ type }) => type === "audit.limited");
    assert.equal(limited.length, 1);
    assert.equal(ofFlood.filter(({ type }) => type === "call.intent").length, count - 1);
  },
);
