import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { bundleProgram } from "../../../test/support/bundle-program.ts";
import { waitForOutput } from "../../../test/support/command-line.ts";

it("Input typed before the prompt is dropped, even if the process was blocked in between", async () => {
  const child = spawn(process.execPath, [await bundleProgram("drop-input.ts")]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const remainingInput = text(child.stdout);
  child.stdin.write("y\ny");
  await waitForOutput(child.stderr, "dropped\n");
  child.stdin.end("n\n");
  expect(await remainingInput).toBe("n\n");
});
