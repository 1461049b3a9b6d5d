/** The guide about policies does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("policies");
