/** The guide about packages does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("packages");
