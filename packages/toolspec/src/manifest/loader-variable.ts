/**
 * Environment variables with which a file that somebody else wrote would choose the code that a program loads when it
 * starts: libraries and modules, options of a runtime, folders that are searched, where a runner fetches packages.
 * Names are compared without case, as Windows does. A list of names is never complete; what contains a program is its
 * sandbox. Pure.
 */

/** Variables that are paths, separated as in PATH: where all of them are folders of the program itself, nothing foreign is loaded. */
const searchPaths = new Set([
  ...["PATH", "PYTHONPATH", "PYTHONHOME", "NODE_PATH", "RUBYLIB", "PERL5LIB", "PERLLIB", "CLASSPATH"],
  ...[
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "GEM_PATH",
    "LUA_CPATH",
    "LUA_PATH",
  ],
]);

const others: readonly RegExp[] = [
  // Loaders of libraries, and the C library.
  /^(?:LD|DYLD|_RLD|LDR|GLIBC)_/,
  /^(?:GCONV_PATH|LOCPATH|NLSPATH|LIBPATH|SHLIB_PATH)$/,
  // Runtimes.
  /^NODE_(?:OPTIONS|PATH|REPL_|EXTRA_CA_CERTS$|TLS_|V8_COVERAGE|COMPILE_CACHE|USE_ENV_PROXY|ICU_DATA)/,
  /^(?:BUN_OPTIONS|BUN_INSPECT|BUN_CONFIG|ELECTRON_RUN_AS_NODE)/,
  /^PYTHON(?:PATH|HOME|STARTUP|USERBASE|INSPECT|BREAKPOINT|EXECUTABLE|PLATLIBDIR|PYCACHEPREFIX|WARNINGS|CASEOK)$/,
  /^(?:RUBYOPT|RUBYLIB|RUBYSHELL|GEM_HOME|BUNDLE_GEMFILE|PERL5OPT|PERL5DB|PERL5SHELL|PERL5LIB|PERLLIB)$/,
  /^(?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|JAVA_HOME|CLASSPATH)$/,
  /^(?:DOTNET_(?:STARTUP_HOOKS|ADDITIONAL_DEPS|SHARED_STORE|ROOT)|COR_|CORECLR_|COMPLUS_)/,
  /^(?:PHPRC|PHP_INI_SCAN_DIR|LUA_INIT|LUA_PATH|LUA_CPATH|ERL_AFLAGS|ERL_FLAGS|ERL_LIBS|R_PROFILE|JULIA_LOAD_PATH)/,
  /^(?:OPENSSL_(?:CONF|ENGINES|MODULES)|GTK_MODULES|GIO_EXTRA_MODULES|QT_PLUGIN_PATH)$/,
  // Shells, and programs that other programs start.
  /^(?:BASH_ENV|SHELLOPTS|BASHOPTS|IFS|PS4|PROMPT_COMMAND|ZDOTDIR|BASH_FUNC_.*|PATH|PATHEXT|COMSPEC)$/,
  /^GIT_(?:SSH|EXEC_PATH|CONFIG|EXTERNAL_DIFF|PROXY_COMMAND|TEMPLATE_DIR|ASKPASS|PAGER|EDITOR)/,
  // Where runners fetch what they run.
  /^(?:NPM_CONFIG_|UV_|PIP_|GOPROXY$|GOSUMDB$|GONOSUMDB$|GONOSUMCHECK$|GOPRIVATE$|GOFLAGS$|GOENV$|GOTOOLCHAIN$|GOROOT$)/,
];

/**
 * Says whether the environment variable `name` chooses code that a program loads when it starts.
 *
 * @returns `"path"` for one that is a list of folders, `"other"` for any other, undefined for one that does not
 */
export function loaderVariable(name: string): "path" | "other" | undefined {
  const upper = name.toUpperCase();
  if (searchPaths.has(upper)) return "path";
  return others.some((pattern) => pattern.test(upper)) ? "other" : undefined;
}
