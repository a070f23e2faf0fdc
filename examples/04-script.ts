// An agent scripted by a file, including faults. Shows how each failure is reported, and proves that no invocation is
// repeated. The test suite runs this example.

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

    // A failure inside a stream is the last event of the turn. The text received so far is kept.
    const broken = await runPrompt(session);
    assert.equal(broken.end?.outcome, "failed");
    assert.match(broken.text, /^This answer is on/);
    const lost = broken.end.failure === undefined ? undefined : toError(broken.end.failure);
    assert.ok(lost instanceof ConnectionLostError);
    write(`${lost.name} in the phase ${lost.phase}\n`);

    // A failure before the stream starts is thrown.
    const refused: unknown = await runPrompt(session).catch((error: unknown) => error);
    assert.ok(refused instanceof ThrottledError);
    write(`${refused.name} in the phase ${refused.phase}, status ${refused.status}\n`);

    // The script plays one turn per invocation, so a repeated invocation would have consumed this turn.
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
