/** The guide about ranks and chains does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("chains");
