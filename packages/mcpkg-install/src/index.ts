// For other packages here.

export { InstallError } from "./install-error.ts";
export { recordPathOf as installRecordPath } from "./install-places.ts";
export type { PackageResolver, ResolvedPackage } from "./package-resolver.ts";
export {
  type InstalledPackage,
  openInstalledPackage,
  readInstalledPackages,
} from "./record/read-installed.ts";
