/** The first pages, and those about commands that need another server, a terminal or time, do what they show. */

import { testGuides } from "./run-guide.ts";

testGuides("first", { step: 4 });
testGuides("more", { step: 5 });
testGuides("incidents", { step: 4 });
testGuides("machine", { step: 3 });
