/** The pages about tasks of an operator, operation and migration do what they show. */

import { testGuides } from "./run-guide.ts";

testGuides("tasks", 4);
testGuides("operations", 2);
testGuides("migration", 5);
