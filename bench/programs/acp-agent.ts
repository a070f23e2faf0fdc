import { Readable, Writable } from "node:stream";

/**
 * An ACP agent on standard input and output. A prompt contains a number, and the agent responds with as many updates.
 * On request, the agent reports its CPU time to the parent process.
 */
const [kind] = process.argv.slice(2);
/** 40 bytes, about the size of a model's text delta. */
const DELTA_TEXT = "forty bytes of text, as in a usual delta";

process.on("message", () => process.send?.(process.cpuUsage()));
await (kind === "spanline" ? runSpanline() : runSdk());

/** From the envelopes of a session's log, as in `spanline acp`. */
async function runSpanline(): Promise<void> {
  const { serveAcp } = await import("../../src/surfaces/acp/connection/serve-acp.ts");
  const { createScriptedSessions } =
    await import("../../test/support/session/scripted-sessions.ts");
  const sessions = createScriptedSessions({
    turn(turn) {
      const { prompt, turnId } = turn;
      const block = { messageId: `msg_${turnId}`, block: 0 };
      const [part] = prompt;
      const updates = Number(part?.type === "text" ? part.text : 0);
      const delta = { type: "text.delta", ...block, text: DELTA_TEXT } as const;
      for (let index = 0; index < updates; index++) turn.say(delta);
      turn.say({ type: "text.finished", ...block, text: DELTA_TEXT.repeat(updates) });
      turn.end();
    },
  });
  const principal = { id: "user", rights: ["prompt", "approve", "control"] } as const;
  const { stdin: input, stdout: output } = process;
  await serveAcp({ sessions, input, output, principal, log: () => {} });
}

/** Awaits each update, as in the SDK's own examples. */
async function runSdk(): Promise<void> {
  const { agent, ndJsonStream } = await import("acp-sdk-2");
  const output = Writable.toWeb(process.stdout);
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const { closed } = agent()
    .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {} }))
    .onRequest("session/new", () => ({ sessionId: "ses_1" }))
    .onRequest("session/prompt", async ({ client, params }) => {
      const [part] = params.prompt;
      const updates = Number(part?.type === "text" ? part.text : 0);
      for (let index = 0; index < updates; index++) {
        const content = { type: "text", text: DELTA_TEXT } as const;
        const update = {
          sessionUpdate: "agent_message_chunk",
          content,
          messageId: "msg_1",
        } as const;
        await client.notify("session/update", { sessionId: params.sessionId, update });
      }
      return { stopReason: "end_turn" };
    })
    .connect(ndJsonStream(output, input));
  await closed;
}
