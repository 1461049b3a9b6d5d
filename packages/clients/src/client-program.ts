/** An MCP client as its documentation describes it: the file in which it lists servers, and the form of an entry. */

import type { JsonObject } from "@toolcrib/json";

/** Where a user's programs keep their files. All paths are absolute. */
export interface UserPlaces {
  readonly platform: "linux" | "darwin" | "win32";
  /** The home directory. */
  readonly home: string;
  /**
   * Settings of programs: `XDG_CONFIG_HOME` or `~/.config` (Linux), `~/Library/Application Support` (macOS), `APPDATA`
   * (Windows).
   */
  readonly settings: string;
  /** The environment, whose variables move the folders of some clients. @default none */
  readonly env?: { readonly [name: string]: string | undefined };
}

/** A path as its parts: the first is absolute. */
export type PathParts = readonly [base: string, ...parts: string[]];

/** A gateway that listens, for clients that connect over HTTP. */
export interface RemoteServer {
  /** The endpoint of MCP, such as `http://127.0.0.1:7420/mcp`. */
  readonly url: string;
  /** Sent as bearer token. @default no header */
  readonly token?: string;
}

/** A program that serves on its standard streams, for clients that start their servers. */
export interface LocalServer {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that the program gets in place of those of the client. @default none */
  readonly env?: { readonly [name: string]: string };
}

/** A client. */
export interface ClientProgram {
  /** The name for commands, such as `claude-code`. */
  readonly id: string;
  /** The name for people. */
  readonly name: string;
  readonly format: "json" | "toml" | "yaml";
  /** The paths that its file can have: the usual one first, then those of other versions. */
  readonly files: (places: UserPlaces) => readonly PathParts[];
  /** Whether it reads all of these files, and an entry in a later one takes the place of that in an earlier one. @default false */
  readonly mergesFiles?: true;
  /** The member of the file that contains its servers. */
  readonly section: string;
  /** Whether the section is a list whose entries have a name, instead of a map by name. @default false */
  readonly isList?: true;
  /** Whether the client takes a file without the section as the section itself. @default false */
  readonly isSectionOptional?: true;
  /** The entry of a server over HTTP; undefined where the client can only start servers. */
  readonly remote: ((server: RemoteServer) => JsonObject) | undefined;
  /** The entry of a server that the client starts. */
  readonly local: (server: LocalServer) => JsonObject;
  /** The step of a user after which the client sees the change. */
  readonly reload: string;
}

/** Returns the headers with the token; undefined without one. */
export function tokenHeaders({ token }: RemoteServer): JsonObject | undefined {
  return token === undefined ? undefined : { Authorization: `Bearer ${token}` };
}

/** Returns the variables of a server as the field that a client has for them; nothing where there are none. */
export function variablesOf({ env }: LocalServer, field: string): JsonObject {
  return env === undefined ? {} : { [field]: { ...env } };
}

/** Returns the paths that the client's file can have on the platform of `places`: the usual one first. */
export function filesOf(program: ClientProgram, places: UserPlaces): readonly string[] {
  return program.files(places).map((parts) => joined(parts, places.platform));
}

/** Returns a path from its parts. */
export function joined(parts: readonly string[], platform: UserPlaces["platform"]): string {
  const [base = "", ...names] = parts;
  const separator = platform === "win32" ? "\\" : "/";
  return [base.replace(/[\\/]+$/, ""), ...names].join(separator);
}

/** Returns the value of a variable; undefined where it is not set, or empty. */
export function variable({ env }: UserPlaces, name: string): string | undefined {
  const value = env?.[name]?.trim();
  return value === "" ? undefined : value;
}

/**
 * Returns the folder in which programs keep their settings that follow the XDG specification on each platform:
 * `XDG_CONFIG_HOME`, or `~/.config`.
 */
export function xdgConfig(places: UserPlaces): PathParts {
  if (places.platform === "linux") return [places.settings];
  const moved = variable(places, "XDG_CONFIG_HOME");
  return moved === undefined ? [places.home, ".config"] : [moved];
}
