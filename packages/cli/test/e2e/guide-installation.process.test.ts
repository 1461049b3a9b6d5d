/** The guide about the installation of packages does what it shows. */

import { testGuides } from "./run-guide.ts";

testGuides("installation");
