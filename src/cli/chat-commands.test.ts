import { describe, expect, it } from "vitest";
import { PLAIN } from "../inspect/style.ts";
import { completions, sessionRows } from "./chat-commands.ts";

const STEERS = "\u001b[2J";

describe("what an agent calls its things in a chat", () => {
  it("completes no name that would steer the terminal", () => {
    const theirs = [
      { name: "status", description: "" },
      { name: `st${STEERS}`, description: "" },
    ];
    expect(completions("/st", theirs)).toEqual(["/status"]);
  });

  it("shows a list of sessions in which nothing steers the terminal", () => {
    const row = {
      sessionId: STEERS,
      title: STEERS,
      updatedAt: STEERS,
      workingDirectory: STEERS,
    };
    for (const width of [80, 20]) {
      const rows = sessionRows([row], "ses_1", { style: PLAIN, width });
      expect(rows.join("")).not.toContain("\u001b");
    }
  });
});
