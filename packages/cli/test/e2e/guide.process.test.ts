/** The guides about tools do what they show. */

import { testGuides } from "./run-guide.ts";

testGuides("tools");
