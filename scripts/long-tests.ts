/**
 * Test files that take about ten seconds of CPU time or more, or a minute of waiting, and whose subject other files of `npm test` touch, too. `npm run
 * verify` runs them, and so does `npm test` where they, or the folder that they are in, are named.
 */
export const longTests: readonly string[] = [
  "packages/cli/test/add-servers.process.test.ts",
  "packages/cli/test/chains-optimize.process.test.ts",
  "packages/cli/test/e2e/bridge-clients.process.test.ts",
  "packages/cli/test/e2e/canaries.security.process.test.ts",
  "packages/cli/test/e2e/guide-images.process.test.ts",
  "packages/cli/test/e2e/guide-more.process.test.ts",
  "packages/cli/test/e2e/guide-packages.process.test.ts",
  "packages/cli/test/e2e/guide-policies.process.test.ts",
  "packages/cli/test/e2e/guide-start.process.test.ts",
  "packages/cli/test/e2e/kill.process.test.ts",
  "packages/cli/test/e2e/metatool.process.test.ts",
  "packages/cli/test/e2e/toolpack-build.process.test.ts",
  "packages/cli/test/explain-examples.process.test.ts",
  "packages/cli/test/install-busy.process.test.ts",
  "packages/cli/test/pty.security.process.test.ts",
  "packages/cli/test/publish-saved.process.test.ts",
  "packages/cli/test/saved.process.test.ts",
  "packages/mcpkg/test/foreign-archives.process.test.ts",
  "packages/metatool/test/run/isolated.process.test.ts",
  "packages/metatool/test/saved/saved-kill.process.test.ts",
  "packages/starlark/test/long-work.security.test.ts",
  "packages/starlark/test/limits.security.process.test.ts",
  "scripts/test/containers.process.test.ts",
];
