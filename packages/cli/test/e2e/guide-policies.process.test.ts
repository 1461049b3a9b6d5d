/** The guides about policies and labels do what they show. */

import { testGuides } from "./run-guide.ts";

testGuides("policies");
