// Its points are sampled; npm run verify tests all of them.
import { testKills } from "./kill-harness.ts";

testKills("the removal of one of two");
