import { describe, expect, it } from "vitest";
import { describeUnknownCommand } from "./slash-commands.ts";

const NAMES = ["status", "tools", "mode", "permissions", "review"];
const NOT_SENT =
  "Nothing was sent to the agent. To send the text as it is, put a space before the slash.";

describe("A mistyped command", () => {
  it.each([
    [
      "/staus",
      'Command "/staus" does not exist: expected "/status", "/tools", "/mode", "/permissions" or "/review". Fix: did you mean "/status"?',
    ],
    [
      "/Status",
      'Command "/Status" does not exist: expected "/status", "/tools", "/mode", "/permissions" or "/review". Fix: did you mean "/status"?',
    ],
    [
      "/stat\n",
      'Command "/stat" does not exist: expected "/status", "/tools", "/mode", "/permissions" or "/review". Fix: did you mean "/status"?',
    ],
    [
      "/mdoe read-only",
      'Command "/mdoe" does not exist: expected "/status", "/tools", "/mode", "/permissions" or "/review". Fix: did you mean "/mode"?',
    ],
    [
      "/revew main\nand more",
      'Command "/revew" does not exist: expected "/status", "/tools", "/mode", "/permissions" or "/review". Fix: did you mean "/review"?',
    ],
    [
      "/frobnicate",
      'Command "/frobnicate" does not exist: expected "/status", "/tools", "/mode", "/permissions" or "/review".',
    ],
  ])("The prompt %j gets a message with a suggestion [ACP-77]", (text, message) => {
    expect(describeUnknownCommand(text, NAMES)).toBe(`${message} ${NOT_SENT}`);
  });

  it.each([
    "/status",
    "/mode ask",
    "/etc/hosts has a wrong line",
    "/etc/hosts",
    "/home is full",
    "/tmp",
    "/data is full",
    "/README.md is empty",
    "/server:prompt x",
    "/* a comment */",
    "/",
    "// x",
    " /staus",
    "staus",
    "",
  ])("The prompt %j may go to the agent [ACP-77]", (text) => {
    expect(describeUnknownCommand(text, NAMES)).toBeUndefined();
  });

  it("A long list of commands is cut [ACP-77]", () => {
    const names = Array.from({ length: 30 }, (_, index) => `command${index}`);
    expect(describeUnknownCommand("/x", names)).toContain('"/command19" or 10 others. Nothing');
  });
});
