import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";

/**
 * Reads a turn from the given address and prints how its memory grew. Pauses after the first event until the parent
 * process sends a message, so the server can send as much as the buffers accept.
 */
const [endpoint = "", mode] = process.argv.slice(2);
const session = harnessProvider({
  harnessArn: "arn:aws:bedrock-agentcore:us-west-2:123456789012:harness/demo-a1b2c3d4e5",
  endpoint,
  credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "example-secret-key" },
}).open();

const { signal } = new AbortController();
const call = await session.invoke({ type: "prompt", texts: ["Hi"] }, { signal });
let baseline = 0;
let paused = 0;
let events = 0;
let outcome = "";
for await (const event of call) {
  events += 1;
  if (event.type === "end") outcome = event.failure?.code ?? event.outcome;
  if (events > 1) continue;
  baseline = process.memoryUsage.rss();
  if (mode === "pause") {
    process.send?.("paused");
    await new Promise((resolve) => {
      process.once("message", resolve);
    });
    process.disconnect?.();
    paused = process.memoryUsage.rss();
  }
}
const { arrayBuffers } = process.memoryUsage();
process.stdout.write(JSON.stringify({ baseline, paused, arrayBuffers, events, outcome }));
