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
import { readCommandFacts } from "../../src/policy/command/command-facts.ts";

/** Stub programs which only record a line for each run, and the few real programs which start other programs. */
const NOTED = ["rm", "ls", "git"];
const REAL = ["env", "xargs", "nohup", "timeout", "find", "sh", "bash", "nice"];
const SHELLS = ["bash", "dash"].filter(
  (shell) => existsSync(`/usr/bin/${shell}`) || existsSync(`/bin/${shell}`),
);
const RUNS = Number(process.env["SPANLINE_SHELL_RUNS"] ?? 300);

/** Files which a shell glob can match. */
const LYING_THERE = ["rm", "-exec"];
/** Folders with another `ls`. A redirection to a named descriptor sets the variable to a number. */
const PLANTED = ["evil", "10", "11"];

let folder = "";
let runCount = 0;

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

/** Runs a command in a real shell and returns the programs which ran and the files left behind. */
function run(shell: string, command: string): { programs: string[]; files: string[] } {
  // A background process of an earlier run may still write, so every run has its own files.
  runCount += 1;
  const notes = join(folder, `notes-${runCount}`);
  const workplace = join(folder, `work-${runCount}`);
  mkdirSync(workplace);
  for (const name of LYING_THERE) writeFileSync(join(workplace, name), "");
  for (const name of PLANTED) {
    mkdirSync(join(workplace, name));
    const planted = join(workplace, name, "ls");
    writeFileSync(planted, `#!/bin/sh\necho planted >> "$SPANLINE_NOTES"\n`);
    chmodSync(planted, 0o755);
  }
  const path = ["/usr/bin", "/bin"]
    .map((place) => join(place, shell))
    .find((one) => existsSync(one));
  spawnSync(path ?? shell, ["-c", command], {
    cwd: workplace,
    env: { PATH: join(folder, "bin"), SPANLINE_NOTES: notes, X: "rm", FUNCNEST: "5" },
    input: "rm\n",
    timeout: 20_000,
  });
  const programs = existsSync(notes) ? readFileSync(notes, "utf8").split("\n").filter(Boolean) : [];
  const names = readdirSync(workplace);
  rmSync(workplace, { recursive: true, force: true });
  return {
    programs: [...new Set(programs)],
    files: names.filter((name) => ![...LYING_THERE, ...PLANTED].includes(name)),
  };
}

const piece = fc.constantFrom(
  ...`rm ls git x ; & && || | ( ) { } $( $(( \` " ' \\ # ! > < >> 2>&1 >& &> << <<< >| ;; - -c -exec + = X= X=rm $X \${X}
  \${X:-rm} $ ~ * ? [ ] {rm,x} if then else fi for in do done case esac function env nohup timeout 5 find xargs sh bash
  eval exec command time nice set export alias . source true /dev/null rm= a[0]= $'rm' [[ ]] -- 'rm' "rm" r'm' r\\m
  $(rm) \`rm\` printf -v -va[$(rm)] 'a[$(rm)]' test -n jobs -x -exec$Z -exe[c] -{exec,rm} -e$(echo) xec) \\; . -maxdepth 0
  PATH HOME PATH=./evil ./evil {PATH}> {X}> -k echo /dev/stdin /dev/fd/0 wait -p setsid`.split(
    /\s+/,
  ),
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
  "for PATH in ./evil; do ",
  "; done",
  "find . -maxdepth 0 -exec$Z ",
  " \\;",
  "CI=$(echo 1 rm)",
);
const soup = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join("")),
  fc.array(piece, { minLength: 1, maxLength: 10 }).map((pieces) => pieces.join(" ")),
);

