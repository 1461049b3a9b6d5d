/** The step `site` of `npm run verify`: the documentation site in a browser. */

import { testSite } from "../site/browser-test.ts";

process.exitCode = await testSite();
