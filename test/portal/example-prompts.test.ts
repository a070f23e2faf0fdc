import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startDemoAgent } from "../../src/bridge/agent/demo-agent.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { APPROVAL_PROMPTS, EXAMPLE_PROMPTS } from "../../src/portal/parts/example-prompts.ts";
import { openWorld } from "../support/session/session-world.ts";

/** A session with the agent of a bridge without a configuration. */
async function openDemo() {
  const directory = mkdtempSync(join(tmpdir(), "spanline-examples-"));
  const { agent, emulator } = await startDemoAgent(directory, systemClock);
  onTestFinished(async () => {
    await emulator.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return openWorld(agent);
}

it.each(APPROVAL_PROMPTS)(
  "The demo agent requests a decision after the example %j",
  async (prompt) => {
    const world = await openDemo();
    await world.prompt(prompt);
    const note = prompt.replace(/^.*: /, "");
    expect(await world.waitForEvent("approval.requested")).toMatchObject({
      action: "save_note",
      input: { text: note },
    });
  },
);

const ANSWERS: { readonly [prompt: string]: RegExp } = {
  "What time is it?": /^Done\. tell_time says: .* GMT\.$/,
  "How much is 6 times 7?": /^That is 42\.$/,
  "Which tools do you have?": /^I can use save_note, tell_time\./,
};

it.each(EXAMPLE_PROMPTS.filter((prompt) => !APPROVAL_PROMPTS.includes(prompt)))(
  "The demo agent can follow the example %j",
  async (prompt) => {
    const world = await openDemo();
    await world.prompt(prompt);
    await world.waitForEvent("turn.finished");
    const texts = await world.listEvents("text.finished");
    expect(texts.at(-1)?.text).toMatch(ANSWERS[prompt] ?? /^An answer for each example$/);
  },
);
