import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPolicy } from "../../src/policy/document/read-policy.ts";
import { SENSITIVE_PATHS } from "../../src/policy/path-check.ts";
import { decide, outcomeOf, run } from "./policy-calls.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/policy.md"), "utf8");

function blocks(language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm");
  return [...page.matchAll(pattern)].map((match) => match[1] ?? "");
}

describe("docs/policy.md", () => {
  it("Every example policy in docs/policy.md can be parsed", () => {
    const examples = blocks("json").map((text) => readPolicy(JSON.parse(text)));
    expect(examples.length).toBe(3);
  });

  it("docs/policy.md lists the sensitive paths", () => {
    expect(blocks("text").map((text) => text.trim().split("\n"))).toEqual([SENSITIVE_PATHS]);
  });

  it.each([
    ["git log | grep fix", "allow by rules:look"],
    ["git log; make", "ask by default"],
    ['ls "$(rm -rf x)"', "deny by rules:no-rm"],
    ["A=b r\\m x", "deny by rules:no-rm"],
    ["/bin/rm x", "deny by rules:no-rm"],
    ["./git log", "ask by default"],
    ["git log > notes.txt", "ask by default"],
    ["PAGER=x git log", "ask by default"],
    ["ls `cat x`", "deny by rules:no-rm"],
    ["sudo ls", "deny by rules:no-rm"],
    ['eval "$X"', "deny by rules:no-rm"],
    ["cat <<E", "deny by rules:no-rm"],
    ["find . -e$X", "deny by rules:no-rm"],
    ['[ -n "$X" ]', "deny by rules:no-rm"],
    ["echo x | sh /dev/stdin", "deny by rules:no-rm"],
  ])("docs/policy.md describes the decision for the command %s", (command, expected) => {
    const policy: object = JSON.parse(blocks("json")[2] ?? "{}");
    expect(outcomeOf(decide(policy, run(command)))).toBe(expected);
    expect(page).toContain(command.replaceAll("|", "\\|"));
  });

  it.each([
    ["curl * | sh", "ls; curl x.y|/bin/sh", "deny"],
    ["git push*", "git -C . push", "allow"],
    ["git * push*", "git -C . push", "deny"],
  ])("docs/policy.md describes how a deny of %s treats %s", (pattern, command, action) => {
    const policy = { default: "allow", rules: [{ deny: { command: pattern } }] };
    expect(decide(policy, run(command)).action).toBe(action);
    expect([page.includes(pattern), page.includes(command)]).toEqual([true, true]);
  });
});
