/** Loads what executes programs in threads, and with the argument `program` executes one and prints its outcome. */

import { startThreadedExecutions } from "@toolcrib/metatool";
import { setUpWorkshop } from "./workshop.ts";

const workshop = setUpWorkshop({});
await using threaded = startThreadedExecutions(workshop.deps);
if (process.argv.includes("program")) {
  const outcome = await workshop.run("return 1 + 1", {}, { threaded });
  process.stdout.write(JSON.stringify(outcome.kind === "result" ? outcome.result : outcome));
}
