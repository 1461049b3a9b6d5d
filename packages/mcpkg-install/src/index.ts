// For other packages here.
export type { Allowances } from "./install/check-trust.ts";
export { completeInterrupted } from "./install/commit-change.ts";
export { findUpdates, isOutdated, sourcesOfUpdates } from "./install/find-updates.ts";
export { applyInstall } from "./install/install-packages.ts";
export { type InstallPlan, planInstall } from "./install/plan-install.ts";
export { uninstallPackages } from "./install/uninstall-packages.ts";
export { InstallError } from "./install-error.ts";
export { lockFileName, readLock } from "./lock/lock-file.ts";
export { compareLock, rewriteLock } from "./lock/sync-lock.ts";
export type { PackageResolver, ResolvedPackage } from "./package-resolver.ts";
export {
  CheckedFolders,
  InstalledCheck,
  type InstalledPackage,
  openInstalledPackage,
  readInstalledPackages,
} from "./record/read-installed.ts";
export type { FetchBytes } from "./source/open-source.ts";
export { parseSource } from "./source/parse-source.ts";
