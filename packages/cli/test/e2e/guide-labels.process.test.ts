/** The guide about labels on data does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("labels");
