import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandFacts } from "../../src/policy/command/command-facts.ts";

/** Programs that only note that they ran, and the few real ones that start others. */
const NOTED = ["rm", "ls", "git"];
const REAL = ["env", "xargs", "nohup", "timeout", "find", "sh", "bash", "nice"];
const SHELLS = ["bash", "dash"].filter(
  (shell) => existsSync(`/usr/bin/${shell}`) || existsSync(`/bin/${shell}`),
);
const RUNS = Number(process.env["SPANLINE_SHELL_RUNS"] ?? 300);

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "spanline-shells-"));
  mkdirSync(join(folder, "bin"));
  for (const name of NOTED) {
    const stub = join(folder, "bin", name);
    writeFileSync(stub, `#!/bin/sh\necho "\${0##*/}" >> "$SPANLINE_NOTES"\n`);
    chmodSync(stub, 0o755);
  }
  for (const name of REAL) {
    const real = ["/usr/bin", "/bin"]
      .map((place) => join(place, name))
      .find((path) => existsSync(path));
    if (real !== undefined) symlinkSync(real, join(folder, "bin", name));
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a real shell runs, and the files that it leaves. */
function run(shell: string, command: string): { programs: string[]; files: string[] } {
  const notes = join(folder, "notes");
  const workplace = join(folder, "work");
  rmSync(notes, { force: true });
  rmSync(workplace, { recursive: true, force: true });
  mkdirSync(workplace);
  writeFileSync(join(workplace, "rm"), "");
  const path = ["/usr/bin", "/bin"]
    .map((place) => join(place, shell))
    .find((one) => existsSync(one));
  spawnSync(path ?? shell, ["-c", command], {
    cwd: workplace,
    env: { PATH: join(folder, "bin"), SPANLINE_NOTES: notes, X: "rm", FUNCNEST: "5" },
    input: "rm\n",
    timeout: 20_000,
  });
  const programs = existsSync(notes) ? readFileSync(notes, "utf8").trim().split("\n") : [];
  return {
    programs: [...new Set(programs)],
    files: readdirSync(workplace).filter((name) => name !== "rm"),
  };
}

const piece = fc.constantFrom(
  ...`rm ls git x ; & && || | ( ) { } $( $(( \` " ' \\ # ! > < >> 2>&1 >& &> << <<< >| ;; - -c -exec + = X= X=rm $X \${X}
  \${X:-rm} $ ~ * ? [ ] {rm,x} if then else fi for in do done case esac function env nohup timeout 5 find xargs sh bash
  eval exec command time nice set export alias . source true /dev/null rm= a[0]= $'rm' [[ ]] -- 'rm' "rm" r'm' r\\m
  $(rm) \`rm\``.split(/\s+/),
  "\n",
  "\\\n",
  "r\\\nm",
  " ",
  "\t",
  "\r",
  "\u00a0",
  "sh -c 'rm'",
  'sh -c "$X"',
  "X=ls;",
);
const soup = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join("")),
  fc.array(piece, { minLength: 1, maxLength: 10 }).map((pieces) => pieces.join(" ")),
);

/** Commands that are mostly right, so that most of them run. */
const { command: grown } = fc.letrec<{ command: string }>((tie) => {
  const program = fc.constantFrom(
    "rm",
    "ls",
    "git",
    '"rm"',
    "r'm'",
    "r\\m",
    "'ls'",
    "$X",
    "l\\\ns",
  );
  const inner = tie("command");
  const word = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom("a", "'b; rm'", '"c | rm"', "\\;", "'#'", "a#b", "$X", "*", "-c"),
    },
    { weight: 1, arbitrary: inner.map((command) => `$(${command})`) },
    { weight: 1, arbitrary: inner.map((command) => `"x $(${command}) y"`) },
  );
  const before = fc.constantFrom(
    "",
    "",
    "",
    "",
    "A=1 ",
    "CI=1 ",
    "env ",
    "env B=2 ",
    "nohup ",
    "! ",
    "time ",
    "command ",
    "timeout 5 ",
    "exec ",
    "xargs ",
    "sh -c ",
  );
  const after = fc.constantFrom(
    "",
    "",
    "",
    "",
    " >/dev/null",
    " 2>&1",
    " >f",
    " # rm '",
    " <rm",
    " &",
  );
  const simple = fc
    .tuple(before, program, fc.array(word, { maxLength: 3 }), after)
    .map(([before, program, words, after]) => `${before}${[program, ...words].join(" ")}${after}`);
  const operator = fc.constantFrom(";", " && ", "||", "|", "\n", " & ", ";\n", " |& ");
  return {
    command: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      simple,
      fc.tuple(inner, operator, inner).map((parts) => parts.join("")),
      inner.map((command) => `(${command}\n)`),
      inner.map((command) => `{ ${command}\n}`),
      fc.tuple(inner, inner).map(([one, other]) => `if ${one}\nthen ${other}\nfi`),
      inner.map((command) => `for f in a "b c" # it's\ndo ${command}\ndone`),
      inner.map((command) => `sh -c '${command.replaceAll("'", "'\\''")}'`),
      inner.map((command) => `eval "${command}"`),
    ),
  };
});

/** A line may be continued anywhere. */
const cut = fc
  .tuple(grown, fc.array(fc.nat(200), { maxLength: 3 }))
  .map(([command, places]) =>
    places.reduce((text, at) => `${text.slice(0, at)}\\\n${text.slice(at)}`, command),
  );

describe("what real shells run", () => {
  it.each(SHELLS)("%s runs nothing that was not foreseen", (shell) => {
    let certain = 0;
    fc.assert(
      fc.property(fc.oneof(soup, grown, cut), (command) => {
        const { simpleCommands = [], commandUnparsed } = commandFacts({ command }) ?? {};
        const { programs, files } = run(shell, command);
        const foreseen = new Set(simpleCommands.map(({ program }) => program));
        const unforeseen = programs.filter((name) => !foreseen.has(name));
        expect(foreseen.has(null) ? [] : unforeseen).toEqual([]);
        const isCertain = commandUnparsed === undefined;
        certain += isCertain ? programs.length : 0;
        expect(isCertain && foreseen.has(null)).toBe(false);
        expect(isCertain ? files : []).toEqual([]);
      }),
      { numRuns: RUNS },
    );
    expect(certain).toBeGreaterThan(RUNS / 20);
  });
});
