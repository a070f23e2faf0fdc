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
      { name: `sta${STEERS}`, description: "" },
    ];
    expect(completeCommand("/sta", theirs)).toEqual(["/status"]);
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
      state: null,
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
      "  /help                 shows this help",
      "  /steer TEXT           sends a message to",
      "                        the running turn,",
      "                        like a line without",
      "                        /",
      "  /queue TEXT           sends a message for",
      "                        a turn after the",
      "                        running one",
      "  /pending              lists the messages",
      "                        and reminders that",
      "                        the agent has not",
      "                        received",
      "  /edit N TEXT          changes a message of",
      "                        /pending",
      "  /revoke N             revokes an entry of",
      "                        /pending",
      "  /remind TEXT          adds a note to the",
      "                        next request to the",
      "                        model",
      "  /workers [ID]         lists the workers of",
      "                        this session, or of",
      "                        one worker",
      "  /delegate TASK        starts a worker in",
      "                        the background",
      "  /trigger WORKER TEXT  gives the next task",
      "                        to a worker that",
      "                        waits",
      "  /close WORKER         ends a worker, also",
      "                        during its work",
      "  /resume               wakes an agent that",
      "                        stays available",
      "                        between turns",
      "  /skip                 stops the tool call",
      "                        that started last;",
      "                        the turn continues",
      "  /cancel               cancels the running",
      "                        turn",
      "  /takeover             takes control of the",
      "                        session",
      "  /sessions             lists the sessions,",
      "                        newest first",
      "  /exit                 leaves; the session",
      "                        is kept",
      "Commands of the agent:",
      "  /mode [default|ask]   sets the mode of the",
      "                        session",
      "  /review [a branch, a commit or a path]",
      "                        looks at changes",
      "  Ctrl-C cancels a turn, Ctrl-D leaves.",
      "  A line that ends with \\ continues on the",
      "  next line.",
    ]);
  });
});

describe("The list of sessions in a chat", () => {
  it("The list marks the current session, has the state of each, and explains how to open another", () => {
    const row = {
      workingDirectory: null,
      folders: [],
      title: "Notes",
      updatedAt: "2026-01-02T03:04:05Z",
    };
    const rows = formatSessions(
      [
        { ...row, sessionId: "ses_1", state: "waiting" },
        { ...row, sessionId: "ses_2", state: "idle" },
        // Another agent may not report the state.
        { ...row, sessionId: "ses_3", state: null },
      ],
      "ses_2",
      { style: PLAIN_STYLE, width: 70 },
    );
    expect(rows).toEqual([
      "  ses_1  2026-01-02 03:04  waiting  Notes",
      "* ses_2  2026-01-02 03:04  idle     Notes",
      "  ses_3  2026-01-02 03:04           Notes",
      "  To open another one: /exit, then `spanline chat --session ID`.",
    ]);
  });

  it("In a narrow terminal the time, the state and the title are below the id", () => {
    const row = {
      sessionId: "ses_1",
      workingDirectory: null,
      folders: [],
      title: "Notes",
      updatedAt: "2026-01-02T03:04:05Z",
      state: "running",
    } as const;
    const rows = formatSessions([row], "ses_2", { style: PLAIN_STYLE, width: 40 });
    expect(rows.slice(0, 2)).toEqual(["  ses_1", "  2026-01-02 03:04  running  Notes"]);
  });
});

describe("A mistyped command in a chat", () => {
  const theirs = [{ name: "status", description: "" }];

  it.each([
    ["/hlep", /^Command "\/hlep" does not exist.* Fix: did you mean "\/help"\? Nothing was sent/],
    [
      "/staus",
      /^Command "\/staus" does not exist.* Fix: did you mean "\/status"\? Nothing was sent/,
    ],
    ["/exit now", /^\/exit takes no arguments\. Nothing was sent/],
    ["/delegate", /^\/delegate needs an argument: \/delegate TASK\. Nothing was sent/],
    ["/trigger", /^\/trigger needs an argument: \/trigger WORKER TEXT\. Nothing was sent/],
    ["/close", /^\/close needs an argument: \/close WORKER\. Nothing was sent/],
    ["/steer", /^\/steer needs an argument: \/steer TEXT\. Nothing was sent/],
  ])("%j gets a message [ACP-77]", (text, message) => {
    expect(describeMistypedCommand(text, theirs)).toMatch(message);
  });

  it("Text goes to the bridge if it is a path, or if the list of commands has not arrived [ACP-77]", () => {
    expect(describeMistypedCommand("/etc/hosts is wrong", theirs)).toBeUndefined();
    expect(describeMistypedCommand("/staus", [])).toBeUndefined();
  });
});
