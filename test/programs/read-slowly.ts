import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";

/**
 * Reads a turn from the address that it is given, and tells how its memory grew. After the first event it does nothing
 * until it is told to go on, so that the other side may send all that it wants.
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
