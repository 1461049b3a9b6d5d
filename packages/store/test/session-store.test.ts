import { MemorySessionStore } from "@toolcrib/store";
import { testSessionStore } from "@toolcrib/testing";

testSessionStore("memory", async (now) => new MemorySessionStore({ now }));
