import { testSavedToolStore } from "@toolcrib/testing";
import { openTest } from "./saved-harness.ts";

testSavedToolStore("files", (directory) =>
  openTest(directory, { isReserved: (name) => name === "reserved" }),
);
