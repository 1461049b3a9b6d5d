/** The guides about stopping calls and about the audit trail do what they show. */

import { testGuides } from "./run-guide.ts";

testGuides("operation");
