/** Explanations of the codes of the package starlark. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  STARLARK_BAD_ARGUMENTS: {
    cause:
      "Arguments of a call have an order: positional, named, *args, **kwargs. One is in the wrong place, repeated, or there are too many.",
    files: { "program.star": 'print(sep = "-", "a", "b")\n' },
    run: "toolcrib starlark check program.star",
    fix: "Put positional arguments first, each name once.",
  },
  STARLARK_BAD_LOAD: {
    cause:
      "load() names something that no module exports: an empty name, or one that begins with an underscore and is private.",
    files: { "program.star": 'load("lib.star", "_secret")\n' },
    run: "toolcrib starlark check program.star",
    fix: "Load names that the module exports. Composites have no files, so they use no load at all.",
  },
  STARLARK_BAD_PARAMETERS: {
    cause:
      "Parameters have an order: required, optional, *args, keyword-only, **kwargs. One is in the wrong place or repeated.",
    files: {
      "program.star": `def greet(name = "x", greeting):
    return greeting + name
`,
    },
    run: "toolcrib starlark check program.star",
    fix: "Put parameters without a default first, each name once.",
  },
  STARLARK_BAD_TARGET: {
    cause: "The left side of = is not something that can be assigned to.",
    files: { "program.star": "len(x) = 3\n" },
    run: "toolcrib starlark check program.star",
    fix: "Assign to a name, an element x[i], a field x.f or a list of those. To compare, write ==.",
  },
  STARLARK_MISPLACED: {
    cause:
      "A statement is where it has no meaning, such as return outside of a function, or break outside of a loop.",
    files: { "program.star": "return 1\n" },
    run: "toolcrib starlark check --dialect core program.star",
    fix: "Put the code into a def and call it, or move the statement into its loop.",
  },
  STARLARK_NOT_IN_DIALECT: {
    cause:
      "Starlark has no while, no classes, no exceptions, and in this dialect no sets. Programs without them always end, and need nothing to be caught.",
    files: {
      "program.star": `def wait():
    while True:
        pass
`,
    },
    run: "toolcrib starlark check --dialect core program.star",
    fix: "Write what the hint says: test before you act instead of try, loop over range() instead of while, use dicts as sets.",
  },
  STARLARK_PYTHON_HABIT: {
    cause:
      "The program uses something that Python or JavaScript has and Starlark has not. The hint says what Starlark has.",
    files: { "program.star": "x = null\n" },
    run: "toolcrib starlark check program.star",
    fix: "Write what the hint says, such as None, True, + between texts, or a method that exists.",
  },
  STARLARK_REASSIGNED: {
    cause: "A global is bound once, so that each function sees the same value.",
    files: {
      "program.star": `total = 1
total = 2
`,
    },
    run: "toolcrib starlark check --dialect core program.star",
    fix: "Choose another name, or put the code into a function, in which names can be bound again.",
  },
  STARLARK_SYNTAX: {
    cause: "The text is not valid Starlark: an operator or name is missing or in the wrong place.",
    files: { "program.star": "x = 1 if True\n" },
    run: "toolcrib starlark check program.star",
    fix: "Correct the place that the message shows. docs/reference/starlark.md describes the language.",
  },
  STARLARK_TOO_DEEP: {
    cause: "Expressions or blocks are nested more deeply than the parser allows.",
    before: ["echo \"x = $(printf '%300s' | tr ' ' '(')1$(printf '%300s' | tr ' ' ')')\" > deep.star"],
    run: "toolcrib starlark check deep.star",
    fix: "Give parts names, and use a loop instead of nesting.",
  },
  STARLARK_TOO_LARGE: {
    cause: "The program is longer, or has more instructions or captured variables, than is compiled.",
    before: ["{ echo 'x = 1'; echo 'table = ['; yes '  x + 1,' | head -n 300000; echo ']'; } > large.star"],
    run: "toolcrib starlark check large.star",
    fix: "Split it, and pass data as a parameter instead of writing it into the program.",
  },
  STARLARK_UNDEFINED_NAME: {
    cause: "The program uses a name that nothing defines. Often it is misspelled.",
    files: {
      "program.star": `count = 1
print(cuont)
`,
    },
    run: "toolcrib starlark check program.star",
    fix: "Correct the name, or define it before its use.",
  },
  STARLARK_UNFINISHED: {
    cause: "The text ends within a string, a bracket or a statement.",
    files: { "program.star": "x = [1, 2\n" },
    run: "toolcrib starlark check program.star",
    fix: "Close what is open at the end of the text.",
  },
};
