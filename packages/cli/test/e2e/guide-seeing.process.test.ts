/** The guide about what happens in a gateway does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("seeing");
