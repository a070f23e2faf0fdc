// An agent that does what a file says, faults and all: how each failure shows, and that no call is made twice. Run by
// the tests.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { emulate, TEST_CREDENTIALS } from "../src/emulator/index.ts";
import { buildTurn, type ProviderEvent, type Turn } from "../src/index.ts";
import {
  ConnectionLostError,
  toError,
  harnessProvider,
  ThrottledError,
  type HarnessSession,
} from "../src/providers/index.ts";

export async function invokeThreeTimes(write: (text: string) => void): Promise<void> {
  const scenario = fileURLToPath(new URL("scenarios/three-calls.yaml", import.meta.url));
  const emulator = await emulate({ brain: `script:${scenario}` });
  try {
    const session = harnessProvider({
      harnessArn: emulator.demoArn,
      endpoint: emulator.url,
      credentials: TEST_CREDENTIALS,
    }).open();

    // Inside a stream a failure is its last event, and what was said until then is there.
    const broken = await runPrompt(session);
    assert.equal(broken.end?.outcome, "failed");
    assert.match(broken.text, /^This answer is on/);
    const lost = broken.end.failure === undefined ? undefined : toError(broken.end.failure);
    assert.ok(lost instanceof ConnectionLostError);
    write(`${lost.name} in the phase ${lost.phase}\n`);

    // Before there is a stream it is thrown.
    const refused: unknown = await runPrompt(session).catch((error: unknown) => error);
    assert.ok(refused instanceof ThrottledError);
    write(`${refused.name} in the phase ${refused.phase}, status ${refused.status}\n`);

    // The script plays a turn for each call that it gets: one that was made twice would have taken this one.
    const answered = await runPrompt(session);
    assert.equal(answered.text, "This is the third call.");
    write(`${answered.text}\n`);
  } finally {
    await emulator.close();
  }
}

async function runPrompt(session: HarnessSession): Promise<Turn> {
  const options = { signal: AbortSignal.timeout(20_000) };
  const events: ProviderEvent[] = [];
  for await (const event of await session.invoke({ type: "prompt", texts: ["Go on"] }, options)) {
    events.push(event);
  }
  return buildTurn(events);
}
