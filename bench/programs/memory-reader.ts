import { get, type IncomingMessage } from "node:http";

/** Reads a turn in a separate process and reports its peak memory in kilobytes. */
const [reader, endpoint = ""] = process.argv.slice(2);
const HARNESS_ARN = "arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/demo-a1b2c3d4e5";
const credentials = { accessKeyId: "test", secretAccessKey: "test" };

let count = 0;
for await (const piece of await openStream()) if (piece !== undefined) count += 1;
if (count < 100) throw new Error(`Only ${count} pieces came`);
process.send?.(process.resourceUsage().maxRSS, () => process.exit());

async function openStream(): Promise<AsyncIterable<unknown>> {
  switch (reader) {
    case "spanline": {
      const { harnessProvider } = await import("../../src/providers/agentcore/harness-provider.ts");
      const { signal } = new AbortController();
      const session = harnessProvider({ harnessArn: HARNESS_ARN, endpoint, credentials }).open();
      return session.invoke({ type: "prompt", texts: ["Go on"] }, { signal });
    }
    case "aws-sdk": {
      const { BedrockAgentCoreClient, InvokeHarnessCommand } =
        await import("@aws-sdk/client-bedrock-agentcore");
      const client = new BedrockAgentCoreClient({ endpoint, region: "us-east-1", credentials });
      const { stream } = await client.send(
        new InvokeHarnessCommand({
          harnessArn: HARNESS_ARN,
          runtimeSessionId: crypto.randomUUID(),
          messages: [{ role: "user", content: [{ text: "Go on" }] }],
        }),
      );
      if (stream === undefined) throw new Error("The response has no stream");
      return stream;
    }
    default:
      return new Promise<IncomingMessage>((resolve) => {
        get(endpoint, resolve);
      });
  }
}
