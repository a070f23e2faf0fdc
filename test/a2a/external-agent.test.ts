import { describe, expect, it, onTestFinished } from "vitest";
import { delegateToExternalAgent, type DelegationContext } from "../../src/delegation/delegate.ts";
import type { DelegationRequest, HandoffEnvelope } from "../../src/delegation/external-agent.ts";
import { createHttpPeer } from "../../src/delegation/http-peer.ts";
import { createHttpClient } from "../../src/platform/http-client.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { hangs, says } from "../support/session/scripted-provider.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { serveA2a, type ServedA2a } from "./support/serve-a2a.ts";

const KEYS = [{ name: "payer", key: "key-of-the-payer-001", rights: ["prompt"] }] as const;
const USAGE = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 15,
};

function serve(answers: Parameters<typeof serveA2a>[0]): Promise<ServedA2a> {
  return serveA2a(answers, { keys: KEYS, settings: { externalAgent: true } });
}

/** Another bridge which pays for the work. */
function createPayer(): DelegationContext {
  const http = createHttpClient();
  onTestFinished(() => http.close());
  return {
    records: createMemoryStore(),
    principal: "ada",
    now: () => 4_000_000_000_000,
    connect: (url) => createHttpPeer({ send: http.send, url, key: KEYS[0].key }),
    signal: new AbortController().signal,
  };
}

function createRequest(
  { url }: ServedA2a,
  fields: Partial<DelegationRequest> = {},
): DelegationRequest {
  return {
    target: url,
    task: "Fix the docs",
    budget: { max_tokens: 100 },
    idempotency_key: "key-1",
    expected_scope: null,
    context: {},
    metadata: {},
    ...fields,
  };
}

async function delegate(
  request: DelegationRequest,
  payer: DelegationContext,
): Promise<HandoffEnvelope> {
  const { checkpoint } = await delegateToExternalAgent(request, { approved: false }, payer);
  const { checkpoint_id = "", plan_hash = "" } = checkpoint ?? {};
  return delegateToExternalAgent(request, { approved: true, checkpoint_id, plan_hash }, payer);
}

describe("A bridge as a paid agent", () => {
  it("The plan names the agent and the caps, and the result is metered on the log of its session [B-144] [B-146]", async () => {
    const served = await serve([says("Docs fixed", { usage: USAGE })]);
    const payer = createPayer();
    const planned = await delegateToExternalAgent(
      createRequest(served),
      { approved: false },
      payer,
    );
    expect(planned.checkpoint?.plan).toContain('The agent "scripted"');
    expect(planned.checkpoint?.plan).toContain("100 tokens");
    expect((await served.sessions.list({ limit: 1 })).sessions).toEqual([]);
    const envelope = await delegate(createRequest(served), payer);
    expect(envelope).toMatchObject({
      status: "completed",
      budget: { used: { tokens: 15, tool_calls: 0 } },
      handoff: { summary: "Docs fixed", state: "completed" },
    });
  });

  it("A dispatch that is repeated runs once and returns the same result [B-151]", async () => {
    const served = await serve([says("Once"), says("Twice")]);
    const request = createRequest(served);
    const first = await delegate(request, createPayer());
    // The payer lost its records: the peer recognizes the key.
    const again = await delegate(request, createPayer());
    expect(again.handoff).toEqual(first.handoff);
    expect((await served.sessions.list({ limit: 5 })).sessions).toHaveLength(1);
  });

  it("A dispatch without the plan of this work is refused, and nothing runs", async () => {
    const served = await serve([says("Never")]);
    const { target: _, ...work } = createRequest(served);
    const method = "_harn/externalAgent.dispatch";
    const { result: plan } = await served.rpc("_harn/externalAgent.plan", work);
    for (const params of [
      work,
      { ...work, checkpoint: plan },
      { ...work, checkpoint: { ...plan, approved: true, checkpoint_id: "ckpt_other" } },
      { ...work, task: "Other", checkpoint: { ...plan, approved: true } },
      { ...work, budget: { max_tokens: 9999 }, checkpoint: { ...plan, approved: true } },
      { ...work, budget: {}, checkpoint: { ...plan, approved: true } },
      { ...work, idempotency_key: "", checkpoint: { ...plan, approved: true } },
    ])
      expect((await served.rpc(method, params)).error, JSON.stringify(params)).toMatchObject({
        code: -32602,
      });
    expect((await served.sessions.list({ limit: 1 })).sessions).toEqual([]);
  });

  it("A caller that disconnects gets the result with the same key later", async () => {
    const served = await serve([hangs("Half")]);
    const { target: _, ...work } = createRequest(served);
    const { result: plan } = await served.rpc("_harn/externalAgent.plan", work);
    const leaving = new AbortController();
    const params = { ...work, checkpoint: { ...plan, approved: true } };
    const body = { jsonrpc: "2.0", id: 1, method: "_harn/externalAgent.dispatch", params };
    const call = served.open(body, {}, leaving.signal).catch(() => undefined);
    await waitUntil(async () => (await served.sessions.list({ limit: 1 })).sessions.length === 1);
    leaving.abort();
    await call;
    const [record] = (await served.sessions.list({ limit: 1 })).sessions;
    await served.sessions.command(
      record?.sessionId ?? "",
      { type: "cancel" },
      { principal: { id: "payer", rights: ["prompt"] } },
    );
    const { result } = await served.rpc("_harn/externalAgent.dispatch", params);
    expect(result).toMatchObject({
      status: "failed",
      handoff: { state: "canceled", summary: "Half" },
    });
  });

  it("Without the setting the methods and the capability do not exist", async () => {
    const served = await serveA2a([says("Hi")]);
    expect((await served.rpc("_harn/externalAgent.plan", {})).error).toMatchObject({
      code: -32601,
    });
    const envelope = await delegateToExternalAgent(
      createRequest(served),
      { approved: false },
      createPayer(),
    );
    expect(envelope).toMatchObject({
      status: "refused",
      reason: expect.stringContaining("harn.external_agent.v1"),
    });
  });
});
