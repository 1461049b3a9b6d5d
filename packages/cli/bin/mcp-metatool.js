#!/usr/bin/env node
// `mcp-metatool`: the command `metatool` under the name that MCP clients start.
// Plain JavaScript that any Node can parse, like `toolcrib.js`.

"use strict";

process.argv.splice(2, 0, "metatool");
require("./toolcrib.js");
