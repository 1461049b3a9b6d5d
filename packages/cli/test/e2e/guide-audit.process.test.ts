/** The guide about the audit trail does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("audit");
