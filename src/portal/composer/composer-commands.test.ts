import { describe, expect, it } from "vitest";
import {
  applyCompletion,
  completeCommand,
  expandCommandText,
  findCommand,
  listCommands,
} from "./composer-commands.ts";

const review = {
  name: "review",
  description: "Review a branch",
  hint: "BRANCH",
  prompt: "Review $ARGUMENTS carefully.",
};
const release = { name: "release", description: "Prepare a release", prompt: "Release." };
const commands = [review, release];

describe("Slash commands of the composer", () => {
  it("The typed letters filter the commands", () => {
    expect(completeCommand("/", commands)).toEqual(commands);
    expect(completeCommand("/REV", commands)).toEqual([review]);
    expect(completeCommand("/x", commands)).toEqual([]);
  });

  it("Nothing is completed after the name, in the middle of a text or in a path", () => {
    for (const text of ["/review main", "see /re", "/re the tests", "/etc/passwd", "/review"])
      expect(completeCommand(text, commands)).toEqual([]);
  });

  it("The commands of the bridge come before the agent's, and hide those with the same names", () => {
    const own = { name: "status", description: "Another", prompt: "Status?" };
    const names = listCommands([own, review], false).map(({ name }) => name);
    expect(names).toEqual(["status", "tools", "mode", "permissions", "compact", "review"]);
  });

  it("A session that can have workers offers /delegate, unless the agent has a command of this name", () => {
    const own = { name: "delegate", description: "Another", prompt: "Delegate." };
    expect(listCommands([review], true).map(({ name }) => name)).toEqual([
      "status",
      "tools",
      "mode",
      "permissions",
      "compact",
      "delegate",
      "review",
    ]);
    expect(listCommands([own], true).filter(({ name }) => name === "delegate")).toEqual([own]);
    expect(expandCommandText("/delegate", [], false)).toMatchObject({ ok: false });
  });

  it("A command with arguments leaves room for them", () => {
    expect(applyCompletion(review)).toBe("/review ");
    expect(applyCompletion(release)).toBe("/release");
    expect(findCommand("/review main ", commands)).toEqual({ command: review, argument: "main" });
  });

  it("A command is sent as its prompt with the arguments filled in", () => {
    expect(expandCommandText("/review main", commands, false)).toEqual({
      ok: true,
      text: "Review main carefully.",
    });
    expect(expandCommandText("/release notes", commands, false)).toEqual({
      ok: true,
      text: "Release.\n\nnotes",
    });
  });

  it("A mistyped command is refused, and other text is sent unchanged", () => {
    const refused = expandCommandText("/reveiw main", commands, false);
    expect(refused).toMatchObject({ ok: false, problem: expect.stringContaining("/review") });
    for (const text of ["/etc is full", "hello", "a /review"])
      expect(expandCommandText(text, commands, false)).toEqual({ ok: true, text });
    expect(expandCommandText("/staus", [], false)).toMatchObject({
      ok: false,
      problem: expect.stringContaining("/status"),
    });
  });
});
