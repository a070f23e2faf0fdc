import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_TEXT_LENGTH, readCommandFacts } from "../../src/policy/command/command-facts.ts";
import { MAX_COMPARED_CHARACTERS } from "../../src/policy/evaluate-policy.ts";
import { decide, outcomeOf, run } from "./policy-calls.ts";

const anyLaunched = fc
  .tuple(
    fc.array(fc.constantFrom("env", "nice", "nohup", "time", "timeout 5", "env A=b"), {
      maxLength: 40,
    }),
    fc.nat({ max: 4_000 }),
  )
  .map(([launchers, length]) => [...launchers, "echo", "x".repeat(length)].join(" "));

describe("Commands with nested launchers", () => {
  it("The text compared for nested launchers is at most four times the longest command", () => {
    fc.assert(
      fc.property(anyLaunched, (command) => {
        const { simpleCommands = [], commandUnparsed } = readCommandFacts({ command }) ?? {};
        const length = simpleCommands.flatMap(({ words }) => words).join(" ").length;
        expect(length).toBeLessThanOrEqual(MAX_TEXT_LENGTH);
        const isWhole = simpleCommands.at(-1)?.program === "echo";
        expect(isWhole || commandUnparsed !== undefined).toBe(true);
      }),
    );
  });
});

const anyJoined = fc
  .tuple(
    fc.array(fc.constantFrom("ls", "/bin/cat y", "env nice ls", "$(ls|ls)", "sh -c 'a|b'"), {
      maxLength: 30,
    }),
    fc.constantFrom("|", ";", "&&", " | ", "\n"),
    fc.nat({ max: 900 }),
  )
  .map(([commands, operator, quotes]) => commands.join(` ${"\\'".repeat(quotes)}${operator}`));

describe("Commands joined by operators", () => {
  it("The text compared for joined commands is at most four times the longest command", () => {
    fc.assert(
      fc.property(anyJoined, (command) => {
        const { commandLines = [] } = readCommandFacts({ command }) ?? {};
        expect(commandLines.join("").length).toBeLessThanOrEqual(MAX_TEXT_LENGTH);
      }),
    );
    const quotes = "\\'".repeat(900);
    const long = readCommandFacts({ command: `/bin/ls ${quotes};/bin/ls ${quotes}` });
    expect(long?.commandUnparsed).toBe("it joins too many commands");
  });
});

describe("Commands too long for the number of rules", () => {
  const rules = (action: "allow" | "deny", count: number): object => ({
    rules: Array.from({ length: count / 100 }, (_, at) => ({
      id: `r${at}`,
      [action]: {
        tool: "run_command",
        command: Array.from({ length: 100 }, (__, of) => `*${at}-${of}*`),
      },
    })),
  });
  const long = run(`echo ${"x".repeat(3_900)}`);
  const most = Math.floor(MAX_COMPARED_CHARACTERS / 3_906 / 100) * 100;

  it("A command too long to compare counts as unparsed: any command deny rule denies it and no rule allows it", () => {
    expect(outcomeOf(decide(rules("deny", most), long))).toBe("ask by default");
    const denied = decide(rules("deny", most + 100), long);
    expect([outcomeOf(denied), denied.labels]).toEqual([
      "deny by rules:r0",
      ["command_rule", "command_unparsed", "matched_deny_rule"],
    ]);
    const open = { ...rules("allow", most + 100), default: "allow" };
    expect(outcomeOf(decide(open, long))).toBe("ask by default");
    expect(outcomeOf(decide(open, run("echo x")))).toBe("allow by default");
  });
});
