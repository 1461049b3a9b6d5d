/** The guide about registries of packages does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("registries");
