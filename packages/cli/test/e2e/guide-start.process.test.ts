/** The page for a newcomer does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("start");
