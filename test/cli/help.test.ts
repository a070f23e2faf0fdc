import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

describe("The help", () => {
  it.each([[["--help"]], [["policy", "--help"]], [["help", "sessions", "list"]]])(
    "The help with the arguments %j ends without an error if its reader closes the pipe",
    async (args) => {
      const child = command.start(args);
      child.stdout.destroy();
      const [noted, [status]] = await Promise.all([text(child.stderr), once(child, "exit")]);
      expect([noted, status]).toEqual(["", 0]);
    },
  );

  it("The help of a subcommand is the same in both forms", async () => {
    const helpRun = await command.run(["help", "policy", "check"]);
    const other = await command.run(["policy", "check", "--help"]);
    expect(helpRun).toEqual(other);
    expect(helpRun.stdout).toContain("Usage: spanline policy check");
  });
});