/** Mostly valid commands, so most of them run. */
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
  const starter = fc.constantFrom(
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
    "env CI=$Y ",
    "env CI=$(echo 1 rm) ",
    "jobs -x ",
    "set -u; ",
    "set -k; ",
    "setsid -w ",
    ": {PATH}>/dev/null; ",
  );
  const before = fc.oneof(
    { weight: 1, arbitrary: fc.constant("") },
    { weight: 2, arbitrary: starter },
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
  const loopVariable = fc.constantFrom("f in a", "PATH in ./evil", "X in rm", "PA\\\nTH in ./evil");
  const findFlag = fc.constantFrom(
    ..."-exec -exec$Z -e$(echo xec) -exe[c] -[e]xec -{exec,x} -print -ok $Y".split(" "),
  );
  const indexed = fc.constantFrom(
    "printf",
    "test",
    "-v",
    "-va[$(rm)]",
    "'-va[$(rm)]'",
    '"$(echo -v)"',
    "'a[$(rm)]'",
    '"a[\\$(rm)]"',
    "wait -n -p",
  );
  const input = fc.constantFrom(
    "sh /dev/stdin",
    "bash /dev/fd/0",
    "sh /proc/self/fd/0",
    "sh ../../../dev/stdin",
    "xargs sh -c",
  );
  const operator = fc.constantFrom(";", " && ", "||", "|", "\n", " & ", ";\n", " |& ");
  return {
    command: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 4, arbitrary: simple },
      fc.tuple(inner, operator, inner).map((parts) => parts.join("")),
      inner.map((command) => `(${command}\n)`),
      inner.map((command) => `{ ${command}\n}`),
      fc.tuple(inner, inner).map(([one, other]) => `if ${one}\nthen ${other}\nfi`),
      inner.map((command) => `for f in a "b c" # it's\ndo ${command}\ndone`),
      inner.map((command) => `sh -c '${command.replaceAll("'", "'\\''")}'`),
      inner.map((command) => `eval "${command}"`),
      fc.tuple(loopVariable, inner).map(([name, command]) => `for ${name}\ndo ${command}\ndone`),
      fc.tuple(findFlag, program, word).map((parts) => `find . -maxdepth 0 ${parts.join(" ")} \\;`),
      fc.tuple(indexed, indexed).map((parts) => parts.join(" ")),
      fc.tuple(program, input).map(([name, shell]) => `echo ${name} | ${shell}`),
    ),
  };
});

/** Line continuations at arbitrary positions. */
const cut = fc
  .tuple(grown, fc.array(fc.nat(200), { maxLength: 3 }))
  .map(([command, places]) =>
    places.reduce((text, at) => `${text.slice(0, at)}\\\n${text.slice(at)}`, command),
  );

interface Foresight {
  readonly isCertain: boolean;
  /** Number of programs which ran. */
  readonly ran: number;
  /** Programs or files which the parser did not predict. */
  readonly surprises: readonly string[];
}

function foresightOf(shell: string, command: string): Foresight {
  const { simpleCommands = [], commandUnparsed } = readCommandFacts({ command }) ?? {};
  const { programs, files } = run(shell, command);
  const foreseen = new Set(simpleCommands.map(({ program }) => program));
  const isCertain = commandUnparsed === undefined;
  const unforeseen = programs.filter((name) => !foreseen.has(name));
  // An uncertain parse predicts a different program of the same name: no rule allows such a command.
  const excused = isCertain ? unforeseen : unforeseen.filter((name) => name !== "planted");
  const surprises = [
    ...(foreseen.has(null) ? [] : excused),
    ...(isCertain && foreseen.has(null) ? ["certain about an unknown program"] : []),
    ...(isCertain ? files : []),
  ];
  return { isCertain, ran: programs.length, surprises };
}

describe("Programs that real shells run", () => {
  it.each(SHELLS)("%s runs only programs that the parser predicted", (shell) => {
    let certain = 0;
    fc.assert(
      fc.property(fc.oneof(soup, grown, cut), (command) => {
        const { isCertain, ran, surprises } = foresightOf(shell, command);
        expect(surprises).toEqual([]);
        certain += isCertain ? ran : 0;
      }),
      { numRuns: RUNS },
    );
    // Usually about 30 of 300; a generator without any such command would prove nothing.
    expect(certain).toBeGreaterThan(RUNS / 60);
  });

  it.each([
    "find . -maxdepth 0 -exec$Z rm x \\;",
    "find . -maxdepth 0 -e$(echo xec) rm x \\;",
    "find . -maxdepth 0 -exe[c] rm x \\;",
    "find . -maxdepth 0 -{exec,rm} \\;",
    "env CI=$(echo 1 rm) x",
    "for PATH in ./evil; do ls; done",
    "printf '-va[$(rm x)]' hi",
    "printf -vPATH ./evil; ls",
    'test "$(echo -v)" "a[\\$(rm x)]"',
    "[ -v 'a[$(rm x)]' ]",
    "ls & wait -n -p 'a[$(rm x)]'",
    "jobs -x rm x",
    "set -k; ls PATH=./evil",
    "echo 'rm x' | sh /dev/stdin",
    "echo 'rm x' | sh /proc/self/fd/0",
    ": {PATH}>/dev/null; ls",
  ])("bash and dash run %s as the parser predicted", (command) => {
    const surprises = SHELLS.flatMap((shell) => foresightOf(shell, command).surprises);
    expect(surprises).toEqual([]);
  });
});
