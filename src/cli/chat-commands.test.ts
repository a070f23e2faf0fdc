import { describe, expect, it } from "vitest";
import { PLAIN } from "../inspect/style.ts";
import { helpRows } from "./chat-commands.ts";

describe("the help of a chat", () => {
  it("lines up what commands do, however long their hints are", () => {
    const commands = [
      { name: "mode", description: "sets the mode of the session", hint: "[default|ask]" },
      { name: "review", description: "looks at changes", hint: "[a branch, a commit or a path]" },
    ];
    expect(helpRows(commands, { style: PLAIN, width: 44 })).toEqual([
      "  /help                shows this",
      "  /cancel              ends the turn that",
      "                       runs",
      "  /takeover            takes control from",
      "                       whoever has it",
      "  /sessions            lists the sessions,",
      "                       the newest first",
      "  /exit                leaves; the session",
      "                       stays",
      "The agent's own:",
      "  /mode [default|ask]  sets the mode of the",
      "                       session",
      "  /review [a branch, a commit or a path]",
      "                       looks at changes",
      "  Ctrl-C cancels a turn, Ctrl-D leaves.",
      "  A line that ends with \\ goes on in the",
      "  next.",
    ]);
  });
});
