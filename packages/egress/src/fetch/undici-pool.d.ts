/** The one file of undici that is needed: all of it takes four times as long to load. */
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";
  export = Pool;
}
