/** The guide about the servers of clients does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("clients");
