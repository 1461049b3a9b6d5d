import { test } from "node:test";
import { assertNothingLeft, startGateway, until } from "./process-harness.ts";

test("A gateway that is killed while it launches servers, five times, leaves nothing behind", async () => {
  for (let round = 0; round < 5; round += 1) {
    await using gateway = await startGateway("tree.sh", "load", 1);
    await until("more servers run", () => gateway.serverCount > round);
    gateway.child.kill("SIGKILL");
    await assertNothingLeft(gateway);
  }
});
