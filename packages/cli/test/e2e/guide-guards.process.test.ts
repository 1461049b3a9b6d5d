/** The guide about stopping and limiting calls does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("guards");
