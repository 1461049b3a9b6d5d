#!/usr/bin/env node
// `registryctl`, as catalogues of toolspecs call it in their checks: the same
// command under another name, so that `registryctl lint-toolspecs DIR` works.
// Plain JavaScript that any Node can read, as `toolcrib.js` is.

await import("./toolcrib.js");
