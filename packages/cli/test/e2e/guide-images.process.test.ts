/** The guide about images, packages and bundles of toolspecs does what it shows, without a network. */

import { testGuides } from "./run-guide.ts";

testGuides("images");
