#!/usr/bin/env node
// `registryctl`: the command under the name that the checks of toolspec catalogs
// use, so that `registryctl lint-toolspecs DIR` works.
// Plain JavaScript that any Node can parse, like `toolcrib.js`.

"use strict";

require("./toolcrib.js");
