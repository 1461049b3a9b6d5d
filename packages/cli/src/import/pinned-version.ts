/** Finds commands that run another version when a new one is published: npx, uvx, docker and their like. Pure. */

/** Returns what is not pinned, such as `npx foo`; undefined where nothing is known to change. */
export function unpinnedPart(command: string, args: readonly string[]): string | undefined {
  const program = (command.split(/[\\/]/).at(-1) ?? command).replace(/\.(?:cmd|exe|ps1)$/i, "");
  const words = /^(?:cmd|sh|bash|zsh)$/.test(program) ? wordsOfShell(args) : [program, ...args];
  const [runner = "", ...rest] = words;
  if (runner === "npx" || runner === "bunx") return npmPart(runner, rest);
  if (/^(?:npm|pnpm|yarn|bun)$/.test(runner)) {
    const at = rest.findIndex((word) => /^(?:exec|dlx|x)$/.test(word));
    return at === -1 ? undefined : npmPart(`${runner} ${rest[at]}`, rest.slice(at + 1));
  }
  if (runner === "uvx" || runner === "pipx")
    return pythonPart(runner, runner === "pipx" ? rest.slice(1) : rest);
  if (runner === "uv" && rest[0] === "tool" && rest[1] === "run")
    return pythonPart("uv tool run", rest.slice(2));
  if (/^(?:docker|podman|nerdctl)$/.test(runner)) return imagePart(runner, rest);
  if (runner === "go" && rest[0] === "run") {
    const module = rest.slice(1).find((word) => !word.startsWith("-"));
    return module === undefined || !module.includes(".") || /@v\d/.test(module)
      ? undefined
      : `go run ${module}`;
  }
  if (runner === "deno") {
    const module = rest.find((word) => /^(?:npm|jsr|https?):/.test(word));
    return module === undefined || /@\d/.test(module) ? undefined : `deno ${module}`;
  }
  return undefined;
}

/** `cmd /c npx foo` and `sh -c "npx foo"`. */
function wordsOfShell(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => /^(?:\/c|-[a-z]*c)$/i.test(word));
  const rest = args.slice(at + 1);
  return rest.length === 1
    ? (rest[0] ?? "")
        .trim()
        .replace(/^exec\s+/, "")
        .split(/\s+/)
    : rest;
}

function npmPart(runner: string, words: readonly string[]): string | undefined {
  let named = words.find(
    (word, at) => !word.startsWith("-") && !/^(?:-p|--package|-c|--call)$/.test(words[at - 1] ?? ""),
  );
  const given = words.findIndex((word) => /^(?:-p|--package)(?:=|$)/.test(word));
  if (given !== -1) named = /=(.+)$/.exec(words[given] ?? "")?.[1] ?? words[given + 1];
  if (named === undefined || /^(?:[./~]|https?:|git\+)/.test(named)) return undefined;
  return /.@[~^]?\d+\.\d+\.\d+/.test(named) ? undefined : `${runner} ${named}`;
}

function pythonPart(runner: string, words: readonly string[]): string | undefined {
  const from = words.findIndex((word) => /^--(?:from|spec)(?:=|$)/.test(word));
  const valued = /^(?:--python|-p|--with|--index-url|--extra-index-url|--directory|--index)$/;
  const named =
    from === -1
      ? words.find((word, at) => !word.startsWith("-") && !valued.test(words[at - 1] ?? ""))
      : (/=(.+)$/.exec(words[from] ?? "")?.[1] ?? words[from + 1]);
  if (named === undefined || /^[./~]/.test(named)) return undefined;
  const isPinned = /==\d|.@v?\d+\.\d+|@[0-9a-f]{7,40}$/.test(named);
  return isPinned ? undefined : `${runner} ${named}`;
}

const flagsWithValue =
  /^(?:-e|--env|-v|--volume|--mount|-p|--publish|--name|--network|--net|-w|--workdir|-u|--user|--env-file|--entrypoint|--platform|-m|--memory|--cpus|-l|--label|--add-host|-h|--hostname|--pull|--security-opt|--cap-drop|--cap-add|--tmpfs)$/;

function imagePart(runner: string, words: readonly string[]): string | undefined {
  const [verb] = words;
  if (verb !== "run") return undefined;
  let at = 1;
  while (at < words.length && (words[at] ?? "").startsWith("-"))
    at += flagsWithValue.test(words[at] ?? "") ? 2 : 1;
  const image = words[at];
  if (image === undefined) return undefined;
  const tag = /:([^/:@]+)$/.exec(image)?.[1];
  return image.includes("@sha256:") || (tag !== undefined && tag !== "latest")
    ? undefined
    : `${runner} ${image}`;
}
