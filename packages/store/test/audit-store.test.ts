import { openStore } from "@toolcrib/store";
import { testAuditStore } from "./audit-store-contract.ts";
import { newHome } from "./sample-events.ts";

testAuditStore({
  name: "segment files",
  newLocation: newHome,
  open: async (home, now) => (await openStore({ home }, { now })).audit,
});
