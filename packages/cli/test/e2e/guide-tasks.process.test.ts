/** The pages about tasks of an operator, operation and migration do what they show. */

import { testGuides } from "./run-guide.ts";

testGuides("tasks", { step: 4 });
testGuides("operations", { step: 2 });
testGuides("migration", { step: 5 });
