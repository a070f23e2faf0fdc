import { describe, expect, it } from "vitest";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import {
  completeCommand,
  describeMistypedCommand,
  formatHelp,
  formatSessions,
} from "./chat-commands.ts";

const STEERS = "\u001b[2J";

describe("Names chosen by the agent", () => {
  it("Names with control characters are not completed", () => {
    const theirs = [
      { name: "status", description: "" },
      { name: `st${STEERS}`, description: "" },
    ];
    expect(completeCommand("/st", theirs)).toEqual(["/status"]);
  });

  it("A suggestion never contains control characters", () => {
    const theirs = [{ name: `st${STEERS}`, description: "" }];
    expect(describeMistypedCommand("/st", theirs)).not.toContain("\u001b");
  });

  it("Control characters in the list of sessions are escaped", () => {
    const row = {
      sessionId: STEERS,
      title: STEERS,
      updatedAt: STEERS,
      workingDirectory: STEERS,
      folders: [],
    };
    for (const width of [80, 20]) {
      const rows = formatSessions([row], "ses_1", { style: PLAIN_STYLE, width });
      expect(rows.join("")).not.toContain("\u001b");
    }
  });
});

describe("The help of a chat", () => {
  it("The descriptions of commands are aligned, whatever the length of their hints", () => {
    const commands = [
      { name: "mode", description: "sets the mode of the session", hint: "[default|ask]" },
      { name: "review", description: "looks at changes", hint: "[a branch, a commit or a path]" },
    ];
    expect(formatHelp(commands, { style: PLAIN_STYLE, width: 44 })).toEqual([
      "  /help                shows this help",
      "  /cancel              cancels the running",
      "                       turn",
      "  /takeover            takes control of the",
      "                       session",
      "  /sessions            lists the sessions,",
      "                       newest first",
      "  /exit                leaves; the session",
      "                       is kept",
      "Commands of the agent:",
      "  /mode [default|ask]  sets the mode of the",
      "                       session",
      "  /review [a branch, a commit or a path]",
      "                       looks at changes",
      "  Ctrl-C cancels a turn, Ctrl-D leaves.",
      "  A line that ends with \\ continues on the",
      "  next line.",
    ]);
  });
});

describe("The list of sessions in a chat", () => {
  it("The list marks the current session and explains how to open another", () => {
    const row = {
      workingDirectory: null,
      folders: [],
      title: "Notes",
      updatedAt: "2026-01-02T03:04:05Z",
    };
    const rows = formatSessions(
      [
        { ...row, sessionId: "ses_1" },
        { ...row, sessionId: "ses_2" },
      ],
      "ses_2",
      { style: PLAIN_STYLE, width: 70 },
    );
    expect(rows).toEqual([
      "  ses_1  2026-01-02 03:04  Notes",
      "* ses_2  2026-01-02 03:04  Notes",
      "  To open another one: /exit, then `spanline chat --session ID`.",
    ]);
  });
});

describe("A mistyped command in a chat", () => {
  const theirs = [{ name: "status", description: "" }];

  it.each([
    ["/hlep", /^Unknown command \/hlep; did you mean \/help\? Nothing was sent/],
    ["/staus", /^Unknown command \/staus; did you mean \/status\? Nothing was sent/],
    ["/exit now", /^\/exit takes no arguments\. Nothing was sent/],
  ])("%j gets a message [ACP-77]", (text, message) => {
    expect(describeMistypedCommand(text, theirs)).toMatch(message);
  });

  it("Text goes to the bridge if it is a path, or if the list of commands has not arrived [ACP-77]", () => {
    expect(describeMistypedCommand("/etc/hosts is wrong", theirs)).toBeUndefined();
    expect(describeMistypedCommand("/staus", [])).toBeUndefined();
  });
});
