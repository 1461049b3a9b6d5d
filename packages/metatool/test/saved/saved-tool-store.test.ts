import { openTest } from "./saved-harness.ts";
import { testSavedToolStore } from "./saved-tool-store-contract.ts";

testSavedToolStore("files", (directory) =>
  openTest(directory, { isReserved: (name) => name === "reserved" }),
);
