import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HOLE } from "../matching/wildcard.ts";
import { readCommandFacts } from "./command-facts.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";

allowLongTests();

const SIGNS = Array.from("$(){}'\"\\\n ;&|<>`#a=*~!");

/** Formats each simple command: an unknown program as ?, a hole as …, and the reason for uncertainty. */
function describeCommand(command: string): string {
  const { simpleCommands = [], commandUnparsed } = readCommandFacts({ command }) ?? {};
  const commands = simpleCommands.map(({ program, words }) =>
    [program ?? "?", ...words.slice(1)].map((word) => word.replaceAll(HOLE, "…")).join("·"),
  );
  return [commands.join(" / "), ...(commandUnparsed === undefined ? [] : [commandUnparsed])].join(
    " ! ",
  );
}

describe("Shell command analysis", () => {
  it.each([
    ["git log -1", "git·log·-1"],
    ["git  'a b'  \"c d\"", "git·a b·c d"],
    ["git '' x", "git··x"],
    ['echo a\\ b \'c\\d\' "e\\f\\""', 'echo·a b·c\\d·e\\f"'],
    ["a | b && c; d & e\nf", "a / b / c / d / e / f"],
    ['echo $X "$Y z" a${Z}b', "echo·…·…·a…"],
    ["echo *.ts src/?.js ~/x a~b {a,b}", "echo·…·src/…·…·a~b·…"],
    ["echo $(a $(b)) c", "echo·…·c / a·… / b"],
    ["echo '$(a)' \\$X \"\\$Y\" $ a$", "echo·$(a)·$X·$Y·$·a$"],
    ["if a; then b; elif c; then d; else e; fi", "a / b / c / d / e"],
    ["for f in a $(b) c; do d $f; done", "b / d·…"],
    ["{ a; } && ! (b)", "a / b"],
    ["[ -f x ] && a", "[·-f·x·] / a"],
    ["A=1 if x", "if·x ! it sets A"],
    [">/dev/null then x", "then·x"],
    ["CI=1 a", "a"],
    ["CI=1 PATH=x a", "a ! it sets PATH"],
    ["export A=1 B; c", "export·A=1·B / c ! it sets A"],
    ["set -euo pipefail; a", "set·-euo·pipefail / a"],
    ["a 2>&1 >/dev/null 1>&2 <&-", "a"],
    ["a 2>x", "a ! it reads or writes a file by < or >"],
    ["a 2 >/dev/null", "a·2"],
    ["a &>x", "? / a ! it has &>"],
    ["git &>/dev/null touch x", "? / git ! it has &>"],
    ["git &>>/dev/null touch x", "? / git ! it has &>"],
    ["git 1&>/dev/null touch x", "? / git·1 ! it has &>"],
    ["git &\\\n>/dev/null touch x", "? / git ! it has &>"],
    ["touch 10>/dev/null", "? / touch ! it redirects by a number of several digits"],
    ["a >&x", "a ! it reads or writes a file by < or >"],
    ["a # b\nc#d", "a / ? ! its program is not a plain name"],
    ["env CI=1 a b", "env·CI=1·a·b / a·b"],
    ["xargs a b", "xargs·a·b / a·b·…"],
    ["sh -c 'a; b' c", "sh·-c·a; b·c / a / b"],
    ["a; eval b", "? / a / eval·b ! eval may start any other program"],
    ["a <(b)", "? / a ! it has < without a file"],
    ["a <<< b", "? / a ! it has <<<"],
    ["a \\", "? / a· ! it ends with a backslash"],
    ["", "? ! it is empty"],
    ["# nothing", ""],
  ])("The command %j runs %s", (command, expected) => {
    expect(describeCommand(command)).toBe(expected);
  });

  it("Any text is analyzed to its end, with a bounded result", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary", maxLength: 60 }),
          fc.string({ unit: fc.constantFrom(...SIGNS) }),
        ),
        (command) => {
          const { simpleCommands = [] } = readCommandFacts({ command }) ?? {};
          expect(simpleCommands.length).toBeLessThanOrEqual(100);
        },
      ),
      { numRuns: runs(3_000) },
    );
  });
});
